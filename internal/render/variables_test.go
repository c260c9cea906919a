package render

import (
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/flux"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/sops"
)

// secretVars is a Secret whose values come from ciphertext, and a ConfigMap that is public.
func secretVars(kind, namespace, name string) *DataSource {
	switch kind + "/" + name {
	case "Secret/vars":
		return &DataSource{Data: map[string]Value{
			"S": {Text: password, Secret: true}, "N": {Text: number, Secret: true}, "COLON": {Text: password + ": x: ", Secret: true}, "MAP": {Text: "{a: " + password + "}", Secret: true}, "EMPTY": {Secret: true},
		}}
	case "ConfigMap/vars":
		return &DataSource{Data: map[string]Value{"P": {Text: "public"}}}
	}
	return nil
}

const fromVars = "postBuild: {substituteFrom: [{kind: Secret, name: vars}, {kind: ConfigMap, name: vars}]}"

// TestSecretVariables: a variable that a decrypted Secret brings stays as it is written in what is shown.
func TestSecretVariables(t *testing.T) {
	for _, c := range []struct{ name, body, yaml, display string }{
		{"value", "data:\n  k: ${S}\n", "k: " + password, "k: ${S}"},
		{"quoted", "data:\n  k: \"${S}\"\n", "k: " + password, "k: ${S}"},
		{"number", "data:\n  k: ${N}\n", "k: " + number, "k: ${N}"},
		{"within", "data:\n  k: a ${S} b\n", "k: a " + password + " b", "k: a ${S} b"},
		{"beside a public one", "data:\n  k: ${P}-${S}\n", "k: public-" + password, "k: public-${S}"},
		{"block", "data:\n  k: |\n    a ${S}\n    ${P}\n", "    a " + password + "\n    public", "    a ${S}\n    public"},
		{"key", "data:\n  ${S}: x\n", password + ": x", "${S}: x"},
		{"label", "metadata:\n  name: a\n  labels:\n    l: ${S}\n", "l: " + password, "l: ${S}"},
		{"name", "metadata:\n  name: a-${S}\n", "name: a-" + password, "name: a-${S}"},
		{"namespace", "metadata:\n  name: a\n  namespace: ${S}\n", "namespace: " + password, "namespace: ${S}"},
		{"nested default", "data:\n  k: ${P:-${S}}\n", "k: public", "k: public"},
		{"default that counts", "data:\n  k: ${EMPTY:-${S}}\n", "k: " + password, "k: ${EMPTY:-${S}}"},
		{"cut", "data:\n  k: ${S:0:7}\n", "k: hunter2", "k: ${S:0:7}"},
		{"length", "data:\n  k: x${#S}\n", "k: x21", "k: x${#S}"},
		{"replaced", "data:\n  k: ${S/-/_}\n", "k: hunter2_correct-horse", "k: ${S/-/_}"},
		{"map", "spec: ${MAP}\n", "spec:\n  a: " + password, "spec: ${MAP}"},
		{"escaped", "data:\n  k: $${S}\n", "k: ${S}", "k: ${S}"},
		{"public alone", "data:\n  k: ${P}\n", "k: public", "k: public"},
		{"opted out", "metadata:\n  name: a\n  labels:\n    kustomize.toolkit.fluxcd.io/substitute: disabled\n    l: ${S}\n", "l: ${S}", "l: ${S}"},
		{"unreadable when hidden", "metadata:\n  name: a-${S}\nspec:\n  k: \"${S:-a: b}\"\n", "k: " + password, "a-"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := cmA + c.body
			if strings.HasPrefix(c.body, "metadata") {
				text = "apiVersion: v1\nkind: ConfigMap\n" + c.body
			}
			out := (&Builder{Flux: behaviour(t, "2.9")}).Render(Input{Files: mapFiles{"app/cm.yaml": text}, Dir: "app", Spec: unitOf(t, fromVars), Lookup: secretVars, Strict: true})
			if len(out.Objects) != 1 {
				t.Fatalf("%+v", out.Failures)
			}
			holdSecret(t, out)
			o := out.Objects[0]
			if !strings.Contains(o.YAML, c.yaml) || !strings.Contains(o.Display, c.display) {
				t.Errorf("applied\n%s\nlacks %q, or shown\n%s\nlacks %q", o.YAML, c.yaml, o.Display, c.display)
			}
			if strings.Contains(o.Display, sops.DefaultMask) && c.name != "unreadable when hidden" {
				t.Errorf("more is masked than the variable:\n%s", o.Display)
			}
		})
	}
}

// TestFailuresOverSecretVariables: messages name variables, never their values.
func TestFailuresOverSecretVariables(t *testing.T) {
	for name, c := range map[string]struct{ text, says string }{
		"undefined beside":    {cmA + "data:\n  a: ${S}\n  b: ${UNDEFINED}\n", `"UNDEFINED"`},
		"undefined in an arg": {cmA + "data:\n  a: ${S:-${UNDEFINED}}\n", `"UNDEFINED"`},
		"syntax beside":       {cmA + "data:\n  a: ${S}\n  b: ${S-x}\n", "missing closing brace"},
		"breaks YAML":         {cmA + "data:\n  a: ${COLON}\n", "--show-secrets"},
		"same names":          {"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${S}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${S}${EMPTY}\n", "id matched 2 resources"},
		"offset":              {cmA + "data:\n  a: ${S:${N}}\n", ""},
		"huge offset":         {cmA + "data:\n  a: ${S:9223372036854775807:9223372036854775807}\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			in := Input{Files: mapFiles{"app/cm.yaml": c.text}, Dir: "app", Spec: unitOf(t, fromVars), Lookup: secretVars, Strict: true}
			out := (&Builder{Flux: behaviour(t, "2.9")}).Render(in)
			holdSecret(t, out)
			if c.says != "" && (len(out.Failures) != 1 || !strings.Contains(out.Failures[0].Message, c.says)) {
				t.Errorf("%+v lacks %q", out.Failures, c.says)
			}
		})
	}
}

// TestSpecWithSecrets: a parent that substitutes a secret into a child's spec must not show through the child.
func TestSpecWithSecrets(t *testing.T) {
	files := mapFiles{"app/cm.yaml": cmA + "data:\n  k: ${A}\n  other: x\n", "app/d.yaml": "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\nstringData:\n  p: ${A}\n"}
	for name, c := range map[string]struct {
		spec string
		want string // what of the objects is shown
	}{
		"variable":    {"postBuild: {substitute: {A: \"PLAIN\"}}", "k: ${A}\n  other: x"},
		"patch":       {"patches:\n- target: {kind: ConfigMap}\n  patch: |\n    - {op: add, path: /data/new, value: \"PLAIN\"}\n", "other: x"},
		"name prefix": {"{namePrefix: \"PLAIN-\"}", "other: x"},
		"namespace":   {"{targetNamespace: \"PLAIN\"}", "other: x"},
		"image":       {"images: [{name: x, newTag: \"PLAIN\"}]", "other: x"},
		"metadata":    {"{commonMetadata: {labels: {l: \"PLAIN\"}}}", "other: x"},
		"bad patch":   {"patches: [{target: {kind: ConfigMap}, patch: 'PLAIN: ['}]", ""},
		"bad path":    {"patches:\n- target: {kind: ConfigMap}\n  patch: |\n    - {op: remove, path: \"/data/PLAIN\"}\n", ""},
		"component":   {"components: [\"../PLAIN\"]", ""},
	} {
		t.Run(name, func(t *testing.T) {
			spec := unitOf(t, strings.ReplaceAll(c.spec, "PLAIN", password))
			display := unitOf(t, strings.ReplaceAll(c.spec, "PLAIN", sops.DefaultMask))
			out := (&Builder{Flux: behaviour(t, "2.9")}).Render(Input{Files: files, Dir: "app", Spec: spec, Display: display, Lookup: secretVars})
			holdSecret(t, out)
			if (len(out.Failures) > 0) != (c.want == "") {
				t.Fatalf("failures %+v", out.Failures)
			}
			shown := ""
			for _, o := range out.Objects {
				shown += o.Display
			}
			if !strings.Contains(shown, c.want) {
				t.Errorf("shown is\n%s\nwhich lacks %q", shown, c.want)
			}
		})
	}
}

// TestVariables: sources in order, inline last, and what a missing source leaves unknown.
func TestVariables(t *testing.T) {
	lookup := func(kind, namespace, name string) *DataSource {
		data := map[string]map[string]Value{
			"ConfigMap/flux-system/one": {"A": {Text: "1\n"}, "B": {Text: "1"}}, "Secret/flux-system/two": {"B": {Text: "2\n2\n"}, "C": {Text: "2"}}, "ConfigMap/flux-system/bad": {"not-a-name": {Text: "x"}}, "ConfigMap/flux-system/empty": {},
		}[kind+"/"+namespace+"/"+name]
		if data == nil {
			return nil
		}
		return &DataSource{Data: data}
	}
	for _, c := range []struct{ name, post, data, want, status string }{
		{"order", "{substituteFrom: [{kind: ConfigMap, name: one}, {kind: Secret, name: two}]}", "${A} ${B} ${C}", "1 22 2", ""},
		{"other order", "{substituteFrom: [{kind: Secret, name: two}, {kind: ConfigMap, name: one}]}", "${A} ${B} ${C}", "1 1 2", ""},
		{"inline wins", "{substitute: {A: inline}, substituteFrom: [{kind: ConfigMap, name: one}]}", "${A} ${B}", "inline 1", ""},
		{"none", "{}", "${A} $$ ${B:=x}", "${A} $$ ${B:=x}", ""},
		{"always", "{substituteStrategy: Always}", "a $$ ${B:=x}", "a $ x", ""},
		{"empty source", "{substituteFrom: [{kind: ConfigMap, name: empty}]}", "${A} $$", "${A} $$", ""},
		{"optional", "{substituteFrom: [{kind: ConfigMap, name: none, optional: true}]}", "${A} $$", "${A} $$", ""},
		{"bad name", "{substituteFrom: [{kind: ConfigMap, name: bad}]}", "x", "", "'not-a-name' var name is invalid"},
		{"bad name, overridden by nothing", "{substitute: {A: x}, substituteFrom: [{kind: ConfigMap, name: bad}]}", "${A}", "", "'not-a-name' var name is invalid"},
		{"missing", "{substituteFrom: [{kind: ConfigMap, name: none}]}", "${A}", "${A}", "unverified"},
		{"missing, nothing used", "{substituteFrom: [{kind: ConfigMap, name: none}]}", "x", "x", ""},
		{"missing, then set", "{substituteFrom: [{kind: ConfigMap, name: none}, {kind: ConfigMap, name: one}]}", "${A}", "1", ""},
		{"set, then missing", "{substituteFrom: [{kind: ConfigMap, name: one}, {kind: ConfigMap, name: none}]}", "${A}", "1", "unverified"},
		{"missing, inline", "{substitute: {A: x}, substituteFrom: [{kind: ConfigMap, name: none}]}", "${A} ${OTHER}", "x ${OTHER}", "unverified"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := (&Builder{Flux: behaviour(t, "2.9")}).Render(Input{Files: mapFiles{"app/cm.yaml": cmA + "data:\n  k: \"" + c.data + "\"\n"}, Dir: "app", Spec: unitOf(t, "postBuild: "+c.post), Lookup: lookup, Strict: true})
			if c.want == "" {
				if len(out.Failures) != 1 || !strings.Contains(out.Failures[0].Message, c.status) {
					t.Fatalf("%+v", out.Failures)
				}
				return
			}
			if len(out.Objects) != 1 {
				t.Fatalf("%+v", out.Failures)
			}
			o := out.Objects[0]
			if !strings.Contains(o.YAML, "k: "+c.want+"\n") && !strings.Contains(o.YAML, "k: \""+c.want+"\"\n") {
				t.Errorf("%s\nlacks %q", o.YAML, c.want)
			}
			if got := len(o.Unverified) > 0; got != (c.status == "unverified") {
				t.Errorf("unverified: %+v", o.Unverified)
			}
			for _, r := range o.Unverified {
				if r.Code != model.CodeMissingVariable {
					t.Errorf("the reason is %+v", r)
				}
			}
		})
	}
}

// TestGivenValues fill what is unknown, and never what is known.
func TestGivenValues(t *testing.T) {
	given := map[string]Value{"A": {Text: "given\n"}, "KNOWN": {Text: "given"}, "UNUSED": {Text: "given"}}
	lookup := func(kind, _, name string) *DataSource {
		if name == "known" {
			return &DataSource{Data: map[string]Value{"KNOWN": {Text: "known"}, "A": {Unknown: &model.Reason{Code: model.CodeEncrypted, Message: "x"}}}}
		}
		return nil
	}
	render := func(spec *flux.Kustomization) Output {
		return (&Builder{Flux: behaviour(t, "2.9")}).Render(Input{Files: mapFiles{"app/cm.yaml": cmA + "data:\n  k: ${A:=d}-${KNOWN:=d}\n"}, Dir: "app", Spec: spec, Lookup: lookup, Given: given, Strict: true})
	}
	for post, want := range map[string]string{
		"{substituteFrom: [{kind: ConfigMap, name: known}]}":                                   "k: given-known",
		"{substituteFrom: [{kind: ConfigMap, name: known}, {kind: ConfigMap, name: missing}]}": "k: given-given",
		"{substitute: {X: z}}": "k: d-d",
	} {
		out := render(unitOf(t, "postBuild: "+post))
		if len(out.Objects) != 1 || !strings.Contains(out.Objects[0].YAML, want+"\n") {
			t.Errorf("%s: %+v lacks %s", post, out, want)
		}
	}
}
