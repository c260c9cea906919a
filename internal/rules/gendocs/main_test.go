package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(dir, err)
	}
	out := map[string]string{}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(f)] = string(data)
	}
	return out
}

// What is committed is what the rules say and do, and is so each time.
func TestPagesAreFresh(t *testing.T) {
	have := tree(t, "../../../docs/rules")
	for range 2 {
		dir := t.TempDir()
		if err := pages(dir); err != nil {
			t.Fatal(err)
		}
		want := tree(t, dir)
		for name, text := range want {
			if have[name] != text {
				t.Errorf("docs/rules/%s is stale: run go generate ./internal/rules", name)
			}
			if strings.Contains(text, dir) {
				t.Errorf("%s names a folder of this machine", name)
			}
		}
		if len(have) != len(want) {
			t.Errorf("docs/rules has %d files, and there are %d", len(have), len(want))
		}
	}
}

// A page of a rule that is gone goes with it, and nothing else does.
func TestPagesRemove(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"TG9999.md", "notes.md"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := pages(dir); err != nil {
		t.Fatal(err)
	}
	have := tree(t, dir)
	if have["TG9999.md"] != "" || have["notes.md"] != "x" || !strings.Contains(have["README.md"], "(TG0301.md)") {
		t.Error("the pages are not those of the rules")
	}
}

func TestFence(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a\n\n", "```x\na\n```\n"},
		{"a ``` b", "````x\na ``` b\n````\n"},
		{"", "```x\n\n```\n"},
	} {
		var b bytes.Buffer
		fence(&b, "x", c.text)
		if b.String() != c.want {
			t.Errorf("%q: %q", c.text, b.String())
		}
	}
}
