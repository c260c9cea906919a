package trace

import (
	"path"
	"regexp"
	"strconv"
	"strings"

	yaml3 "go.yaml.in/yaml/v3"

	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/yamlpos"
)

// This file attributes values to the operations of JSON 6902 patches, which leave no marks.

// operations is a JSON 6902 patch with where its text stands.
type operations struct {
	place    place // of the list; text tells where it stands
	by       string
	byAt     model.Span
	kind     string // the target's, as kustomize reads it: regular expressions
	name     string
	specific bool // there is a target
}

// patches6902 lists the JSON patches of a build, those that act last at the end.
func (o *Object) patches6902() []operations {
	var out []operations
	// Kustomizations further down act before those above them.
	for i := len(o.build.kusts) - 1; i >= 0; i-- {
		k := o.build.kusts[i]
		for j, p := range k.k.Patches {
			ops := operations{}
			if p.Target != nil {
				ops.specific, ops.kind, ops.name = true, p.Target.Kind, p.Target.Name
			}
			ops.by, ops.byAt = o.build.by(k, model.Path{"patches", j}.String(), o.unit)
			if k == o.build.kusts[0] && !ops.byAt.Known() {
				continue // one of spec.patches, which the generated file has too
			}
			if p.Path != "" {
				out = o.operationsOf(out, ops, &Text{File: path.Join(k.dir, p.Path), Spec: -1, Patch: true})
			} else {
				out = o.operationsOf(out, ops, &Text{File: k.file, Field: ops.by + ".patch", Spec: -1, Patch: true})
			}
		}
		for j, p := range k.k.PatchesJson6902 {
			ops := operations{}
			if p.Target != nil {
				ops.specific, ops.kind, ops.name = true, p.Target.Kind, p.Target.Name
			}
			ops.by, ops.byAt = o.build.by(k, model.Path{"patchesJson6902", j}.String(), o.unit)
			if p.Path != "" {
				out = o.operationsOf(out, ops, &Text{File: path.Join(k.dir, p.Path), Spec: -1, Patch: true})
			} else {
				out = o.operationsOf(out, ops, &Text{File: k.file, Field: ops.by + ".patch", Spec: -1, Patch: true})
			}
		}
	}
	for i, p := range o.unit.Spec.Patches {
		ops := operations{by: specPatch(i)[:3].String()}
		if p.Target != nil {
			ops.specific, ops.kind, ops.name = true, p.Target.Kind, p.Target.Name
		}
		out = o.operationsOf(out, ops, &Text{Spec: i, Patch: true})
	}
	return out
}

func (o *Object) operationsOf(list []operations, ops operations, t *Text) []operations {
	src := o.build.source(t, o.unit)
	if src == nil {
		return list
	}
	for _, d := range src.yaml.Documents {
		if d.Root != nil && d.Root.Kind == yamlpos.Sequence {
			ops.place = place{t, src, d.Root}
			return append(list, ops)
		}
	}
	return list
}

// fits tells whether a patch's target may be the object. Its name is compared loosely, since a later step may have
// changed it.
func (ops *operations) fits(ref model.Ref) bool {
	match := func(pattern, s string) bool {
		re, err := regexp.Compile("^(?:" + pattern + ")$")
		return pattern == "" || err == nil && re.MatchString(s)
	}
	if !match(ops.kind, ref.Kind) {
		return false
	}
	return match(ops.name, ref.Name) || strings.Contains(ref.Name, ops.name) || strings.ContainsAny(ops.name, ".*|[(")
}

// operation attributes a value to the last operation that wrote it.
func (o *Object) operation(b *branch) (model.Origin, bool) {
	here := b.path()
	all := o.ops()
	for i := len(all) - 1; i >= 0; i-- {
		ops := &all[i]
		if !ops.fits(o.ref) {
			continue
		}
		for j := len(ops.place.node.Values) - 1; j >= 0; j-- {
			v := wrote(ops.place.node.Values[j], here, b.node)
			if v == nil {
				continue
			}
			p := ops.place
			p.node = v
			span, ok := o.build.span(p, o.unit, 0, -1)
			if !ok {
				continue
			}
			out := model.Origin{Span: span, Certainty: model.CertaintyAttributed, Step: model.StepPatch, Text: v.Value, By: ops.by, ByAt: ops.byAt}
			if p.text.Spec >= 0 {
				ref := o.unit.Ref
				out.Via = &ref
			}
			return o.replaced(b, out), true
		}
	}
	return model.Origin{}, false
}

// replaced adds what stood in the object's manifest.
func (o *Object) replaced(b *branch, origin model.Origin) model.Origin {
	if o.named == nil {
		return origin
	}
	if _, v := o.inDocument(o.named, b.path()); v != nil && v.Kind == yamlpos.Scalar && !sameScalar(b.node, v) {
		p := place{o.named.text, o.named.src, v}
		if span, ok := o.build.span(p, o.unit, 0, -1); ok {
			origin.Overrides = &model.Origin{Span: span, Certainty: model.CertaintyAttributed, Step: model.StepManifest, Text: v.Value}
		}
	}
	return origin
}

// wrote gives the node of an operation's value that is the value at a path; nil when it is not.
func wrote(op *yamlpos.Node, here []any, node *yaml3.Node) *yamlpos.Node {
	if op.Kind != yamlpos.Mapping {
		return nil
	}
	var verb, pointer string
	var value *yamlpos.Node
	for i, k := range op.Keys {
		switch k.Value {
		case "op":
			verb = op.Values[i].Value
		case "path":
			pointer = op.Values[i].Value
		case "value":
			value = op.Values[i]
		}
	}
	if value == nil || verb != "add" && verb != "replace" {
		return nil
	}
	steps := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	if pointer == "" || pointer == "/" {
		steps = nil
	}
	if len(steps) > len(here) {
		return nil
	}
	for i, s := range steps {
		s = strings.ReplaceAll(strings.ReplaceAll(s, "~1", "/"), "~0", "~")
		switch h := here[i].(type) {
		case string:
			if h != s {
				return nil
			}
		case int:
			// An index moves when another operation adds or removes an item; the value decides.
			if _, err := strconv.Atoi(s); err != nil && s != "-" {
				return nil
			}
		}
	}
	for _, step := range here[len(steps):] {
		value = child(value, step)
		if value == nil {
			return nil
		}
	}
	if value.Kind == yamlpos.Scalar && (sameScalar(node, value) || value.Value == node.Value) {
		return value
	}
	return nil
}

func child(n *yamlpos.Node, step any) *yamlpos.Node {
	if n.Kind == yamlpos.Alias && n.Alias != nil {
		n = n.Alias
	}
	switch s := step.(type) {
	case string:
		for i, k := range n.Keys {
			if k.Value == s && i < len(n.Values) {
				return n.Values[i]
			}
		}
	case int:
		if n.Kind == yamlpos.Sequence && s < len(n.Values) {
			return n.Values[s]
		}
	}
	return nil
}
