package config

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	got, err := Parse(FileName, []byte(`# comment
apiVersion: tidegate.dev/v1alpha1
assumes: [cluster/crds.yaml]
environments:
  prod:
    path: ./clusters/prod
    root: k8s
    fluxVersion: v2.8.3
    assumes: [cluster/prod.yaml]
    vars: {PORT: "8080", EMPTY: "", TEXT: a text}
    lan: 192.168.2.0/24
    controlPlaneVIP: 192.168.2.9
    nodes: [{name: n1, address: "fd00::1"}]
  dev: {path: clusters/dev}
knobs: {source: ConfigMap flux-system/cluster-vars, lan: [LAN]}
bootstrap: {crds: [a.b], secrets: [x/y], cilium: {values: v.yaml, mirrors: HelmRelease kube-system/cilium}}
sensitivePaths: ["clusters/**"]
`))
	if err != nil {
		t.Fatal(err)
	}
	want := Environment{
		Path: "./clusters/prod", Root: "k8s", FluxVersion: "v2.8.3", Assumes: []string{"cluster/prod.yaml"},
		Vars: map[string]string{"PORT": "8080", "EMPTY": "", "TEXT": "a text"},
		LAN:  "192.168.2.0/24", ControlPlaneVIP: "192.168.2.9", Nodes: []Node{{"n1", "fd00::1"}},
	}
	if !reflect.DeepEqual(got.Environments["prod"], want) {
		t.Errorf("got %+v", got.Environments["prod"])
	}
	if names := got.Names(); !reflect.DeepEqual(names, []string{"dev", "prod"}) {
		t.Errorf("names %v", names)
	}
	if got.Knobs.LAN[0] != "LAN" || got.Bootstrap.Cilium.Values != "v.yaml" || got.Bootstrap.Secrets[0] != "x/y" || got.SensitivePaths[0] != "clusters/**" || got.Assumes[0] != "cluster/crds.yaml" {
		t.Errorf("got %+v", got)
	}
}

// A file that says nothing is good.
func TestEmpty(t *testing.T) {
	for _, text := range []string{"", "\n", "# nothing yet\n", "---\n", "null\n", "{}", "environments:\n", "environments: {prod: }"} {
		if c, err := Parse(FileName, []byte(text)); err != nil || c == nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// The message names the file, and the line or the field.
func TestRefused(t *testing.T) {
	env := func(s string) string { return "environments:\n  prod:\n    " + s + "\n" }
	for _, c := range []struct{ text, want string }{
		{"environment: {}", "line 1: field environment not found"},
		{env("paht: x"), "line 3: field paht not found"},
		{env("Path: x"), "line 3: field Path not found"},
		{"knobs:\n  source: x\n  wan: [A]", "line 3: field wan not found"},
		{env("path: [a]"), "line 3: cannot unmarshal"},
		{"environments: [prod]", "line 1: cannot unmarshal"},
		{"environments: prod", "line 1: cannot unmarshal"},
		{"- a", "line 1: cannot unmarshal"},
		{"a: [", "tidegate.yaml: "},
		{"a: b\n\tc: d", "tidegate.yaml: "},
		{env("path: a\n    path: b"), "already defined"},
		{"apiVersion: tidegate.dev/v2", `apiVersion is "tidegate.dev/v2"; this tidegate reads "tidegate.dev/v1alpha1"`},
		{"apiVersion: tidegate.dev/v1alpha1\n---\nenvironments: {}", "more than one YAML document"},
		{env("path: /etc"), `environments.prod.path: "/etc" is not inside the repository`},
		{env("path: .."), "environments.prod.path"},
		{env("path: a/../.."), "environments.prod.path"},
		{env("path: ../other"), "environments.prod.path"},
		{env("root: ../k8s"), `environments.prod.root: "../k8s" is not inside`},
		{env("fluxVersion: newest"), `environments.prod.fluxVersion: "newest" is not a Flux version`},
		{env("fluxVersion: '1.2'"), "environments.prod.fluxVersion: Flux 1.2 is older"},
		{env("lan: 192.168.1.0"), "environments.prod.lan"},
		{env("controlPlaneVIP: gateway"), "environments.prod.controlPlaneVIP"},
		{env("nodes: [{name: a, address: 10.0.0.1}, {name: b, address: 10.0.0.256}]"), "environments.prod.nodes[1].address"},
		{"environments: {'a/b': {path: x}}", "environments.a/b: a name is made of"},
		{"environments: {'..': {path: x}}", "a name is made of"},
		{"environments: {'': {path: x}}", "a name is made of"},
		{env("vars: {A: a, P: 8080}"), "line 3: environments.prod.vars.P is no string: quote it"},
		{env("vars: {P: 0123}"), "vars.P is no string"},
		{env("vars: {P: true}"), "vars.P is no string"},
		{env("vars: {P: ~}"), "vars.P is no string"},
		{env("vars: {P: 1.10}"), "vars.P is no string"},
		{env("vars: {P: [a]}"), "cannot unmarshal"},
		{"environments:\n  a: &x {vars: {P: &n 7}}\n  b: {vars: {Q: *n}}", "environments.a.vars.P is no string"},
	} {
		got, err := Parse(FileName, []byte(c.text))
		if err == nil {
			t.Errorf("%q: taken as %+v", c.text, got)
		} else if !strings.HasPrefix(err.Error(), FileName+": ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
}

// Of several faults the first by name is reported, always.
func TestDeterministic(t *testing.T) {
	first := ""
	for range 50 {
		_, err := Parse(FileName, []byte("environments: {b: {path: /x, root: /y}, a: {path: ../x, root: ../y}}"))
		if err == nil {
			t.Fatal("taken")
		}
		if first == "" {
			first = err.Error()
		}
		if err.Error() != first || !strings.Contains(first, "environments.a.path") {
			t.Fatalf("%q, and then %q", first, err)
		}
	}
}

// Files made to cost time or memory end in a message, soon.
func TestHostile(t *testing.T) {
	bomb := "assumes: [&a0 x]\n"
	for i := 1; i < 30; i++ {
		bomb += fmt.Sprintf("k%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9), ","))
	}
	for name, text := range map[string]string{
		"large":     "# " + strings.Repeat("x", MaxSize),
		"aliases":   bomb,
		"deep":      strings.Repeat("[", 200_000),
		"deep maps": "environments: " + strings.Repeat("{a: ", 100_000),
		"itself":    "environments: &a {x: {vars: *a}}",
		"binary":    "\x00\x01\x02\xff",
		"tags":      "environments: !!binary aGk=",
	} {
		start := time.Now()
		if _, err := Parse(FileName, []byte(text)); err == nil {
			t.Errorf("%s: taken", name)
		} else if len(err.Error()) > 4096 {
			t.Errorf("%s: a message of %d bytes", name, len(err.Error()))
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%s: took %s", name, took)
		}
	}
}

func TestValidName(t *testing.T) {
	for name, want := range map[string]bool{
		"prod": true, "a": true, "eu-west.1_b": true, "2": true, strings.Repeat("a", 63): true,
		"": false, ".": false, "..": false, "-a": false, "a-": false, "a/b": false, "a b": false, "ä": false, "a\n": false, strings.Repeat("a", 64): false,
	} {
		if ValidName(name) != want {
			t.Errorf("%q: want %t", name, want)
		}
	}
}

// The files that people copy from are good: that of the reference platform, and every example in the documents.
func TestExamples(t *testing.T) {
	data, err := os.ReadFile("../../reference/tidegate.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c, err := Parse(FileName, data)
	if err != nil || len(c.Environments) != 2 {
		t.Errorf("the reference platform: %v", err)
	}
	documents, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(documents, "../../README.md") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range strings.Split(string(text), "```yaml\n")[1:] {
			example, _, _ := strings.Cut(block, "```")
			if strings.Contains(example, "environments:") || strings.Contains(example, APIVersion) {
				if _, err := Parse(filepath.Base(name), []byte(example)); err != nil {
					t.Errorf("%v\n%s", err, example)
				}
			}
		}
	}
}

// FuzzParse: any bytes are taken or refused in bounded time, with the file's name, and what is taken is within bounds.
func FuzzParse(f *testing.F) {
	f.Add("environments: {a: {path: x, vars: {A: b}}}")
	f.Add("environments: &a {x: {vars: *a}}")
	f.Add("a: [")
	f.Add("environments: {a: {path: '..'}}")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<12 {
			return
		}
		c, err := Parse(FileName, []byte(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), FileName+": ") {
				t.Fatalf("no file name: %v", err)
			}
			return
		}
		for name, e := range c.Environments {
			if !ValidName(name) || strings.HasPrefix(e.Path, "/") || strings.HasPrefix(e.Path, "../") {
				t.Fatalf("%q: %+v", name, e)
			}
		}
	})
}
