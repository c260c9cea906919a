package substitution_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/facts"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/rules/substitution"
	"github.com/tidegate/tidegate/internal/subst"
)

// unit makes a unit of objects, as they were built, with variables.
func unit(vars map[string]string, texts ...string) *facts.Unit {
	s := &model.Substitution{Runs: len(vars) > 0, Strict: true, NegativeLength: true, Variables: map[string]model.Variable{}}
	for name, value := range vars {
		s.Variables[name] = model.Variable{Name: name, Value: value, Source: "postBuild.substitute"}
	}
	m := &model.Unit{ID: model.UnitID{Kind: "Kustomization", Namespace: "flux-system", Name: "app"}, Substitution: s}
	for _, text := range texts {
		m.Built = append(m.Built, &model.Built{Ref: model.Ref{APIVersion: "v1", Kind: "ConfigMap", Name: "app"}, Text: text})
	}
	ix := facts.Build([]*model.Environment{{Name: "home", Units: []*model.Unit{m}}}, facts.Settings{}, nil)
	return ix.Environments[0].Units[0]
}

func TestTokens(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a ${X} b", "${X}"},
		{"$${X}", "!$${X}"},
		{"$$${X}", "${X}"},
		{"$$$${X}", "!$${X}"},
		{"${X:-${Y}}", "${X:-${Y}} ${Y}"},
		{"${X:=a b}", "${X:=a b}"},
		{"${#X} ${X##*/}", "${#X} ${X##*/}"},
		{"$X $(X) {X} ${} ${!X} ${X-d} ${X y} ${1}", ""},
		{"${window.name} ${a[0]}", ""},
	} {
		var got []string
		for _, tok := range substitution.Tokens(c.text) {
			mark := ""
			if tok.Escaped {
				mark = "!"
			}
			if !strings.HasPrefix(c.text[tok.At:], tok.Text) {
				t.Errorf("%q: %q is not at %d", c.text, tok.Text, tok.At)
			}
			got = append(got, mark+tok.Text)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q: %q, not %q", c.text, got, c.want)
		}
	}
}

func TestAssigned(t *testing.T) {
	for text, want := range map[string]bool{
		"X=1\necho ${X}":                        true,
		"X='a'; echo ${X}":                      true,
		"export X; echo ${X}":                   true,
		"local X\necho ${X}":                    true,
		"read -r X; echo ${X}":                  true,
		"for X in a b; do echo ${X}; done":      true,
		"X := $(shell date)\nall: ${X}":         true,
		"const X = 1; `${X}`":                   true,
		`{"list": [{"name": "X"}], "u":"${X}"}`: true,
		"echo ${X}":                             false,
		"X=${X}":                                false,
		`X="${X:-d}"`:                           false,
		": ${X:=d}":                             false,
		"https://example.net/?X=${X}&X=2":       false,
		"AX=1 XA=2 echo ${X}":                   false,
		"x ${X} == 1":                           false,
	} {
		if got := substitution.Assigned(text, "X"); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestGiven(t *testing.T) {
	for _, c := range []struct {
		text string
		want bool
	}{
		{"spec: {containers: [{env: [{name: X, value: a}]}]}", true},
		{"spec: {containers: [{env: [{name: X, valueFrom: {fieldRef: {fieldPath: a}}}]}]}", true},
		{"spec: {containers: [{env: [{name: X, value: '${X}'}]}]}", false},
		{"spec: {containers: [{name: X}]}", false},
		{"data: {X: a}", true},
		{"data: {X: '${X}'}", false},
		{"spec: {values: {env: {X: a}}}", true},
		{"data: {Y: X}", false},
	} {
		u := unit(nil, "data: {run: 'echo ${X}'}", c.text)
		if got := substitution.Given(substitution.Sites(u.Built[0])[0], "X"); got != c.want {
			t.Errorf("%s: %v", c.text, got)
		}
	}
}

func TestFields(t *testing.T) {
	for _, c := range []struct {
		api, kind, path  string
		text, unexpanded bool
	}{
		{"v1", "ConfigMap", "data.a", true, false},
		{"v1", "ConfigMap", "metadata.labels.a", true, true},
		{"v1", "ConfigMap", "metadata.annotations.a", true, true},
		{"v1", "Secret", "stringData.a", true, false},
		{"apps/v1", "Deployment", "spec.replicas", false, false},
		{"apps/v1", "Deployment", "spec.template.spec.containers[0].args[1]", true, false},
		{"apps/v1", "Deployment", "spec.template.spec.containers[0].env[0].value", true, false},
		{"apps/v1", "Deployment", "spec.template.spec.containers[0].ports[0].containerPort", false, false},
		{"apps/v1", "Deployment", "spec.template.metadata.labels.a", true, false},
		{"v1", "Service", "spec.selector.a", true, true},
		{"v1", "Service", "spec.ports[0].port", false, true},
		{"storage.k8s.io/v1", "StorageClass", "parameters.a", true, false},
		{"kustomize.toolkit.fluxcd.io/v1", "Kustomization", "spec.postBuild.substitute.A", true, true},
		{"kustomize.toolkit.fluxcd.io/v1", "Kustomization", "spec.path", true, true},
		{"kustomize.toolkit.fluxcd.io/v1", "Kustomization", "spec.prune", false, true},
		{"kustomize.toolkit.fluxcd.io/v1", "Kustomization", "spec.patches[0].patch", true, false},
		{"helm.toolkit.fluxcd.io/v2", "HelmRelease", "spec.values.image.tag", false, false},
		{"helm.toolkit.fluxcd.io/v2", "HelmRelease", "spec.chart.spec.version", true, true},
		{"source.toolkit.fluxcd.io/v1", "OCIRepository", "spec.ref.tag", true, true},
		{"image.toolkit.fluxcd.io/v1", "ImagePolicy", "spec.filterTags.extract", false, false},
		{"gateway.networking.k8s.io/v1", "HTTPRoute", "spec.hostnames[0]", false, true},
		{"gateway.networking.k8s.io/v1", "Gateway", "spec.listeners[0].hostname", false, true},
		{"networking.k8s.io/v1", "Ingress", "spec.tls[0].hosts[0]", true, true},
		{"cilium.io/v2", "CiliumLoadBalancerIPPool", "spec.blocks[0].cidr", false, true},
		{"metallb.io/v1beta1", "IPAddressPool", "spec.addresses[0]", false, true},
		{"apiextensions.k8s.io/v1", "CustomResourceDefinition", "metadata.annotations.a", true, false},
		{"example.net/v1", "Thing", "spec.host", false, false},
	} {
		p, err := model.ParsePath(c.path)
		if err != nil {
			t.Fatal(err)
		}
		ref := model.Ref{APIVersion: c.api, Kind: c.kind}
		if got := substitution.TextField(ref, p); got != c.text {
			t.Errorf("%s %s: nothing but a text: %v", c.kind, c.path, got)
		}
		if got := substitution.Unexpanded(ref, p, "${X}y"); got != c.unexpanded {
			t.Errorf("%s %s: never expanded: %v", c.kind, c.path, got)
		}
	}
	if p := (model.Path{"spec", "postBuild", "substitute", "X"}); substitution.Unexpanded(model.Ref{APIVersion: "kustomize.toolkit.fluxcd.io/v1", Kind: "Kustomization"}, p, "${X}") {
		t.Error("X: ${X} passes a name through")
	}
}

func TestStates(t *testing.T) {
	u := unit(map[string]string{"A": "x"}, "data: {a: '${A}'}")
	o := u.Built[0]
	for _, c := range []struct {
		change func()
		want   substitution.State
	}{
		{func() {}, substitution.On},
		{func() { o.From.OptedOut = true }, substitution.OptedOut},
		{func() { u.Substitution.Runs = false }, substitution.Off},
		{func() { u.Substitution.Doubt = true }, substitution.Unknown},
		{func() { u.Substitution = nil }, substitution.Off},
	} {
		c.change()
		if got := substitution.Of(o); got != c.want {
			t.Errorf("%v, not %v", got, c.want)
		}
	}
}

// What is not known is no fault, and neither is what Flux, which sees the object at once, takes.
func TestFaults(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"data: {a: '${A} ${B:=d} $${B}'}", ""},
		{"data: {a: '${B}', b: '${A} ${C}', '${D}': x}", "B C D"},
		{"data:\n  a: ${S} ${U}\n", ""},
		{"data:\n  a: ${A[0]}\n  b: ${B}\n", "A B"},
		{"data:\n  a: ${B:-x\n  b: y}\n", ""},               // the default reaches into the next line
		{"data:\n  a: x${\n  b: y\n", " "},                  // has no name
		{"data:\n  a: ${B:-x\n  b: y}\n  c: ${B}\n", "B B"}, // and one that fails shows the other, too
	} {
		u := unit(map[string]string{"A": "x", "S": "", "U": ""}, c.text)
		secret, unknown := u.Substitution.Variables["S"], u.Substitution.Variables["U"]
		secret.Secret, unknown.Unknown = true, &model.Reason{}
		u.Substitution.Variables["S"], u.Substitution.Variables["U"] = secret, unknown
		var got []string
		for _, f := range substitution.Faults(u) {
			got = append(got, f.Name)
			if f.From > f.To || f.To > len(f.Text) {
				t.Errorf("%s: [%d, %d) of %q", c.text, f.From, f.To, f.Text)
			}
		}
		slices.Sort(got)
		if strings.TrimSpace(strings.Join(got, " ")) != strings.TrimSpace(c.want) || (c.want != "") != (len(got) > 0) {
			t.Errorf("%s: %q, not %q", c.text, got, c.want)
		}
	}
}

func TestInherited(t *testing.T) {
	u := unit(map[string]string{"A": "x"}, "data: {a: '${SECRET} ${MINE}'}")
	u.Self = &model.Object{Display: "spec: {patches: [{patch: 'a: ${SECRET}'}]}"}
	if got := substitution.Faults(u); len(got) != 2 {
		t.Fatalf("%d faults", len(got))
	}
	u.Reasons = []model.Reason{{Code: model.CodeParentUnknown}}
	if got := substitution.Faults(u); len(got) != 1 || got[0].Name != "MINE" {
		t.Errorf("%v", got)
	}
}

func TestAfter(t *testing.T) {
	u := unit(map[string]string{"A": "x", "K": "k"}, "data: {'${K}': '${A}'}", "data: {a: '${NONE}'}", "data:\n  a: ${A}\n  b: c\n")
	results := substitution.ResultsOf(u)
	first := results.After(u.Built[0])
	if first == nil || first.Get("data", "k") != "x" {
		t.Fatal("the first object is not worked out")
	}
	if results.After(u.Built[1]) != nil {
		t.Error("an object with a fault has no result")
	}
	p := model.Path{"data", "${K}"}
	after, ok := substitution.PathAfter(u, p)
	if !ok || !after.Equal(model.Path{"data", "k"}) || !p.Equal(model.Path{"data", "${K}"}) {
		t.Errorf("%v, of %v", after, p)
	}
	if _, ok := substitution.PathAfter(u, model.Path{"${NONE}"}); ok {
		t.Error("a key that nobody knows is known")
	}
}

// A unit has a fault exactly where Flux's language refuses the text of an object.
func FuzzFaults(f *testing.F) {
	for _, s := range []string{"${A}", "${B}", "${A", "$${A}", "${A:-${B}}", "${A[0]} ${B}", "$$", "a: ${B:-x\nb: y}", "\x00${B}", "é${é}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		u := unit(map[string]string{"A": "x"}, "a: "+value)
		found := substitution.Faults(u)
		for _, x := range found {
			if x.From < 0 || x.From > x.To || x.To > len(x.Text) {
				t.Fatalf("[%d, %d) of %q", x.From, x.To, x.Text)
			}
		}
		for _, tok := range substitution.Tokens(value) {
			if !strings.HasPrefix(value[tok.At:], tok.Text) {
				t.Fatalf("%q is not at %d", tok.Text, tok.At)
			}
			substitution.Assigned(value, tok.Name)
		}
		if u.Built[0].Tree() == nil || len(substitution.Sites(u.Built[0])) == 0 {
			return
		}
		_, err := subst.Eval(u.Built[0].Text, substitution.Lookup(u.Substitution), substitution.Options(u.Substitution, true))
		if (err != nil) != (len(found) > 0) {
			t.Fatalf("%q: %d faults, and %v", value, len(found), err)
		}
	})
}
