package trace

import (
	"path"
	"strings"
	"sync"

	yaml3 "go.yaml.in/yaml/v3"

	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/yamlpos"
)

// Object traces one object as kustomize built it. It is a model.Tracer.
type Object struct {
	build *Build
	unit  *Unit
	ref   model.Ref
	text  string
	marks Marks

	once  sync.Once
	tree  *tree
	holds bool
	plain bool                // the object is its manifest: no build came between
	ops   func() []operations // the JSON patches of the build, once they are asked for
	named *document           // the manifest that the object was read from, as far as that can be told
}

// NewObject gives the tracer of an object that a build made: its name and text before substitution, and its marks.
func NewObject(b *Build, u *Unit, ref model.Ref, text string, marks Marks) *Object {
	o := &Object{build: b, unit: u, ref: ref, text: text, marks: marks}
	o.ops = sync.OnceValue(o.patches6902)
	return o
}

func (o *Object) grown() *tree {
	o.once.Do(func() {
		o.tree = grow(o.text, o.marks)
		if o.tree.intact && o.tree.root != nil && int(o.tree.root.at.line) > max(1, o.build.blind) {
			if root, ok := o.build.place(o.tree.root.at, o.unit); ok {
				o.named = o.build.documentOf(root, o.unit)
				o.holds = o.named != nil
			}
		}
		if !o.holds {
			o.named = o.manifest()
		}
	})
	return o.tree
}

// kept tells whether the object's marks are those of the documents that it was read from. An object that was written on
// the way, or generated, has the lines of a text that nobody has; its root then stands in no document of the build.
func (o *Object) kept() bool { return o.holds }

// Origin implements model.Tracer.
func (o *Object) Origin(p model.Path) model.Origin {
	t := o.grown()
	if t.root == nil {
		return o.whole()
	}
	b := t.root.find(p)
	switch {
	case b == nil:
		return o.whole()
	case b == t.root:
		return o.whole()
	case b.node.Kind == yaml3.ScalarNode:
		return o.scalar(b)
	}
	return o.collection(b)
}

// Key implements model.Tracer.
func (o *Object) Key(p model.Path) model.Span {
	t := o.grown()
	if t.root == nil || len(p) == 0 {
		return o.whole().Span
	}
	b := t.root.find(p)
	if b == nil {
		return o.whole().Span
	}
	return o.collection(b).Span
}

// Within implements model.Tracer.
func (o *Object) Within(p model.Path, from, to int) (model.Span, model.Certainty) {
	t := o.grown()
	if t.root != nil {
		if b := t.root.find(p); b != nil && b.node.Kind == yaml3.ScalarNode {
			if pl, certainty, ok := o.holder(b); ok && from >= 0 && to >= from && to <= len(b.node.Value) {
				if s, ok := o.part(b, pl, from, to); ok {
					return s, certainty
				}
			}
			if g, ok := o.generated(b); ok {
				if s, ok := g.within(o, from, to); ok {
					return s, model.CertaintyExact
				}
			}
		}
	}
	return partly(o.Origin(p))
}

// partly is a part of a value of which only the whole has a place.
func partly(origin model.Origin) (model.Span, model.Certainty) {
	if origin.Certainty == model.CertaintyObject {
		return origin.Span, model.CertaintyObject
	}
	return origin.Span, model.CertaintyAttributed
}

// holder finds the place whose value is a branch's value.
func (o *Object) holder(b *branch) (place, model.Certainty, bool) {
	if o.kept() {
		if p, ok := o.build.place(b.at, o.unit); ok && o.leads(b, p) && sameScalar(b.node, p.node) {
			return p, model.CertaintyExact, true
		}
	}
	if p, ok := o.patchPlace(b); ok {
		return p, model.CertaintyAttributed, true
	}
	if o.named != nil {
		if _, v := o.inDocument(o.named, b.path()); v != nil && sameScalar(b.node, v) {
			return place{o.named.text, o.named.src, v}, o.sure(), true
		}
	}
	return place{}, "", false
}

// part gives the span of a part of a value. Where the value here differs from the one there in how lines end, as
// kustomize writes folded scalars again, offsets do not carry over, and the text of the part is looked for instead.
func (o *Object) part(b *branch, p place, from, to int) (model.Span, bool) {
	if p.node.Value == b.node.Value {
		return o.build.span(p, o.unit, from, to)
	}
	want := b.node.Value[from:to]
	if want == "" || strings.Count(p.node.Value, want) != 1 {
		return model.Span{}, false
	}
	at := strings.Index(p.node.Value, want)
	return o.build.span(p, o.unit, at, at+len(want))
}

// scalar finds where a scalar comes from.
func (o *Object) scalar(b *branch) model.Origin {
	if o.kept() {
		if p, ok := o.build.place(b.at, o.unit); ok && o.leads(b, p) {
			span, ok := o.build.span(p, o.unit, 0, -1)
			if ok && sameScalar(b.node, p.node) {
				return o.patched(b, p, o.origin(p, span, model.CertaintyExact))
			}
			if ok {
				return o.changed(b, p, span)
			}
		}
	}
	for _, try := range []func(*branch) (model.Origin, bool){o.operation, o.transformed, o.fromGenerator, o.samePatch, o.sameInManifest} {
		if origin, ok := try(b); ok {
			return origin
		}
	}
	return o.whole()
}

// origin is a value that stands in a text.
func (o *Object) origin(p place, span model.Span, c model.Certainty) model.Origin {
	out := model.Origin{Span: span, Certainty: c, Step: model.StepManifest, Text: p.node.Value}
	if p.text.Patch {
		out.Step = model.StepPatch
		switch {
		case p.text.Spec >= 0:
			out.By = specPatch(p.text.Spec)[:3].String()
			ref := o.unit.Ref
			out.Via = &ref
		case p.text.Field != "":
			out.By = strings.TrimSuffix(p.text.Field, ".patch")
		default:
			out.By, out.ByAt = o.build.whoNames(p.text.File, o.unit)
		}
	}
	return out
}

// patched adds what a patch replaced.
func (o *Object) patched(b *branch, p place, origin model.Origin) model.Origin {
	if !p.text.Patch {
		return origin
	}
	base := o.named
	if base == nil || base.src == p.src && base.root == p.node {
		return origin
	}
	if _, v := o.inDocument(base, b.path()); v != nil && v.Kind == yamlpos.Scalar {
		at := place{base.text, base.src, v}
		if span, ok := o.build.span(at, o.unit, 0, -1); ok && span != origin.Span {
			origin.Overrides = &model.Origin{Span: span, Certainty: model.CertaintyExact, Step: model.StepManifest, Text: v.Value}
		}
	}
	return origin
}

// collection finds where a mapping or sequence, or the key of any value, stands.
func (o *Object) collection(b *branch) model.Origin {
	if o.kept() {
		m := b.key
		if m.line == 0 {
			m = b.at
		}
		if p, ok := o.build.place(m, o.unit); ok && o.leads(b, p) {
			node := p.node
			if node.Kind != yamlpos.Scalar && len(node.Keys) > 0 {
				p.node = node.Keys[0]
			}
			if span, ok := o.build.span(p, o.unit, 0, -1); ok {
				return o.origin(p, span, model.CertaintyExact)
			}
		}
	}
	if o.named != nil {
		if k, v := o.inDocument(o.named, b.path()); v != nil {
			if k == nil {
				k = v
			}
			p := place{o.named.text, o.named.src, k}
			if span, ok := o.build.span(p, o.unit, 0, -1); ok {
				return o.origin(p, span, model.CertaintyAttributed)
			}
		}
	}
	// A mapping that was made on the way: what is in it may tell.
	for _, kid := range b.kids {
		if kid.node.Kind == yaml3.ScalarNode {
			if origin := o.scalar(kid); origin.Certainty != model.CertaintyObject {
				origin.Certainty = model.CertaintyAttributed
				return origin
			}
		}
	}
	return o.whole()
}

// leads tells whether the keys that lead to a place in its document are those that lead to the branch in the object.
func (o *Object) leads(b *branch, p place) bool {
	there, ok := p.src.paths[p.node]
	if !ok {
		return false
	}
	here := b.path()
	if sameKeys(here, there) {
		return true
	}
	// The item of a List stands below items.
	if len(there) > 2 && there[0] == "items" && sameKeys(here, there[2:]) {
		return true
	}
	// An alias or a merge key leads to where the anchor is.
	d := p.src.docs[p.node]
	_, v := d.Find(here)
	return target(v) == p.node
}

// target gives what an alias stands for.
func target(n *yamlpos.Node) *yamlpos.Node {
	if n != nil && n.Kind == yamlpos.Alias {
		return n.Alias
	}
	return n
}

// sameKeys compares paths without their indices: items of a list move when a patch adds some.
func sameKeys(a, b []any) bool {
	i, j := 0, 0
	for {
		for i < len(a) && isIndex(a[i]) {
			i++
		}
		for j < len(b) && isIndex(b[j]) {
			j++
		}
		switch {
		case i == len(a) || j == len(b):
			return i == len(a) && j == len(b)
		case a[i] != b[j]:
			return false
		}
		i++
		j++
	}
}

func isIndex(step any) bool {
	_, ok := step.(int)
	return ok
}

// sameScalar tells whether a scalar of a file is the one of an object's text. What is no string is compared as it is
// decoded: 0x10 and 16 are one value.
func sameScalar(here *yaml3.Node, there *yamlpos.Node) bool {
	if there.Kind != yamlpos.Scalar {
		return false
	}
	if here.Value == there.Value {
		return true
	}
	if here.ShortTag() == "!!null" && there.Tag == "!!null" {
		return true
	}
	if here.ShortTag() == "!!str" {
		// A folded scalar gets blank lines when kustomize writes it again.
		return there.Style&yaml3.FoldedStyle != 0 && sameWords(here.Value, there.Value)
	}
	return there.Tag != "!!str" && sameDecoded(here.Value, there.Value)
}

func sameWords(a, b string) bool {
	x, y := strings.Fields(a), strings.Fields(b)
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if x[i] != y[i] {
			return false
		}
	}
	return true
}

// whole is the origin of an object of whose parts nothing is known.
func (o *Object) whole() model.Origin {
	t := o.grown()
	out := model.Origin{Certainty: model.CertaintyObject, Step: model.StepUnresolved}
	if t.root != nil && o.kept() {
		if p, ok := o.build.place(t.root.at, o.unit); ok {
			if p.node.Kind == yamlpos.Mapping && len(p.node.Keys) > 0 {
				p.node = p.node.Keys[0]
			}
			if span, ok := o.build.span(p, o.unit, 0, -1); ok {
				out.Span = span
				return out
			}
		}
	}
	if o.named != nil && len(o.named.root.Keys) > 0 {
		if span, ok := o.build.span(place{o.named.text, o.named.src, o.named.root.Keys[0]}, o.unit, 0, -1); ok {
			out.Span = span
			return out
		}
	}
	if g := o.generator(); g != nil {
		if span, ok := o.build.field(g.kust.file, g.field+".name", o.unit); ok {
			out.Span, out.Step = span, model.StepGenerator
			return out
		}
	}
	if len(o.build.kusts) > 0 && o.build.files.file(o.build.kusts[0].file) != nil {
		out.Span = model.Span{File: path.Join(o.unit.Root, o.build.kusts[0].file)}
	}
	return out
}
