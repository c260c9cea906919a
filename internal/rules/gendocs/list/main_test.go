package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is committed lists every rule that is declared.
func TestListIsFresh(t *testing.T) {
	want, err := list("../..")
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile("../../list.go")
	if err != nil || !bytes.Equal(have, want) {
		t.Errorf("internal/rules/list.go is stale: run go generate ./internal/rules (%v)", err)
	}
}

func TestList(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string // of the list, or of the error
	}{
		{"none", nil, "{\n\t\trule.Suppression,\n\t}"},
		{"in order", map[string]string{"tg0301_x.go": "var TG0301 = 1", "tg0001_a.go": "var (\n\tother = 2\n\tTG0001 = 1\n)"}, "TG0001,\n\t\trule.Suppression,\n\t\tTG0301,\n"},
		{"tests", map[string]string{"tg0301_x_test.go": "var TG0301 = 1"}, "{\n\t\trule.Suppression,\n\t}"},
		{"within a function", map[string]string{"tg0301_x.go": "func f() { var TG0301 = 1; _ = TG0301 }"}, "{\n\t\trule.Suppression,\n\t}"},
		{"no ID", map[string]string{"tg0301_x.go": "var TG301, TG03012 = 1, 2"}, "{\n\t\trule.Suppression,\n\t}"},
		{"twice", map[string]string{"tg0301_x.go": "var TG0301 = 1", "tg0301_y.go": "var TG0301 = 1"}, "TG0301 is there already"},
		{"the runner's", map[string]string{"tg0002_x.go": "var TG0002 = 1"}, "TG0002 is there already"},
		{"in another's file", map[string]string{"tg0301_x.go": "var TG0302 = 1"}, "a file of its own, tg0302_NAME.go"},
		{"no Go", map[string]string{"tg0301_x.go": "vra TG0302 = 1"}, "tg0301_x.go:3"},
	} {
		dir := t.TempDir()
		for name, text := range c.files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte("package rules\n\n"+text+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := list(dir)
		text := string(got)
		if err != nil {
			text = err.Error()
		}
		if !strings.Contains(text, c.want) {
			t.Errorf("%s: %s", c.name, text)
		}
	}
}

// A file that is right keeps its time, so that nothing is built anew.
func TestWriteLeavesAlone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "list.go")
	if err := write(file, []byte("a")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, 0o444); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := write(file, []byte("a")); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(file)
	if err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("it was written again: %v", err)
	}
}
