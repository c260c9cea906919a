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
		Misses: "Scripts and configuration files may use names of their own: a name that the text sets itself, or that the object gives its containers as an environment variable, is left alone. " +
			"So is text of a Kustomization's spec.patches, which its own substitution reaches.",
		Since: "0.1",
	},
	Run: func(p *rule.Pass) {
		for _, env := range p.Facts.Environments {
			known := env.Variables()
			for _, u := range env.Units {
				for _, o := range u.Built {
					unresolved(p, env, u, o, known)
				}
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
	switch state {
	case substitution.On:
		return
	case substitution.Unknown:
		p.Skip(env.Name, u.Substitution.Missing[0].Subject+", which nothing in the repository makes: --vars or --cluster-objects give it")
		return
	}
	for _, s := range substitution.Sites(o) {
		if carried(env, o, s.Path) {
			continue
		}
		for _, t := range substitution.Tokens(s.Text) {
			v, isKnown := known[t.Name]
			own := substitution.Assigned(s.Text, t.Name) || substitution.EnvironmentOf(o, t.Name)
			switch {
			case t.Escaped && (!isKnown || own), !t.Escaped && own:
				continue
			case state == substitution.OptedOut:
				if _, mine := u.Substitution.Variables[t.Name]; !mine || t.Escaped || strings.Contains(s.Text, "\n") {
					continue
				}
			case !isKnown && !nowhere(o, s.Path):
				continue
			}
			p.Report(unresolvedFinding(env, u, s, t, state, v, isKnown))
		}
	}
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
	if flux := strings.Contains(o.Ref.APIVersion, ".toolkit.fluxcd.io/"); flux && !t.Escaped {
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
		f.Severity = rule.Warning
		f.Because = append(f.Because, rule.Because{Message: o.Ref.String() + " opts out by kustomize.toolkit.fluxcd.io/substitute: disabled"})
		f.Fixes = append(f.Fixes, rule.Fix{Message: "take the annotation away, and escape with $${ what is meant literally"})
	case u.Substitution != nil:
		if at, ok := selfSpan(u, "spec", "postBuild"); ok {
			f.Because = append(f.Because, rule.Because{Span: at, Message: fmt.Sprintf("postBuild of %s yields no variable, so nothing is substituted", u.ID)})
		}
	default:
		if at, ok := selfSpan(u, "spec"); ok {
			f.Because = append(f.Because, rule.Because{Span: at, Message: fmt.Sprintf("%s has no postBuild", u.ID)})
		} else {
			f.Because = append(f.Because, rule.Because{Message: fmt.Sprintf("%s has no postBuild", u.ID)})
		}
	}
	if isKnown {
		f.Because = append(f.Because, becauseSet(v)...)
		if v.Holder.Kind != "" && v.Holder.Kind != "Kustomization" {
			add.Message = fmt.Sprintf("add %s to postBuild.substituteFrom of %s", v.Source, u.ID)
		}
	}
	if state != substitution.OptedOut {
		f.Fixes = append(f.Fixes, add)
	}
	f.Fixes = append(f.Fixes, rule.Fix{Message: "or write the value itself"})
	return f
}

// carried tells whether a text goes on to a build of its own, which may substitute in it: a patch in the spec of a
// Kustomization is applied to what that Kustomization builds.
func carried(env *facts.Environment, o *facts.Object, p model.Path) bool {
	if o.Ref.Kind != "Kustomization" || !strings.HasPrefix(o.Ref.APIVersion, "kustomize.toolkit.fluxcd.io/") || len(p) < 2 || p[0] != "spec" || p[1] != "patches" {
		return false
	}
	child := env.Unit(model.UnitID{Kind: "Kustomization", Namespace: o.Ref.Namespace, Name: o.Ref.Name})
	return child == nil || child.Substitution != nil && (child.Substitution.Runs || child.Substitution.Doubt)
}

// nowhere tells whether a text stands where no program expands anything: what names an object, its labels, the spec of
// Flux's own kinds, host names of routes.
func nowhere(o *facts.Object, p model.Path) bool {
	if len(p) == 0 {
		return false
	}
	switch p[0] {
	case "apiVersion", "kind":
		return true
	case "metadata":
		return len(p) > 1 && slices.Contains([]any{"name", "namespace", "labels"}, p[1])
	case "spec":
	default:
		return false
	}
	group, _, _ := strings.Cut(o.Ref.APIVersion, "/")
	switch {
	case group == "kustomize.toolkit.fluxcd.io":
		return len(p) > 1 && slices.Contains([]any{"path", "sourceRef", "dependsOn", "healthChecks", "targetNamespace", "interval", "namePrefix", "nameSuffix", "serviceAccountName"}, p[1])
	case group == "source.toolkit.fluxcd.io":
		return true
	case group == "helm.toolkit.fluxcd.io":
		return len(p) > 1 && slices.Contains([]any{"chart", "chartRef", "dependsOn", "targetNamespace", "releaseName", "interval"}, p[1])
	case group == "gateway.networking.k8s.io":
		return len(p) > 1 && (p[1] == "hostnames" || p[len(p)-1] == "hostname")
	case o.Ref.Kind == "Ingress":
		return p[len(p)-1] == "host" || len(p) > 2 && p[len(p)-2] == "hosts"
	case o.Ref.Kind == "Service" && o.Ref.APIVersion == "v1":
		return true
	}
	return false
}
