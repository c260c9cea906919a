package sops_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/sops"
	"github.com/tidegate/tidegate/internal/sops/sopstest"
)

// Every plaintext, encrypted by the real library, comes out as the real library decrypts it, in
// every format it may be asked for.
func TestDecryptAsTheLibrary(t *testing.T) {
	opened := 0
	for in, docs := range plainDocs {
		for i, doc := range docs {
			for _, mac := range []bool{false, true} {
				enc, err := sopstest.TryEncrypt(in, in, []byte(doc), sopstest.Options{MACOnlyEncrypted: mac})
				if err != nil {
					continue // no document of this format; TestReadersAsTheLibrary sees it nevertheless
				}
				if !sops.HasMarker(enc, in) {
					t.Errorf("%s document %d has no marker", in, i)
				}
				for _, out := range allFormats {
					if agree(t, enc, in, out, sopstest.Identity) != nil {
						opened++
					}
				}
			}
		}
	}
	if opened < 100 {
		t.Fatalf("only %d decryptions succeeded: the test proves nothing", opened)
	}
}

func TestReadersAsTheLibrary(t *testing.T) {
	opened := 0
	for in, docs := range plainDocs {
		if in == sops.Binary {
			continue
		}
		for _, doc := range docs {
			for _, out := range allFormats {
				if agree(t, withMetadata(t, in, doc), in, out, sopstest.Identity) != nil {
					opened++
				}
			}
		}
	}
	if opened < 50 {
		t.Fatalf("only %d documents were read: the test proves nothing", opened)
	}
}

func TestRoundTrip(t *testing.T) {
	keys := mustKeys(t, sopstest.Identity)
	for _, tc := range []struct {
		f     sops.Format
		plain string
	}{
		{sops.Binary, "\x00bytes\nof any kind"},
		{sops.Dotenv, "#comment\nA=1\nB=two\n"},
		{sops.JSON, "{\n\t\"b\": 1,\n\t\"a\": [\n\t\ttrue,\n\t\tnull\n\t]\n}\n"},
		{sops.YAML, "# head\n# above\nb: 1\na:\n    - true\n    - null\n    # in between\n    - 1.5\n"},
		{sops.INI, "[a]\nk = v\n"},
	} {
		enc := sopstest.Encrypt(t, tc.f, []byte(tc.plain), sopstest.Recipient, "")
		got, err := sops.Decrypt(enc, tc.f, tc.f, keys)
		if err != nil {
			t.Errorf("%s: %v", tc.f, err)
			continue
		}
		if string(got) != tc.plain {
			t.Errorf("%s: got %q, want %q", tc.f, got, tc.plain)
		}
	}
}

func TestRules(t *testing.T) {
	const doc = `# plain comment
password: s3cret
note: clear
nested:
  password: deep
  list: [a, b]
clear_suffix:
  password: under clear
# sops:enc please
marked: one
unmarked:
  # sops:enc
  - inner
  - outer
  # tail sops:enc
`
	for name, o := range map[string]sopstest.Options{
		"default":                   {},
		"encrypted_regex":           {EncryptedRegex: "^(password|list)$"},
		"unencrypted_regex":         {UnencryptedRegex: "^(note|nested)$"},
		"encrypted_suffix":          {EncryptedSuffix: "word"},
		"unencrypted_suffix":        {UnencryptedSuffix: "_suffix"},
		"encrypted_comment_regex":   {EncryptedCommentRegex: "sops:enc"},
		"unencrypted_comment_regex": {UnencryptedCommentRegex: "sops:enc"},
		"mac_only_encrypted":        {EncryptedRegex: "password", MACOnlyEncrypted: true},
	} {
		t.Run(name, func(t *testing.T) {
			enc := sopstest.EncryptWith(t, sops.YAML, sops.YAML, []byte(doc), o)
			if !bytes.Contains(enc, []byte("ENC[")) {
				t.Fatal("nothing is encrypted")
			}
			for _, out := range []sops.Format{sops.YAML, sops.JSON} {
				if agree(t, enc, sops.YAML, out, sopstest.Identity) == nil {
					t.Errorf("→%s does not decrypt", out)
				}
			}
			masked, err := sops.Mask(enc, sops.YAML, sops.YAML, sops.DefaultMask)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(masked, []byte("ENC[")) || bytes.Contains(masked, []byte("sops:\n")) || bytes.Contains(masked, []byte("s3cret")) && name != "encrypted_comment_regex" {
				t.Errorf("masked:\n%s", masked)
			}
		})
	}
}

// A value in the clear where the rule wants it encrypted is refused with and without a key, as the
// controller refuses it; its text is not shown.
func TestClearValueInEncryptedPlace(t *testing.T) {
	enc := sopstest.Encrypt(t, sops.JSON, []byte(`{"data":{"a":"x"}}`), sopstest.Recipient, "")
	bad := bytes.Replace(enc, []byte(`"data": {`), []byte(`"data": {"added":"plain-text-value",`), 1)
	if agree(t, bad, sops.JSON, sops.JSON, sopstest.Identity) != nil {
		t.Fatal("decrypted")
	}
	_, err := sops.Mask(bad, sops.JSON, sops.JSON, "m")
	if !errors.Is(err, sops.ErrMalformed) || strings.Contains(err.Error(), "plain-text-value") || !strings.Contains(err.Error(), "data.added") {
		t.Errorf("Mask: %v", err)
	}
}

func TestNoKey(t *testing.T) {
	plain := []byte("a: s3cret\n")
	enc := sopstest.Encrypt(t, sops.YAML, plain, sopstest.OtherRecipient, "")
	for name, keys := range map[string]*sops.Keys{"nil": nil, "empty": {}, "wrong": mustKeys(t, sopstest.Identity)} {
		_, err := sops.Decrypt(enc, sops.YAML, sops.YAML, keys)
		var nk *sops.NoKeyError
		if !errors.Is(err, sops.ErrNoKey) || !errors.As(err, &nk) || errors.Is(err, sops.ErrMalformed) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !strings.Contains(err.Error(), sopstest.OtherRecipient) || len(nk.Recipients) != 1 {
			t.Errorf("%s: the recipient is not named: %v", name, err)
		}
	}
	if agree(t, enc, sops.YAML, sops.YAML, sopstest.Identity) != nil || agree(t, enc, sops.YAML, sops.YAML, "") != nil {
		t.Error("opened without its key")
	}
	// Several recipients, any of whom can read it; several identities held.
	both := sopstest.EncryptWith(t, sops.YAML, sops.YAML, plain, sopstest.Options{Recipients: []string{sopstest.OtherRecipient, sopstest.Recipient}})
	for _, id := range []string{sopstest.Identity, sopstest.OtherIdentity} {
		if got := agree(t, both, sops.YAML, sops.YAML, id); !bytes.Equal(got, plain) {
			t.Errorf("mixed recipients: %q", got)
		}
	}
	if got, err := sops.Decrypt(enc, sops.YAML, sops.YAML, mustKeys(t, sopstest.Identity, sopstest.OtherIdentity)); err != nil || !bytes.Equal(got, plain) {
		t.Errorf("two identities: %q, %v", got, err)
	}
}

func TestKeyGroups(t *testing.T) {
	o := sopstest.Options{Groups: [][]string{{sopstest.Recipient}, {sopstest.OtherRecipient}}, Threshold: 2}
	for _, f := range []sops.Format{sops.YAML, sops.JSON, sops.Dotenv} {
		plain := map[sops.Format]string{sops.YAML: "a: b\n", sops.JSON: "{\n\t\"a\": \"b\"\n}\n", sops.Dotenv: "A=b\n"}[f]
		enc := sopstest.EncryptWith(t, f, f, []byte(plain), o)
		if got := agree(t, enc, f, f, sopstest.Identity+"\n"+sopstest.OtherIdentity); string(got) != plain {
			t.Errorf("%s: got %q", f, got)
		}
		agree(t, enc, f, f, sopstest.Identity)
		if _, err := sops.Decrypt(enc, f, f, mustKeys(t, sopstest.Identity)); !errors.Is(err, sops.ErrNoKey) {
			t.Errorf("%s: one part of two: %v", f, err)
		}
	}
}

// Keys of other kinds open nothing and are named; a document with an age key beside them opens.
func TestForeignKeys(t *testing.T) {
	const at = `"created_at":"2024-01-01T00:00:00Z","enc":"x"`
	entries := map[string]string{
		"PGP":              `"pgp":[{` + at + `,"fp":"ABCD"}]`,
		"AWS KMS":          `"kms":[{` + at + `,"arn":"arn:aws:kms:eu-west-1:1:key/2","aws_profile":"","context":{"a":"b"}}]`,
		"GCP KMS":          `"gcp_kms":[{` + at + `,"resource_id":"projects/x"}]`,
		"Azure Key Vault":  `"azure_kv":[{` + at + `,"vault_url":"https://v","name":"n","version":"1"}]`,
		"HashiCorp Vault":  `"hc_vault":[{` + at + `,"vault_address":"https://v","engine_path":"e","key_name":"k"}]`,
		"Huawei Cloud KMS": `"hckms":[{` + at + `,"key_id":"r:1-2"}]`,
	}
	enc := sopstest.Encrypt(t, sops.JSON, []byte(`{"a":"b"}`), sopstest.Recipient, "")
	age := enc[bytes.Index(enc, []byte(`"age": [`)):]
	age = age[:bytes.IndexByte(age, ']')+1]
	for kind, e := range entries {
		only := bytes.Replace(enc, age, []byte(e), 1)
		_, err := sops.Decrypt(only, sops.JSON, sops.JSON, mustKeys(t, sopstest.Identity))
		if !errors.Is(err, sops.ErrNoKey) || !strings.Contains(err.Error(), kind) {
			t.Errorf("%s: %v", kind, err)
		}
		if _, err := sops.Mask(only, sops.JSON, sops.JSON, "m"); err != nil {
			t.Errorf("%s: Mask: %v", kind, err)
		}
		beside := bytes.Replace(enc, age, fmt.Appendf(nil, "%s,%s", e, age), 1)
		if got := agree(t, beside, sops.JSON, sops.JSON, sopstest.Identity); !bytes.Contains(got, []byte(`"b"`)) {
			t.Errorf("%s beside age: %q", kind, got)
		}
		for _, damage := range [][2]string{{"2024-01-01T00:00:00Z", "yesterday"}, {`"enc":"x"`, `"enc":["x","y"]`}, {"r:1-2", "nocolon"}} {
			broken := bytes.Replace(beside, []byte(damage[0]), []byte(damage[1]), 1)
			agree(t, broken, sops.JSON, sops.JSON, sopstest.Identity)
		}
	}
}

// Metadata that is odd or broken is taken or refused as by the library.
func TestMetadataAsTheLibrary(t *testing.T) {
	enc := string(sopstest.Encrypt(t, sops.JSON, []byte(`{"a":"b"}`), sopstest.Recipient, ""))
	env := string(sopstest.Encrypt(t, sops.Dotenv, []byte("A=b\n"), sopstest.Recipient, ""))
	ini := string(sopstest.Encrypt(t, sops.INI, []byte("[a]\nb=c\n"), sopstest.Recipient, ""))
	yml := string(sopstest.Encrypt(t, sops.YAML, []byte("a: b\n"), sopstest.Recipient, ""))
	type change struct{ from, to string }
	for f, c := range map[sops.Format]struct {
		doc     string
		changes []change
	}{
		sops.JSON: {enc, []change{
			{`"lastmodified": "`, `"lastmodified": "x`}, {`"version": "3.13.3"`, `"version": 3`}, {`"version": "3.13.3"`, `"version": {"a":1}`},
			{`"unencrypted_suffix": "_unencrypted"`, `"encrypted_regex": "["`}, {`"unencrypted_suffix": "_unencrypted"`, `"mac_only_encrypted": "true"`},
			{`"unencrypted_suffix": "_unencrypted"`, `"unencrypted_suffix": "a", "encrypted_suffix": "b"`},
			{`"unencrypted_suffix": "_unencrypted"`, `"shamir_threshold": "2"`}, {`"unencrypted_suffix": "_unencrypted"`, `"shamir_threshold": "x"`},
			{`"age": [`, `"AGE": [`}, {`"age": [`, `"old": [`}, {`"sops": {`, `"sops": 1, "x": {`}, {`"sops": {`, `"sops": {"a":1}, "sops": {`},
			{`"sops": {`, `"other": {`}, {`"mac": "`, `"mac": "x`}, {`"recipient"`, `"enc": "x", "recipient"`},
		}},
		sops.Dotenv: {env, []change{
			{"sops_age__list_0__map_enc", "sops_age__list_1__map_enc"}, {"sops_age__list_0__map_enc", "sops_age__list_x__map_enc"},
			{"sops_age__list_0__map_enc", "sops_age__map_enc"}, {"sops_version", "sops_age"}, {"sops_version", "sops_"},
			{"sops_version", "sops_version__map_a"}, {"sops_version", "sops___list__map_a"}, {"sops_version", "sops_mac"}, {"sops_", "SOPS_"},
		}},
		sops.INI: {ini, []change{
			{"[sops]", "[Sops]"}, {"[sops]", "[sops]\nx=1\n[sops]"}, {"[sops]", "; c\n[sops]"}, {"age__list_0__map_enc", "age__list_0__map_x"},
		}},
		sops.YAML: {yml, []change{
			{"sops:\n", "sops: {}\nx:\n"}, {"sops:\n", "---\nsops:\n"}, {"sops:\n", "sops:\n    # c\n    1: 2\n"}, {"sops:\n", "sops: null\nx:\n"},
			{"a: ENC", "? a\n: ENC"}, {"sops:\n", "sops:\n    unknown: [1, 2]\n"}, {"a: ENC", "a: &x ENC"}, {"a: ENC", "\"a\": ENC"},
		}},
	} {
		if agree(t, []byte(c.doc), f, f, sopstest.Identity) == nil {
			t.Errorf("%s: the document itself does not open", f)
		}
		for _, ch := range c.changes {
			if !strings.Contains(c.doc, ch.from) {
				t.Errorf("%s: no %q in the document", f, ch.from)
			}
			agree(t, []byte(strings.Replace(c.doc, ch.from, ch.to, 1)), f, f, sopstest.Identity)
		}
	}
}

// Damage to sealed values is met as by the library.
func TestSealedValuesAsTheLibrary(t *testing.T) {
	enc := string(sopstest.Encrypt(t, sops.YAML, []byte("# note\na: text\nn: 5\nf: 1.5\nb: true\nt: 2024-01-01T00:00:00Z\nl:\n  # in list\n  - x\n"), sopstest.Recipient, ""))
	for _, typ := range []string{"str", "int", "float", "bool", "time", "comment", "bytes", "odd", "str]"} {
		for _, was := range []string{"str", "int", "float", "bool", "time", "comment"} {
			agree(t, []byte(strings.Replace(enc, ",type:"+was+"]", ",type:"+typ+"]", 1)), sops.YAML, sops.YAML, sopstest.Identity)
			all := []byte(strings.ReplaceAll(enc, ",type:"+was+"]", ",type:"+typ+"]"))
			agree(t, all, sops.YAML, sops.YAML, sopstest.Identity)
			agree(t, all, sops.YAML, sops.JSON, sopstest.Identity)
		}
	}
	for _, ch := range [][2]string{
		{"a: ENC[", "a: ENC ["}, {"data:", "data:AAAA"}, {"data:", "data:*"}, {",iv:", ",iv:AAAA"}, {"AES256_GCM", "AES128_GCM"},
		{"type:str]", "type:str] trailing"}, {"type:str]", "type:str],iv:AA==,tag:AA==,type:x]"}, {"a: ENC", "z: ENC"}, {"a: ENC[", "a: [ENC["},
	} {
		if !strings.Contains(enc, ch[0]) {
			t.Errorf("no %q in the document", ch[0])
		}
		agree(t, []byte(strings.Replace(enc, ch[0], ch[1], 1)), sops.YAML, sops.YAML, sopstest.Identity)
	}
	// A value moved elsewhere does not open, and the place is named.
	moved := []byte(strings.Replace(enc, "a: ENC", "z: ENC", 1))
	if _, err := sops.Decrypt(moved, sops.YAML, sops.YAML, mustKeys(t, sopstest.Identity)); !errors.Is(err, sops.ErrMalformed) || !strings.Contains(err.Error(), `"z"`) {
		t.Errorf("moved value: %v", err)
	}
}

func TestDockerConfigJSON(t *testing.T) {
	const plain = "{\n\t\"auths\": {\n\t\t\"r.example\": {\n\t\t\t\"auth\": \"dTpw\"\n\t\t}\n\t}\n}\n"
	if f := sops.FormatForPath(".dockerconfigjson"); f != sops.JSON {
		t.Fatalf("format is %s", f)
	}
	enc := sopstest.Encrypt(t, sops.JSON, []byte(plain), sopstest.Recipient, "")
	got, changed, err := sops.DecryptFile(enc, sops.FormatForPath("x.dockerconfigjson"), mustKeys(t, sopstest.Identity))
	if err != nil || !changed || string(got) != plain {
		t.Errorf("got %q, %v, %v", got, changed, err)
	}
	obj := fmt.Sprintf(`{"apiVersion":"v1","data":{".dockerconfigjson":%q},"kind":"Secret","metadata":{"name":"r"}}`, base64.StdEncoding.EncodeToString(enc))
	out, changed, err := sops.DecryptObject([]byte(obj), mustKeys(t, sopstest.Identity))
	if err != nil || !changed {
		t.Fatalf("%v, %v", changed, err)
	}
	var sec struct{ Data map[string][]byte }
	if err := json.Unmarshal(out, &sec); err != nil || string(sec.Data[".dockerconfigjson"]) != plain {
		t.Errorf("%v: %q", err, sec.Data)
	}
}
