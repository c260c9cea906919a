package architecture

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"slices"
	"sort"
	"strings"
	"testing"
)

const module = "github.com/tidegate/tidegate/"

// drawing says which room may import which, besides rooms below itself. A room that is not in it has to be drawn here
// and in docs/architecture.md before it compiles into anything. An edge is added only if the room really needs it.
var drawing = map[string][]string{
	"cmd/tidegate":           {"internal/cli"},
	"internal/cli":           {"internal/engine", "internal/flux", "internal/render", "internal/report", "internal/view"},
	"internal/cli/gendocs":   {"internal/cli"},
	"internal/engine":        {"internal/yamlpos", "internal/starter", "internal/subst", "internal/catalog", "internal/spell", "internal/config", "internal/flux", "internal/model", "internal/render", "internal/report", "internal/scan", "internal/sops", "internal/source", "internal/view", "reference", "internal/facts", "internal/rule", "internal/rules"},
	"internal/scan":          {"internal/config", "internal/flux", "internal/model", "internal/render", "internal/sops", "internal/source", "internal/trace"},
	"internal/trace":         {"internal/model", "internal/subst", "internal/yamlpos"},
	"internal/yamlpos":       {"internal/model"},
	"internal/facts":         {"internal/model"},
	"internal/rule":          {"internal/facts", "internal/model"},
	"internal/rules":         {"internal/lbipam", "internal/spell", "internal/facts", "internal/model", "internal/rule", "internal/subst"},
	"internal/rules/gendocs": {"internal/engine", "internal/report", "internal/view"},
	"internal/ruletest":      {"internal/engine", "internal/report", "reference"},
	"internal/render":        {"internal/trace", "internal/flux", "internal/model", "internal/sops", "internal/source", "internal/subst"},
	"internal/view":          {"internal/report"},
	"internal/report":        {"internal/model"},
	"internal/config":        {"internal/flux"},
	"internal/flux":          {"internal/model"},
	"internal/spell":         {},
	"internal/lbipam":        {},
	"internal/starter":       {},
	"internal/catalog":       {"internal/model", "internal/spell"},
	"internal/source":        {"internal/model"},
	"internal/sops":          {},
	"internal/subst":         {},
	"internal/model":         {},
	"internal/bench":         {},
	"internal/architecture":  {},
	"reference":              {},
	// For tests only: the judge, made of Flux's own packages.
	"internal/oracle": {},
}

// The rooms that only tests may import.
var testOnly = []string{"internal/oracle", "internal/sops/sopstest", "internal/bench", "internal/ruletest"}

type pkg struct {
	ImportPath                         string
	Standard                           bool
	Imports, TestImports, XTestImports []string
}

// list gives packages as the go command sees them.
func list(t *testing.T, args ...string) []pkg {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-e", "-json=ImportPath,Standard,Imports,TestImports,XTestImports"}, args...)...)
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %v\n%s", err, exit.Stderr)
		}
		t.Fatal(err)
	}
	dec := json.NewDecoder(strings.NewReader(string(out)))
	var pkgs []pkg
	for {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
	if len(pkgs) == 0 {
		t.Fatalf("go list %v lists nothing", args)
	}
	return pkgs
}

func ours(importPath string) (string, bool) { return strings.CutPrefix(importPath, module) }

// room gives the drawn room that a package is, or lies below; empty when there is none.
func room(p string) string {
	for at := p; at != "."; at = path.Dir(at) {
		if _, ok := drawing[at]; ok {
			return at
		}
	}
	return ""
}

// Imports go the way of the drawing.
func TestDirection(t *testing.T) {
	seen := 0
	for _, p := range list(t, "./...") {
		from, ok := ours(p.ImportPath)
		if !ok {
			continue
		}
		if room(from) == "" {
			t.Errorf("%s is not in the drawing: draw it in internal/architecture and docs/architecture.md", from)
			continue
		}
		for _, imp := range p.Imports {
			to, ok := ours(imp)
			if !ok {
				continue
			}
			seen++
			if room(to) != room(from) && !slices.Contains(drawing[room(from)], room(to)) {
				t.Errorf("%s imports %s, which the drawing does not allow", from, to)
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d imports between our own packages were seen", seen)
	}
}

// The drawing itself has no circle: what a room uses never leads back to it.
func TestDrawingIsOneWay(t *testing.T) {
	const busy, done = 1, 2
	state := map[string]int{}
	var visit func(r string, trail []string)
	visit = func(r string, trail []string) {
		switch state[r] {
		case done:
			return
		case busy:
			t.Fatalf("the drawing goes in a circle: %s", strings.Join(append(trail, r), " -> "))
		}
		state[r] = busy
		for _, to := range drawing[r] {
			if _, ok := drawing[to]; !ok {
				t.Errorf("%s may import %s, which is not drawn", r, to)
			}
			visit(to, append(trail, r))
		}
		state[r] = done
	}
	for r := range drawing {
		visit(r, nil)
	}
}

// What only tests may use is used by tests alone, and by commands that are no part of the program.
func TestTestOnlyRooms(t *testing.T) {
	for _, p := range list(t, "-deps", "./cmd/tidegate") {
		if name, ok := ours(p.ImportPath); ok && slices.Contains(testOnly, name) {
			t.Errorf("the program contains %s, which is for tests", name)
		}
	}
	for _, p := range list(t, "./...") {
		from, ok := ours(p.ImportPath)
		if !ok {
			continue
		}
		for _, imp := range p.Imports {
			if to, _ := ours(imp); slices.Contains(testOnly, to) && !strings.HasPrefix(from, to+"/") {
				t.Errorf("%s imports %s outside of its tests", from, to)
			}
		}
	}
}

// The model is a leaf: the standard library and nothing else.
func TestModelIsALeaf(t *testing.T) {
	for _, p := range list(t, "-deps", "./internal/model") {
		if name, own := ours(p.ImportPath); !p.Standard && !(own && name == "internal/model") {
			t.Errorf("internal/model depends on %s", p.ImportPath)
		}
	}
}

// A room is called after what it knows.
func TestNames(t *testing.T) {
	for _, p := range list(t, "./...") {
		name, _ := ours(p.ImportPath)
		for _, segment := range strings.Split(name, "/") {
			for _, vague := range []string{"util", "utils", "helper", "helpers", "common", "manager", "misc"} {
				if segment == vague {
					t.Errorf("%s: call it after what it knows", name)
				}
			}
		}
	}
}

// Foreign packages that must not come into the program, and why. A name that ends with a slash stands for everything
// below it too.
var foreign = map[string]string{
	"github.com/fluxcd/pkg/kustomize/":           "it resets kustomize's schema for each build; tests hold our result against it",
	"github.com/fluxcd/pkg/envsubst/":            "our own evaluator tells positions; tests hold it against this one",
	"sigs.k8s.io/controller-runtime/pkg/client":  "a renderer needs no Kubernetes client",
	"k8s.io/client-go/kubernetes":                "a renderer needs no Kubernetes client",
	"k8s.io/client-go/informers/":                "a renderer needs no Kubernetes client",
	"cloud.google.com/":                          "no cloud SDK: keys are age keys",
	"google.golang.org/api/":                     "no cloud SDK: keys are age keys",
	"google.golang.org/grpc/":                    "nothing is served or called",
	"github.com/aws/":                            "no cloud SDK: keys are age keys",
	"github.com/Azure/":                          "no cloud SDK: keys are age keys",
	"github.com/AzureAD/":                        "no cloud SDK: keys are age keys",
	"github.com/huaweicloud/":                    "no cloud SDK: keys are age keys",
	"github.com/hashicorp/vault/":                "no cloud SDK: keys are age keys",
	"github.com/getsops/sops/v3/pgp":             "no OpenPGP: keys are age keys (go-git brings OpenPGP for signatures of commits)",
	"github.com/getsops/sops/v3/keyservice/":     "it brings every cloud's SDK; internal/sops opens data keys itself",
	"github.com/rogpeppe/go-internal/testscript": "it is for tests",
	"testing/": "it is for tests",
}

// The program contains nothing of the above, not even through others.
func TestForeignPackages(t *testing.T) {
	var found []string
	for _, p := range list(t, "-deps", "./cmd/tidegate") {
		for name, why := range foreign {
			if p.ImportPath == strings.TrimSuffix(name, "/") || strings.HasSuffix(name, "/") && strings.HasPrefix(p.ImportPath, name) {
				found = append(found, p.ImportPath+": "+why)
			}
		}
	}
	sort.Strings(found)
	for _, f := range found {
		t.Errorf("the program contains %s", f)
	}
}

// Outside of tests and of the judge nothing of ours imports Flux's build packages or a Kubernetes client, also where
// the program does not reach it.
func TestOurImports(t *testing.T) {
	for _, p := range list(t, "./...") {
		from, _ := ours(p.ImportPath)
		if room(from) == "internal/oracle" {
			continue
		}
		for _, imp := range p.Imports {
			for _, no := range []string{"github.com/fluxcd/pkg/kustomize", "github.com/fluxcd/pkg/envsubst", "sigs.k8s.io/controller-runtime"} {
				if imp == no || strings.HasPrefix(imp, no+"/") {
					t.Errorf("%s imports %s: only tests and internal/oracle may", from, imp)
				}
			}
		}
	}
}
