package sops_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/tidegate/tidegate/internal/sops"
	"github.com/tidegate/tidegate/internal/sops/sopstest"
)

func TestParseKeys(t *testing.T) {
	hybrid, err := age.GenerateHybridIdentity()
	if err != nil {
		t.Fatal(err)
	}
	id, other := sopstest.Identity, sopstest.OtherIdentity
	for _, tc := range []struct {
		name, text, fail string
	}{
		{"one", id, ""},
		{"comments, blank lines, several", "# created: today\n# public key: age1x\n" + id + "\n\n" + other + "\n", ""},
		{"CRLF", "# x\r\n" + id + "\r\n", ""},
		{"post-quantum", hybrid.String(), ""},
		{"empty", "", "no identity"},
		{"only comments", "# nothing\n", "no identity"},
		{"damaged", "# x\n" + id[:len(id)-1] + "Q\n", "line 2"},
		{"cut", id[:40], "line 1"},
		{"lower case", strings.ToLower(id), "line 1"},
		{"leading blank", " " + id, "line 1"},
		{"plugin", "AGE-PLUGIN-YUBIKEY-1QQPQQQQ", "plugin"},
		{"ssh", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blb\n", "SSH"},
		{"encrypted", "-----BEGIN AGE ENCRYPTED FILE-----\nYWdl\n", "encrypted"},
		{"recipient", sopstest.Recipient, "line 1"},
		{"huge", strings.Repeat("#\n", 1<<20), "bytes"},
		{"long line", "#" + strings.Repeat("x", 1<<19) + "\n" + id, ""},
	} {
		keys, err := sops.ParseKeys([]byte(tc.text))
		if tc.fail == "" {
			if err != nil || keys.Empty() {
				t.Errorf("%s: %v", tc.name, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), tc.fail) || keys != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		for _, line := range strings.Split(tc.text, "\n") {
			if len(line) > 30 && strings.Contains(err.Error(), strings.TrimSpace(line)[16:28]) {
				t.Errorf("%s: the error quotes the file: %v", tc.name, err)
			}
		}
	}
}

func TestKeysDoNotPrint(t *testing.T) {
	k := mustKeys(t, sopstest.Identity)
	secret := sopstest.Identity[20:]
	shown := []string{k.String(), k.GoString()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%p", "%T"} {
		shown = append(shown, fmt.Sprintf(verb, k), fmt.Sprintf(verb, *k), fmt.Sprintf(verb, struct{ K *sops.Keys }{k}), fmt.Sprintf(verb, []sops.Keys{*k}))
	}
	for _, v := range []any{k, *k, map[string]any{"k": k}} {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		shown = append(shown, string(b))
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "keys", k)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "keys", k)
	shown = append(shown, log.String())
	for _, s := range shown {
		if strings.Contains(strings.ToUpper(s), secret) || strings.Contains(s, "X25519") {
			t.Errorf("shows the key: %s", s)
		}
	}
	if k.String() != "<age keys>" || fmt.Sprint(k) != "<age keys>" || fmt.Sprintf("%#v", k) != "<age keys>" {
		t.Errorf("%s %v %#v", k.String(), k, k)
	}
	var none *sops.Keys
	if !none.Empty() || !(&sops.Keys{}).Empty() || k.Empty() {
		t.Error("Empty is wrong")
	}
}

func TestLoadKeys(t *testing.T) {
	files := map[string]string{"a.txt": "# k\n" + sopstest.Identity + "\n", "b.txt": sopstest.OtherIdentity, "bad.txt": "junk"}
	var read []string
	readFile := func(p string) ([]byte, error) {
		read = append(read, p)
		if text, ok := files[p]; ok {
			return []byte(text), nil
		}
		return nil, &fs.PathError{Op: "open", Path: p, Err: fs.ErrNotExist}
	}
	mine := sopstest.Encrypt(t, sops.YAML, []byte("a: b\n"), sopstest.Recipient, "")
	theirs := sopstest.Encrypt(t, sops.YAML, []byte("a: b\n"), sopstest.OtherRecipient, "")
	for _, tc := range []struct {
		name, flag     string
		env            map[string]string
		source, fail   string
		opens, opens2  bool
		none, notFound bool
	}{
		{name: "none", none: true},
		{name: "blank", env: map[string]string{"SOPS_AGE_KEY": " \n"}, none: true},
		{name: "flag", flag: "a.txt", env: map[string]string{"SOPS_AGE_KEY": "junk", "SOPS_AGE_KEY_FILE": "b.txt"}, source: "--age-key-file", opens: true},
		{name: "variable", env: map[string]string{"SOPS_AGE_KEY": sopstest.Identity}, source: "SOPS_AGE_KEY", opens: true},
		{name: "variable with two", env: map[string]string{"SOPS_AGE_KEY": "# c\n" + sopstest.Identity + " " + sopstest.OtherIdentity}, source: "SOPS_AGE_KEY", opens: true, opens2: true},
		{name: "file", env: map[string]string{"SOPS_AGE_KEY_FILE": "b.txt"}, source: "SOPS_AGE_KEY_FILE", opens2: true},
		{name: "merged", env: map[string]string{"SOPS_AGE_KEY": sopstest.Identity, "SOPS_AGE_KEY_FILE": "b.txt"}, source: "SOPS_AGE_KEY and SOPS_AGE_KEY_FILE", opens: true, opens2: true},
		{name: "ignored", env: map[string]string{"SOPS_AGE_KEY_CMD": "touch x", "SOPS_AGE_SSH_PRIVATE_KEY_FILE": "a.txt", "HOME": "/nonexistent"}, none: true},
		{name: "missing", flag: "c.txt", fail: "--age-key-file", notFound: true},
		{name: "bad file", env: map[string]string{"SOPS_AGE_KEY_FILE": "bad.txt"}, fail: "bad.txt"},
		{name: "bad variable", env: map[string]string{"SOPS_AGE_KEY": "c29tZXRoaW5nc2VjcmV0"}, fail: "SOPS_AGE_KEY"},
		{name: "key as path", env: map[string]string{"SOPS_AGE_KEY_FILE": sopstest.Identity}, fail: "path"},
		{name: "key as flag", flag: sopstest.Identity, fail: "path"},
	} {
		read = nil
		keys, source, err := sops.LoadKeys(tc.flag, func(n string) string { return tc.env[n] }, readFile)
		if tc.fail != "" {
			if err == nil || !strings.Contains(err.Error(), tc.fail) || strings.Contains(err.Error(), sopstest.Identity[15:]) || strings.Contains(err.Error(), "c29tZX") {
				t.Errorf("%s: %v", tc.name, err)
			}
			if tc.notFound != errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: not found: %v", tc.name, err)
			}
			continue
		}
		if err != nil || source != tc.source || (keys == nil) != tc.none {
			t.Errorf("%s: %v, source %q, keys %v", tc.name, err, source, keys)
			continue
		}
		_, err1 := sops.Decrypt(mine, sops.YAML, sops.YAML, keys)
		_, err2 := sops.Decrypt(theirs, sops.YAML, sops.YAML, keys)
		if (err1 == nil) != tc.opens || (err2 == nil) != tc.opens2 {
			t.Errorf("%s: opens %v, %v", tc.name, err1, err2)
		}
		if tc.name == "ignored" && len(read) > 0 {
			t.Errorf("read %v", read)
		}
	}
}
