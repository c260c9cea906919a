package rules

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/tidegate/tidegate/internal/facts"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/rule"
	"github.com/tidegate/tidegate/internal/rules/substitution"
	"github.com/tidegate/tidegate/internal/spell"
	"github.com/tidegate/tidegate/internal/subst"
)

func sortStrings(s []string) { sort.Strings(s) }

// TG0302 finds names that no source of a unit defines.
var TG0302 = &rule.Rule{
	ID: "TG0302", Name: "undefined-variable", Severity: rule.Error,
	Doc: rule.Doc{
		What: "an expression names a variable that no source of its Kustomization defines",
		Why: `Flux 2.9 and later refuse it: the Kustomization is not Ready with "variable not set (strict mode)", and nothing of it is applied, not even the objects
that are right. Flux names the first such variable; here all are named, each where it stands. Before 2.9 the expression became
nothing at all, in silence: a host name lost its domain, a script its argument, and a dashboard its data source for years.

There are two ways to get here. A Kustomization lacks the substituteFrom that its neighbours have; or the text is not for Flux at all but for a
shell, Grafana or JavaScript, which write variables the same way. Then it must be written $${NAME}, or its object be
annotated with kustomize.toolkit.fluxcd.io/substitute: disabled.`,
		Bad: `-- clusters/home/app.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: app
  namespace: flux-system
spec:
  interval: 10m
  path: ./app
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
  postBuild:
    substitute:
      DOMAIN: example.net
-- app/app.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: app
  namespace: default
data:
  host: app.${DOMIAN}
  greet.sh: |
    #!/bin/sh
    NAME=$1
    echo "hello ${NAME}"
`,
		Good: `-- clusters/home/app.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: app
  namespace: flux-system
spec:
  interval: 10m
  path: ./app
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
  postBuild:
    substitute:
      DOMAIN: example.net
-- app/app.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: app
  namespace: default
data:
  host: app.${DOMAIN}
  greet.sh: |
    #!/bin/sh
    NAME=$1
    echo "hello $${NAME}"
`,
		Misses: "A name with a default, ${NAME:=value}, is defined. Where a source is not in the repository, or is encrypted, its names are unverified, and the rule is skipped for them.",
		Since:  "0.1",
	},
	Run: func(p *rule.Pass) {
		for _, env := range p.Facts.Environments {
			for _, u := range env.Units {
				undefined(p, env, u)
			}
		}
	},
}

func undefined(p *rule.Pass, env *facts.Environment, u *facts.Unit) {
	s := u.Substitution
	if s == nil {
		return
	}
	if len(s.Missing) > 0 && asksMissing(u) {
		p.SkipUnit(env.Name, missingSource(env, s.Missing[0]), u.ID)
	}
	for _, f := range substitution.Faults(u) {
		if f.Error.Kind != subst.KindUndefined {
			continue
		}
		p.Report(undefinedFinding(env, u, f))
	}
	positional(p, env, u)
}

// positional finds expressions whose name no variable can have, because it begins with a digit, and whose default is
// taken: ${1:-/data} of a script becomes /data whatever the script is called with (fluxcd/pkg kustomize_varsub.go: names of
// variables match ^[_[:alpha:]][_[:alpha:][:digit:]]*$). Without a default they are undefined.
func positional(p *rule.Pass, env *facts.Environment, u *facts.Unit) {
	for _, o := range u.Built {
		if !strings.Contains(o.Text, "${") || substitution.Of(o) != substitution.On {
			continue
		}
		for _, s := range substitution.Sites(o) {
			if !hasPositional(s.Text) {
				continue
			}
			res, err := substitution.Eval(u, s.Text)
			if err != nil {
				continue
			}
			for _, seg := range res.Segments {
				if seg.Name == "" || seg.Name[0] < '0' || seg.Name[0] > '9' || !seg.Defaulted {
					continue
				}
				span, certainty := s.Span(seg.In, seg.InEnd)
				expression := short(s.Text[seg.In:seg.InEnd])
				p.Report(rule.Finding{Severity: rule.Warning, Environment: env.Name, Unit: u.ID, Object: o.Ref, Path: s.Path, Span: span, Certainty: certainty,
					Message: fmt.Sprintf("%s is always its default: no variable can be called %s", expression, seg.Name),
					Breaks:  "the script in the cluster no longer looks at what it is called with",
					Fixes:   []rule.Fix{{Message: fmt.Sprintf("write $%s: Flux takes one dollar away", expression)}}})
			}
		}
	}
}

// hasPositional tells whether a text may hold ${1:-default}.
func hasPositional(text string) bool {
	for {
		i := strings.Index(text, "${")
		if i < 0 || i+2 >= len(text) {
			return false
		}
		if c := text[i+2]; c >= '0' && c <= '9' {
			return true
		}
		text = text[i+2:]
	}
}

// missingSource says what a unit needs that nothing in the repository makes. A name that is nearly one that there is, is
// most likely that one.
func missingSource(env *facts.Environment, r model.Reason) string {
	needs := r.Subject + ", which nothing in the repository makes: --vars or --cluster-objects give it"
	prefix := r.Subject[:strings.LastIndex(r.Subject, "/")+1]
	var names []string
	for _, u := range env.Units {
		for _, o := range u.Objects {
			if name, ok := strings.CutPrefix(o.Ref.String(), prefix); ok {
				names = append(names, name)
			}
		}
	}
	if near := spell.Nearest(strings.TrimPrefix(r.Subject, prefix), names, 2); near != "" {
		needs += "; did you mean " + near + "?"
	}
	return needs
}

// asksMissing tells whether an expression of a unit names what only a missing source can define.
func asksMissing(u *facts.Unit) bool {
	for _, o := range u.Built {
		if o.From.OptedOut {
			continue
		}
		for _, s := range substitution.Sites(o) {
			for _, t := range substitution.Tokens(s.Text) {
				if _, ok := u.Substitution.Variables[t.Name]; !ok && !t.Escaped {
					return true
				}
			}
		}
	}
	return false
}

func undefinedFinding(env *facts.Environment, u *facts.Unit, f substitution.Fault) rule.Finding {
	name, o := f.Name, f.Object
	span, certainty := f.Span(f.From, f.To)
	out := rule.Finding{Environment: env.Name, Unit: u.ID, Object: o.Ref, Path: f.Path, Span: span, Certainty: certainty,
		Message: fmt.Sprintf("%s is defined by no source of %s", name, u.ID),
		Breaks:  fmt.Sprintf("%s fails and applies nothing: variable not set (strict mode): %q", u.ID, name),
		Because: []rule.Because{becauseSelf(u, fmt.Sprintf("%s takes its variables from %s", u.ID, sources(u)), "spec", "postBuild")},
	}
	if !u.Substitution.Strict {
		out.Severity = rule.Warning
		out.Breaks = fmt.Sprintf("nothing stands in its place in %s, in silence; Flux 2.9 refuses the whole Kustomization", o.Ref)
	}
	escape := rule.Fix{Message: fmt.Sprintf("write $%s, if it is meant for another program: Flux takes one dollar away", short(f.Text[f.From:f.To]))}
	escape.Edits = before(f, span, certainty)
	annotate := rule.Fix{Message: "annotate " + o.Ref.String() + " with kustomize.toolkit.fluxcd.io/substitute: disabled, if nothing in it is for Flux"}
	other := elsewhere(env, u, name)
	switch {
	case o.Ref.Kind == "CustomResourceDefinition":
		out.Message += "; it is prose of a CRD"
		out.Fixes = append(out.Fixes, annotate, escape)
	case substitution.Assigned(f.Text, name):
		out.Message += "; the text sets it itself"
		out.Fixes = append(out.Fixes, escape, annotate)
	case strings.HasPrefix(name, "DS_") || strings.Contains(f.Text, `"__inputs"`):
		out.Message += "; it is an input of a Grafana dashboard"
		out.Fixes = append(out.Fixes, annotate, escape)
	case other != nil:
		out.Message += fmt.Sprintf("; %s has it", other.Source)
		out.Because = append(out.Because, becauseSet(*other)...)
		out.Fixes = append(out.Fixes, rule.Fix{Message: giveSource(u, *other)}, escape)
	default:
		if near := spell.Nearest(name, slices.Sorted(maps.Keys(u.Substitution.Variables)), 2); near != "" {
			out.Message += fmt.Sprintf("; did you mean %s?", near)
			fix := rule.Fix{Message: "write " + near}
			if nameAt := strings.Index(f.Text[f.From:f.To], name); nameAt >= 0 && certainty == model.CertaintyExact && !f.Key {
				if at, c := f.Span(f.From+nameAt, f.From+nameAt+len(name)); c == model.CertaintyExact {
					fix.Edits = []rule.Edit{{Span: at, New: near}}
				}
			}
			out.Fixes = append(out.Fixes, fix)
		}
		define := rule.Fix{Message: fmt.Sprintf("define %s in a source of %s, or give it a default: ${%s:=…}", name, u.ID, name)}
		if substitution.Script(f.Text) || substitution.Shell(f.Site) {
			out.Message += "; the text is a script, which may expect it of its own environment"
			out.Fixes = append(out.Fixes, escape, annotate, define)
		} else {
			out.Fixes = append(out.Fixes, define, escape)
		}
	}
	return out
}

// before gives the edit that writes one more dollar in front of a fault; nil where its place is not exact.
func before(f substitution.Fault, span model.Span, certainty model.Certainty) []rule.Edit {
	if certainty != model.CertaintyExact || f.Key || len(f.Path) == 0 || f.Error.Offset < 0 {
		return nil
	}
	span.EndLine, span.EndColumn = span.Line, span.Column
	return []rule.Edit{{Span: span, New: "$"}}
}

// elsewhere finds a variable that another unit of the environment has from a source that this one lacks.
func elsewhere(env *facts.Environment, u *facts.Unit, name string) *model.Variable {
	for _, other := range env.Units {
		if other == u || other.Substitution == nil {
			continue
		}
		if v, ok := other.Substitution.Variables[name]; ok && v.Holder.Kind != "Kustomization" && v.Holder.Name != "" {
			return &v
		}
	}
	return nil
}
