package trace

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"

	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/yamlpos"
)

// This file moves the patches that stand in a kustomization as text to lines of their own.

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
