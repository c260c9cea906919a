package sops_test

import (
	"os/exec"
	"strings"
	"testing"
)

// What the package links: of the sops library only the two parts without dependencies, nothing
// that can run a program or speak HTTP, no plugin support of age.
func TestLinksNothingHeavy(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	allowed := map[string]bool{"github.com/getsops/sops/v3/cmd/sops/formats": true, "github.com/getsops/sops/v3/shamir": true}
	seen := 0
	for _, pkg := range strings.Fields(string(out)) {
		if strings.HasPrefix(pkg, "github.com/getsops/") && !allowed[pkg] {
			t.Errorf("links %s", pkg)
		}
		switch pkg {
		case "net/http", "os/exec", "os/user", "database/sql", "testing", "filippo.io/age/plugin", "filippo.io/age/agessh":
			t.Errorf("links %s", pkg)
		case "filippo.io/age":
			seen++
		}
	}
	if seen != 1 {
		t.Error("age is not among the dependencies: the list is not what it should be")
	}
}
