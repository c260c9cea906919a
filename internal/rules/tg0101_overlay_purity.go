package rules

import (
	"fmt"
	"reflect"
	"sort"
	"strings"

	"github.com/tidegate/tidegate/internal/facts"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/rule"
)

// TG0101 finds what environments differ by besides their knobs.
var TG0101 = &rule.Rule{
	ID: "TG0101", Name: "overlay-purity", Severity: rule.Error,
	Needs: []string{TG0101needs},
	Doc: rule.Doc{
		What: "environments differ by more than the values of their knobs (R-ENV-02)",
		Why: `What was tried in dev is what prod runs only if an overlay does nothing but set knobs. A resource that one overlay adds, a patch that changes an interval, a
copy of a file that was meant to be shared: each is a part of prod that nobody has ever run. Environments are compared object by object, as they are built and
before variables are put in, and a difference is shown where it is written.`,
		Bad: within(twoEnvironments, `-- clusters/prod/kustomization.yaml --
resources:
  - ../base
patches:
  - patch: |
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: cluster-vars
        namespace: flux-system
      data:
        GATEWAY_VIP: 192.168.2.20
  - target:
      kind: Kustomization
      name: app
    patch: |
      apiVersion: kustomize.toolkit.fluxcd.io/v1
      kind: Kustomization
      metadata:
        name: app
      spec:
        interval: 1h
`),
		Good: twoEnvironments,
		Misses: "Values of the knobs' own ConfigMap may differ, and so may what variables bring. Exempt are the flux-system folder that flux bootstrap writes into an overlay, and spec.decryption where " +
			"its key differs by environment.",
		Since: "0.1",
	},
	Run: func(p *rule.Pass) {
		if p.Facts.Settings.Knobs == nil {
			p.Skip("", TG0101needs)
			return
		}
		if knobsAreNowhere(p) {
			return
		}
		if len(p.Facts.Environments) < 2 {
			return
		}
		seen := map[model.UnitID]bool{}
		for _, env := range p.Facts.Environments {
			for _, u := range env.Units {
				if u.ID.Kind == "Kustomization" && !seen[u.ID] {
					seen[u.ID] = true
					compareUnit(p, u.ID)
				}
			}
		}
	},
}

const TG0101needs = "knobs.source in tidegate.yaml"

// version is a unit's object as one environment has it.
type version struct {
	env *facts.Environment
	obj *facts.Object
}

// compareUnit compares what a unit builds in each environment that has it.
func compareUnit(p *rule.Pass, id model.UnitID) {
	var envs []*facts.Environment
	byRef := map[string][]version{}
	var order []string
	for _, env := range p.Facts.Environments {
		u := env.Unit(id)
		if u == nil {
			continue
		}
		if len(u.Built) == 0 && u.Status != model.StatusOK {
			p.Skip(env.Name, id.String()+", which could not be built")
			return
		}
		envs = append(envs, env)
		for _, o := range u.Built {
			key := o.Ref.Group() + "|" + o.Ref.String()
			if byRef[key] == nil {
				order = append(order, key)
			}
			byRef[key] = append(byRef[key], version{env, o})
		}
	}
	if len(envs) < 2 {
		return // it is there in one environment alone: its object is found in its parent
	}
	for _, key := range order {
		versions := byRef[key]
		if exempt(versions) {
			continue
		}
		if len(versions) < len(envs) {
			onlySome(p, envs, versions)
			continue
		}
		compareObject(p, versions)
	}
}

// exempt tells whether an object is one that flux bootstrap writes into an overlay.
func exempt(versions []version) bool {
	for _, v := range versions {
		if file := home(v.obj).File; file == "" || !strings.HasPrefix(file, v.env.Entry+"/flux-system/") {
			return false
		}
	}
	return true
}

// home is where an object's manifest begins.
func home(o *facts.Object) model.Span {
	if o.Trace == nil {
		return model.Span{}
	}
	return o.Trace.Origin(nil).Span
}

func names(versions []version) string {
	var out []string
	for _, v := range versions {
		out = append(out, v.env.Name)
	}
	return strings.Join(out, ", ")
}

// onlySome reports an object that not every environment has.
func onlySome(p *rule.Pass, envs []*facts.Environment, versions []version) {
	var without []string
	has := map[*facts.Environment]bool{}
	for _, v := range versions {
		has[v.env] = true
	}
	var lacking *facts.Environment
	for _, env := range envs {
		if !has[env] {
			without = append(without, env.Name)
			lacking = env
		}
	}
	for _, v := range versions {
		at := home(v.obj)
		f := rule.Finding{Environment: v.env.Name, Unit: v.obj.Unit.ID, Object: v.obj.Ref, Span: at, Certainty: model.CertaintyExact,
			Message: fmt.Sprintf("%s is in %s and not in %s", v.obj.Ref, names(versions), strings.Join(without, ", ")),
			Breaks:  "what one environment runs was never run in the other",
			Fixes:   []rule.Fix{{Message: "move it into the base, with knobs for what must differ"}},
		}
		if !below(v.env, at.File) {
			// It is shared, so somebody takes it away: that overlay is the place.
			f.Environment = lacking.Name
			f.Because = append(f.Because, rule.Because{Span: at, Message: "it stands here"})
			f.Span, f.Certainty = model.Span{File: entryFile(p.Facts, lacking)}, model.CertaintyObject
			f.Fixes = []rule.Fix{{Message: fmt.Sprintf("do not take it away in %s", strings.Join(without, ", "))}}
		}
		p.Report(f)
	}
}

// entryFile is the kustomization file of an environment's folder.
func entryFile(ix *facts.Index, env *facts.Environment) string {
	for _, name := range []string{"kustomization.yaml", "kustomization.yml", "Kustomization"} {
		if _, err := ix.ReadFile(env.Entry + "/" + name); err == nil {
			return env.Entry + "/" + name
		}
	}
	return env.Entry
}

// compareObject compares an object that every environment has.
func compareObject(p *rule.Pass, versions []version) {
	first := versions[0]
	differing := map[string]model.Path{}
	for _, v := range versions[1:] {
		if v.obj.Text == first.obj.Text {
			continue
		}
		differences(first.obj.Tree(), v.obj.Tree(), nil, func(at model.Path) { differing[at.String()] = at })
	}
	var paths []model.Path
	for _, at := range differing {
		if isKnobs(p.Facts, first.obj.Ref) && (at[0] == "data" || at[0] == "binaryData") || decryption(versions, at) {
			continue
		}
		paths = append(paths, at)
	}
	sort.Slice(paths, func(i, j int) bool { return paths[i].String() < paths[j].String() })
	if len(paths) == 0 {
		copied(p, versions)
		return
	}
	const few = 3
	if len(paths) > few {
		f := differs(p, versions, nil)
		f.Message = fmt.Sprintf("%s differs between %s in %d fields: %s, %s, …", first.obj.Ref, names(versions), len(paths), paths[0], paths[1])
		p.Report(f)
		return
	}
	for _, at := range paths {
		p.Report(differs(p, versions, at))
	}
}

// differs is the finding for a field that differs.
func differs(p *rule.Pass, versions []version, at model.Path) rule.Finding {
	f := rule.Finding{Unit: versions[0].obj.Unit.ID, Object: versions[0].obj.Ref, Path: at, Certainty: model.CertaintyExact,
		Breaks: "environments run what differs by more than their knobs: what was proved in one is not what the other runs",
		Fixes:  []rule.Fix{{Message: "set it in the base; where it must differ, make it a knob"}}}
	var values []string
	for _, v := range versions {
		value := "nothing"
		if at != nil {
			if got := v.obj.Get(at...); got != nil {
				value = describeShort(got)
			}
			values = append(values, fmt.Sprintf("%s in %s", value, v.env.Name))
		}
		origin := model.Origin{Span: home(v.obj), Certainty: model.CertaintyExact}
		if at != nil && v.obj.Trace != nil {
			origin = v.obj.Trace.Origin(at)
		}
		message := fmt.Sprintf("%s has it from here", v.env.Name)
		if below(v.env, origin.Span.File) && f.Span.File == "" {
			f.Environment, f.Span, f.Certainty = v.env.Name, origin.Span, origin.Certainty
			continue
		}
		if origin.Span.Known() && (at == nil || v.obj.Get(at...) != nil) {
			f.Because = append(f.Because, rule.Because{Span: origin.Span, Message: message})
		}
	}
	f.Message = fmt.Sprintf("%s differs: %s", shown(f.Object, at), strings.Join(values, ", "))
	if f.Span.File == "" {
		// No overlay's own file has it: a field that one takes away, perhaps.
		last := versions[len(versions)-1]
		f.Environment, f.Span, f.Certainty = last.env.Name, home(last.obj), model.CertaintyAttributed
		if at != nil && len(f.Because) > 0 {
			f.Span = f.Because[len(f.Because)-1].Span
			f.Because = f.Because[:len(f.Because)-1]
		}
	}
	return f
}

func describeShort(v any) string {
	switch v.(type) {
	case map[string]any, []any:
		return describe(v)
	}
	return short(facts.Text(v))
}

// copied reports an object that one environment has from a file of its own while another has it from a shared one.
func copied(p *rule.Pass, versions []version) {
	var shared *version
	for i, v := range versions {
		if !below(v.env, home(v.obj).File) {
			shared = &versions[i]
		}
	}
	if shared == nil {
		return
	}
	for _, v := range versions {
		at := home(v.obj)
		if !below(v.env, at.File) || strings.HasPrefix(at.File, v.env.Entry+"/flux-system/") {
			continue
		}
		p.Report(rule.Finding{Environment: v.env.Name, Unit: v.obj.Unit.ID, Object: v.obj.Ref, Span: at, Certainty: model.CertaintyExact,
			Message: fmt.Sprintf("%s has a copy of %s, which %s has from %s", v.env.Name, v.obj.Ref, shared.env.Name, home(shared.obj).File),
			Breaks:  "the copies are equal today; the next change is made to one of them",
			Because: []rule.Because{{Span: home(shared.obj), Message: "the other one is here"}},
			Fixes:   []rule.Fix{{Message: "take the file of the base into the overlay's resources, and drop the copy"}}})
	}
}

// decryption tells whether a difference is that of the keys that each environment has for itself.
func decryption(versions []version, at model.Path) bool {
	if versions[0].obj.Ref.Kind != "Kustomization" || len(at) < 2 || at[0] != "spec" || at[1] != "decryption" {
		return false
	}
	for i, v := range versions {
		mine := v.obj.Get("spec", "decryption")
		if mine == nil || i > 0 && reflect.DeepEqual(mine, versions[0].obj.Get("spec", "decryption")) {
			return false
		}
	}
	return true
}

// differences visits the paths at which two trees differ: the deepest that both have, or the one that only one has.
func differences(a, b any, at model.Path, visit func(model.Path)) {
	ma, ok1 := a.(map[string]any)
	mb, ok2 := b.(map[string]any)
	if ok1 && ok2 {
		for k, v := range ma {
			if other, ok := mb[k]; ok {
				differences(v, other, at.Child(k), visit)
			} else {
				visit(at.Child(k))
			}
		}
		for k := range mb {
			if _, ok := ma[k]; !ok {
				visit(at.Child(k))
			}
		}
		return
	}
	la, ok1 := a.([]any)
	lb, ok2 := b.([]any)
	if ok1 && ok2 && len(la) == len(lb) {
		for i := range la {
			differences(la[i], lb[i], at.Child(i), visit)
		}
		return
	}
	if !reflect.DeepEqual(a, b) {
		visit(at)
	}
}
