package rules

import (
	"fmt"
	"strings"

	"github.com/tidegate/tidegate/internal/facts"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/rule"
	"github.com/tidegate/tidegate/internal/spell"
)

// TG0401 finds dependencies that are never met.
var TG0401 = &rule.Rule{
	ID: "TG0401", Name: "depends-on", Severity: rule.Error,
	Doc: rule.Doc{
		What: "dependsOn names nothing that exists, names the wrong kind, or waits in a circle",
		Why: `A unit whose dependency is not there or not Ready is not applied: dependency not found, dependency not ready, tried again every 30 seconds, for ever, without ever
failing. dependsOn of a Kustomization names Kustomizations, that of a HelmRelease names HelmReleases, each in its own namespace
unless it says another. Circles are not detected; all of them wait.

A circle may go through a parent: a Kustomization with wait: true is Ready when what it applied is, its child Kustomizations among that. A child that depends on its
waiting parent, or on whoever waits for that parent, waits for itself.`,
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
  dependsOn:
    - name: plattform
-- clusters/home/platform.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: platform
  namespace: flux-system
spec:
  interval: 10m
  path: ./platform
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
-- app/app.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: app
  namespace: default
-- platform/platform.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: platform
  namespace: default
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
  dependsOn:
    - name: platform
-- clusters/home/platform.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: platform
  namespace: flux-system
spec:
  interval: 10m
  path: ./platform
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
-- app/app.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: app
  namespace: default
-- platform/platform.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: platform
  namespace: default
`,
		Misses: "Where part of the environment is not known, what is missing may be there: the rule is then skipped, and says what it would need.",
		Since:  "0.1",
	},
	Run: func(p *rule.Pass) {
		for _, env := range p.Facts.Environments {
			for _, u := range env.Units {
				for i, dep := range u.DependsOn {
					dependency(p, env, u, i, dep)
				}
			}
			circles(p, env)
		}
	},
}

func dependency(p *rule.Pass, env *facts.Environment, u *facts.Unit, i int, dep model.UnitID) {
	if strings.Contains(dep.Name+dep.Namespace, "**SOPS**") || env.Unit(dep) != nil && dep != u.ID {
		return
	}
	f := rule.Finding{Environment: env.Name, Unit: u.ID, Certainty: model.CertaintyExact,
		Breaks: fmt.Sprintf("%s is never applied: it waits for a dependency that does not come, and says so every 30 seconds", u.ID)}
	place(&f, u, model.Path{"spec", "dependsOn", i, "name"})
	other := dep
	other.Kind = map[string]string{"Kustomization": "HelmRelease", "HelmRelease": "Kustomization"}[dep.Kind]
	switch {
	case dep == u.ID:
		f.Message = fmt.Sprintf("%s depends on itself", u.ID)
		f.Fixes = []rule.Fix{{Message: "take the entry out"}}
	case env.Unit(other) != nil:
		f.Message = fmt.Sprintf("%s depends on %s, which is a %s: dependsOn of a %s names %ss only", u.ID, dep.Short(), other.Kind, u.ID.Kind, u.ID.Kind)
		theirs := env.Unit(other)
		if at, ok := selfSpan(theirs, "metadata", "name"); ok {
			f.Because = append(f.Because, rule.Because{Span: at, Message: other.String() + " is here"})
		}
		if theirs.Parent != nil && u.ID.Kind == "Kustomization" {
			f.Fixes = append(f.Fixes, rule.Fix{Message: fmt.Sprintf("depend on %s, which applies it, and let that wait: wait: true, or a health check on %s", theirs.Parent, other)})
		} else {
			f.Fixes = append(f.Fixes, rule.Fix{Message: fmt.Sprintf("name a %s", u.ID.Kind)})
		}
	default:
		if why, ok := env.CompleteBut(u); !ok {
			p.SkipUnit(env.Name, fmt.Sprintf("%s, on which it depends and which may be among what is not known: %s", dep, short(why)), u.ID)
			return
		}
		f.Message = fmt.Sprintf("%s depends on %s, which does not exist", u.ID, dep)
		for _, candidate := range env.Units {
			if candidate.ID.Kind == dep.Kind && candidate.ID.Name == dep.Name {
				f.Message += fmt.Sprintf("; there is one in namespace %s", candidate.ID.Namespace)
				f.Fixes = append(f.Fixes, rule.Fix{Message: fmt.Sprintf("add namespace: %s to the entry", candidate.ID.Namespace)})
			}
		}
		if near := nearUnit(env, dep); near != "" && len(f.Fixes) == 0 {
			f.Message += fmt.Sprintf("; did you mean %s?", near)
			fix := rule.Fix{Message: "write " + near}
			if f.Certainty == model.CertaintyExact && f.Span.Known() {
				fix.Edits = []rule.Edit{{Span: f.Span, New: near}}
			}
			f.Fixes = append(f.Fixes, fix)
		}
		if len(f.Fixes) == 0 {
			f.Fixes = []rule.Fix{{Message: "correct the name, or take the entry out"}}
		}
	}
	p.Report(f)
}

// place puts a finding to a field of a unit's own object.
func place(f *rule.Finding, u *facts.Unit, path model.Path) {
	if u.Self == nil || u.Self.Trace == nil {
		f.Span, f.Certainty = model.Span{File: u.Path}, model.CertaintyObject
		return
	}
	o := u.Self.Trace.Origin(path)
	f.Object, f.Path, f.Span, f.Certainty = u.Self.Ref, path, o.Span, o.Certainty
	for _, use := range o.Uses {
		for _, v := range use.Variable {
			f.Because = append(f.Because, becauseSet(v)...)
		}
	}
}

// nearUnit gives the name of the only unit of the namespace that is spelt alike.
func nearUnit(env *facts.Environment, dep model.UnitID) string {
	var names []string
	for _, u := range env.Units {
		if u.ID.Kind == dep.Kind && u.ID.Namespace == dep.Namespace {
			names = append(names, u.ID.Name)
		}
	}
	return spell.Nearest(dep.Name, names, 2)
}

// edge is one unit waiting for another.
type edge struct {
	to   *facts.Unit
	dep  int // index into dependsOn; -1 when it is a parent that waits for a child
	what string
}

// waits gives what a unit waits for before it is Ready. A suspended one is not reconciled and waits for nothing.
func waits(env *facts.Environment, u *facts.Unit) []edge {
	if u.Suspended {
		return nil
	}
	var out []edge
	for i, dep := range u.DependsOn {
		if to := env.Unit(dep); to != nil && to != u {
			out = append(out, edge{to, i, fmt.Sprintf("%s depends on %s", u.ID, to.ID)})
		}
	}
	for _, child := range env.Units {
		if child.Parent == nil || *child.Parent != u.ID || child == u || child.Suspended {
			continue
		}
		switch {
		case u.Wait:
			out = append(out, edge{child, -1, fmt.Sprintf("%s waits for everything that it applies, and so for %s", u.ID, child.ID)})
		case healthChecked(u, child.ID):
			out = append(out, edge{child, -1, fmt.Sprintf("%s waits for %s by a health check", u.ID, child.ID)})
		}
	}
	return out
}

// healthChecked tells whether a unit has a health check on another.
func healthChecked(u *facts.Unit, id model.UnitID) bool {
	if u.Self == nil {
		return false
	}
	o := facts.Object{Text: u.Self.Display}
	list, _ := o.Get("spec", "healthChecks").([]any)
	for _, e := range list {
		m, _ := e.(map[string]any)
		ns, _ := m["namespace"].(string)
		if ns == "" {
			ns = u.ID.Namespace
		}
		if m["kind"] == id.Kind && m["name"] == id.Name && ns == id.Namespace {
			return true
		}
	}
	return false
}

// maxCircles bounds the circles of an environment that are told: mending these changes the others.
const maxCircles = 20

// circles reports each circle once, at the first dependsOn in it.
func circles(p *rule.Pass, env *facts.Environment) {
	next := map[*facts.Unit][]edge{}
	for _, u := range env.Units {
		next[u] = waits(env, u)
	}
	const busy, done = 1, 2
	state := map[*facts.Unit]int{}
	type step struct {
		from *facts.Unit
		edge edge
	}
	var trail []step
	found := 0
	var visit func(u *facts.Unit)
	visit = func(u *facts.Unit) {
		state[u] = busy
		for _, e := range next[u] {
			trail = append(trail, step{u, e})
			switch state[e.to] {
			case busy:
				if found++; found > maxCircles {
					break // where everything waits for everything there are more circles than anybody reads
				}
				start := len(trail) - 1
				for trail[start].from != e.to {
					start--
				}
				f := rule.Finding{Environment: env.Name, Certainty: model.CertaintyExact, Fixes: []rule.Fix{{Message: "take one of these dependencies out"}}}
				var names []string
				for _, s := range trail[start:] {
					names = append(names, s.from.ID.Short())
					var at model.Span
					if s.edge.dep >= 0 {
						if f.Span.File == "" {
							place(&f, s.from, model.Path{"spec", "dependsOn", s.edge.dep, "name"})
							f.Unit = s.from.ID
							continue
						}
						at, _ = selfSpan(s.from, "spec", "dependsOn", s.edge.dep, "name")
					} else {
						at, _ = selfSpan(s.from, "spec", "wait")
						f.Fixes = []rule.Fix{{Message: "let the parent not wait, and let whoever needs the child depend on the child"}, {Message: "or take the dependency out"}}
					}
					f.Because = append(f.Because, rule.Because{Span: at, Message: s.edge.what})
				}
				f.Message = fmt.Sprintf("a circle: %s waits for %s", strings.Join(names, " waits for "), names[0])
				f.Breaks = "none of them is ever Ready; on a cluster where they once were, the next change is what stops"
				p.Report(f)
			case 0:
				visit(e.to)
			}
			trail = trail[:len(trail)-1]
		}
		state[u] = done
	}
	for _, u := range env.Units {
		if state[u] == 0 {
			visit(u)
		}
	}
}
