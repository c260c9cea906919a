package sops_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/sops"
	"github.com/tidegate/tidegate/internal/sops/sopstest"
)

func TestMask(t *testing.T) {
	for _, tc := range []struct {
		in, out     sops.Format
		plain, rule string
		want        string
	}{
		{sops.Binary, sops.Binary, "anything\n", "", "**SOPS**"},
		{sops.YAML, sops.YAML, "a: 1\nb: x\nc:\nd: \"\"\ne: [true, y]\n", "", "a: '**SOPS**'\nb: '**SOPS**'\nc: null\nd: \"\"\ne:\n    - '**SOPS**'\n    - '**SOPS**'\n"},
		{sops.YAML, sops.YAML, "# c\na: 1\nb: x\n", "^a$", "# c\na: '**SOPS**'\nb: x\n"},
		{sops.YAML, sops.YAML, "# c\na: 1\n", "", "#**SOPS**\na: '**SOPS**'\n"},
		{sops.YAML, sops.JSON, "# c\na: 1\nb: {c: d}\n", "^a$", "{\n\t\"a\": \"**SOPS**\",\n\t\"b\": {\n\t\t\"c\": \"d\"\n\t}\n}\n"},
		{sops.JSON, sops.JSON, `{"z":1,"a":[2,{"b":null}]}`, "^a$", "{\n\t\"z\": 1,\n\t\"a\": [\n\t\t\"**SOPS**\",\n\t\t{\n\t\t\t\"b\": null\n\t\t}\n\t]\n}\n"},
		{sops.Dotenv, sops.Dotenv, "#c\nA=1\nB=\n", "", "#**SOPS**\nA=**SOPS**\nB=\n"},
		{sops.INI, sops.INI, "[s]\nk = v\n", "", "[s]\nk = **SOPS**\n"},
	} {
		enc := sopstest.Encrypt(t, tc.in, []byte(tc.plain), sopstest.Recipient, tc.rule)
		before := bytes.Clone(enc)
		got, err := sops.Mask(enc, tc.in, tc.out, sops.DefaultMask)
		if err != nil || string(got) != tc.want {
			t.Errorf("%s→%s: %v\ngot  %q\nwant %q", tc.in, tc.out, err, got, tc.want)
		}
		if !bytes.Equal(before, enc) {
			t.Errorf("%s→%s: Mask changed its input", tc.in, tc.out)
		}
	}
	if _, err := sops.Mask([]byte("a: b\n"), sops.YAML, sops.YAML, "m"); !errors.Is(err, sops.ErrMalformed) {
		t.Errorf("a plain file: %v", err)
	}
	enc := sopstest.Encrypt(t, sops.YAML, []byte("a: b\n"), sopstest.Recipient, "")
	if _, err := sops.Mask(enc, sops.YAML, sops.Binary, "m"); !errors.Is(err, sops.ErrMalformed) {
		t.Errorf("YAML as binary: %v", err)
	}
}

// twin writes one random document twice: as it is, and with the mask in the place of every value
// that will be encrypted. What Mask makes of the first must be what Decrypt makes of the second.
type twin struct {
	rng         *rand.Rand
	mask        string
	real, shown strings.Builder
	yaml        bool
}

func (w *twin) both(s string) { w.real.WriteString(s); w.shown.WriteString(s) }

func (w *twin) leaf(clear bool) {
	values := []string{`"text"`, `"x: # y"`, `"two\nlines"`, `7`, `-1.5`, `true`, `false`, `""`, `null`, `"<&>"`}
	v := values[w.rng.IntN(len(values))]
	w.real.WriteString(v)
	if !clear && v != `""` && v != `null` {
		v = fmt.Sprintf("%q", w.mask)
	}
	w.shown.WriteString(v)
}

// comment writes a comment line in YAML; below a clear key it stays.
func (w *twin) comment(indent string, clear bool) {
	if !w.yaml || w.rng.IntN(4) > 0 {
		return
	}
	text := fmt.Sprintf(" note %d", w.rng.IntN(100))
	w.real.WriteString(indent + "#" + text + "\n")
	if !clear {
		text = w.mask
	}
	w.shown.WriteString(indent + "#" + text + "\n")
}

func (w *twin) mapping(depth int, indent string, clear bool) {
	n := 1 + w.rng.IntN(4)
	if !w.yaml {
		w.both("{")
		defer w.both("}")
	}
	for i := range n {
		key, c := fmt.Sprintf("k%d", i), clear
		if w.rng.IntN(4) == 0 {
			key, c = key+"_unencrypted", true
		}
		if w.yaml {
			w.comment(indent, clear)
			w.both(indent + key + ":")
		} else {
			if i > 0 {
				w.both(",")
			}
			w.both(`"` + key + `":`)
		}
		w.value(depth, indent, c)
	}
}

func (w *twin) value(depth int, indent string, clear bool) {
	kind := w.rng.IntN(4)
	switch {
	case depth > 0 && kind == 0:
		if w.yaml {
			w.both("\n")
		}
		w.mapping(depth-1, indent+"  ", clear)
	case depth > 0 && kind == 1:
		n := 1 + w.rng.IntN(3)
		if w.yaml {
			w.both("\n")
			for range n {
				w.comment(indent+"  ", clear)
				w.both(indent + "  -")
				w.value(0, indent+"    ", clear)
			}
			return
		}
		w.both("[")
		for i := range n {
			if i > 0 {
				w.both(",")
			}
			w.value(depth-1, indent, clear)
		}
		w.both("]")
	default:
		w.both(" ")
		w.leaf(clear)
		if w.yaml {
			w.both("\n")
		}
	}
}

func TestMaskHasTheShapeOfDecrypt(t *testing.T) {
	keys := mustKeys(t, sopstest.Identity)
	for seed := range uint64(150) {
		f := sops.JSON
		w := &twin{rng: rand.New(rand.NewPCG(seed, 1)), mask: "MASK", yaml: seed%2 == 0}
		if w.yaml {
			f = sops.YAML
		}
		w.mapping(3, "", false)
		enc := sopstest.EncryptWith(t, f, f, []byte(w.real.String()), sopstest.Options{})
		same := sopstest.EncryptWith(t, f, f, []byte(w.shown.String()), sopstest.Options{})
		for _, out := range []sops.Format{sops.YAML, sops.JSON} {
			got, err := sops.Mask(enc, f, out, w.mask)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			want, err := sops.Decrypt(same, f, out, keys)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if !bytes.Equal(got, want) {
				t.Fatalf("seed %d %s→%s\nmasked:\n%s\nwanted:\n%s", seed, f, out, got, want)
			}
		}
		agree(t, enc, f, f, sopstest.Identity)
	}
}
