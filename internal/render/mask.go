package render

import (
	"encoding/base64"
	"strings"

	"sigs.k8s.io/kustomize/api/resource"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/sops"
)

// This file makes the text that a view may show of an object that holds plaintext of encrypted content.
//
// The rules are:
//   - The same build runs with masks in the place of plaintext. Where both agree the value is shown; where they differ
//     it came from ciphertext, and the masked build's value is shown if it has the mask in it, else the mask alone.
//   - A generated name differs by its hash only. It is shown: the cluster shows it to anyone.
//   - Where the two builds have no common shape, everything is masked, but for the name that a masked build gives.
//
// So nothing is found by searching for the plaintext, which would miss what was encoded, cut or joined.

// maskedText masks what differs between an object's text and its masked twin.
func maskedText(text string, twin *resource.Resource) string {
	whole := func() string { return maskedWhole(refOf(twin)) }
	shown, _, err := encodeNode(&twin.RNode)
	if err != nil {
		return whole()
	}
	if shown == text {
		return text
	}
	var t, m any
	if sigsyaml.Unmarshal([]byte(text), &t) != nil || sigsyaml.Unmarshal([]byte(shown), &m) != nil {
		return whole()
	}
	out, err := sigsyaml.Marshal(maskTree(t, m, 0))
	if err != nil {
		return whole()
	}
	return string(out)
}

// maskTree gives t with every value masked that m, the same tree from a masked build, does not confirm.
func maskTree(t, m any, depth int) any {
	if depth > 1000 {
		return sops.DefaultMask
	}
	switch t := t.(type) {
	case map[string]any:
		other, ok := m.(map[string]any)
		if !ok {
			return sops.DefaultMask
		}
		out := make(map[string]any, len(t))
		for k, v := range t {
			if o, ok := other[k]; ok {
				out[k] = maskTree(v, o, depth+1)
			} else if hash, ok := hashTwin(k, other); ok {
				out[k] = maskTree(v, other[hash], depth+1)
			}
			// A key that only plaintext brings is left out: the key itself is plaintext.
		}
		return out
	case []any:
		other, ok := m.([]any)
		if !ok || len(other) != len(t) {
			return sops.DefaultMask
		}
		out := make([]any, len(t))
		for i := range t {
			out[i] = maskTree(t[i], other[i], depth+1)
		}
		return out
	}
	if s, ok := m.(string); ok && hasMask(s, sops.DefaultMask) {
		return s
	}
	if t == m {
		return t
	}
	ts, ok1 := t.(string)
	ms, ok2 := m.(string)
	if ok1 && ok2 && differByHash(ts, ms) {
		return ts
	}
	return sops.DefaultMask
}

func hashTwin(key string, m map[string]any) (string, bool) {
	for _, k := range sortedKeys(m) {
		if differByHash(key, k) {
			return k, true
		}
	}
	return "", false
}

// hasMask tells whether a value holds the mask, in clear or as base64, as it stands in a Secret's data.
func hasMask(s, mask string) bool {
	if strings.Contains(s, mask) {
		return true
	}
	raw, err := base64.StdEncoding.DecodeString(s)
	return err == nil && strings.Contains(string(raw), mask)
}

// hashLength is the length of the suffix that kustomize generates names with, and hashAlphabet its letters
// (kustomize api/internal/hasher, kyaml's encoding of a SHA-256: digits and consonants without look-alikes).
const (
	hashLength   = 10
	hashAlphabet = "2456789bcdfghkmt"
)

// differByHash tells whether two texts are equal but for one generated suffix of the same place.
func differByHash(a, b string) bool {
	if len(a) != len(b) || a == b {
		return false
	}
	i := 0
	for a[i] == b[i] {
		i++
	}
	j := len(a)
	for a[j-1] == b[j-1] {
		j--
	}
	// The differing part lies within ten letters of the alphabet that follow a dash.
	for start := max(0, j-hashLength); start <= i; start++ {
		end := start + hashLength
		if start > 0 && end <= len(a) && end >= j && a[start-1] == '-' && allHash(a[start:end]) && allHash(b[start:end]) {
			return true
		}
	}
	return false
}

func allHash(s string) bool {
	for i := 0; i < len(s); i++ {
		if strings.IndexByte(hashAlphabet, s[i]) < 0 {
			return false
		}
	}
	return true
}

// namesDiffer tells whether two texts of one object, built with different masks, differ in more than the masks.
func namesDiffer(a, b, mask string) bool {
	return strings.ReplaceAll(b, mask, sops.DefaultMask) != a &&
		strings.ReplaceAll(b, base64.StdEncoding.EncodeToString([]byte(mask)), base64.StdEncoding.EncodeToString([]byte(sops.DefaultMask))) != a
}

// maskedRef names an object of which nothing may be shown.
var maskedRef = model.Ref{APIVersion: sops.DefaultMask, Kind: sops.DefaultMask, Name: sops.DefaultMask}

// maskedWhole stands for an object of which only its name may be shown; ref is that name.
func maskedWhole(ref model.Ref) string {
	meta := map[string]any{"name": ref.Name}
	if ref.Namespace != "" {
		meta["namespace"] = ref.Namespace
	}
	data, err := sigsyaml.Marshal(map[string]any{
		"apiVersion": ref.APIVersion, "kind": ref.Kind, "metadata": meta, "masked": sops.DefaultMask,
	})
	if err != nil {
		return "# this object holds decrypted content and could not be taken apart\n"
	}
	return string(data)
}

// refOfText names the object of a text; it is masked where the text does not say.
func refOfText(text string) model.Ref {
	var obj map[string]any
	if sigsyaml.Unmarshal([]byte(text), &obj) != nil {
		return maskedRef
	}
	meta, _ := obj["metadata"].(map[string]any)
	ref := model.Ref{APIVersion: stringOf(obj["apiVersion"]), Kind: stringOf(obj["kind"]), Namespace: stringOf(meta["namespace"]), Name: stringOf(meta["name"])}
	for _, s := range []*string{&ref.APIVersion, &ref.Kind, &ref.Name} {
		if *s == "" {
			*s = sops.DefaultMask
		}
	}
	return ref
}
