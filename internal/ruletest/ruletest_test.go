package ruletest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/tidegate/tidegate/internal/report"
)

func TestWants(t *testing.T) {
	got, err := wants(txtar.Parse([]byte(`a comment: # want TG0001 "x" is not one
-- a.yaml --
a: 1
b: 2 # want TG0301 "one" TG0302 "t\"w.o"
c: "# wanted"
-- a.cue --
a: 1 /* want TG0301 "c" */
-- fixed/a.yaml --
b: 2 # want TG0301 "one"
-- want --
d/e.json:12 TG0401 "^x$"
d/e.json:12:7 TG0401 "y"

`)))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, w := range got {
		list = append(list, line(report.Finding{File: w.file, Line: w.line, Column: w.column, Rule: w.rule}))
		if w.pattern == nil {
			t.Error("no pattern")
		}
	}
	if want := `a.yaml:2:0 TG0301 ""|a.yaml:2:0 TG0302 ""|a.cue:1:0 TG0301 ""|d/e.json:12:0 TG0401 ""|d/e.json:12:7 TG0401 ""`; strings.Join(list, "|") != want {
		t.Errorf("got %q", list)
	}
	if !got[1].pattern.MatchString(`t"w-o`) || got[0].pattern.MatchString("two") {
		t.Error("patterns are not those of the lines")
	}
}

// A want that would be overlooked is refused.
func TestWantsRefused(t *testing.T) {
	for _, text := range []string{
		"-- a.yaml --\na: 1 # want TG0301 one",
		"-- a.yaml --\na: 1 # want TG301 \"one\"",
		"-- a.yaml --\na: 1 # want TG0301 \"one\" and more",
		"-- a.yaml --\na: 1 #want TG0301 \"one\"",
		"-- a.yaml --\na: 1 # want: TG0301 \"one\"",
		"-- a.yaml --\na: 1 # want TG0301 \"(\"",
		"-- a.yaml --\na: 1 # want TG0301 \"\\q\"",
		"-- want --\na.yaml TG0301 \"one\"",
		"-- want --\na.yaml:1 TG0301 one",
	} {
		if got, err := wants(txtar.Parse([]byte(text))); err == nil {
			t.Errorf("%q: taken, %d wants", text, len(got))
		}
	}
}

func sound(file string, line, column int, rule, message string) report.Finding {
	return report.Finding{Rule: rule, File: file, Line: line, Column: column, EndLine: line, EndColumn: column + 1, Message: message, Breaks: "b", Fixes: []report.Fix{{Message: "f"}}}
}

// The harness says what is missing and what is too much, once for each.
func TestCompare(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte("abc\nabc\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	const wanted = "-- a.yaml --\nabc # want TG0301 \"one\"\n-- want --\na.yaml:2:2 TG0301 \"two\"\n"
	one, two := sound("a.yaml", 1, 1, "TG0301", "one of it"), sound("a.yaml", 2, 2, "TG0301", "two of it")
	for _, c := range []struct {
		name  string
		found []report.Finding
		want  []string
	}{
		{"as wanted", []report.Finding{one, two}, nil},
		{"too little", []report.Finding{one}, []string{`not found: a.yaml:2:2 TG0301 "two"`}},
		{"nothing", nil, []string{`not found: a.yaml:1:0 TG0301 "one"`, `not found: a.yaml:2:2 TG0301 "two"`}},
		{"twice", []report.Finding{one, one, two}, []string{"a.yaml:1:1 TG0301 \"one of it\""}},
		{"another column", []report.Finding{one, sound("a.yaml", 2, 1, "TG0301", "two")}, []string{"a.yaml:2:1 TG0301", "not found: a.yaml:2:2"}},
		{"another line", []report.Finding{two, sound("a.yaml", 2, 1, "TG0301", "one")}, []string{"a.yaml:2:1 TG0301", "not found: a.yaml:1:0"}},
		{"another rule", []report.Finding{two, sound("a.yaml", 1, 1, "TG0302", "one")}, []string{"a.yaml:1:1 TG0302", "not found: a.yaml:1:0"}},
		{"another message", []report.Finding{two, sound("a.yaml", 1, 1, "TG0301", "o[n]e?")}, []string{`TG0301 "o\\[n\\]e\\?"`, "not found: a.yaml:1:0"}},
	} {
		w, err := wants(txtar.Parse([]byte(wanted)))
		if err != nil {
			t.Fatal(err)
		}
		got := compare(dir, &report.Check{Findings: c.found}, w)
		if len(got) != len(c.want) {
			t.Errorf("%s: %q", c.name, got)
			continue
		}
		for i := range got {
			if !strings.Contains(got[i], c.want[i]) {
				t.Errorf("%s: %q lacks %q", c.name, got[i], c.want[i])
			}
		}
	}
}

// What the harness prints can be pasted into the file want.
func TestLineIsAWant(t *testing.T) {
	f := sound("a/b.yaml", 3, 4, "TG0301", `${A:=(x"y)} \d [0]`)
	w, err := wants(txtar.Parse([]byte("-- want --\n" + line(f) + "\n")))
	if err != nil {
		t.Fatal(err)
	}
	if len(w) != 1 || !w[0].pattern.MatchString(f.Message) || w[0].column != 4 {
		t.Errorf("%+v", w)
	}
}

func TestUnsound(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte("äöü\r\nabc"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*report.Finding)
		good   bool
	}{
		"good":               {func(*report.Finding) {}, true},
		"to the line's end":  {func(f *report.Finding) { f.Column, f.EndColumn = 1, 4 }, true},
		"several lines":      {func(f *report.Finding) { f.EndLine, f.EndColumn = 2, 4 }, true},
		"a file":             {func(f *report.Finding) { f.Line, f.Column, f.EndLine, f.EndColumn = 0, 0, 0, 0 }, true},
		"a folder":           {func(f *report.Finding) { f.File, f.Line, f.Column, f.EndLine, f.EndColumn = "folder", 0, 0, 0, 0 }, true},
		"a line of a folder": {func(f *report.Finding) { f.File = "folder" }, false},
		"no file":            {func(f *report.Finding) { f.File = "" }, false},
		"no such file":       {func(f *report.Finding) { f.File = "b.yaml" }, false},
		"outside":            {func(f *report.Finding) { f.File = "../a.yaml" }, false},
		"beyond the file":    {func(f *report.Finding) { f.EndLine = 3 }, false},
		"beyond the line":    {func(f *report.Finding) { f.EndColumn = 5 }, false},
		"begins beyond it":   {func(f *report.Finding) { f.Column, f.EndColumn = 5, 5 }, false},
		"ends before":        {func(f *report.Finding) { f.Column, f.EndColumn = 3, 2 }, false},
		"ends lines before":  {func(f *report.Finding) { f.Line, f.EndLine = 2, 1 }, false},
		"column 0":           {func(f *report.Finding) { f.Column = 0 }, false},
		"no message":         {func(f *report.Finding) { f.Message = "" }, false},
		"breaks nothing":     {func(f *report.Finding) { f.Breaks = "" }, false},
		"no fix":             {func(f *report.Finding) { f.Fixes = nil }, false},
		"an empty fix":       {func(f *report.Finding) { f.Fixes[0].Message = "" }, false},
		"an edit": {func(f *report.Finding) {
			f.Fixes[0].Edits = []report.Edit{{File: "a.yaml", Line: 1, Column: 1, EndLine: 1, EndColumn: 1}}
		}, true},
		"an edit of nothing": {func(f *report.Finding) { f.Fixes[0].Edits = []report.Edit{{File: "a.yaml"}} }, false},
		"an edit elsewhere": {func(f *report.Finding) {
			f.Fixes[0].Edits = []report.Edit{{File: "b.yaml", Line: 1, Column: 1, EndLine: 1, EndColumn: 1}}
		}, false},
		"because, no place":   {func(f *report.Finding) { f.Because = []report.Because{{Message: "m"}} }, true},
		"because, no message": {func(f *report.Finding) { f.Because = []report.Because{{File: "a.yaml"}} }, false},
		"because of nothing":  {func(f *report.Finding) { f.Because = []report.Because{{File: "b.yaml", Message: "m"}} }, false},
	} {
		f := sound("a.yaml", 1, 2, "TG0301", "m")
		c.change(&f)
		if got := unsound(dir, f); (len(got) == 0) != c.good {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Files below fixed/ are there in the mended repository alone, and what is for the harness never.
func TestWrite(t *testing.T) {
	a := txtar.Parse([]byte("-- a/b.yaml --\none\n-- fixed/a/b.yaml --\ntwo\n-- fixed/c.yaml --\nnew\n-- flags --\nenv dev\n-- want --\n"))
	for mended, want := range map[bool]map[string]string{
		false: {"a/b.yaml": "one\n"},
		true:  {"a/b.yaml": "two\n", "c.yaml": "new\n"},
	} {
		dir := t.TempDir()
		Write(t, dir, a, mended)
		n := 0
		err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			n++
			data, err := os.ReadFile(p)
			rel, _ := filepath.Rel(dir, p)
			if string(data) != want[filepath.ToSlash(rel)] {
				t.Errorf("mended %t: %s is %q", mended, rel, data)
			}
			return err
		})
		if err != nil || n != len(want) {
			t.Errorf("mended %t: %d files, %v", mended, n, err)
		}
	}
}

// An archive over the reference platform is checked with what the platform has.
func TestOverlayReference(t *testing.T) {
	a := txtar.Parse([]byte("-- flags --\noverlay reference\nenv dev\n"))
	dir := t.TempDir()
	Write(t, dir, a, false)
	if r := Check(t, dir, a); len(r.Environments) != 1 || r.Environments[0].Name != "dev" || r.Environments[0].Objects < 50 {
		t.Errorf("%+v", r.Environments)
	}
}
