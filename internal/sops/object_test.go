package sops_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/api/resource"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/tidegate/tidegate/internal/sops"
	"github.com/tidegate/tidegate/internal/sops/sopstest"
)

func parse(tb testing.TB, doc string) *resource.Resource {
	tb.Helper()
	res, err := provider.NewDefaultDepProvider().GetResourceFactory().FromBytes([]byte(doc))
	if err != nil {
		tb.Fatalf("%v\n%s", err, doc)
	}
	return res
}

// controller does to res what DecryptResource does, with the real library.
func controller(res *resource.Resource, identity string) error {
	if f := res.Field("sops"); !f.IsNilOrEmpty() && !f.Value.Field("mac").IsNilOrEmpty() {
		in, err := res.MarshalJSON()
		if err != nil {
			return err
		}
		out, err := sopstest.Reference(in, sops.JSON, sops.JSON, identity)
		if err != nil {
			return err
		}
		return res.UnmarshalJSON(out)
	}
	if res.GetKind() != "Secret" {
		return nil
	}
	data := res.GetDataMap()
	for key, value := range data {
		plain, err := base64.StdEncoding.DecodeString(value)
		if err != nil {
			continue
		}
		if in, ok := sops.DetectMarker(plain); ok {
			out, err := sopstest.Reference(plain, in, sops.FormatForPath(key), identity)
			if err != nil {
				return err
			}
			data[key] = base64.StdEncoding.EncodeToString(out)
		}
	}
	res.SetDataMap(data)
	return nil
}

func TestDecryptObjectAsTheController(t *testing.T) {
	b64 := func(s []byte) string { return base64.StdEncoding.EncodeToString(s) }
	enc := func(f sops.Format, plain, rule string) []byte {
		return sopstest.Encrypt(t, f, []byte(plain), sopstest.Recipient, rule)
	}
	secret := "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\n  namespace: n\n  annotations:\n    z: \"1\"\n    a: b\n"
	rules := "^(data|stringData|spec)$"
	for name, tc := range map[string]struct {
		doc     string
		changed bool
		fails   bool
	}{
		"whole Secret":          {string(enc(sops.YAML, secret+"stringData:\n  b: x\n  a: \"1\"\n  multi: |\n    l1\n    l2\n", rules)), true, false},
		"numbers and null":      {string(enc(sops.YAML, "apiVersion: x/v1\nkind: X\nmetadata:\n  name: x\nspec:\n  big: 9007199254740993\n  f: 1.0\n  e: 1e10\n  n: null\n  b: true\n  l: [1, 2.5, \"3\"]\n  s: \"<&>\"\nclear: 12345678901\n", rules)), true, false},
		"ConfigMap":             {string(enc(sops.YAML, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  k: v\n", rules)), true, false},
		"comments":              {string(enc(sops.YAML, secret+"# about\nstringData:\n  # in\n  a: b # beside\n  l: x\n", rules)), true, false},
		"added by kustomize":    {strings.Replace(string(enc(sops.YAML, secret+"stringData:\n  a: b\n", rules)), "metadata:\n", "metadata:\n    labels:\n        added: later\n", 1), true, false},
		"added in the clear":    {strings.Replace(string(enc(sops.YAML, secret+"stringData:\n  a: b\n", rules)), "stringData:\n", "stringData:\n    added: plain\n", 1), false, true},
		"plain Secret":          {secret + "data:\n  a: YQ==\n", false, false},
		"no data":               {secret, false, false},
		"empty data":            {secret + "data: {}\n", true, false},
		"null data":             {secret + "data: null\n", true, false},
		"list as data":          {secret + "data: [a]\n", true, false},
		"null value":            {secret + "data:\n  b: YQ==\n  a: null\n", true, false},
		"number value":          {secret + "data:\n  a: 1234\n  b: true\n", true, false},
		"mapping value":         {secret + "data:\n  a: {b: c}\n", true, false},
		"not base64":            {secret + "data:\n  a: '***'\n", false, false},
		"sops without mac":      {secret + "data:\n  a: YQ==\nsops:\n  x: y\n", false, false},
		"sops with null mac":    {secret + "data:\n  a: YQ==\nsops:\n  mac: null\n", false, false},
		"sops with empty mac":   {secret + "data:\n  a: YQ==\nsops:\n  mac: \"\"\n", false, true},
		"sops as text":          {secret + "data:\n  a: YQ==\nsops: text\n", false, false},
		"data values":           {secret + "data:\n  .dockerconfigjson: " + b64(enc(sops.JSON, `{"auths":{}}`, "")) + "\n  b.yaml: " + b64(enc(sops.YAML, "# c\nx: y\n", "")) + "\n  c.env: " + b64(enc(sops.Dotenv, "A=b\n", "")) + "\n  d.ini: " + b64(enc(sops.INI, "[a]\nb=c\n", "")) + "\n  e.bin: " + b64(enc(sops.Binary, "\x00\x01", "")) + "\n  plain: YQ==\n", true, false},
		"data in other format":  {secret + "data:\n  a.json: " + b64(enc(sops.YAML, "x: {y: [1]}\n", "")) + "\n", true, false},
		"data, key no format":   {secret + "data:\n  token: " + b64(enc(sops.YAML, "x: y\n", "")) + "\n", false, true},
		"data with a data key":  {secret + "data:\n  token: " + b64(enc(sops.YAML, "data: y\n", "")) + "\n", true, false},
		"ConfigMap data values": {"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  a.yaml: " + b64(enc(sops.YAML, "x: y\n", "")) + "\n", false, false},
		"somebody else's":       {string(sopstest.Encrypt(t, sops.YAML, []byte(secret+"data:\n  a: YQ==\n"), sopstest.OtherRecipient, rules)), false, true},
		"Secret of a group":     {"apiVersion: x/v1\nkind: Secret\nmetadata:\n  name: c\ndata:\n  a: " + b64(enc(sops.Binary, "x", "")) + "\n", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			theirs, ours := parse(t, tc.doc), parse(t, tc.doc)
			wantErr := controller(theirs, sopstest.Identity)
			in, err := ours.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			out, changed, err := sops.DecryptObject(in, mustKeys(t, sopstest.Identity))
			if (err != nil) != tc.fails || (wantErr != nil) != tc.fails {
				t.Fatalf("ours: %v\nthe controller: %v", err, wantErr)
			}
			if err != nil {
				if !strings.Contains(err.Error(), "Secret n/s") {
					t.Errorf("the object is not named: %v", err)
				}
				return
			}
			if changed != tc.changed {
				t.Errorf("changed is %v", changed)
			}
			if !changed && string(out) != string(in) {
				t.Error("unchanged but different")
			}
			if err := ours.UnmarshalJSON(out); err != nil {
				t.Fatal(err)
			}
			got, want := ours.MustYaml(), theirs.MustYaml()
			if got != want {
				t.Errorf("ours:\n%s\nthe controller:\n%s", got, want)
			}
			masked, maskedToo, err := sops.MaskObject(in, sops.DefaultMask)
			if err != nil || maskedToo != changed || !json.Valid(masked) {
				t.Errorf("MaskObject: %v, changed %v\n%s", err, maskedToo, masked)
			}
			if strings.Contains(string(masked), "ENC[") || strings.Contains(string(masked), `"mac":`) && strings.HasPrefix(name, "whole") {
				t.Errorf("masked:\n%s", masked)
			}
		})
	}
}

func TestMaskObject(t *testing.T) {
	whole := sopstest.Encrypt(t, sops.JSON, []byte(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"stringData":{"a":"b"}}`), sopstest.OtherRecipient, "^stringData$")
	got, changed, err := sops.MaskObject(whole, sops.DefaultMask)
	var obj map[string]any
	if err != nil || !changed || json.Unmarshal(got, &obj) != nil || obj["stringData"].(map[string]any)["a"] != "**SOPS**" || obj["sops"] != nil || obj["kind"] != "Secret" {
		t.Errorf("%v %v\n%s", changed, err, got)
	}
	value := sopstest.Encrypt(t, sops.Binary, []byte("x"), sopstest.OtherRecipient, "")
	in := fmt.Sprintf(`{"apiVersion":"v1","data":{"k":%q,"p":"YQ=="},"kind":"Secret","metadata":{"name":"s"}}`, base64.StdEncoding.EncodeToString(value))
	got, changed, err = sops.MaskObject([]byte(in), sops.DefaultMask)
	want := `{"apiVersion":"v1","data":{"k":"` + base64.StdEncoding.EncodeToString([]byte("**SOPS**")) + `","p":"YQ=="},"kind":"Secret","metadata":{"name":"s"}}`
	if err != nil || !changed || string(got) != want {
		t.Errorf("%v %v\n got %s\nwant %s", changed, err, got, want)
	}
	if _, _, err := sops.DecryptObject([]byte(in), nil); !errors.Is(err, sops.ErrNoKey) || !strings.Contains(err.Error(), `"k"`) {
		t.Errorf("no key: %v", err)
	}
	for _, odd := range []string{`[]`, `"Secret"`, `{"kind":"Secret"`, `null`, ``, `{"kind":["Secret"]}`} {
		if out, changed, err := sops.MaskObject([]byte(odd), "m"); changed || err == nil && string(out) != odd {
			t.Errorf("%s: %q %v %v", odd, out, changed, err)
		}
	}
	// A word hidden behind an escape is found.
	hidden := strings.Replace(in, `"Secret"`, `"S\u0065cret"`, 1)
	if _, changed, err := sops.MaskObject([]byte(hidden), "m"); err != nil || !changed {
		t.Errorf("hidden kind: %v, %v", changed, err)
	}
}

func TestIsEncryptedObject(t *testing.T) {
	for doc, want := range map[string]bool{
		"sops: {mac: x}": true, "sops: {mac: \"\"}": true, "sops: {mac: 1}": true, "sops: {mac: [1]}": true, "sops: {mac: {a: b}}": true,
		"sops: {mac: null}": false, "sops: {mac: []}": false, "sops: {mac: {}}": false, "sops: {}": false, "sops: null": false, "sops: x": false,
		"sops: [mac]": false, "mac: x": false, "data: {sops: {mac: x}}": false,
	} {
		node := kyaml.MustParse(doc)
		f := node.Field("sops")
		if theirs := !f.IsNilOrEmpty() && !f.Value.Field("mac").IsNilOrEmpty(); theirs != want {
			t.Errorf("%s: the controller says %v", doc, theirs)
		}
		raw, err := node.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var obj map[string]any
		if err := json.Unmarshal(raw, &obj); err != nil {
			t.Fatal(err)
		}
		if got := sops.IsEncryptedObject(obj); got != want {
			t.Errorf("%s: %v", doc, got)
		}
	}
	if sops.IsEncryptedObject(nil) {
		t.Error("nil is encrypted")
	}
}

func TestDecryptionDisabled(t *testing.T) {
	const key = "kustomize.toolkit.fluxcd.io/decrypt"
	for value, want := range map[string]bool{"disabled": true, "Disabled": true, "DISABLED": true, "": false, "enabled": false, "disabled ": false} {
		if got := sops.DecryptionDisabled(map[string]string{key: value}); got != want {
			t.Errorf("%q: %v", value, got)
		}
	}
	if sops.DecryptionDisabled(nil) || sops.DecryptionDisabled(map[string]string{"decrypt": "disabled"}) {
		t.Error("disabled without the annotation")
	}
}
