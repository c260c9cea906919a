package trace

import (
	"path"
	"sort"
	"sync"

	fluxkustomize "github.com/fluxcd/pkg/apis/kustomize"

	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/yamlpos"
)

// Files gives the bytes of the artifact that a build read from.
type Files interface {
	ReadFile(p string) ([]byte, error)
}

// Spec is the part of a Flux Kustomization that acts in a build, as it may be shown.
type Spec struct {
	TargetNamespace        string
	NamePrefix, NameSuffix string
	Patches                []fluxkustomize.Patch
	Images                 []fluxkustomize.Image
}

// Build is what the trace of a build leaves. It is immutable and safe for concurrent use.
type Build struct {
	blind  int
	texts  []Text
	ranges []lines
	kusts  []*kustomization
	files  *Sources

	once  sync.Once
	index []*document // of every manifest and patch that the build read
}

// Finish ends the recording of a build that read these files.
func (r *Recorder) Finish(files *Sources) *Build {
	return &Build{blind: r.blind, texts: r.texts, ranges: r.ranges, kusts: r.kusts, files: files}
}

// Unit is what differs between units that share a build.
type Unit struct {
	// Root is the folder of the repository that is the artifact's root.
	Root string
	// Self traces the unit's own object and Ref names it; nil where no object describes the unit.
	Self model.Tracer
	Ref  model.Ref
	Spec Spec

	mu      sync.Mutex
	patches []*source // of Spec.Patches, those that were asked for
}

// patch gives the positions of one of spec.patches; nil when there is no such.
func (u *Unit) patch(i int) *source {
	u.mu.Lock()
	defer u.mu.Unlock()
	if i >= len(u.Spec.Patches) {
		return nil
	}
	if u.patches == nil {
		u.patches = make([]*source, len(u.Spec.Patches))
	}
	if u.patches[i] == nil {
		u.patches[i] = &source{}
		u.patches[i].parse([]byte(u.Spec.Patches[i].Patch))
	}
	return u.patches[i]
}

// Sources parses the files of an artifact, each once. It is safe for concurrent use.
type Sources struct {
	files Files
	mu    sync.Mutex
	m     map[string]*source
}

// source is one text with its positions.
type source struct {
	once  sync.Once
	data  []byte
	yaml  *yamlpos.File
	paths map[*yamlpos.Node][]any
	docs  map[*yamlpos.Node]*yamlpos.Document
}

// NewSources gives the sources of an artifact.
func NewSources(files Files) *Sources { return &Sources{files: files, m: map[string]*source{}} }

// file gives a file's positions; nil when it cannot be read.
func (s *Sources) file(p string) *source {
	return s.text(p, func() ([]byte, bool) {
		data, err := s.files.ReadFile(p)
		return data, err == nil
	})
}

// text gives the positions of a text by its name, which read gives when it is first asked for.
func (s *Sources) text(name string, read func() ([]byte, bool)) *source {
	s.mu.Lock()
	src := s.m[name]
	if src == nil {
		src = &source{}
		s.m[name] = src
	}
	s.mu.Unlock()
	src.once.Do(func() {
		if data, ok := read(); ok {
			src.parse(data)
		}
	})
	if src.yaml == nil {
		return nil
	}
	return src
}

func (s *source) parse(data []byte) {
	s.data, s.yaml = data, yamlpos.Parse(data)
	s.paths, s.docs = map[*yamlpos.Node][]any{}, map[*yamlpos.Node]*yamlpos.Document{}
	for _, d := range s.yaml.Documents {
		if d.Root != nil {
			s.walk(d, d.Root, nil, 0)
		}
	}
}

// walk notes the path of each node, keys too, which have the path of their value.
func (s *source) walk(d *yamlpos.Document, n *yamlpos.Node, at []any, depth int) {
	if depth > maxDepth {
		return
	}
	s.paths[n], s.docs[n] = at, d
	for i, v := range n.Values {
		var step any = i
		if n.Kind == yamlpos.Mapping {
			step = n.Keys[i].Value
		}
		below := append(at[:len(at):len(at)], step)
		if n.Kind == yamlpos.Mapping {
			s.paths[n.Keys[i]], s.docs[n.Keys[i]] = below, d
		}
		s.walk(d, v, below, depth+1)
	}
}

// document is a manifest or patch that a build read.
type document struct {
	text *Text
	src  *source
	doc  *yamlpos.Document
	root *yamlpos.Node // the object; an item of a List, perhaps
	base []any         // the path of root in the document
	kind string
	name string
}

// documents lists what the build read as manifests and patches.
func (b *Build) documents(u *Unit) []*document {
	b.once.Do(func() {
		for i := range b.texts {
			t := &b.texts[i]
			if t.Spec >= 0 {
				continue // differs by unit; operations.go looks at them
			}
			src := b.source(t, u)
			if src == nil {
				continue
			}
			for _, d := range src.yaml.Documents {
				b.add(t, src, d, d.Root, nil, 0)
			}
		}
	})
	return b.index
}

func (b *Build) add(t *Text, src *source, d *yamlpos.Document, n *yamlpos.Node, base []any, depth int) {
	if n == nil || n.Kind != yamlpos.Mapping || depth > 10 {
		return
	}
	kind, items := "", (*yamlpos.Node)(nil)
	name := ""
	for i, k := range n.Keys {
		switch v := n.Values[i]; k.Value {
		case "kind":
			kind = v.Value
		case "items":
			items = v
		case "metadata":
			for j, k := range v.Keys {
				if v.Kind == yamlpos.Mapping && k.Value == "name" {
					name = v.Values[j].Value
				}
			}
		}
	}
	if items != nil && items.Kind == yamlpos.Sequence && len(kind) >= 4 && kind[len(kind)-4:] == "List" {
		for i, item := range items.Values {
			b.add(t, src, d, item, append(base[:len(base):len(base)], "items", i), depth+1)
		}
		return
	}
	b.index = append(b.index, &document{text: t, src: src, doc: d, root: n, base: base, kind: kind, name: name})
}

// source gives a text's positions.
func (b *Build) source(t *Text, u *Unit) *source {
	switch {
	case t.Spec >= 0:
		return u.patch(t.Spec)
	case t.Field == "":
		return b.files.file(t.File)
	}
	return b.files.text(t.File+"\x00"+t.Field, func() ([]byte, bool) {
		outer := b.value(t.File, t.Field)
		if outer == nil {
			return nil, false
		}
		return []byte(outer.Value), true
	})
}

// value finds the value of a field in a file of one document.
func (b *Build) value(file, field string) *yamlpos.Node {
	src := b.files.file(file)
	if src == nil || len(src.yaml.Documents) == 0 {
		return nil
	}
	p, err := model.ParsePath(field)
	if err != nil {
		return nil
	}
	for _, d := range src.yaml.Documents {
		if d.Root == nil {
			continue
		}
		if _, v := d.Find(p); v != nil {
			return v
		}
	}
	return nil
}

// place is a node of a text that a build read.
type place struct {
	text *Text
	src  *source
	node *yamlpos.Node
}

// place finds the node that a mark stands for.
func (b *Build) place(m mark, u *Unit) (place, bool) {
	line := int(m.line)
	i := sort.Search(len(b.ranges), func(i int) bool { return b.ranges[i].to >= line })
	if line <= b.blind || i == len(b.ranges) || b.ranges[i].from > line {
		return place{}, false
	}
	r := b.ranges[i]
	t := &b.texts[r.text]
	src := b.source(t, u)
	if src == nil {
		return place{}, false
	}
	n := src.yaml.At(r.first+line-r.from, int(m.column))
	if n == nil {
		return place{}, false
	}
	return place{t, src, n}, true
}

// span gives the place of a node in the repository; from and to are bytes of its decoded text, to < 0 for all of it.
func (b *Build) span(p place, u *Unit, from, to int) (model.Span, bool) {
	whole := to < 0
	switch {
	case p.text.Spec < 0 && p.text.Field == "":
		s, ok := p.src.yaml.Span(p.node), true
		if !whole {
			s, ok = p.src.yaml.Within(p.node, from, to)
		}
		s.File = path.Join(u.Root, p.text.File)
		return s, ok
	case p.text.Spec >= 0 && u.Self == nil:
		return model.Span{}, false
	}
	// The text stands in another one: take its bytes, and find these in the other.
	inner, ok := p.src.yaml.Span(p.node), true
	if !whole {
		inner, ok = p.src.yaml.Within(p.node, from, to)
	}
	if !ok {
		return model.Span{}, false
	}
	start, ok1 := p.src.yaml.Offset(inner.Line, inner.Column)
	end, ok2 := p.src.yaml.Offset(inner.EndLine, inner.EndColumn)
	if !ok1 || !ok2 || end < start {
		return model.Span{}, false
	}
	if p.text.Spec >= 0 {
		s, certainty := u.Self.Within(specPatch(p.text.Spec), start, end)
		return s, certainty == model.CertaintyExact
	}
	outer := b.value(p.text.File, p.text.Field)
	if outer == nil {
		return model.Span{}, false
	}
	s, ok := b.files.file(p.text.File).yaml.Within(outer, start, end)
	s.File = path.Join(u.Root, p.text.File)
	return s, ok
}

func specPatch(i int) model.Path { return model.Path{"spec", "patches", i, "patch"} }
