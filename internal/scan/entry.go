package scan

import (
	"bytes"
	"fmt"
	"path"
	"sort"
	"strings"

	yaml3 "go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/tidegate/tidegate/internal/flux"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/render"
	"github.com/tidegate/tidegate/internal/source"
	"github.com/tidegate/tidegate/internal/trace"
)

// This file starts an environment: from a folder that Flux builds first, or from a file that somebody applies.
//
// The rules are:
//   - A folder is built as the unit flux-system/flux-system, as `flux bootstrap` names it, or as a FluxInstance's sync
//     names it, unless what it yields contains a Kustomization whose path is the folder: then it is that one, spec and
//     all.
//   - The objects of a file are applied as they stand: nothing builds or substitutes them.
//   - The repository's own source is the one that the entry's Kustomizations name: the entry's own, else what the
//     bootstrap or FluxInstance says, else the one that most of them name with a path that exists.

// bootstrap makes the first unit of a folder. there tells whether the folder exists.
func (r *run) bootstrap(there bool) {
	id := model.UnitID{Kind: "Kustomization", Namespace: "flux-system", Name: "flux-system"}
	if r.entry.Unit.Name != "" {
		id = r.entry.Unit
	}
	src := r.entry.Source
	if src.Name == "" {
		src = model.SourceRef{Kind: "GitRepository", Namespace: "flux-system", Name: "flux-system"}
	}
	dir := r.inRoot(r.entry.Path)
	u := &unit{id: id, src: src, specPath: dir, dirKnown: true}
	u.spec = r.synthetic(id, src, dir)
	r.env.Source = src
	if !there {
		u.failed = []model.Reason{{Code: model.CodeEntry, Subject: r.entry.Path,
			Message: fmt.Sprintf("the entry %s is not in the repository", r.entry.Path), Fix: "correct --entry or tidegate.yaml"}}
		r.add(u)
		return
	}
	r.settleEntry(u)
	r.add(u)
}

// inRoot gives a repository path as the artifact has it.
func (r *run) inRoot(p string) string {
	if r.root == "." {
		return p
	}
	if p == r.root {
		return "."
	}
	if len(p) > len(r.root) && p[:len(r.root)+1] == r.root+"/" {
		return p[len(r.root)+1:]
	}
	return p
}

func (r *run) synthetic(id model.UnitID, src model.SourceRef, dir string) *flux.Kustomization {
	ks := &flux.Kustomization{}
	ks.Name, ks.Namespace = id.Name, id.Namespace
	ks.Spec.Path = "./" + dir
	ks.Spec.Prune = true
	ks.Spec.SourceRef.Kind, ks.Spec.SourceRef.Name = src.Kind, src.Name
	if src.Namespace != id.Namespace {
		ks.Spec.SourceRef.Namespace = src.Namespace
	}
	return ks
}

// settleEntry builds the entry until it is known which Kustomization it is and which source is its own. Its spec may
// change its own build (patches on itself), so this repeats until the spec stands.
func (r *run) settleEntry(u *unit) {
	const tries = 4
	last := ""
	for i := 0; i < tries; i++ {
		r.arts = map[model.SourceRef]*artifact{}
		r.env.Source = u.src
		if a := r.artifactOf(u.src); a.files == nil {
			return
		}
		r.render(u)
		own, objects := r.entryObjects(u)
		if own == nil {
			r.ownSource(u, objects)
			break
		}
		if r.disguised(own) {
			break // it stays the unit that a bootstrap makes: its own name may not be told
		}
		spec, err := flux.DecodeKustomization(own.obj, r.flux)
		if err != nil {
			u.failed = append(u.failed, r.refusal(own, err))
			break
		}
		now, _ := sigsyaml.Marshal(spec)
		u.id = model.UnitID{Kind: "Kustomization", Namespace: own.ref.Namespace, Name: own.ref.Name}
		u.spec, u.shown, u.src, u.doc, u.self = spec, r.masked(own), sourceOf(own.obj), own.obj, own.object
		if string(now) == last {
			break
		}
		last = string(now)
	}
	r.env.Source = u.src
	r.arts = map[model.SourceRef]*artifact{}
}

// entryObjects gives the Kustomization whose path is the entry itself, or else the Flux objects of the entry when its
// source must be found among them.
func (r *run) entryObjects(u *unit) (own *held, all []*held) {
	for _, o := range u.out.Objects {
		if o.Ref.Kind != "Kustomization" || !flux.IsGroup(o.Ref.APIVersion, flux.KustomizeGroup) {
			continue
		}
		// Only what may be the entry's own is taken apart here: an entry can hold hundreds.
		if own != nil || !strings.Contains(o.YAML, path.Base(u.specPath)) {
			continue
		}
		if h, err := hold(o, &u.id); err == nil && text(h.obj, "spec", "path") != "" && source.JoinSecure(text(h.obj, "spec", "path")) == u.specPath {
			own = h
		}
	}
	if own != nil || r.entry.Source.Name != "" {
		return own, nil
	}
	for _, o := range u.out.Objects {
		if interesting(o.Ref) {
			if h, err := hold(o, &u.id); err == nil {
				all = append(all, h)
			}
		}
	}
	return nil, all
}

// ownSource chooses the repository's own source among those that the entry's Kustomizations name.
func (r *run) ownSource(u *unit, objects []*held) {
	if r.entry.Source.Name != "" {
		return
	}
	count := map[model.SourceRef]int{}
	for _, h := range objects {
		if h.ref.Kind != "Kustomization" || !flux.IsGroup(h.ref.APIVersion, flux.KustomizeGroup) {
			continue
		}
		count[sourceOf(h.obj)]++
		p := path.Clean("./" + text(h.obj, "spec", "path"))
		for at := path.Dir(r.entry.Path); ; at = path.Dir(at) {
			if isDir, ok := r.base.Stat(path.Join(at, p)); ok && isDir {
				count[sourceOf(h.obj)] += 1000
				break
			}
			if at == "." || at == "/" {
				break
			}
		}
	}
	best := likeliest(count)
	if best.Name == "" {
		return
	}
	u.src = best
	u.spec = r.synthetic(u.id, best, u.specPath)
}

// applied takes an entry that is a file: its objects are in the cluster as they stand.
func (r *run) applied() {
	objects, err := ParseObjects(r.entry.Path, r.entry.File)
	if err != nil {
		r.env.Reasons = append(r.env.Reasons, model.Reason{Code: model.CodeEntry, Subject: r.entry.Path,
			Message: err.Error(), Places: []model.Place{{File: r.entry.Path}}})
		return
	}
	count := map[model.SourceRef]int{}
	var hs []*held
	for _, c := range objects {
		out, err := sigsyaml.Marshal(c.Object)
		if err != nil {
			continue
		}
		o := &model.Object{Ref: c.Ref, YAML: string(out), Display: string(out)}
		if r.opts.Builder.Trace {
			o.Trace = trace.NewManifest(r.entry.Path, oneFile(r.entry.File), c.Ref, o.Display)
		}
		r.env.Applied = append(r.env.Applied, o)
		if h := (&held{ref: c.Ref, label: c.Ref, obj: c.Object, shown: c.Object, object: o}); interesting(c.Ref) {
			hs = append(hs, h)
			r.store.put(h)
			if c.Ref.Kind == "Kustomization" && flux.IsGroup(c.Ref.APIVersion, flux.KustomizeGroup) {
				p := path.Clean("./" + text(c.Object, "spec", "path"))
				n := 1
				if isDir, ok := r.base.Stat(path.Join(r.root, p)); ok && isDir {
					n += 1000
				}
				count[sourceOf(c.Object)] += n
			}
		}
	}
	r.env.Source = likeliest(count)
	for _, h := range hs {
		r.discover(nil, h)
	}
}

// oneFile is the file that an entry is, which may be of another place than the repository.
type oneFile []byte

func (f oneFile) ReadFile(string) ([]byte, error) { return f, nil }

// ParseObjects reads a stream of Kubernetes objects as `kubectl apply -f` would: lists are taken apart. The error
// names the file and, where the parser knows it, the line.
func ParseObjects(file string, data []byte) ([]ClusterObject, error) {
	var out []ClusterObject
	if err := render.CheckAliases(data); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	dec := yaml3.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))))
	for n := 1; ; n++ {
		var node yaml3.Node
		err := dec.Decode(&node)
		if err != nil && err.Error() == "EOF" {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: document %d is not YAML: %w", file, n, err)
		}
		raw, err := yaml3.Marshal(&node)
		if err != nil {
			return nil, fmt.Errorf("%s: document %d: %w", file, n, err)
		}
		var obj map[string]any
		if err := sigsyaml.Unmarshal(raw, &obj); err != nil {
			return nil, fmt.Errorf("%s:%d: document %d is no Kubernetes object: %w", file, node.Line, n, err)
		}
		if obj == nil {
			continue
		}
		items := []any{obj}
		if list, ok := obj["items"].([]any); ok && obj["kind"] == "List" {
			items = list
		}
		for _, it := range items {
			m, _ := it.(map[string]any)
			ref := model.Ref{APIVersion: text(m, "apiVersion"), Kind: text(m, "kind"), Namespace: text(m, "metadata", "namespace"), Name: text(m, "metadata", "name")}
			if ref.APIVersion == "" || ref.Kind == "" || ref.Name == "" {
				return nil, fmt.Errorf("%s:%d: document %d has no apiVersion, kind or metadata.name", file, node.Line, n)
			}
			out = append(out, ClusterObject{Ref: ref, Object: m, File: file})
		}
	}
}

func sortStrings(s []string) { sort.Strings(s) }
