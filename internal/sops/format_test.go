package sops_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/getsops/sops/v3/cmd/sops/formats"

	"github.com/tidegate/tidegate/internal/sops"
	"github.com/tidegate/tidegate/internal/sops/sopstest"
)

func TestFormatForPath(t *testing.T) {
	for path, want := range map[string]sops.Format{
		"a.yaml": sops.YAML, "a.yml": sops.YAML, "a.json": sops.JSON, "a.env": sops.Dotenv, ".env": sops.Dotenv, "a.ini": sops.INI,
		"a": sops.Binary, "a.txt": sops.Binary, "a.YAML": sops.Binary, "yaml": sops.Binary, "": sops.Binary, "a.yaml.sops": sops.Binary,
		".dockerconfigjson": sops.JSON, "dir/x.dockerconfigjson": sops.JSON, "dockerconfigjson": sops.Binary, "values.enc.yaml": sops.YAML,
	} {
		if got := sops.FormatForPath(path); got != want {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
	}
	for path, want := range map[string]sops.Format{"a.env": sops.Dotenv, "a": sops.Dotenv, "a.txt": sops.Dotenv, "a.yaml": sops.YAML, "a.json": sops.JSON, "a.ini": sops.INI} {
		if got := sops.FormatForEnvFile(path); got != want {
			t.Errorf("env file %q: %s, want %s", path, got, want)
		}
	}
	if int(sops.YAML) != int(formats.Yaml) || int(sops.Binary) != int(formats.Binary) {
		t.Error("the order of the formats is not the library's")
	}
}

func TestMarkers(t *testing.T) {
	for _, tc := range []struct {
		data string
		has  []sops.Format
	}{
		{`{"mac": "ENC[x"}`, []sops.Format{sops.Binary, sops.JSON}},
		{`{"mac":"ENC[x"}`, nil}, // one blank, as sops and kustomize write it
		{"sops_mac=ENC[x", []sops.Format{sops.Dotenv}},
		{"[sops]", []sops.Format{sops.INI}},
		{"    mac: ENC[x", []sops.Format{sops.YAML}},
		{"mac: 'ENC[x'", nil},
		{"", nil},
	} {
		for _, f := range allFormats {
			want := false
			for _, h := range tc.has {
				want = want || h == f
			}
			if got := sops.HasMarker([]byte(tc.data), f); got != want {
				t.Errorf("%q as %s: %v", tc.data, f, got)
			}
		}
	}
	if sops.HasMarker([]byte("anything"), sops.Format(17)) {
		t.Error("a format that does not exist has a marker")
	}
}

func TestDetectMarker(t *testing.T) {
	if f, ok := sops.DetectMarker([]byte("nothing here")); ok {
		t.Errorf("found %s in nothing", f)
	}
	want := map[sops.Format]sops.Format{sops.Binary: sops.JSON, sops.JSON: sops.JSON, sops.Dotenv: sops.Dotenv, sops.INI: sops.INI, sops.YAML: sops.YAML}
	plain := map[sops.Format]string{sops.Binary: "x", sops.JSON: `{"a":"b"}`, sops.Dotenv: "A=b\n", sops.INI: "[a]\nb=c\n", sops.YAML: "a: b\n"}
	for in, w := range want {
		enc := sopstest.Encrypt(t, in, []byte(plain[in]), sopstest.Recipient, "")
		if f, ok := sops.DetectMarker(enc); !ok || f != w {
			t.Errorf("%s: %s, %v", in, f, ok)
		}
	}
	// Markers of other formats in the clear parts of a document do not mislead.
	yml := sopstest.Encrypt(t, sops.YAML, []byte("note: '\"mac\": \"ENC[ sops_mac=ENC['\ntags: [sops]\na: b\n"), sopstest.Recipient, "^a$")
	js := sopstest.Encrypt(t, sops.JSON, []byte(`{"note":"[sops] mac: ENC[ sops_mac=ENC[","a":"b"}`), sopstest.Recipient, "^a$")
	if !bytes.Contains(yml, []byte(`"mac": "ENC[`)) {
		t.Fatalf("the fixture has lost its trap:\n%s", yml)
	}
	for f, doc := range map[sops.Format][]byte{sops.YAML: yml, sops.JSON: js} {
		for range 20 {
			if got, ok := sops.DetectMarker(doc); !ok || got != f {
				t.Fatalf("%s: %s, %v", f, got, ok)
			}
		}
	}
}

func TestFileRules(t *testing.T) {
	keys := mustKeys(t, sopstest.Identity)
	enc := sopstest.Encrypt(t, sops.YAML, []byte("a: b\n"), sopstest.Recipient, "")
	// The wrong extension: left as it is.
	for _, name := range []string{"a.env", "a.json", "a.ini", "a.txt"} {
		f := sops.FormatForPath(name)
		out, changed, err := sops.DecryptFile(enc, f, keys)
		if err != nil || changed || !bytes.Equal(out, enc) {
			t.Errorf("%s: changed %v, %v", name, changed, err)
		}
		if out, changed, err = sops.MaskFile(enc, f, "m"); err != nil || changed || !bytes.Equal(out, enc) {
			t.Errorf("%s: masked, changed %v, %v", name, changed, err)
		}
	}
	if out, changed, err := sops.DecryptFile(enc, sops.YAML, keys); err != nil || !changed || string(out) != "a: b\n" {
		t.Errorf("%q %v %v", out, changed, err)
	}
	if out, changed, err := sops.MaskFile(enc, sops.YAML, "m"); err != nil || !changed || string(out) != "a: m\n" {
		t.Errorf("%q %v %v", out, changed, err)
	}
	if _, _, err := sops.DecryptFile(enc, sops.YAML, nil); !errors.Is(err, sops.ErrNoKey) {
		t.Error(err)
	}
	// The size is looked at first.
	at := bytes.Repeat([]byte("x"), sops.MaxFileSize)
	if _, changed, err := sops.DecryptFile(at, sops.YAML, keys); err != nil || changed {
		t.Errorf("at the limit: %v", err)
	}
	if _, _, err := sops.DecryptFile(append(at, 'x'), sops.YAML, keys); !errors.Is(err, sops.ErrLimit) {
		t.Errorf("above the limit: %v", err)
	}
}
