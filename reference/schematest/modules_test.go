package schematest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The newest patch of the minor version that go.mod's k8s.io modules belong to.
const kubernetes = "k8s.io/kubernetes@v1.36.5"

// definitions are the modules that hold CustomResourceDefinitions as YAML files. Chart versions in reference/platform say
// the module's version where the two are counted alike; the comment says where another place does.
var definitions = []struct{ module, glob string }{
	{"github.com/cert-manager/cert-manager@v1.21.1", "deploy/crds/*.yaml"},
	{"github.com/cilium/cilium@v1.20.1", "pkg/k8s/apis/cilium.io/client/crds/*/*.yaml"},
	// The charts count their own versions: these are the operators of charts 0.29.0 and 0.7.1.
	{"github.com/cloudnative-pg/cloudnative-pg@v1.30.0", "config/crd/bases/*.yaml"},
	{"github.com/cloudnative-pg/plugin-barman-cloud@v0.14.0", "config/crd/bases/*.yaml"},
	// The controllers of Flux 2.9, which flux.DefaultVersion names.
	{"github.com/fluxcd/helm-controller@v1.6.4", "config/crd/bases/*.yaml"},
	{"github.com/fluxcd/kustomize-controller@v1.9.6", "config/crd/bases/*.yaml"},
	{"github.com/fluxcd/source-controller@v1.9.6", "config/crd/bases/*.yaml"},
	{kubevirt, "manifests/generated/kv-resource.yaml"},
	// crdsFrom in reference/tidegate.yaml.
	{"sigs.k8s.io/gateway-api@v1.6.1", "config/crd/standard/*.yaml"},
}

// Two keep YAML as texts in a Go file: CDI all of its definitions, KubeVirt the schemas of all kinds but its operator's.
const (
	kubevirt     = "kubevirt.io/kubevirt@v1.9.0"
	kubevirtFile = "pkg/virt-operator/resource/generate/components/validations_generated.go"
	cdi          = "kubevirt.io/containerized-data-importer@v1.65.0"
	cdiFile      = "pkg/operator/resources/crds_generated.go"
)

// modules gives the directory of each module's files. When none can be had there is nothing to hold against, and the test
// is skipped, but never in CI. When some can, a wrong version is likelier than a missing network.
func modules(t *testing.T) map[string]string {
	t.Helper()
	names := []string{kubernetes, cdi}
	for _, d := range definitions {
		names = append(names, d.module)
	}
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"mod", "download", "-json"}, names...)...)
	cmd.Dir = t.TempDir() // outside of every module: go.mod and go.sum are neither read nor written
	cmd.Env = append(os.Environ(), "GO111MODULE=on", "GOFLAGS=", "GOWORK=off")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, runErr := cmd.Output() // that it failed is in each module's Error, too
	dirs, failed := map[string]string{}, []string{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var m struct{ Path, Version, Dir, Error string }
		if err := dec.Decode(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("what go mod download prints cannot be read: %v\n%s", err, out)
		}
		if m.Error != "" || m.Dir == "" {
			failed = append(failed, m.Path+"@"+m.Version+": "+m.Error)
			continue
		}
		dirs[m.Path+"@"+m.Version] = m.Dir
	}
	reason := strings.TrimSpace(strings.Join(failed, "\n"))
	switch {
	case len(dirs) == 0 && len(failed) == 0:
		t.Fatalf("go mod download: %v\n%s", runErr, stderr.String())
	case len(dirs) == 0 && os.Getenv("CI") == "":
		t.Skip("no module can be downloaded, so there is no schema to hold objects against:\n" + reason)
	case len(failed) > 0:
		t.Fatal("modules with schemas cannot be downloaded:\n" + reason)
	}
	for _, n := range names {
		if dirs[n] == "" {
			t.Fatalf("go mod download says nothing of %s", n)
		}
	}
	return dirs
}

// definition is the YAML text of a CustomResourceDefinition, and the module that it is from.
type definition struct{ source, text string }

func allDefinitions(t *testing.T, dirs map[string]string) (out []definition) {
	t.Helper()
	for _, d := range definitions {
		files, err := filepath.Glob(filepath.Join(dirs[d.module], d.glob))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no %s: %v", d.module, d.glob, err)
		}
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range strings.Split(string(data), "\n---\n") {
				out = append(out, definition{d.module, text})
			}
		}
	}
	for _, text := range texts(t, filepath.Join(dirs[cdi], cdiFile)) {
		out = append(out, definition{cdi, text})
	}
	// KubeVirt's operator puts the rest around the schema in Go (crds.go, NewVirtualMachineCrd).
	schema, ok := texts(t, filepath.Join(dirs[kubevirt], kubevirtFile))["virtualmachine"]
	if !ok {
		t.Fatalf("%s has no schema of virtualmachine in %s", kubevirt, kubevirtFile)
	}
	indented := "      " + strings.ReplaceAll(strings.TrimRight(schema, "\n"), "\n", "\n      ")
	return append(out, definition{kubevirt, fmt.Sprintf(virtualMachine, indented)})
}

const virtualMachine = `kind: CustomResourceDefinition
spec:
  group: kubevirt.io
  names: {kind: VirtualMachine}
  versions:
  - name: v1
    served: true
    schema:
%s
`

// texts gives the values of a Go file's map of texts. The file is read, not compiled: the module's own requirements are
// not wanted.
func texts(t *testing.T, file string) map[string]string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
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
		return a + b, e.Op == token.ADD && ok1 && ok2
	}
	return "", false
}
