package schematest

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Modules that hold schemas, and where in them.
const kubernetes = "k8s.io/kubernetes@v1.36.4"

var definitions = []struct{ module, glob string }{
	{"github.com/cert-manager/cert-manager@v1.21.1", "deploy/crds/*.yaml"},
	{"github.com/cloudnative-pg/cloudnative-pg@v1.30.0", "config/crd/bases/*.yaml"},
	{"github.com/cloudnative-pg/plugin-barman-cloud@v0.14.0", "config/crd/bases/*.yaml"},
	{"github.com/cilium/cilium@v1.20.1", "pkg/k8s/apis/cilium.io/client/crds/*/*.yaml"},
	{"sigs.k8s.io/gateway-api@v1.6.1", "config/crd/standard/*.yaml"},
	{"github.com/fluxcd/kustomize-controller@v1.9.6", "config/crd/bases/*.yaml"},
	{"github.com/fluxcd/source-controller@v1.9.6", "config/crd/bases/*.yaml"},
}

// KubeVirt and CDI keep theirs as texts in Go files.
const (
	kubevirt     = "kubevirt.io/kubevirt@v1.9.0"
	kubevirtFile = "pkg/virt-operator/resource/generate/components/validations_generated.go"
	cdi          = "kubevirt.io/containerized-data-importer@v1.65.0"
	cdiFile      = "pkg/operator/resources/crds_generated.go"
)

// module gives the directory of a module's files. Without a module proxy there is nothing to hold against: then the test is
// skipped, but never in CI.
func module(t *testing.T, name string) string {
	t.Helper()
	cmd := exec.Command("go", "mod", "download", "-json", name)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	out, err := cmd.Output()
	var m struct{ Dir, Error string }
	if json.Unmarshal(out, &m) != nil || err != nil || m.Error != "" {
		message := fmt.Sprintf("%s cannot be downloaded: %v %s", name, err, m.Error)
		if os.Getenv("CI") == "" {
			t.Skip(message)
		}
		t.Fatal(message)
	}
	return m.Dir
}

// texts gives the values of a Go file's map of texts.
func texts(t *testing.T, file string) map[string]string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		kv, ok := n.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		name, ok1 := constant(kv.Key)
		text, ok2 := constant(kv.Value)
		if ok1 && ok2 {
			out[name] = text
		}
		return true
	})
	if len(out) < 5 {
		t.Fatalf("%s holds %d texts", file, len(out))
	}
	return out
}

// constant gives the text that literals, and sums of them, are.
func constant(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		return s, err == nil
	case *ast.BinaryExpr:
		a, ok1 := constant(e.X)
		b, ok2 := constant(e.Y)
		return a + b, ok1 && ok2
	}
	return "", false
}

// crdTexts gives every CustomResourceDefinition as YAML.
func crdTexts(t *testing.T) (out []string) {
	t.Helper()
	for _, d := range definitions {
		files, err := filepath.Glob(filepath.Join(module(t, d.module), d.glob))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no %s: %v", d.module, d.glob, err)
		}
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, strings.Split(string(data), "\n---\n")...)
		}
	}
	for _, text := range texts(t, filepath.Join(module(t, cdi), cdiFile)) {
		out = append(out, text)
	}
	// KubeVirt has the schemas alone.
	for name, text := range texts(t, filepath.Join(module(t, kubevirt), kubevirtFile)) {
		kind := map[string]string{"kubevirt": "KubeVirt", "virtualmachine": "VirtualMachine"}[name]
		if kind == "" {
			continue
		}
		indented := "      " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n      ")
		out = append(out, fmt.Sprintf("kind: CustomResourceDefinition\nspec:\n  group: kubevirt.io\n  names: {kind: %s}\n  versions:\n  - name: v1\n    schema:\n%s\n", kind, indented))
	}
	return out
}
