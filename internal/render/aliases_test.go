package render

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/oracle"
)

// laughs is a document whose aliases stand for 10^n values.
func laughs(n int) string {
	text := cmA + "x:\n- &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < n; i++ {
		text += fmt.Sprintf("- &a%d [%s]\n", i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	return text
}

const selfAlias = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nx: &x\n  y: *x\n"

// TestAliasesDoNotKill: a file that takes kustomize down, and the process with it, is a failure of its unit. There is
// no judge to ask: Flux's own packages do not come back.
func TestAliasesDoNotKill(t *testing.T) {
	indented := func(text string) string { return strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ") + "\n" }
	for bomb, text := range map[string]string{
		"itself":        selfAlias,
		"itself, flow":  cmA + "x: &x [*x, *x]\n",
		"itself, wide":  cmA + "x: &x {a: *x, b: [*x, {c: *x}]}\n",
		"each other":    cmA + "x: &x {a: &y {b: *x, c: *y}}\n",
		"merge":         cmA + "x: &x\n  <<: *x\n",
		"second":        cmA + "---\n" + strings.Replace(selfAlias, "name: a", "name: b", 1),
		"laughs":        laughs(9),
		"many laughs":   laughs(60),
		"in a key":      cmA + "x: &x\n  ? [*x]\n  : v\n",
		"odd name":      cmA + "x: &_-1 [ *_-1]\n",
		"no blank":      cmA + "x: {&x: {a: *x}}\ny: &y [*y,*y]\n",
		"deep by chain": cmA + "x:\n- &b0 " + strings.Repeat("[", 90) + strings.Repeat("]", 90) + "\n" + deepChain(200, 90),
	} {
		for spot, c := range map[string]struct {
			files mapFiles
			spec  string
		}{
			"generated":          {mapFiles{"app/cm.yaml": text}, ""},
			"resource":           {mapFiles{"app/kustomization.yaml": "resources: [cm.yaml]\n", "app/cm.yaml": text}, ""},
			"nested":             {mapFiles{"app/kustomization.yaml": "resources: [../b]\n", "b/kustomization.yml": "resources: [cm.yaml]\n", "b/cm.yaml": text}, ""},
			"patch file":         {mapFiles{"app/kustomization.yaml": "resources: [cm.yaml]\npatches: [{path: p.yaml}]\n", "app/cm.yaml": cmA, "app/p.yaml": text}, ""},
			"strategic merge":    {mapFiles{"app/kustomization.yaml": "resources: [cm.yaml]\npatchesStrategicMerge: [p.yaml]\n", "app/cm.yaml": cmA, "app/p.yaml": text}, ""},
			"inline patch":       {mapFiles{"app/kustomization.yaml": "resources: [cm.yaml]\npatches:\n- patch: |\n    " + indented(text), "app/cm.yaml": cmA}, ""},
			"inline transformer": {mapFiles{"app/kustomization.yaml": "resources: [cm.yaml]\ntransformers:\n- |\n    " + indented(text), "app/cm.yaml": cmA}, ""},
			"transformer":        {mapFiles{"app/kustomization.yaml": "resources: [cm.yaml]\ntransformers: [t.yaml]\n", "app/cm.yaml": cmA, "app/t.yaml": "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: x}\npatch: |\n    " + indented(text)}, ""},
			"spec.patches":       {mapFiles{"app/cm.yaml": cmA}, "patches:\n- patch: |\n    " + indented(text)},
			"beside another":     {mapFiles{"app/kustomization.yaml": "resources: [cm.yaml]\npatches:\n- patch: |\n    " + indented(text), "app/kustomization.yml": "resources: [cm.yaml]\n", "app/cm.yaml": cmA}, ""},
		} {
			t.Run(bomb+"/"+spot, func(t *testing.T) {
				out := (&Builder{Flux: behaviour(t, "2.9")}).Render(Input{Files: c.files, Dir: "app", Spec: unitOf(t, c.spec)})
				if len(out.Failures) != 1 || len(out.Objects) > 0 {
					t.Fatalf("%d objects, failures %+v", len(out.Objects), out.Failures)
				}
				f := out.Failures[0]
				if f.Code != model.CodeBuild && f.Code != model.CodeGenerate || !strings.Contains(f.Message, "contains itself") && !strings.Contains(f.Message, "aliases ") {
					t.Fatalf("the failure is %+v", f)
				}
			})
		}
	}
}

// deepChain nests aliases in each other so that depth adds up.
func deepChain(n, depth int) string {
	var b strings.Builder
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, "- &b%d %s*b%d%s\n", i, strings.Repeat("[", depth), i-1, strings.Repeat("]", depth))
	}
	return b.String()
}

// TestAliasesThatAreFine build as Flux builds them.
func TestAliasesThatAreFine(t *testing.T) {
	files := mapFiles{
		"app/a.yaml":             "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: &d\n  k: &v v\n  l: *v\nbinaryData: *d\n",
		"app/b.yaml":             "x: &x {a: b}\napiVersion: example.org/v1\nkind: T\nmetadata: {name: b}\nspec:\n  <<: *x\n  c: [*x, *x]\n",
		"app/c.yaml":             laughs(3),
		"app/script.sh":          "a && b; c *b &\n",
		"app/kustomization.yaml": "resources: [a.yaml, b.yaml, c.yaml]\nnamespace: &n prod\nnamePrefix: *n\nconfigMapGenerator: [{name: s, files: [script.sh]}]\n",
	}
	files["app/c.yaml"] = strings.Replace(files["app/c.yaml"], "name: a", "name: c", 1)
	ks := unitOf(t, "postBuild: {substitute: {A: b}}")
	a, err := oracle.Open(files.write(t))
	if err != nil {
		t.Fatal(err)
	}
	want, err := a.Build(context.Background(), oracle.Unit{Object: untyped(t, ks).Object}, nil, oracle.Options{Strict: true})
	if closeErr := a.Close(); err != nil || closeErr != nil {
		t.Fatal(err, closeErr)
	}
	out := (&Builder{Flux: behaviour(t, "2.9")}).Render(Input{Files: files, Dir: "app", Spec: ks, Strict: true})
	if got := streamOf(out.Objects); got != string(want) {
		t.Fatalf("%s\n%+v", firstDifference(got, string(want)), out.Failures)
	}
}

// FuzzAliases: the check comes back, and what it lets through does not kill kustomize.
func FuzzAliases(f *testing.F) {
	for _, s := range []string{selfAlias, laughs(5), laughs(20), cmA + "x: &x [*x]\n", cmA + "x: &a b\ny: *a\n", "&a [*a]", "&\x00a [*\x00a]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<12 || checkAliases(data) != nil {
			t.Skip("refused")
		}
		if _, err := resourcesOf(data); err != nil {
			t.Skip("no objects")
		}
	})
}
