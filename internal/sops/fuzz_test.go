package sops_test

import (
	"errors"
	"testing"

	"github.com/tidegate/tidegate/internal/sops"
	"github.com/tidegate/tidegate/internal/sops/sopstest"
)

// FuzzDecrypt holds Decrypt to the real library on whole documents.
func FuzzDecrypt(f *testing.F) {
	for in, docs := range plainDocs {
		for _, doc := range docs {
			if enc, err := sopstest.TryEncrypt(in, in, []byte(doc), sopstest.Options{}); err == nil {
				f.Add(enc, uint8(in), uint8(in))
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, in, out uint8) {
		agree(t, data, sops.Format(in%5), sops.Format(out%5), sopstest.Identity)
	})
}

// FuzzBody holds the readers, the walk and the writers to the real library: a body under sound
// metadata, and the same body encrypted first.
func FuzzBody(f *testing.F) {
	for in, docs := range plainDocs {
		for i, doc := range docs {
			f.Add(doc, uint8(in), uint8(i), uint8(i))
		}
	}
	rules := []sopstest.Options{{}, {EncryptedRegex: "^[ab]"}, {UnencryptedRegex: "[ab]$"}, {EncryptedSuffix: "a"}, {EncryptedCommentRegex: "c"}, {UnencryptedCommentRegex: "c"}, {UnencryptedSuffix: "b", MACOnlyEncrypted: true}}
	f.Fuzz(func(t *testing.T, body string, in, out, rule uint8) {
		fi, fo := sops.Format(in%5), sops.Format(out%5)
		whole := withMetadata(t, fi, body)
		if _, err := sops.Mask(whole, fi, fi, "m"); errors.Is(err, sops.ErrLimit) {
			return // the library may not survive it
		}
		agree(t, whole, fi, fo, sopstest.Identity)
		enc, err := sopstest.TryEncrypt(fi, fi, []byte(body), rules[int(rule)%len(rules)])
		if err != nil {
			return
		}
		if plain := agree(t, enc, fi, fo, sopstest.Identity); plain != nil {
			if _, err := sops.Mask(enc, fi, fo, "m"); err != nil {
				t.Fatalf("decrypts and does not mask: %v", err)
			}
		}
	})
}

// FuzzMask looks for panics, and for documents that decrypt and cannot be masked.
func FuzzMask(f *testing.F) {
	for in, docs := range plainDocs {
		for _, doc := range docs {
			if enc, err := sopstest.TryEncrypt(in, in, []byte(doc), sopstest.Options{EncryptedRegex: "a"}); err == nil {
				f.Add(enc, uint8(in), uint8(in))
			}
			f.Add([]byte(doc), uint8(in), uint8(in))
		}
	}
	f.Add([]byte(`{"kind":"Secret","data":{"a":"bWFjOiBFTkNb"}}`), uint8(3), uint8(3))
	keys := mustKeys(f, sopstest.Identity)
	f.Fuzz(func(t *testing.T, data []byte, in, out uint8) {
		fi, fo := sops.Format(in%5), sops.Format(out%5)
		_, maskErr := sops.Mask(data, fi, fo, sops.DefaultMask)
		if _, err := sops.Decrypt(data, fi, fo, keys); err == nil && maskErr != nil {
			// The mask, a string, may not be writable where a boolean is; no format has such a place.
			t.Fatalf("decrypts and does not mask: %v", maskErr)
		}
		sops.DetectMarker(data)
		if out, changed, err := sops.MaskObject(data, "m"); err == nil && !changed && string(out) != string(data) {
			t.Fatal("unchanged but different")
		}
	})
}
