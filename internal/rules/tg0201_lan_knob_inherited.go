package rules

import (
	"fmt"
	"strings"

	"github.com/tidegate/tidegate/internal/facts"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/rule"
)

// TG0201 finds addresses that an environment has from the base.
var TG0201 = &rule.Rule{
	ID: "TG0201", Name: "lan-knob-inherited", Severity: rule.Error,
	Needs: []string{"knobs.source and knobs.lan in tidegate.yaml"},
	Doc: rule.Doc{
		What: "an overlay does not set a knob of the LAN block itself",
		Why: `The base has a default for every knob, and the default is one environment's value. An overlay that leaves a knob out inherits it without a word: prod announces an
address of dev's network, renders, applies, reports healthy, and answers nobody. So what is an address is set by each overlay, also where it happens to be the
default.`,
		Bad: within(twoEnvironments, `-- clusters/prod/kustomization.yaml --
resources:
  - ../base
`),
		Good:   twoEnvironments,
		Misses: "Only the knobs that knobs.lan in tidegate.yaml lists are held to this.",
		Since:  "0.1",
	},
	Run: func(p *rule.Pass) {
		k := p.Facts.Settings.Knobs
		if k == nil || len(k.LAN) == 0 {
			p.Skip("", TG0201needs)
			return
		}
		for _, env := range p.Facts.Environments {
			o := knobsOf(env, k.Source)
			if o == nil {
				p.Skip(env.Name, k.Source.String()+", which holds the knobs and is not rendered")
				continue
			}
			for _, name := range k.LAN {
				lanKnob(p, env, o, name)
			}
		}
	},
}

const TG0201needs = "knobs.source and knobs.lan in tidegate.yaml"

// knobsOf finds the object that holds an environment's knobs; nil when it renders none.
func knobsOf(env *facts.Environment, ref model.Ref) *facts.Object {
	for _, u := range env.Units {
		for _, o := range u.Objects {
			if o.Ref.Kind == ref.Kind && o.Ref.Name == ref.Name && o.Ref.Namespace == ref.Namespace {
				return o
			}
		}
	}
	return nil
}

// knobsAreNowhere tells whether tidegate.yaml names an object for the knobs that no environment renders: a rule that asks
// what is outside of it would take the knobs themselves for that.
func knobsAreNowhere(p *rule.Pass) bool {
	k := p.Facts.Settings.Knobs
	if k == nil {
		return false
	}
	for _, env := range p.Facts.Environments {
		if knobsOf(env, k.Source) != nil {
			return false
		}
	}
	p.Skip("", k.Source.String()+", which knobs.source in tidegate.yaml names and no environment renders")
	return true
}

// isKnobs tells whether an object is the one that holds the knobs.
func isKnobs(ix *facts.Index, ref model.Ref) bool {
	k := ix.Settings.Knobs
	return k != nil && ref.Kind == k.Source.Kind && ref.Name == k.Source.Name && ref.Namespace == k.Source.Namespace
}

// below tells whether a file is in an environment's own folder.
func below(env *facts.Environment, file string) bool {
	return file == env.Entry || strings.HasPrefix(file, env.Entry+"/")
}

func lanKnob(p *rule.Pass, env *facts.Environment, o *facts.Object, name string) {
	at := model.Path{"data", name}
	f := rule.Finding{Environment: env.Name, Unit: o.Unit.ID, Object: o.Ref, Path: at}
	if o.Get("data", name) == nil {
		f.Span, f.Certainty = o.Trace.Key(model.Path{"data"}), model.CertaintyAttributed
		f.Message = fmt.Sprintf("%s sets no %s, which tidegate.yaml lists among the knobs of the LAN", env.Name, name)
		f.Breaks = "whatever takes its address from it gets none"
		f.Fixes = []rule.Fix{{Message: fmt.Sprintf("set data.%s of %s in %s", name, o.Ref, env.Entry)}}
		p.Report(f)
		return
	}
	origin := o.Trace.Origin(at)
	if below(env, origin.Span.File) {
		return
	}
	value, _ := o.Get("data", name).(string)
	f.Span, f.Certainty = origin.Span, origin.Certainty
	f.Message = fmt.Sprintf("%s inherits %s from the base: %s", env.Name, name, value)
	f.Breaks = fmt.Sprintf("%s runs with an address that somebody else chose, of another network perhaps: it applies and reports healthy", env.Name)
	for _, other := range p.Facts.Environments {
		if other == env {
			continue
		}
		if theirs := knobsOf(other, o.Ref); theirs != nil && theirs.Get("data", name) != nil {
			if at := theirs.Trace.Origin(at); below(other, at.Span.File) {
				f.Because = append(f.Because, rule.Because{Span: at.Span, Message: fmt.Sprintf("%s sets its own", other.Name)})
			}
		}
	}
	f.Fixes = []rule.Fix{{Message: fmt.Sprintf("set data.%s of %s in the overlay %s, also when it is the default", name, o.Ref, env.Entry)}}
	p.Report(f)
}
