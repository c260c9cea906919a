package sops_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/sops"
	"github.com/tidegate/tidegate/internal/sops/sopstest"
)

var allFormats = []sops.Format{sops.Binary, sops.Dotenv, sops.INI, sops.JSON, sops.YAML}

func mustKeys(tb testing.TB, identities ...string) *sops.Keys {
	tb.Helper()
	k, err := sops.ParseKeys([]byte(strings.Join(identities, "\n")))
	if err != nil {
		tb.Fatal(err)
	}
	return k
}

// agree holds Decrypt to the real library: the same bytes, or failure of both. It gives the
// plaintext, nil when both failed.
func agree(tb testing.TB, data []byte, in, out sops.Format, identity string) []byte {
	tb.Helper()
	keys := &sops.Keys{}
	if identity != "" {
		keys = mustKeys(tb, identity)
	}
	before := bytes.Clone(data)
	got, err := sops.Decrypt(data, in, out, keys)
	if !bytes.Equal(before, data) {
		tb.Fatalf("%s→%s: Decrypt changed its input", in, out)
	}
	if errors.Is(err, sops.ErrLimit) {
		return nil // beyond our bounds, and perhaps beyond the library's stack
	}
	want, wantErr := sopstest.Reference(data, in, out, identity)
	switch {
	case (err == nil) != (wantErr == nil):
		tb.Fatalf("%s→%s: ours: %v\nthe library: %v\ninput:\n%s\nours gives:\n%q\nthe library gives:\n%q", in, out, err, wantErr, data, got, want)
	case err == nil && !bytes.Equal(got, want):
		tb.Fatalf("%s→%s differs\nours:\n%q\nthe library:\n%q\ninput:\n%s", in, out, got, want, data)
	}
	if err != nil {
		return nil
	}
	return got
}

// withMetadata gives a body as a document whose metadata is sound and whose rule encrypts nothing,
// so that readers and writers see it as it is.
func withMetadata(tb testing.TB, f sops.Format, body string) []byte {
	tb.Helper()
	rule := sopstest.Options{EncryptedRegex: "^none of these$"}
	switch f {
	case sops.YAML:
		enc := sopstest.EncryptWith(tb, f, f, []byte("k: v\n"), rule)
		return append([]byte(body+"\n"), bytes.TrimPrefix(enc, []byte("k: v\n"))...)
	case sops.Dotenv:
		enc := sopstest.EncryptWith(tb, f, f, []byte("K=v\n"), rule)
		return append([]byte(body+"\n"), bytes.TrimPrefix(enc, []byte("K=v\n"))...)
	case sops.INI:
		enc := sopstest.EncryptWith(tb, f, f, []byte("[s]\nk=v\n"), rule)
		return append([]byte(body+"\n"), enc[bytes.Index(enc, []byte("[sops]")):]...)
	}
	enc := sopstest.EncryptWith(tb, sops.JSON, sops.JSON, []byte("{}"), rule)
	meta := bytes.TrimSuffix(bytes.TrimSpace(enc), []byte("}"))
	if rest, ok := strings.CutPrefix(strings.TrimSpace(body), "{"); ok && strings.TrimSpace(rest) != "}" {
		return fmt.Appendf(nil, "%s,%s", meta, rest)
	}
	return fmt.Appendf(nil, "%s}", meta)
}

// plainDocs are plaintexts by format. Together they hold what the stores treat in ways of their own.
var plainDocs = map[sops.Format][]string{
	sops.Binary: {"plain bytes\n", "\x00\x01", "[sops]\nlooks = like\n", "line\r\nline"},
	sops.Dotenv: {
		"A=1\nB=two words\n",
		"# head\nA=x=y\n\n#tail\nB=\nC=a\\nb\n",
		"A=\"quoted\"\nA=again\n=nameless\n",
		"A=cr\r\nB=v",
	},
	sops.INI: {
		"[a]\nk = v\nn=1\n[b]\nx = y z\n",
		"; about a\n[a]\n; about k\nk = v\n# about n\nn = 1 ; trailing\n",
		"top = 1\n[a]\nempty =\n[a]\nsecond = section\n",
		"[a]\nk = `back tick`\nm = \"\"\"multi\nline\"\"\"\n",
	},
	sops.JSON: {
		`{"a":"x","b":1,"c":1.5,"d":true,"e":null,"f":[1,"two",{"g":false}],"h":{},"i":[],"j":""}`,
		`{"big":9007199254740993,"huge":123456789012345678901234567890,"neg":-0.0,"exp":1e21,"small":1e-7}`,
		`{"html":"<a href=\"x\">&</a>","<key>":"\u2028\ud83d\ude00","k_unencrypted":"clear","p_unencrypted":{"deep":[1,2]}}`,
		`{"a":1,"a":2}`,
		`{"data":"binary too"}`,
		`{"auths":{"r":{"auth":"dTpw"}}}`,
	},
	sops.YAML: {
		"a: x\nb: 1\nc: 1.5\nd: true\ne:\nf: [1, two, {g: false}]\nh: {}\ni: []\nj: \"\"\n",
		"# head\n\n# about a\na: x # beside a\n# between\nb:\n  # in b\n  c: 1\n  # after c\n# foot\n",
		"l:\n  # first\n  - a # beside\n  # second\n  - b:\n      - c\n    # deep\n    d: e\n  # last\n",
		"a: |\n  literal\n  text\nb: >-\n  folded\n  text\nc: 'single'\nd: \"double\\tquoted\"\n",
		"t: 2024-02-29T12:30:45Z\ndate: 2024-02-29\nhex: 0x1F\noct: 0o17\ninf: .inf\nnan: .nan\nbin: !!binary aGVsbG8=\nnul: ~\nyes: yes\n",
		"base: &b\n  x: 1\n  y: [2]\nuse: *b\nmerge:\n  <<: *b\n  z: 3\nlist:\n  - *b\n",
		"---\na: 1\n---\nb: 2\n# end\n",
		"apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\nstringData:\n  k_unencrypted: clear\n  p: q\n",
		"- a\n", "scalar\n", "# only a comment\n", "1: int key\n", "? {a: b}\n: complex\n",
		"#\na: 1\nl:\n  #\n  - x\n",
		"uni: \"\\u263A \\U0001F600\"\n\"quoted key\": v\n? long\n: w\n",
	},
}
