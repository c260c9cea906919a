package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/facts"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/rule"
	"github.com/tidegate/tidegate/internal/rules/substitution"
)

// This file is the part of TG0301 that looks where substitution does run.

// leftover finds what is left after substitution that nothing acts upon again: an expression that a variable's own value
// holds, and one in the spec of a Flux object that an escape made.
func leftover(p *rule.Pass, env *facts.Environment, u *facts.Unit) {
	if u.Substitution == nil {
		return
	}
	results := substitution.ResultsOf(u)
	holds := false // some value has an expression in it
	for _, v := range u.Substitution.Variables {
		holds = holds || strings.Contains(v.Value, "${")
	}
	for _, o := range u.Built {
		if substitution.Of(o) != substitution.On || o.Ref.Kind == "CustomResourceDefinition" || !holds && !substitution.Flux(o.Ref) {
			continue
		}
		for _, s := range substitution.Sites(o) {
			res, err := substitution.Eval(u, s.Text)
			if err != nil || s.Key {
				continue
			}
			for _, seg := range res.Segments {
				if !seg.Opaque && !substitution.Carried(env, o.Ref, s.Path) {
					nested(p, env, u, s, seg.Name, seg.In, seg.InEnd, res.Text[seg.Out:seg.OutEnd])
				}
			}
			if after := results.After(o); after != nil && substitution.Flux(o.Ref) {
				escaped(p, env, u, s, after)
			}
		}
	}
}

// nested reports a variable whose value has an expression in it.
func nested(p *rule.Pass, env *facts.Environment, u *facts.Unit, s substitution.Site, name string, from, to int, value string) {
	for _, t := range substitution.Tokens(value) {
		inner, known := u.Substitution.Variables[t.Name]
		outer, has := u.Substitution.Variables[name]
		if t.Escaped || !known || !has || t.Name == name || strings.Contains(s.Text[from:to], t.Text) {
			continue
		}
		set, literal := written(outer)
		if !literal {
			continue
		}
		use, _ := s.Span(from, to)
		f := rule.Finding{Environment: env.Name, Unit: u.ID, Object: outer.Holder, Span: set.Span, Certainty: set.Certainty,
			Message: fmt.Sprintf("%s ships as it is written: it is in the value of %s, and values are not substituted themselves", short(t.Text), name),
			Breaks:  fmt.Sprintf("the cluster gets the text %s wherever %s is used", short(t.Text), name),
			Because: []rule.Because{{Span: use, Message: shown(s.Object.Ref, s.Path) + " takes it"}},
			Fixes:   []rule.Fix{{Message: fmt.Sprintf("write the value of %s into that of %s", t.Name, name)}, {Message: fmt.Sprintf("or put the two together where %s is used", name)}}}
		f.Because = append(f.Because, becauseSet(inner)...)
		p.Report(f)
	}
}

// written gives where a variable's value is set. It is not literal where that is not known, or where the object that sets
// it is itself the work of a substitution whose variables are not all known: what reads like an expression in it may be
// what is only not known here.
func written(v model.Variable) (model.Origin, bool) {
	if v.Set == nil || v.Secret || v.Unknown != nil {
		return model.Origin{}, false
	}
	o := v.Set()
	return o, o.Span.Known() && !slices.ContainsFunc(o.Uses, func(u model.Use) bool { return u.Opaque })
}

// escaped reports an escape in a Flux object's own spec, where nothing acts upon what it becomes.
func escaped(p *rule.Pass, env *facts.Environment, u *facts.Unit, s substitution.Site, after *facts.Object) {
	if s.Key || len(s.Path) < 2 || s.Path[1] == "postBuild" || !substitution.Unexpanded(s.Object.Ref, s.Path, s.Text) {
		return
	}
	for _, t := range substitution.Tokens(s.Text) {
		if got, _ := after.Get(s.Path...).(string); !t.Escaped || !strings.Contains(got, t.Text[1:]) {
			continue
		}
		span, certainty := s.Span(t.At, t.At+len(t.Text))
		p.Report(rule.Finding{Environment: env.Name, Unit: u.ID, Object: s.Object.Ref, Path: s.Path, Span: span, Certainty: certainty,
			Message: fmt.Sprintf("%s becomes %s in the spec of %s, where nothing substitutes any more", short(t.Text), short(t.Text[1:]), s.Object.Ref),
			Breaks:  fmt.Sprintf("the cluster gets the text %s in %s; a Kustomization's postBuild never acts on its own spec", short(t.Text[1:]), shown(s.Object.Ref, s.Path)),
			Because: []rule.Because{becauseSelf(u, fmt.Sprintf("%s takes one dollar away", u.ID), "spec", "postBuild")},
			Fixes:   []rule.Fix{{Message: fmt.Sprintf("write %s, so that %s puts the value there", short(t.Text[1:]), u.ID)}, {Message: "or write the value itself"}}})
	}
}
