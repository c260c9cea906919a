package render

import (
	"strings"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/tidegate/tidegate/internal/flux"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/sops"
	"github.com/tidegate/tidegate/internal/subst"
	"github.com/tidegate/tidegate/internal/trace"
)

// This file gives what a traced build knows to those who ask later: tracers for each object before and after
// substitution, and the variables with where they are set. Nothing is worked out here.

// traces fills the part of the output that is there when a build was traced.
func (s *substitution) traces(out *Output, v flux.Behaviour) {
	unit := s.traceUnit()
	opts := subst.Options{Strict: s.in.Strict, NegativeLength: v.NegativeLength}
	if s.vars != nil {
		out.Substitution = s.vars.model(opts)
	}
	s.tracers = make([]model.Tracer, len(s.built.Objects))
	for i, o := range s.built.Objects {
		text := s.source(i, o)
		before := trace.NewObject(s.built.origins, unit, s.refOf(i, o), text, o.marks)
		built := &model.Built{Ref: s.refOf(i, o), Text: text, Secret: text != o.Text, OptedOut: o.NoSubstitution, Trace: before}
		if built.Secret && o.Expressions {
			built.Hidden = hiddenExpressions(o.Text, text)
		}
		out.Built = append(out.Built, built)
		s.tracers[i] = before
		if s.vars != nil && s.vars.Runs && !o.NoSubstitution && o.Expressions {
			s.tracers[i] = &trace.Substituted{
				Before:   before,
				Eval:     func(text string) (subst.Result, error) { return subst.Eval(text, s.vars.lookup(true), opts) },
				Variable: s.vars.variable,
			}
		}
	}
}

// traceUnit is what of this unit its build does not know.
func (s *substitution) traceUnit() *trace.Unit {
	ks := s.in.Spec
	if s.in.Display != nil {
		ks = s.in.Display
	}
	root := s.in.Root
	if root == "" {
		root = "."
	}
	return &trace.Unit{
		Root: root, Self: s.in.Self,
		Ref: model.Ref{APIVersion: ks.APIVersion, Kind: "Kustomization", Namespace: ks.Namespace, Name: ks.Name},
		Spec: trace.Spec{TargetNamespace: ks.Spec.TargetNamespace, NamePrefix: ks.Spec.NamePrefix, NameSuffix: ks.Spec.NameSuffix,
			Patches: ks.Spec.Patches, Images: ks.Spec.Images},
	}
}

// hiddenExpressions gives the paths at which a text holds something that substitution acts upon and its display form
// does not show.
func hiddenExpressions(text, shown string) []model.Path {
	var t, m any
	if sigsyaml.Unmarshal([]byte(text), &t) != nil {
		return nil
	}
	_ = sigsyaml.Unmarshal([]byte(shown), &m)
	var out []model.Path
	var visit func(t, m any, at model.Path)
	visit = func(t, m any, at model.Path) {
		if len(at) > maxPlainDepth {
			return
		}
		switch t := t.(type) {
		case map[string]any:
			other, _ := m.(map[string]any)
			for _, k := range sortedKeys(t) {
				if as, ok := other[k]; ok {
					visit(t[k], as, at.Child(k))
				}
			}
		case []any:
			other, _ := m.([]any)
			for i, e := range t {
				if i < len(other) {
					visit(e, other[i], at.Child(i))
				}
			}
		case string:
			if t != m && subst.HasExpression(t) {
				out = append(out, at)
			}
		}
	}
	visit(t, m, nil)
	return out
}

// model gives the variables as rules see them.
func (v *Variables) model(opts subst.Options) *model.Substitution {
	out := &model.Substitution{Runs: v.Runs, Doubt: v.Doubt, Strict: opts.Strict, NegativeLength: opts.NegativeLength,
		Variables: map[string]model.Variable{}, Missing: v.Missing}
	for name, val := range v.values {
		if !val.Hidden {
			out.Variables[name] = v.variable(name)
		}
	}
	return out
}

// variable tells of one variable, with a mask for a secret.
func (v *Variables) variable(name string) model.Variable {
	val, ok := v.values[name]
	out := model.Variable{Name: name, Value: val.Text, Secret: val.Secret, Unknown: val.Unknown, Lines: val.Lines, Source: val.Source, Holder: val.Holder, Set: val.Set}
	switch {
	case !ok && len(v.Missing) > 0:
		out.Unknown = &v.Missing[0]
	case !ok:
		out.Undefined = true
	case v.doubt[name] != nil:
		out.Unknown = v.doubt[name]
	}
	if val.Secret {
		out.Value = sops.DefaultMask
	}
	if out.Unknown != nil && strings.Contains(out.Value, sops.DefaultMask) {
		out.Value = ""
	}
	return out
}
