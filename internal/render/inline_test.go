package render

import (
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/tidegate/tidegate/internal/subst"
)

// holdInline substitutes in an object on both ways and compares: the shortcut must be what the hops give, or decline.
func holdInline(t *testing.T, doc string, vars map[string]string) (taken bool) {
	t.Helper()
	n, err := yaml.Parse(doc)
	if err != nil || n.YNode().Kind != yaml.MappingNode {
		return false
	}
	text, tree, err := encodeTree(n, nil)
	if err != nil || tree == nil {
		return false
	}
	o := &BuiltObject{Text: text, Display: text, stable: true}
	o.slots, o.inline = findSlots(tree, nil)
	s := &substitution{vars: &Variables{values: map[string]Value{}}}
	for k, v := range vars {
		s.vars.values[k] = Value{Text: v}
	}
	opts := subst.Options{NegativeLength: true}
	if !s.inline(o, opts) {
		return false
	}
	res, err := subst.Eval(text, s.vars.lookup(false), opts)
	if err != nil {
		t.Fatalf("the shortcut takes what does not evaluate: %v\n%s", err, doc)
	}
	want, err := reparseLong(res.Text)
	if err != nil {
		t.Fatalf("the shortcut takes what the hops refuse: %v\n%s", err, res.Text)
	}
	if res.Text != want.text {
		t.Fatalf("the shortcut gives\n%s\nthe hops give\n%s", res.Text, want.text)
	}
	return true
}

func TestInline(t *testing.T) {
	values := []string{"x", "8080", "0123", "true", "yes", "1.10", "", "a #b", "a: b", "- x", "*x", "&a", "!x", "'8080'", "10.0.0.1",
		"52:54:00:12:34:56", "22:22", "2026-01-02", "{a: 1}", "[1]", "null", "~", "a:", "http://x/y?z", "x y", "1e3", "0x1F", "+1", "12345678901234567890",
		"9007199254740993", "-5", "-", "---", "...", "%x", "@x", "|", ">", "#", "a#b", "=", "<<", "y", "n", "ä", "a\u00a0b", "a\u2028b", "\\", `"`, "a,b", "x]", "}", ":", "a::b", ".5", "1_000", "0b1", "0o7", ".inf", "NaN", "1.", "é", "$x", "$${x}"}
	docs := []string{
		"a: ${V}\n", "a: [\"${V}\"]\n", "a:\n- b: ${V}\n", "a: pre${V}\n", "a: ${V}post\n", "a: \"${V}:${V}\"\n", "a: \"${V} x\"\n", "a: |\n  ${V}\n",
		"${V}: a\n", "metadata: {name: \"${V}\"}\n", "a: {b: {c: \"http://${V}/\"}}\n", "a: \"#${V}\"\n", "a: ${V:-d}\n", "a: \"${V:-\"\nb: \"}\"\n", "a: $${V}\n", "a: 0${V}\n", "a: \"- ${V}\"\n", "a: x\nb: ${V}\nc: y\n",
	}
	taken := 0
	for _, doc := range docs {
		for _, v := range values {
			if holdInline(t, doc, map[string]string{"V": v}) {
				taken++
			}
		}
	}
	if taken < 100 {
		t.Fatalf("the shortcut was taken %d times: the test tests nothing", taken)
	}
	for _, doc := range []string{"${V}: a\n", "metadata: {name: \"${V}\"}\n", "a: \"${V} x\"\n", "a: |\n  ${V}\n", "a: \"${V:-\"\nb: \"}\"\n"} {
		if holdInline(t, doc, map[string]string{"V": "x"}) {
			t.Errorf("the shortcut is taken for %q", doc)
		}
	}
}

func FuzzInline(f *testing.F) {
	f.Add("a: ${V}\nb: ['${V}']\n", "x")
	f.Add("a: {b: \"p${V}:${W}\"}\n", "0123")
	f.Add("a:\n- ${V}\n- b: ${V:-z}\n", "a:b")
	f.Fuzz(func(t *testing.T, doc, v string) {
		if len(doc) > 4096 || len(v) > 512 || strings.Contains(doc, "\x00") {
			return
		}
		holdInline(t, doc, map[string]string{"V": v, "W": "w", "A": strings.ToUpper(v)})
	})
}
