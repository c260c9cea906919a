package rules

import (
	"fmt"

	"github.com/tidegate/tidegate/internal/facts"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/rule"
	"github.com/tidegate/tidegate/internal/rules/substitution"
)

// TG0301 finds expressions that no substitution reaches.
var TG0301 = &rule.Rule{
	ID: "TG0301", Name: "unresolved-token", Severity: rule.Error,
	Doc: rule.Doc{
		What: "an expression ships to the cluster as it is written, because nothing substitutes in its object",
		Why: `An expression such as ${DOMAIN} is replaced only under a Kustomization whose postBuild yields a variable. Elsewhere the text itself is applied: an
HTTPRoute for the host "${DOMAIN}", a Secret whose token is the word "${TOKEN}". Flux says nothing, since a text is a text. One
Kustomization of ten that lacks the substituteFrom which the others have is all it takes.

A text that is meant for a shell, a template or a dashboard is none of this: the rule speaks when the name is one that the environment's own sources define, or when
the text stands where no program would ever expand it.`,
		Bad: `-- clusters/home/vars.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: cluster-vars
  namespace: flux-system
data:
  DOMAIN: example.net
-- clusters/home/app.yaml --
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
    substituteFrom:
      - kind: ConfigMap
        name: cluster-vars
-- app/route.yaml --
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: app
  namespace: default
spec:
  hostnames:
    - app.${DOMAIN}
-- clusters/home/blog.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: blog
  namespace: flux-system
spec:
  interval: 10m
  path: ./blog
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
-- blog/route.yaml --
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: blog
  namespace: default
spec:
  hostnames:
    - blog.${DOMAIN}
`,
		Good: `-- clusters/home/vars.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: cluster-vars
  namespace: flux-system
data:
  DOMAIN: example.net
-- clusters/home/app.yaml --
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
    substituteFrom:
      - kind: ConfigMap
        name: cluster-vars
-- app/route.yaml --
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: app
  namespace: default
spec:
  hostnames:
    - app.${DOMAIN}
-- clusters/home/blog.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: blog
  namespace: flux-system
spec:
  interval: 10m
  path: ./blog
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
  postBuild:
    substituteFrom:
      - kind: ConfigMap
        name: cluster-vars
-- blog/route.yaml --
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: blog
  namespace: default
spec:
  hostnames:
    - blog.${DOMAIN}
`,
		Misses: "Scripts and configuration files may use names of their own: a name that the text sets itself, or that something in the Kustomization gives programs as a variable, is left alone. " +
			"So is text of a Kustomization's spec.patches, which its own substitution reaches, and the prose of CRDs.",
		Since: "0.1",
	},
	Run: func(p *rule.Pass) {
		for _, env := range p.Facts.Environments {
			known := env.Variables()
			for _, u := range env.Units {
				for _, o := range u.Built {
					unresolved(p, env, u, o, known)
				}
				leftover(p, env, u)
			}
			for _, o := range env.Applied {
				unresolved(p, env, nil, o, known)
			}
		}
	},
}

func unresolved(p *rule.Pass, env *facts.Environment, u *facts.Unit, o *facts.Object, known map[string]model.Variable) {
	state := substitution.Off
	if u != nil {
		state = substitution.Of(o)
	}
	if state == substitution.On || o.Ref.Kind == "CustomResourceDefinition" {
		return
	}
	if state == substitution.OptedOut {
		known = u.Substitution.Variables
	}
	for _, s := range substitution.Sites(o) {
		if substitution.Carried(env, o.Ref, s.Path) {
			continue
		}
		type use struct {
			name    string
			escaped bool
		}
		decided := map[use]bool{} // a text may have as many expressions as letters
		for _, t := range substitution.Tokens(s.Text) {
			if state == substitution.Unknown {
				doubtful(p, env, u)
				return
			}
			if u != nil && substitution.Inherited(u, t.Text) {
				p.SkipUnit(env.Name, "what is not known of its spec", u.ID)
				continue
			}
			v, isKnown := known[t.Name]
			leave, ok := decided[use{t.Name, t.Escaped}]
			if !ok {
				leave = meant(s, t, isKnown)
				decided[use{t.Name, t.Escaped}] = leave
			}
			if leave {
				continue
			}
			decided[use{t.Name, t.Escaped}] = true // a text is told of once for a name
			p.Report(unresolvedFinding(env, u, s, t, state, v, isKnown))
		}
	}
}

// meant tells whether an expression, or an escape, in an object without substitution may well be meant as it is.
func meant(s substitution.Site, t substitution.Token, known bool) bool {
	switch {
	case substitution.Unexpanded(s.Object.Ref, s.Path, s.Text):
		return false
	case t.Escaped && substitution.Script(s.Text):
		return false // a shell reads $$ as its process number
	case !known:
		return true
	}
	return substitution.Assigned(s.Text, t.Name) || substitution.Program(s.Object.Ref, s.Path, s.Text) && substitution.Given(s, t.Name)
}

// doubtful says that nobody can know whether substitution runs in a unit.
func doubtful(p *rule.Pass, env *facts.Environment, u *facts.Unit) {
	needs := "the sources of its variables, which nothing in the repository makes"
	if m := u.Substitution.Missing; len(m) > 0 {
		needs = missingSource(env, m[0])
	}
	p.SkipUnit(env.Name, needs, u.ID)
}

func unresolvedFinding(env *facts.Environment, u *facts.Unit, s substitution.Site, t substitution.Token, state substitution.State, v model.Variable, isKnown bool) rule.Finding {
	o := s.Object
	span, certainty := s.Span(t.At, t.At+len(t.Text))
	f := rule.Finding{Environment: env.Name, Object: o.Ref, Path: s.Path, Span: span, Certainty: certainty,
		Message: fmt.Sprintf("%s ships as it is written: nothing substitutes in %s", short(t.Text), o.Ref),
		Breaks:  fmt.Sprintf("the cluster gets the text %s in %s", short(t.Text), shown(o.Ref, s.Path)),
	}
	if t.Escaped {
		f.Severity = rule.Warning
		f.Message = fmt.Sprintf("%s keeps both dollars: nothing substitutes in %s, so nothing takes one away", short(t.Text), o.Ref)
	}
	if substitution.Flux(o.Ref) && !t.Escaped {
		f.Breaks += "; a Kustomization's postBuild never acts on its own spec, only its parent's does"
	}
	if u == nil {
		f.Because = append(f.Because, rule.Because{Message: "somebody applies it as it stands: no Kustomization renders it"})
		f.Fixes = append(f.Fixes, rule.Fix{Message: "write the value itself, or let a Kustomization with postBuild render it"})
		return f
	}
	f.Unit = u.ID
	add := rule.Fix{Message: fmt.Sprintf("add the source to postBuild.substituteFrom of %s", u.ID)}
	switch {
	case state == substitution.OptedOut:
		if t.Escaped || !substitution.Unexpanded(o.Ref, s.Path, s.Text) {
			f.Severity = rule.Warning
		}
		f.Because = append(f.Because, rule.Because{Span: optOut(o), Message: o.Ref.String() + " opts out by kustomize.toolkit.fluxcd.io/substitute: disabled"})
		add = rule.Fix{Message: "take kustomize.toolkit.fluxcd.io/substitute away, and escape with $${ what is meant literally"}
	case u.Substitution != nil:
		f.Because = append(f.Because, becauseSelf(u, fmt.Sprintf("postBuild of %s yields no variable, so nothing is substituted", u.ID), "spec", "postBuild"))
	default:
		f.Because = append(f.Because, becauseSelf(u, fmt.Sprintf("%s has no postBuild", u.ID), "spec"))
	}
	if isKnown {
		f.Because = append(f.Because, becauseSet(v)...)
		if state != substitution.OptedOut {
			if sibling := having(env, t.Name); sibling != nil {
				f.Because = append(f.Because, becauseSelf(sibling, fmt.Sprintf("%s has it", sibling.ID), "spec", "postBuild"))
			}
			add.Message = giveSource(u, v)
		}
	}
	if t.Escaped {
		single := rule.Fix{Message: "write one dollar, if nothing is to substitute in it"}
		if certainty == model.CertaintyExact && !s.Key {
			if at, c := s.Span(t.At, t.At+1); c == model.CertaintyExact {
				single.Edits = []rule.Edit{{Span: at}}
			}
		}
		f.Fixes = append(f.Fixes, single)
	}
	f.Fixes = append(f.Fixes, add)
	if !t.Escaped {
		f.Fixes = append(f.Fixes, rule.Fix{Message: "or write the value itself"})
	}
	return f
}

// optOut gives the place of the annotation or label that keeps substitution from an object.
func optOut(o *facts.Object) model.Span {
	for _, field := range []string{"annotations", "labels"} {
		if o.Trace != nil && o.Get("metadata", field, substituteKey) == "disabled" {
			return o.Trace.Origin(model.Path{"metadata", field, substituteKey}).Span
		}
	}
	return model.Span{}
}

const substituteKey = "kustomize.toolkit.fluxcd.io/substitute"

// having finds the first unit of an environment in which substitution runs and has a variable.
func having(env *facts.Environment, name string) *facts.Unit {
	for _, u := range env.Units {
		if u.Substitution == nil || !u.Substitution.Runs {
			continue
		}
		if _, ok := u.Substitution.Variables[name]; ok {
			return u
		}
	}
	return nil
}

// giveSource says how a unit gets a variable that another one has.
func giveSource(u *facts.Unit, v model.Variable) string {
	switch {
	case v.Holder.Kind == "" || v.Holder.Kind == "Kustomization":
		return fmt.Sprintf("set %s in postBuild.substitute of %s", v.Name, u.ID)
	case v.Holder.Namespace != u.ID.Namespace:
		return fmt.Sprintf("give %s a copy of %s in its own namespace, which is the only one that substituteFrom reads", u.ID, v.Source)
	}
	return fmt.Sprintf("add %s to postBuild.substituteFrom of %s", v.Source, u.ID)
}
