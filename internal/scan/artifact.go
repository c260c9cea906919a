package scan

import (
	"fmt"
	"path"
	"reflect"
	"sort"
	"strings"

	"github.com/tidegate/tidegate/internal/flux"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/render"
	"github.com/tidegate/tidegate/internal/source"
)

// artifact is what one source object of an environment yields; files is nil when it is not this repository.
type artifact struct {
	files   render.Files
	foreign *model.Reason
	broken  *model.Reason // kustomize-controller cannot unpack it, so that nothing of it is built
}

// artifactOf gives the artifact of a source.
func (r *run) artifactOf(ref model.SourceRef) *artifact {
	if a, ok := r.arts[ref]; ok {
		return a
	}
	a := &artifact{}
	obj := r.sourceObject(ref)
	switch {
	case ref == r.env.Source || r.sameRepository(obj):
		full, err := source.NewArtifact(r.opts.Tree, r.known[ref])
		if err != nil {
			msg := err.Error()
			if h := r.store.get(flux.SourceGroup, ref.Kind, ref.Namespace, ref.Name); h != nil && h.secret && !r.opts.ShowSecrets {
				msg = "the artifact cannot be made as its source, which holds decrypted values, asks; --show-secrets shows why"
			}
			a.foreign = &model.Reason{Code: model.CodeReadFailure, Message: msg}
			break
		}
		a.files = subtree(full, r.root)
		if err := full.ExtractError(); err != nil {
			a.broken = &model.Reason{Code: model.CodeGenerate, Subject: ref.String(),
				Message: "kustomize-controller cannot unpack the artifact: " + err.Error(), Fix: "rename the file, or leave it out with .sourceignore"}
		}
	default:
		a.foreign = foreign(ref, r.shownSource(ref))
	}
	r.arts[ref] = a
	return a
}

func (r *run) sourceObject(ref model.SourceRef) map[string]any {
	if h := r.store.get(flux.SourceGroup, ref.Kind, ref.Namespace, ref.Name); h != nil {
		return h.obj
	}
	return nil
}

// shownSource is a source object as messages may show it.
func (r *run) shownSource(ref model.SourceRef) map[string]any {
	h := r.store.get(flux.SourceGroup, ref.Kind, ref.Namespace, ref.Name)
	switch {
	case h == nil:
		return nil
	case r.opts.ShowSecrets:
		return h.obj
	}
	return h.shown
}

// sameRepository tells whether another source object is this repository at the same revision: another ignore list,
// or another namespace, of one and the same.
func (r *run) sameRepository(obj map[string]any) bool {
	own := r.sourceObject(r.env.Source)
	if obj == nil || own == nil || obj["kind"] != own["kind"] {
		return false
	}
	url := text(obj, "spec", "url")
	return url != "" && url == text(own, "spec", "url") && reflect.DeepEqual(dig(obj, "spec", "ref"), dig(own, "spec", "ref"))
}

func foreign(ref model.SourceRef, obj map[string]any) *model.Reason {
	what := ref.String()
	if url := text(obj, "spec", "url"); url != "" {
		what += " (" + url + ")"
	}
	msg := fmt.Sprintf("its files come from %s, which is not this repository", what)
	if ref.Kind == "ExternalArtifact" {
		msg = fmt.Sprintf("its files come from %s, which another controller makes", what)
	}
	if obj == nil {
		msg += "; nothing rendered makes that source"
	}
	return &model.Reason{Code: model.CodeForeignSource, Subject: ref.String(), Message: msg}
}

// sourceNotes says what of a GitRepository changes the artifact and is not modelled.
func sourceNotes(ref model.SourceRef, obj map[string]any) []model.Reason {
	var out []model.Reason
	if inc, ok := dig(obj, "spec", "include").([]any); ok && len(inc) > 0 {
		out = append(out, model.Reason{Code: model.CodeSourceDetail, Subject: ref.String(),
			Message: fmt.Sprintf("%s includes the files of other repositories, which are not here", ref)})
	}
	return out
}

// sourceOptions gives what the source objects of this render say of their artifacts.
func (r *run) sourceOptions() map[model.SourceRef]source.ArtifactOptions {
	out := map[model.SourceRef]source.ArtifactOptions{}
	for ref, a := range r.arts {
		if a.files == nil {
			continue
		}
		obj := r.sourceObject(ref)
		var o source.ArtifactOptions
		if ignore, ok := dig(obj, "spec", "ignore").(string); ok {
			o.Ignore = &ignore
		}
		if list, ok := dig(obj, "spec", "sparseCheckout").([]any); ok {
			for _, e := range list {
				if s, ok := e.(string); ok {
					o.SparseCheckout = append(o.SparseCheckout, s)
				}
			}
		}
		if o.Ignore != nil || o.SparseCheckout != nil {
			out[ref] = o
		}
	}
	return out
}

func sameOptions(a, b map[model.SourceRef]source.ArtifactOptions) bool {
	if len(a) == 0 && len(b) == 0 {
		return true
	}
	return reflect.DeepEqual(a, b)
}

// betterRoot finds the folder that the paths of the Kustomizations are relative to. An OCI artifact may be pushed from
// a folder of the repository; then spec.path counts from there. The repository's root wins unless another folder above
// the entry has strictly more of the paths.
func (r *run) betterRoot() string {
	var paths []string
	for _, u := range r.order {
		if u.parent != nil && u.src == r.env.Source && u.dirKnown {
			paths = append(paths, u.specPath)
		}
	}
	best, most := r.root, r.existing(".", paths)
	for at := path.Dir(r.entry.Path); at != "." && at != "/"; at = path.Dir(at) {
		if n := r.existing(at, paths); n > most {
			best, most = at, n
		}
	}
	return best
}

func (r *run) existing(root string, paths []string) int {
	n := 0
	for _, p := range paths {
		if isDir, ok := r.base.Stat(path.Join(root, p)); ok && isDir {
			n++
		}
	}
	return n
}

// subtree gives the files below a folder as an artifact of their own.
func subtree(a *source.Artifact, root string) render.Files {
	if root == "." || root == "" {
		return a
	}
	return &below{a, root}
}

type below struct {
	all  *source.Artifact
	root string
}

func (b *below) ID() string                        { return b.all.ID() + "#" + b.root }
func (b *below) ReadFile(p string) ([]byte, error) { return b.all.ReadFile(path.Join(b.root, p)) }
func (b *below) Stat(p string) (bool, bool)        { return b.all.Stat(path.Join(b.root, p)) }
func (b *below) ReadDir(p string) ([]string, bool) { return b.all.ReadDir(path.Join(b.root, p)) }

func (b *below) Walk(p string, fn func(string, bool) error) error {
	return b.all.Walk(path.Join(b.root, p), func(p string, isDir bool) error {
		if p == b.root {
			return fn(".", isDir)
		}
		return fn(strings.TrimPrefix(p, b.root+"/"), isDir)
	})
}

// likeliest gives the source that was counted most; of several, the one that is called as flux bootstrap calls it.
func likeliest(count map[model.SourceRef]int) (best model.SourceRef) {
	usual := func(r model.SourceRef) bool { return r.Namespace == "flux-system" && r.Name == "flux-system" }
	for _, ref := range sortedRefs(count) {
		if n := count[ref] - count[best]; best.Name == "" || n > 0 || n == 0 && usual(ref) && !usual(best) {
			best = ref
		}
	}
	return best
}

func sortedRefs(m map[model.SourceRef]int) []model.SourceRef {
	out := make([]model.SourceRef, 0, len(m))
	for r := range m {
		out = append(out, r)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].String() < out[j].String() })
	return out
}
