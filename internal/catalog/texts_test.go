package catalog_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/tidegate/tidegate/internal/catalog"
)

// Whatever a text says, it arrives in the manifests as it is written, or is refused.
func TestTextsArrive(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	parts := []string{"a", " ", "  ", "\t", "\n", "\n\n", "---", "...", "#", ": ", "- ", "'", "\"", "yes", "0o7", "1e3", "~", "null", "{", "}", "[", "]", "|", ">", "&a", "*a", "!x", "%", "@", "`",
		"${A}", "$${B}", "$(C)", "\\", "\\n", "é", "日本", "\U0001f600", "\u00a0", "=", "<<", "kind: Evil", "\r", "\x00", "\x7f", "\u0085", "\u2028", "\ufeff", "\uffff"}
	text := func() string {
		var b strings.Builder
		for range r.IntN(7) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		return b.String()
	}
	arrived := 0
	for range 2500 {
		value, file, about, arg := text(), text(), text(), text()
		doc, err := json.Marshal(map[string]any{
			"apiVersion": "tidegate.dev/v1alpha1", "name": "x", "image": "example.net/x:1", "ports": map[string]any{"http": 80}, "probe": map[string]any{"port": "http"},
			"resources": map[string]any{"cpu": "1", "memory": "1Gi"}, "about": about, "env": map[string]any{"A": value}, "files": map[string]any{"/etc/a.txt": file}, "args": []string{arg},
		})
		if err != nil {
			t.Fatal(err)
		}
		files := start.with(nil)
		files["catalog/x.yaml"] = string(doc)
		p, problems, err := catalog.Render(files, tree{}, settings, false)
		if err != nil {
			t.Fatal(err)
		}
		if len(problems) > 0 {
			continue
		}
		arrived++
		out := files.with(p.Changes)
		got := map[string]string{}
		for _, o := range built(t, out, "apps/wave-0/x") {
			switch o["kind"] {
			case "ConfigMap":
				got["file"] = fmt.Sprint(o["data"].(map[string]any)["a.txt"])
			case "Deployment":
				c := o["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)
				v := c["env"].([]any)[0].(map[string]any)["value"]
				if v == nil {
					v = ""
				}
				got["value"], got["arg"] = fmt.Sprint(v), fmt.Sprint(c["args"].([]any)[0])
			}
		}
		for name, want := range map[string]string{"file": file, "value": value, "arg": arg} {
			if got[name] != want {
				t.Fatalf("%s %s arrives as %s", name, strconv.Quote(want), strconv.Quote(got[name]))
			}
		}
	}
	if arrived < 400 {
		t.Errorf("only %d were taken", arrived)
	}
}

// built gives the objects of a folder as kustomize builds it, and as Flux reads them then.
func built(t *testing.T, files tree, dir string) (out []map[string]any) {
	t.Helper()
	fs := filesys.MakeFsInMemory()
	for p, s := range files {
		if err := fs.WriteFile(path.Join("/", p), []byte(s)); err != nil {
			t.Fatal(err)
		}
	}
	m, err := krusty.MakeKustomizer(&krusty.Options{LoadRestrictions: types.LoadRestrictionsNone, PluginConfig: types.DisabledPluginConfig()}).Run(fs, "/"+dir)
	if err != nil {
		t.Fatalf("%v\n%q", err, files["catalog/x.yaml"])
	}
	for _, res := range m.Resources() {
		text, err := res.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		var o map[string]any
		if err := yaml.Unmarshal(text, &o); err != nil {
			t.Fatal(err)
		}
		out = append(out, o)
	}
	return out
}

// A manifest that would not build is refused, and said where it breaks.
func TestManifests(t *testing.T) {
	for text, want := range map[string]string{
		"kind: ConfigMap\n":                        "catalog/x/m.yaml:1: a document has no apiVersion",
		"\n\n# only this\n":                        "catalog/x/m.yaml:1: it is empty",
		"\ufeffapiVersion: v1\n":                   "byte order mark",
		"%YAML 1.2\n---\napiVersion: v1\n":         "a directive",
		good + "---\n{\n":                          "it is no YAML",
		good + "---\nkind: x\n":                    "catalog/x/m.yaml:6: a document has no apiVersion",
		good + "---\n" + good[:len(good)-5] + "\n": "",
	} {
		files := start.over("-- catalog/x.yaml --\n" + app("x", "manifests: [m.yaml]"))
		files["catalog/x/m.yaml"] = text
		_, problems, err := catalog.Render(files, tree{}, settings, false)
		got := ""
		for _, p := range problems {
			got += p.Message
		}
		if err != nil || (want == "") != (len(problems) == 0) || !strings.Contains(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

const good = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: more-1\n"
