// Package trace tells where the values of rendered objects come from.
//
// kyaml's nodes keep the line and column that they were read from, through copies, merges and components; what they lose is
// the file and the document. So while a build is traced, each YAML document that it reads begins with blank lines, as
// many as make its line numbers the only ones of their kind in that build, and a line number leads back to a file. The
// bytes that a build gives do not change by it; tests hold that for every build they know.
//
// The rules are:
//
//  1. A position counts only when the keys that lead to it in its file are those that lead to the value in the object
//     and the value there is the value here: then it is exact. So is what kustomize writes anew at its old place
//     (annotations, the name of what it patched) while the object's own document is certain and nothing else the build
//     was told has the value. Everything else is attributed, by what the build was told to do, or known for the object
//     as a whole.
//  2. Objects that a JSON 6902 patch touched, and generated ones, were written and read again on the way, so their
//     lines are those of a text that nobody has. They show by this: the root of such an object stands in no document
//     that was read. They are matched by path and value.
//  3. Nothing is worked out before somebody asks: a build keeps two numbers for each value.
package trace

import (
	"path"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
)

// Text says which text a range of line numbers stands for.
type Text struct {
	// File is a file of the artifact: a manifest, a patch, or the kustomization file that has the text in line.
	File string
	// Field leads to a text that stands in File as a value: patches[0].patch, in the words of model.Path. Empty when the
	// text is the file itself.
	Field string
	// Spec is the index of a patch in spec.patches of the Flux Kustomization, whose text stands in the object; -1 for
	// all others. File is empty then.
	Spec int
	// Patch: it is a patch, not a manifest.
	Patch bool
}

// span of lines of one document.
type lines struct {
	from, to int // of the padded numbering, both inclusive
	first    int // the line of the text that from stands for
	text     int // index into Recorder.texts
}

// Recorder numbers the documents of one build. It is not safe for concurrent use; neither is a build.
type Recorder struct {
	texts  []Text
	ranges []lines
	next   int
	padded map[string][]byte // of files
	roles  map[string]role
	spent  int // bytes of blank lines
	blind  int // lines of the longest text that was left as it is: up to there a number says nothing
	kusts  []*kustomization
	seen   map[string]bool
}

type role uint8

const (
	roleManifest role = 1 << iota
	rolePatch
	roleOther // its bytes are used as they are: a generator's input, a JSON 6902 patch
)

// kustomization is a kustomization file that the build read.
type kustomization struct {
	file string
	dir  string
	k    *types.Kustomization
}

// NewRecorder gives a recorder for one build.
func NewRecorder() *Recorder {
	return &Recorder{next: 1, padded: map[string][]byte{}, roles: map[string]role{}, seen: map[string]bool{}}
}

// File gives the bytes of a file as the build shall read them.
func (r *Recorder) File(p string, data []byte) []byte {
	role := r.roles[p]
	if role&roleOther != 0 || role == 0 {
		if role&roleOther != 0 && role != roleOther {
			r.leave(data)
		}
		return data
	}
	if out, ok := r.padded[p]; ok {
		return out
	}
	if role&rolePatch != 0 && listOfOperations(data) {
		return data
	}
	out := r.Pad(data, Text{File: p, Spec: -1, Patch: role&roleManifest == 0})
	r.padded[p] = out
	return out
}

// Kustomization notes a kustomization file that is read, and what the files are for that it names. dir is its folder.
func (r *Recorder) Kustomization(file string, k *types.Kustomization) {
	if r.seen[file] {
		return
	}
	r.seen[file] = true
	dir := path.Dir(file)
	r.kusts = append(r.kusts, &kustomization{file: file, dir: dir, k: k})
	note := func(p string, as role) {
		if p != "" && !strings.ContainsAny(p, "\n") {
			r.roles[path.Join(dir, p)] |= as
		}
	}
	for _, p := range k.Resources {
		note(p, roleManifest)
	}
	for _, p := range k.Bases {
		note(p, roleManifest)
	}
	for _, p := range k.PatchesStrategicMerge {
		note(string(p), rolePatch)
	}
	for _, p := range k.Patches {
		note(p.Path, rolePatch)
	}
	for _, p := range k.PatchesJson6902 {
		note(p.Path, roleOther)
	}
	for _, list := range [][]string{k.Generators, k.Transformers, k.Validators, k.Crds, k.Configurations} {
		for _, p := range list {
			note(p, roleOther)
		}
	}
	for _, p := range k.Replacements {
		note(p.Path, roleOther)
	}
	for _, g := range k.ConfigMapGenerator {
		r.generator(g.KvPairSources, note)
	}
	for _, g := range k.SecretGenerator {
		r.generator(g.KvPairSources, note)
	}
}

func (r *Recorder) generator(s types.KvPairSources, note func(string, role)) {
	for _, f := range s.FileSources {
		_, file := splitFileSource(f)
		note(file, roleOther)
	}
	for _, f := range s.EnvSources {
		note(f, roleOther)
	}
	note(s.EnvSource, roleOther)
}

// splitFileSource takes KEY=PATH, or PATH whose base name is the key (kustomize api/internal/generators/utils.go and
// kv/kv.go parseFileSource).
func splitFileSource(s string) (key, file string) {
	if key, file, ok := strings.Cut(s, "="); ok {
		return key, file
	}
	return path.Base(s), s
}
