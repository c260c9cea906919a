package scan_test

import (
	"strings"
	"testing"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/tidegate/tidegate/internal/oracle"
)

// fileOf writes Kustomizations as the file that somebody applies.
func fileOf(t testing.TB, units []oracle.Unit) []byte {
	t.Helper()
	var docs []string
	for _, u := range units {
		data, err := sigsyaml.Marshal(u.Object)
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, string(data))
	}
	return []byte(strings.Join(docs, "---\n"))
}
