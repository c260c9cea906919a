package rules

import (
	"fmt"
	"slices"
	"strings"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/tidegate/tidegate/internal/facts"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/rule"
)

// TG0801 holds the values that install the network before Flux is there against those that Flux adopts it with.
var TG0801 = &rule.Rule{
	ID: "TG0801", Name: "bootstrap-values", Severity: rule.Error,
	Needs: []string{TG0801needs},
	Doc: rule.Doc{
		What: "the values that install the network before Flux exists differ from those of the HelmRelease that adopts it",
		Why: `The network has to be there for Flux to pull, so somebody installs it by hand, with a file of values; then a HelmRelease of the same name adopts the
installation. Where the two differ, the first thing that Flux does is to change the network under the controllers that do the change: nodes lose each other,
and nothing is left that could repair it. It is seen on a cold start only.`,
		Bad: `-- tidegate.yaml --
bootstrap:
  cilium:
    values: network/values.yaml
    mirrors: HelmRelease kube-system/cilium
-- clusters/home/network.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: network
  namespace: flux-system
spec:
  interval: 10m
  path: ./network
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
-- network/kustomization.yaml --
resources:
  - cilium.yaml
-- network/cilium.yaml --
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: cilium
  namespace: kube-system
spec:
  interval: 1h
  chart:
    spec:
      chart: cilium
      sourceRef:
        kind: HelmRepository
        name: cilium
  values:
    kubeProxyReplacement: true
    k8sServiceHost: 10.0.0.10
-- network/values.yaml --
kubeProxyReplacement: true
k8sServiceHost: 10.0.0.11
`,
		Good: `-- tidegate.yaml --
bootstrap:
  cilium:
    values: network/values.yaml
    mirrors: HelmRelease kube-system/cilium
-- clusters/home/network.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: network
  namespace: flux-system
spec:
  interval: 10m
  path: ./network
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
-- network/kustomization.yaml --
resources:
  - cilium.yaml
-- network/cilium.yaml --
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: cilium
  namespace: kube-system
spec:
  interval: 1h
  chart:
    spec:
      chart: cilium
      sourceRef:
        kind: HelmRepository
        name: cilium
  values:
    kubeProxyReplacement: true
    k8sServiceHost: 10.0.0.10
-- network/values.yaml --
# In another order, and with the same meaning.
k8sServiceHost: 10.0.0.10
kubeProxyReplacement: true
`,
		Misses: "Both are compared as they are written, before variables are put in: the same ${KNOB} is the same. What valuesFrom brings is not looked at.",
		Since:  "0.1",
	},
	Run: func(p *rule.Pass) {
		m := p.Facts.Settings.Mirror
		if m == nil {
			p.Skip("", TG0801needs)
			return
		}
		file := &facts.Object{Text: m.Text}
		if file.Tree() == nil {
			p.Report(rule.Finding{Span: model.Span{File: m.File}, Message: m.File + " is no YAML mapping", Breaks: "the network cannot be installed with it",
				Fixes: []rule.Fix{{Message: "write it as " + m.Object.String() + " has its values"}}})
			return
		}
		for _, env := range p.Facts.Environments {
			u, o := builtOf(env, m.Object)
			if o == nil {
				p.Skip(env.Name, m.Object.String()+", which bootstrap.cilium.mirrors names and is not rendered")
				continue
			}
			differences(o.Get("spec", "values"), file.Get(), nil, func(at model.Path) { p.Report(mirrorFinding(p, env, u, o, file, at)) })
		}
	},
}

const TG0801needs = "bootstrap.cilium in tidegate.yaml, and the file that its values names"

// builtOf finds an object before substitution.
func builtOf(env *facts.Environment, ref model.Ref) (*facts.Unit, *facts.Object) {
	for _, u := range env.Units {
		for _, o := range u.Built {
			if o.Ref.Kind == ref.Kind && o.Ref.Namespace == ref.Namespace && o.Ref.Name == ref.Name {
				return u, o
			}
		}
	}
	return nil, nil
}

func mirrorFinding(p *rule.Pass, env *facts.Environment, u *facts.Unit, o, file *facts.Object, at model.Path) rule.Finding {
	m := p.Facts.Settings.Mirror
	at = slices.Clone(at)
	inObject := append(model.Path{"spec", "values"}, at...)
	a, b, inRelease, inFile := o.Get(inObject...), file.Get(at...), has(o, inObject), has(file, at)
	f := rule.Finding{Environment: env.Name, Unit: u.ID, Object: o.Ref, Path: inObject, Span: m.Span(at), Certainty: model.CertaintyExact,
		Breaks: "on a cold start Flux changes the network under the controllers that do the change, when it adopts what was installed with this file"}
	there := model.Span{}
	if o.Trace != nil {
		there = o.Trace.Origin(inObject).Span
	}
	switch {
	case !inFile:
		f.Message = fmt.Sprintf("%s does not have %s, which %s has as %s", m.File, at, o.Ref, plainly(a))
		f.Fixes = []rule.Fix{{Message: fmt.Sprintf("add %s: %s to it", at, plainly(a))}}
	case !inRelease:
		f.Message = fmt.Sprintf("%s has %s, which %s does not have", m.File, at, o.Ref)
		f.Fixes = []rule.Fix{{Message: "take it out, or add it to spec.values of " + o.Ref.String()}}
		there = model.Span{}
	default:
		f.Message = fmt.Sprintf("%s has %s for %s, and %s has %s", m.File, plainly(b), at, o.Ref, plainly(a))
		f.Fixes = []rule.Fix{{Message: "write the same in both: " + plainly(a)}}
	}
	if there.Known() {
		f.Because = []rule.Because{{Span: there, Message: o.Ref.String() + " has it here"}}
	}
	return f
}

// plainly shows a value within a message.
func plainly(v any) string {
	switch v := v.(type) {
	case string:
		return short(v)
	case map[string]any, []any:
		text, err := sigsyaml.Marshal(v)
		if err != nil {
			return describe(v)
		}
		return short(strings.Join(strings.Fields(string(text)), " "))
	}
	return facts.Text(v)
}
