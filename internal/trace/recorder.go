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
//     and the value there is the value here: then it is exact. Everything else is attributed, by what the build was
//     told to do, or known for the object as a whole.
//  2. Objects that a JSON 6902 patch touched were written and read again on the way, so their lines are those of a text
//     that nobody has. Their first line is 1, which no padded document's is; they are matched by path and value.
//  3. Nothing is worked out before somebody asks: a build keeps two numbers for each value.
package trace

import (
	"encoding/json"
	"slices"

	"bytes"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/yamlpos"
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

// Pad gives a text with each document moved to lines of its own. It gives the text itself when it cannot be padded
// without a risk to what it means.
func (r *Recorder) Pad(data []byte, t Text) []byte {
	if len(data) == 0 || data[0] == '%' || bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) || bytes.IndexByte(data, 0) >= 0 ||
		r.spent > maxPadding {
		return r.leave(data)
	}
	r.texts = append(r.texts, t)
	index := len(r.texts) - 1
	out := make([]byte, 0, len(data)+r.next*2+64)
	line := 1
	for start, first := 0, true; start <= len(data); first = false {
		end, next := documentEnd(data, start)
		doc := data[start:end]
		n := bytes.Count(doc, newline) + 1
		blank := doc
		// A document that begins with its own marker keeps it on the first line: after blank lines it would be a separator.
		if first && bytes.HasPrefix(doc, []byte("---")) {
			i := bytes.IndexByte(doc, '\n')
			if i < 0 || !markerAlone(doc[3:i]) {
				return r.leave(data)
			}
			out = append(out, doc[:i+1]...)
			blank = doc[i+1:]
		}
		out = appendNewlines(out, r.next)
		r.spent += r.next
		out = append(out, blank...)
		out = append(out, data[end:next]...)
		r.ranges = append(r.ranges, lines{from: r.next + 1, to: r.next + n, first: line, text: index})
		r.next += n + 1
		line += bytes.Count(data[start:next], newline)
		if next == end {
			break
		}
		start = next
	}
	return out
}

var newline = []byte("\n")

// maxPadding bounds the blank lines of one build, in bytes: they grow with the square of its documents. What is read
// beyond it is attributed.
const maxPadding = 32 << 20

// leave gives a text as it is, and notes that its line numbers are not its own.
func (r *Recorder) leave(data []byte) []byte {
	r.blind = max(r.blind, bytes.Count(data, newline)+1)
	return data
}

// documentEnd gives where the document that begins at start ends, and where the next one begins; both are the end of
// the data for the last. The separator is kyaml's: `\n---.*\n` (kio/byteio_reader.go splitDocuments).
func documentEnd(data []byte, start int) (end, next int) {
	for at := start; ; {
		i := bytes.Index(data[at:], []byte("\n---"))
		if i < 0 {
			return len(data), len(data)
		}
		at += i
		j := bytes.IndexByte(data[at+1:], '\n')
		if j < 0 {
			return len(data), len(data)
		}
		return at, at + 1 + j + 1
	}
}

func markerAlone(rest []byte) bool {
	rest = bytes.TrimSpace(rest)
	return len(rest) == 0 || rest[0] == '#'
}

func appendNewlines(b []byte, n int) []byte {
	for ; n > 0; n-- {
		b = append(b, '\n')
	}
	return b
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

// Inline gives a patch that stands in a kustomization as text, padded. kustomize trims such a text, so a comment
// keeps the blank lines.
func (r *Recorder) Inline(text string, t Text) string {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" || listOfOperations([]byte(trimmed)) || !strings.Contains(trimmed, "\n") && !strings.Contains(trimmed, "{") {
		return text
	}
	skipped := strings.Count(text[:strings.Index(text, trimmed)], "\n")
	if strings.HasPrefix(trimmed, "---") || strings.HasPrefix(trimmed, "%") {
		r.leave([]byte(trimmed))
		return text
	}
	before := len(r.ranges)
	out := r.Pad([]byte(trimmed), t)
	if len(r.ranges) == before {
		return text
	}
	for i := before; i < len(r.ranges); i++ {
		r.ranges[i].first += skipped
	}
	// The comment is a line of the first document alone; Pad left room for it.
	r.ranges[before].from++
	r.ranges[before].to++
	return "#\n" + string(out)
}

// listOfOperations tells whether a patch is one of JSON 6902: a list, where a strategic merge is a mapping.
func listOfOperations(data []byte) bool {
	for len(data) > 0 {
		line, rest, _ := bytes.Cut(data, newline)
		data = rest
		line = bytes.TrimSpace(line)
		switch {
		case len(line) == 0, line[0] == '#', bytes.HasPrefix(line, []byte("---")):
			continue
		}
		return line[0] == '-' || line[0] == '['
	}
	return true
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

// Patches gives the patches of the kustomization that a build starts from, with those in line padded. Those from own
// on are spec.patches of the Flux Kustomization.
func (r *Recorder) Patches(file string, patches []types.Patch, own int) []types.Patch {
	out := append([]types.Patch(nil), patches...)
	for i := range out {
		if out[i].Patch == "" {
			continue
		}
		t := Text{File: file, Field: model.Path{"patches", i, "patch"}.String(), Spec: -1, Patch: true}
		if i >= own {
			t = Text{Spec: i - own, Patch: true}
		}
		out[i].Patch = r.Inline(out[i].Patch, t)
	}
	return out
}

// StrategicMerges is Patches for patchesStrategicMerge, whose entries are paths or patches.
func (r *Recorder) StrategicMerges(file string, list []types.PatchStrategicMerge) []types.PatchStrategicMerge {
	out := append([]types.PatchStrategicMerge(nil), list...)
	for i, p := range out {
		if strings.Contains(string(p), "\n") {
			t := Text{File: file, Field: model.Path{"patchesStrategicMerge", i}.String(), Spec: -1, Patch: true}
			out[i] = types.PatchStrategicMerge(r.Inline(string(p), t))
		}
	}
	return out
}

// KustomizationFile is Kustomization, and gives the file's bytes as the build shall read them: with the patches that
// stand in line moved to lines of their own, and nothing else touched.
func (r *Recorder) KustomizationFile(file string, k *types.Kustomization, data []byte) []byte {
	if out, ok := r.padded[file]; ok {
		return out
	}
	r.Kustomization(file, k)
	r.padded[file] = data
	var edits []edit
	var doc *yamlpos.Document
	pad := func(p model.Path, text string) {
		t := Text{File: file, Field: p.String(), Spec: -1, Patch: true}
		if doc == nil {
			if docs := yamlpos.Parse(data).Documents; len(docs) == 1 {
				doc = docs[0]
			}
		}
		if doc == nil || doc.Root == nil {
			r.leave([]byte(text))
			return
		}
		_, v := doc.Find(p)
		if v == nil || v.Kind != yamlpos.Scalar || v.Value != text {
			r.leave([]byte(text))
			return
		}
		if padded := r.Inline(text, t); padded != text {
			edits = append(edits, edit{v.Start.Offset, v.End.Offset, quote(padded)})
		}
	}
	for i, p := range k.Patches {
		if p.Patch != "" {
			pad(model.Path{"patches", i, "patch"}, p.Patch)
		}
	}
	for i, p := range k.PatchesStrategicMerge {
		if strings.Contains(string(p), "\n") {
			pad(model.Path{"patchesStrategicMerge", i}, string(p))
		}
	}
	if out, ok := apply(data, edits); ok {
		r.padded[file] = out
	} else {
		r.leave(data)
	}
	return r.padded[file]
}

// edit replaces bytes of a file.
type edit struct {
	from, to int
	text     string
}

func apply(data []byte, edits []edit) ([]byte, bool) {
	slices.SortFunc(edits, func(a, b edit) int { return a.from - b.from })
	var out []byte
	at := 0
	for _, e := range edits {
		if e.from < at || e.to < e.from || e.to > len(data) {
			return nil, false
		}
		out = append(append(out, data[at:e.from]...), e.text...)
		at = e.to
		// A block scalar's span may take its last line feed in.
		if e.to > 0 && e.to <= len(data) && data[e.to-1] == '\n' {
			out = append(out, '\n')
		}
	}
	return append(out, data[at:]...), true
}

// quote writes a text as a double-quoted scalar, in the escapes that JSON and YAML share.
func quote(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}
