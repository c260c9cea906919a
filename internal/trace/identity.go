package trace

import (
	"path"
	"strings"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/yamlpos"
)

// This file finds the manifest of an object that lost its marks: by kind, and by a name that the object's may have
// been made of.

// manifest finds the document that the object was read from; nil when none, or more than one, may be it.
func (o *Object) manifest() *document {
	var found, near *document
	several := false
	for _, d := range o.build.documents(o.unit) {
		if d.text.Patch || d.kind != o.ref.Kind || d.name == "" {
			continue
		}
		switch {
		case d.name == o.ref.Name:
			if found != nil && found.src != d.src {
				several = true
			}
			found = d
		case strings.Contains(o.ref.Name, d.name):
			if near == nil || len(d.name) > len(near.name) {
				near = d
			}
		}
	}
	if several {
		return nil
	}
	if found != nil {
		return found
	}
	return near
}

// documentOf gives the document that a place is in.
func (b *Build) documentOf(p place, u *Unit) *document {
	d := p.src.docs[p.node]
	if d == nil {
		return nil
	}
	root, base := d.Root, []any(nil)
	if at := p.src.paths[p.node]; len(at) >= 2 && at[0] == "items" {
		base = at[:2]
		_, root = d.Find(base)
	}
	if root == nil {
		return nil
	}
	return &document{text: p.text, src: p.src, doc: d, root: root, base: base}
}

// inDocument finds an object's path in a document. Where a list has another order, an item is found by its name.
func (o *Object) inDocument(d *document, p []any) (key, value *yamlpos.Node) {
	full := append(append([]any{}, d.base...), p...)
	return d.doc.Find(full)
}

// sure is how certain it is that a value comes from the same path of the object's manifest. kustomize makes nodes for
// annotations, and for the name of what it patched, anew (kyaml yaml/fns.go SetAnnotations, api/resource ApplySmPatch),
// so these have no mark; where the object's own mark tells the document and no patch or transformer has the value, it
// is the one there.
func (o *Object) sure() model.Certainty {
	if o.kept() || o.plain {
		return model.CertaintyExact
	}
	return model.CertaintyAttributed
}

// samePatch attributes a value without a mark to a strategic merge patch that has it at the same path.
func (o *Object) samePatch(b *branch) (model.Origin, bool) {
	p, ok := o.patchPlace(b)
	if !ok {
		return model.Origin{}, false
	}
	span, ok := o.build.span(p, o.unit, 0, -1)
	if !ok {
		return model.Origin{}, false
	}
	return o.patched(b, p, o.origin(p, span, model.CertaintyAttributed)), true
}

func (o *Object) patchPlace(b *branch) (place, bool) {
	here := b.path()
	if len(here) < 2 || here[0] == "metadata" && (here[1] == "name" || here[1] == "namespace") {
		return place{}, false // what tells which object a patch is for
	}
	fits := func(d *document) (place, bool) {
		if d.kind != "" && d.kind != o.ref.Kind {
			return place{}, false
		}
		_, v := o.inDocument(d, here)
		if v = target(v); v == nil || !sameScalar(b.node, v) {
			return place{}, false
		}
		return place{d.text, d.src, v}, true
	}
	for i := len(o.unit.Spec.Patches) - 1; i >= 0; i-- {
		t := &Text{Spec: i, Patch: true}
		src := o.build.source(t, o.unit)
		if src == nil {
			continue
		}
		for _, d := range src.yaml.Documents {
			if d.Root != nil && d.Root.Kind == yamlpos.Mapping {
				if p, ok := fits(&document{text: t, src: src, doc: d, root: d.Root}); ok {
					return p, true
				}
			}
		}
	}
	all := o.build.documents(o.unit)
	for i := len(all) - 1; i >= 0; i-- {
		// A patch names its object, or has a target and then any name.
		if d := all[i]; d.text.Patch && (d.name == "" || strings.Contains(o.ref.Name, d.name) || d.text.Field != "") {
			if p, ok := fits(d); ok {
				return p, true
			}
		}
	}
	return place{}, false
}

// sameInManifest attributes a value to the same path of the object's manifest.
func (o *Object) sameInManifest(b *branch) (model.Origin, bool) {
	if o.named == nil {
		return model.Origin{}, false
	}
	_, v := o.inDocument(o.named, b.path())
	if v = target(v); v == nil || v.Kind != yamlpos.Scalar {
		return o.elsewhereInList(b)
	}
	p := place{o.named.text, o.named.src, v}
	span, ok := o.build.span(p, o.unit, 0, -1)
	switch {
	case !ok:
		return model.Origin{}, false
	case sameScalar(b.node, v):
		return o.origin(p, span, o.sure()), true
	case strings.HasPrefix(v.Value, "ENC["):
		out := o.origin(p, span, model.CertaintyAttributed)
		out.Step, out.Text = model.StepDecrypt, "ENC[…]"
		return out, true
	case strings.Contains(b.node.Value, v.Value) && v.Value != "":
		out := o.origin(p, span, model.CertaintyAttributed)
		out.Step = model.StepTransform
		return out, true
	}
	return o.elsewhereInList(b)
}

// elsewhereInList looks for a value of a list whose items moved: the same keys, the same value, once.
func (o *Object) elsewhereInList(b *branch) (model.Origin, bool) {
	var hit *yamlpos.Node
	here := b.path()
	n := 0
	for node, at := range o.named.src.paths {
		if node.Kind == yamlpos.Scalar && o.named.src.docs[node] == o.named.doc && len(at) == len(o.named.base)+len(here) &&
			sameKeys(at[len(o.named.base):], here) && sameScalar(b.node, node) && !isKey(o.named.src, node, at) {
			hit = node
			n++
		}
	}
	if n != 1 {
		return model.Origin{}, false
	}
	p := place{o.named.text, o.named.src, hit}
	span, ok := o.build.span(p, o.unit, 0, -1)
	return o.origin(p, span, model.CertaintyAttributed), ok
}

// isKey tells whether a node is a key: the value at its path is another node.
func isKey(src *source, n *yamlpos.Node, at []any) bool {
	_, v := src.docs[n].Find(at)
	return v != n
}

// sameDecoded compares scalars as JSON values.
func sameDecoded(a, b string) bool {
	var x, y any
	return sigsyaml.Unmarshal([]byte(a), &x) == nil && sigsyaml.Unmarshal([]byte(b), &y) == nil && x == y && isScalar(x)
}

func isScalar(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

// whoNames gives the entry of a kustomization file that names a patch file.
func (b *Build) whoNames(file string, u *Unit) (string, model.Span) {
	for _, k := range b.kusts {
		for i, p := range k.k.Patches {
			if p.Path != "" && path.Join(k.dir, p.Path) == file {
				return b.by(k, model.Path{"patches", i}.String(), u)
			}
		}
		for i, p := range k.k.PatchesStrategicMerge {
			if path.Join(k.dir, string(p)) == file {
				return b.by(k, model.Path{"patchesStrategicMerge", i}.String(), u)
			}
		}
	}
	return "", model.Span{}
}

// by names a field of a kustomization file and gives its place.
func (b *Build) by(k *kustomization, field string, u *Unit) (string, model.Span) {
	span, _ := b.field(k.file, field, u)
	return field, span
}

// field gives the span of a field's value in a file; of a mapping's first key, since a whole block says little.
func (b *Build) field(file, field string, u *Unit) (model.Span, bool) {
	v := b.value(file, field)
	if v == nil {
		return model.Span{}, false
	}
	for v.Kind != yamlpos.Scalar {
		switch {
		case len(v.Keys) > 0:
			v = v.Keys[0]
		case len(v.Values) > 0:
			v = v.Values[0]
		default:
			s := b.files.file(file).yaml.Span(v)
			s.File = path.Join(u.Root, file)
			return s, true
		}
	}
	s := b.files.file(file).yaml.Span(v)
	s.File = path.Join(u.Root, file)
	return s, true
}
