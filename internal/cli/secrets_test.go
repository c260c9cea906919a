package cli_test

import (
	"encoding/base64"
	"os"
	"sort"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"sigs.k8s.io/yaml"
)

// plaintexts SHOWN PUBLIC FILE writes what is secret in a stream that was rendered with --show-secrets: the values of
// Secrets, as they stand and line by line when decoded, less what the render without any key prints too.
func plaintexts(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: plaintexts SHOWN PUBLIC FILE")
	}
	public := ts.ReadFile(args[1])
	found := map[string]bool{}
	add := func(s string) {
		const short = 12 // below that a word, which stands anywhere
		if s = strings.TrimSpace(s); len(s) >= short && !strings.Contains(public, s) {
			found[s] = true
		}
	}
	for _, doc := range strings.Split(ts.ReadFile(args[0]), "\n---\n") {
		var o struct {
			Kind             string
			Data, StringData map[string]string
		}
		if yaml.Unmarshal([]byte(doc), &o) != nil || o.Kind != "Secret" {
			continue
		}
		for _, v := range o.StringData {
			add(v)
		}
		for _, v := range o.Data {
			add(v)
			raw, err := base64.StdEncoding.DecodeString(v)
			ts.Check(err)
			for _, line := range strings.Split(string(raw), "\n") {
				add(line)
			}
		}
	}
	if len(found) < 10 {
		ts.Fatalf("%s holds only %d secrets", args[0], len(found))
	}
	lines := make([]string, 0, len(found))
	for s := range found {
		lines = append(lines, s)
	}
	sort.Strings(lines)
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(strings.Join(lines, "\n")+"\n"), 0o600))
}

// holdsnone FILE LIST holds that no line of LIST stands anywhere in FILE.
func holdsNone(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: holdsnone FILE LIST")
	}
	text := ts.ReadFile(args[0])
	if text == "" {
		ts.Fatalf("%s is empty", args[0])
	}
	for _, s := range strings.Split(strings.TrimSpace(ts.ReadFile(args[1])), "\n") {
		if strings.Contains(text, s) {
			ts.Fatalf("%s holds the secret %q", args[0], s)
		}
	}
}
