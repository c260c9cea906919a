package sops_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/sops"
	"github.com/tidegate/tidegate/internal/sops/sopstest"
)

// No error shows a value, a key or text of the input that could be one.
func TestErrorsShowNoSecrets(t *testing.T) {
	const secret = "hunter2 horse+"
	keys := mustKeys(t, sopstest.Identity)
	var docs [][]byte
	for f, plain := range map[sops.Format]string{
		sops.YAML: "a: " + secret + "\nl: [" + secret + "]\n# " + secret + "\nn: 5\n", sops.JSON: `{"a":"` + secret + `"}`,
		sops.Dotenv: "A=" + secret + "\n", sops.INI: "[s]\na=" + secret + "\n", sops.Binary: secret,
	} {
		enc := sopstest.Encrypt(t, f, []byte(plain), sopstest.Recipient, "")
		docs = append(docs, enc)
		for _, typ := range []string{"int", "float", "bool", "time", "bytes", "odd"} {
			docs = append(docs, bytes.ReplaceAll(enc, []byte("type:str]"), []byte("type:"+typ+"]")))
		}
		for _, frac := range []int{10, 30, 50, 70, 90} {
			docs = append(docs, enc[:len(enc)*frac/100])
		}
		// Secrets that were never encrypted, where something is wrong.
		for _, junk := range []string{secret + "\n", secret + ": [\n", "x: *" + secret + "\n", "\"" + secret + "\n", "{" + secret + "\n", "k: " + secret + "\nk: " + secret + "\n", "sops: " + secret + "\n"} {
			docs = append(docs, append([]byte(junk), enc...), append(bytes.Clone(enc), junk...))
		}
		docs = append(docs, bytes.ReplaceAll(enc, []byte("2"), []byte(secret)), bytes.ReplaceAll(enc, []byte("ENC["), []byte(secret)),
			bytes.ReplaceAll(enc, []byte(sopstest.Recipient), []byte(secret)), bytes.ReplaceAll(enc, []byte("age1"), []byte(sopstest.Identity)))
	}
	failed := 0
	for _, doc := range docs {
		for _, in := range allFormats {
			for _, out := range allFormats {
				for _, k := range []*sops.Keys{keys, nil, mustKeys(t, sopstest.OtherIdentity)} {
					_, err := sops.Decrypt(doc, in, out, k)
					_, err2 := sops.Mask(doc, in, out, "m")
					for _, e := range []error{err, err2} {
						if e == nil {
							continue
						}
						failed++
						text := fmt.Sprintf("%v %+v %q", e, e, errors.Unwrap(e))
						if strings.Contains(text, "hunter2") || strings.Contains(text, "AGE-SECRET") || strings.Contains(text, "ENC[") {
							t.Fatalf("%s→%s: the error shows the secret: %v", in, out, e)
						}
						if len(e.Error()) > 1000 {
							t.Fatalf("an error of %d bytes", len(e.Error()))
						}
						if !errors.Is(e, sops.ErrMalformed) && !errors.Is(e, sops.ErrNoKey) && !errors.Is(e, sops.ErrLimit) {
							t.Fatalf("an error of no kind: %v", e)
						}
					}
				}
			}
		}
	}
	if failed < 1000 {
		t.Fatalf("only %d failures seen", failed)
	}
}

// Documents that would take the real library's stack, memory or hours are refused, quickly.
func TestHostileDocuments(t *testing.T) {
	fill := func(s string) string { return strings.Repeat(s, (sops.MaxFileSize-8192)/len(s)) }
	numbered := func(format string) string {
		var b strings.Builder
		for i := 0; b.Len() < sops.MaxFileSize-8192; i++ {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	laughs := "---\na: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'k'; c++ {
		p := string(c - 1)
		laughs += fmt.Sprintf("%c: &%c [*%s,*%s,*%s,*%s,*%s,*%s,*%s,*%s,*%s]\n", c, c, p, p, p, p, p, p, p, p, p)
	}
	ladder := "---\nz: &a0 {}\n"
	for i := range 400 {
		ladder += fmt.Sprintf("z%d: &a%d [*a%d]\n", i, i+1, i)
	}
	for name, tc := range map[string]struct {
		f    sops.Format
		body string
		kind error
	}{
		"deep JSON arrays":      {sops.JSON, `{"a":` + fill("["), sops.ErrLimit},
		"deep JSON objects":     {sops.JSON, fill(`{"a":`), sops.ErrLimit},
		"deep YAML":             {sops.YAML, "a: " + strings.Repeat("[", 9000) + strings.Repeat("]", 9000), sops.ErrLimit},
		"deeper YAML":           {sops.YAML, "a: " + fill("["), sops.ErrMalformed},
		"alias to itself":       {sops.YAML, "---\na: &x [*x]\n", sops.ErrLimit},
		"alias in later doc":    {sops.YAML, "a: b\n---\na: &x {k: *x}\n", sops.ErrLimit},
		"billion laughs":        {sops.YAML, laughs, sops.ErrLimit},
		"laughs in a later doc": {sops.YAML, "a: b\n" + laughs, sops.ErrLimit},
		"ladder of aliases":     {sops.YAML, ladder, sops.ErrLimit},
		"many YAML keys":        {sops.YAML, numbered("k%d: v\n"), sops.ErrLimit},
		"many YAML comments":    {sops.YAML, "a:\n" + fill("# c\n"), nil},
		"wide JSON":             {sops.JSON, `{"a":[` + fill("1,") + `1]}`, nil},
		"many JSON keys":        {sops.JSON, `{` + numbered(`"k%d":1,`) + `"z":1}`, nil},
		"many INI keys":         {sops.INI, "[a]\n" + numbered("k%d=v\n"), sops.ErrLimit},
		"many INI sections":     {sops.INI, numbered("[s%d]\n"), sops.ErrLimit},
		"many dotenv lines":     {sops.Dotenv, numbered("K%d=v\n"), nil},
		"deep dotenv metadata":  {sops.Dotenv, "sops_x" + fill("__map_a") + "=1", sops.ErrLimit},
		"wild dotenv list":      {sops.Dotenv, "sops_x__list_9223372036854775807=1", sops.ErrMalformed},
		"long line":             {sops.YAML, "a: " + fill("x"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			doc := withMetadata(t, tc.f, tc.body)
			start := time.Now()
			_, err := sops.Mask(doc, tc.f, tc.f, "m")
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("took %v", took)
			}
			if !errors.Is(err, tc.kind) {
				t.Errorf("%v, wanted %v", err, tc.kind)
			}
		})
	}
	big := bytes.Repeat([]byte(" "), sops.MaxFileSize+1)
	for _, f := range allFormats {
		if _, err := sops.Mask(big, f, f, "m"); !errors.Is(err, sops.ErrLimit) {
			t.Errorf("%s above the size: %v", f, err)
		}
	}
	rule := sopstest.Encrypt(t, sops.YAML, []byte("a: b\n"), sopstest.Recipient, strings.Repeat("a|", 4096))
	if _, err := sops.Mask(rule, sops.YAML, sops.YAML, "m"); !errors.Is(err, sops.ErrLimit) {
		t.Errorf("a very long rule: %v", err)
	}
	if _, err := sops.Mask(rule, sops.Format(9), sops.YAML, "m"); !errors.Is(err, sops.ErrMalformed) {
		t.Errorf("a format that does not exist: %v", err)
	}
}

// Every prefix of a document is read or refused as by the library.
func TestTruncated(t *testing.T) {
	for f, plain := range map[sops.Format]string{sops.JSON: `{"a":[1,{"b":"c"}],"d":"e"}`, sops.YAML: "a: [1, {b: c}]\nd: e\n", sops.Dotenv: "A=b\n#c\n", sops.INI: "[a]\nb=c\n"} {
		enc := sopstest.Encrypt(t, f, []byte(plain), sopstest.Recipient, "")
		for i := 0; i < len(enc); i += 1 + i%5 {
			agree(t, enc[:i], f, f, sopstest.Identity)
		}
		// With the metadata first, the values can be cut.
		if f != sops.JSON {
			continue
		}
		whole := withMetadata(t, f, `{"a":[1,{"b":"c"},[]],"d":{"e":{"f":null}}}`)
		for i := bytes.Index(whole, []byte(`"a"`)) - 3; i <= len(whole); i++ {
			agree(t, whole[:i], f, f, sopstest.Identity)
		}
	}
}
