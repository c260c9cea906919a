package sops_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/sops"
	"github.com/tidegate/tidegate/internal/sops/sopstest"
)

// pieces are lines of each format, to be put together in any order: most results are broken or odd.
var pieces = map[sops.Format][]string{
	sops.YAML: {
		"a: 1", "b: two # beside", "# note", "", "  # deeper note", "c:", "  d: 3", "  e: [x, {f: g}] # flow", "  - item", "  - k: v", "    l: |", "      text",
		"---", "- top", "m: &anchor {n: o}", "p: *anchor", "  <<: *anchor", "q: 2024-01-01", "r: \"\"", "s: ~", "#", "? key", ": val", "t: 'it''s'", "u: >", "  folded", "...",
	},
	sops.JSON: {
		"{", "}", "[", "]", ",", ":", `"a"`, `"b"`, "1", "-2.5e3", "true", "null", `""`, `"<&>"`, "99999999999999999999", `{"k":"v"}`, `"sops"`, " ", "\n",
		`"a":1,`, `"b":[1,{"c":"d"},[]],`, `"c":{"a":null,"d":1.0},`, `"d":"x",`, `"e":true,`, `"k":"",`, `"a":"again",`, `"b":1e2,`, `"e":[[],{}],`, `"c":{"e":["y"]},`,
	},
	sops.INI: {
		"[a]", "[b]", "[a]", "k = v", "k=w", "n: 5", "; note", "# note", "", "e =", "q = \"x\"", "t = `back`", "bare", "[DEFAULT]", "m = one \\", "  two", "[c.d]", "- = auto", "s = a ; b # c",
	},
	sops.Dotenv: {
		"A=1", "B=", "=x", "# note", "#", "", "C=a\\nb", "D=x=y", " E = f ", "A=2", "noequals", "F=#g", "G=\"h\"", "\r",
	},
}

func TestRandomDocumentsAsTheLibrary(t *testing.T) {
	rules := []sopstest.Options{{}, {EncryptedRegex: "^[acek]$"}, {UnencryptedRegex: "^[bd]$"}, {EncryptedCommentRegex: "note"}, {UnencryptedCommentRegex: "note"}, {UnencryptedSuffix: "a", MACOnlyEncrypted: true}}
	for f, pool := range pieces {
		rng := rand.New(rand.NewPCG(7, uint64(f)))
		read, opened := 0, 0
		for range 800 {
			var b strings.Builder
			if f == sops.JSON {
				b.WriteString("{")
			}
			for range 1 + rng.IntN(9) {
				b.WriteString(pool[rng.IntN(len(pool))])
				if f != sops.JSON {
					b.WriteString("\n")
				}
			}
			if f == sops.JSON && rng.IntN(4) > 0 {
				b.WriteString(`"z":0}`)
			}
			out := allFormats[rng.IntN(len(allFormats))]
			if agree(t, withMetadata(t, f, b.String()), f, out, sopstest.Identity) != nil {
				read++
			}
			enc, err := sopstest.TryEncrypt(f, f, []byte(b.String()), rules[rng.IntN(len(rules))])
			if err != nil {
				continue
			}
			if agree(t, enc, f, f, sopstest.Identity) != nil {
				opened++
			}
			if agree(t, enc, f, out, sopstest.Identity) != nil {
				if _, err := sops.Mask(enc, f, out, "m"); err != nil {
					t.Fatalf("%s→%s decrypts and does not mask: %v\n%s", f, out, err, enc)
				}
			}
		}
		if read < 20 || opened < 20 {
			t.Errorf("%s: only %d read and %d opened", f, read, opened)
		}
	}
}
