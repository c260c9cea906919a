package sops_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/sops"
	"github.com/tidegate/tidegate/internal/sops/sopstest"
)

// secretDoc is a Secret with n values.
func secretDoc(n int) []byte {
	var b strings.Builder
	b.WriteString("apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\nstringData:\n")
	for i := range n {
		fmt.Fprintf(&b, "  key-%d: value number %d\n", i, i)
	}
	return []byte(b.String())
}

func BenchmarkDecrypt(b *testing.B) {
	keys := mustKeys(b, sopstest.Identity)
	for _, n := range []int{3, 300} {
		enc := sopstest.Encrypt(b, sops.YAML, secretDoc(n), sopstest.Recipient, "^stringData$")
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(len(enc)))
			for b.Loop() {
				if _, err := sops.Decrypt(enc, sops.YAML, sops.YAML, keys); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkMask(b *testing.B) {
	enc := sopstest.Encrypt(b, sops.YAML, secretDoc(3), sopstest.Recipient, "^stringData$")
	for b.Loop() {
		if _, err := sops.Mask(enc, sops.YAML, sops.YAML, sops.DefaultMask); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPlainObject is the common case: nothing to decrypt.
func BenchmarkPlainObject(b *testing.B) {
	obj := []byte(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"x":"` + strings.Repeat("y", 2000) + `"}}`)
	for b.Loop() {
		if _, changed, err := sops.DecryptObject(obj, nil); err != nil || changed {
			b.Fatal(changed, err)
		}
	}
}
