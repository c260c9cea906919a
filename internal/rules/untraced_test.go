package rules_test

import (
	"context"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/facts"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/rule"
	"github.com/tidegate/tidegate/internal/rules"
)

// untraced makes an environment of units that nothing traces, as something other than a render may fill one.
func untraced(units ...*model.Unit) *facts.Index {
	return facts.Build([]*model.Environment{{Name: "home", Units: units}}, facts.Settings{}, func(string) ([]byte, error) { return nil, nil })
}

func untracedUnit(name string, s *model.Substitution, built ...*model.Built) *model.Unit {
	return &model.Unit{ID: model.UnitID{Kind: "Kustomization", Namespace: "flux-system", Name: name}, Path: name, Substitution: s, Built: built}
}

func substitutes(vars ...model.Variable) *model.Substitution {
	s := &model.Substitution{Runs: len(vars) > 0, Strict: true, NegativeLength: true, Variables: map[string]model.Variable{}}
	for _, v := range vars {
		v.Source = "postBuild.substitute"
		s.Variables[v.Name] = v
	}
	return s
}

func ask(t *testing.T, id string, ix *facts.Index) *rule.Result {
	t.Helper()
	res, err := rule.Run(context.Background(), []*rule.Rule{rules.ByID(id)}, ix, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range res.Findings {
		if strings.Contains(f.Message, "panicked") {
			t.Error(f.Message)
		}
	}
	return res
}

func configMap(data string) *model.Built {
	return &model.Built{Ref: model.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "default", Name: "app"},
		Text: "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  labels:\n    flag: true\n  name: app\n  namespace: default\ndata:\n" + data}
}

// Without traces the rules find what they find with them.
func TestWithoutTraces(t *testing.T) {
	a := model.Variable{Name: "A", Value: "1.10"}
	cert := model.Variable{Name: "CERT", Value: "abcdef", Lines: true}
	ix := untraced(untracedUnit("on", substitutes(a, cert), configMap("  a: ${A}\n  b: ${B}\n  c: ${C[0]}\n  d: $$ x\n  e: ${CERT}\n  ${A}: x\n")),
		untracedUnit("lines", substitutes(a, cert), configMap("  a: ${CERT} ${A}\n")),
		untracedUnit("off", nil, configMap("  a: ${A}\n")))
	for id, want := range map[string]int{"TG0301": 1, "TG0302": 1, "TG0303": 1, "TG0304": 1, "TG0305": 5} {
		if got := ask(t, id, ix).Findings; len(got) != want {
			t.Errorf("%s: %d findings, not %d", id, len(got), want)
			for _, f := range got {
				t.Log(f.Unit, f.Path, f.Message)
			}
		}
	}
}

// What a decrypted value holds is told of without the value, at the encrypted one's place.
func TestHiddenExpressions(t *testing.T) {
	b := configMap("  a: '**SOPS**'\n")
	b.Secret, b.Hidden = true, []model.Path{{"data", "a"}}
	res := ask(t, "TG0304", untraced(untracedUnit("on", substitutes(model.Variable{Name: "A", Value: "x"}), b)))
	if len(res.Findings) != 1 || res.Findings[0].Severity != rule.Warning || !strings.Contains(res.Findings[0].Message, "data.a holds ${ or $$") {
		t.Errorf("%+v", res.Findings)
	}
	b.OptedOut = true
	if res := ask(t, "TG0304", untraced(untracedUnit("on", substitutes(model.Variable{Name: "A", Value: "x"}), b))); len(res.Findings) > 0 {
		t.Errorf("opted out: %+v", res.Findings)
	}
}

// Where it is not known whether substitution runs, or what a value is, the rules say so instead of a finding.
func TestUnknown(t *testing.T) {
	missing := []model.Reason{{Code: model.CodeMissingVariable, Subject: "ConfigMap/flux-system/gone"}}
	doubt := &model.Substitution{Doubt: true, Strict: true, Missing: missing}
	ix := untraced(untracedUnit("doubt", doubt, configMap("  a: ${A} ${C[0]} $$ x\n")))
	for _, id := range []string{"TG0301", "TG0302", "TG0303", "TG0304", "TG0305"} {
		res := ask(t, id, ix)
		for _, f := range res.Findings {
			if !strings.Contains(f.Message, "label flag") {
				t.Errorf("%s: %s", id, f.Message)
			}
		}
		if len(res.Skips) != 1 || !strings.Contains(res.Skips[0].Needs, "ConfigMap/flux-system/gone") {
			t.Errorf("%s: skips %+v", id, res.Skips)
		}
	}
	secret := model.Variable{Name: "A", Value: "**SOPS**", Secret: true}
	res := ask(t, "TG0305", untraced(untracedUnit("secret", substitutes(secret), configMap("  a: ${A}\n"))))
	if len(res.Skips) != 1 || !strings.Contains(res.Skips[0].Needs, "A") || len(res.Findings) != 1 {
		t.Errorf("a masked value: skips %+v, findings %d", res.Skips, len(res.Findings))
	}
	known := &model.Substitution{Runs: true, Strict: true, Missing: missing, Variables: substitutes(model.Variable{Name: "A", Value: "x"}).Variables}
	if res := ask(t, "TG0302", untraced(untracedUnit("known", known, configMap("  a: ${A}\n")))); len(res.Skips)+len(res.Findings) > 0 {
		t.Errorf("nothing asks the missing source: %+v %+v", res.Skips, res.Findings)
	}
	if res := ask(t, "TG0302", untraced(untracedUnit("unknown", known, configMap("  a: ${B}\n")))); len(res.Skips) != 1 || len(res.Findings) > 0 {
		t.Errorf("the missing source may define it: %+v %+v", res.Skips, res.Findings)
	}
}
