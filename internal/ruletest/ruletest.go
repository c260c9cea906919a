// Package ruletest runs rules over small repositories that say themselves what must be found in them. It is for tests,
// and for the examples in the rules' documentation.
//
// A repository is a txtar archive. The rules are:
//
//   - `# want TG0301 "regexp"` at the end of a line: a finding of that rule begins on the line, and its message
//     matches. Several may follow each other.
//   - A file named want, for lines that bear no comment: `apps/x.yaml:12 TG0301 "regexp"`, with or without a column.
//   - Everything that is wanted is found, and everything that is found is wanted.
//   - Files below fixed/ lie over the others for a second run, in which nothing is found.
//   - A file named flags has options, one a line: `flux-version 2.8`, `env NAME`, `entry NAME=PATH`,
//     `cluster-objects FILE`, `vars ENV=FILE`, `age-key` (the reference platform's), and `over reference`, which lays
//     the archive over the reference platform.
package ruletest

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/tidegate/tidegate/internal/engine"
	"github.com/tidegate/tidegate/internal/report"
	"github.com/tidegate/tidegate/reference"
)

// Run checks an archive against what it wants.
func Run(t *testing.T, file string) {
	t.Helper()
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	Write(t, dir, a, false)
	r := Check(t, dir, a)
	compare(t, dir, r, wants(t, a))
	fixed := false
	for _, f := range a.Files {
		fixed = fixed || strings.HasPrefix(f.Name, "fixed/")
	}
	if fixed {
		dir := t.TempDir()
		Write(t, dir, a, true)
		for _, f := range Check(t, dir, a).Findings {
			t.Errorf("mended, it still has %s", line(f))
		}
	}
}

// Write puts an archive's repository into a directory; mended lays what is below fixed/ over it.
func Write(t testing.TB, dir string, a *txtar.Archive, mended bool) {
	t.Helper()
	for _, l := range flags(a) {
		if l == "over reference" {
			if err := os.CopyFS(dir, reference.FS); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, pass := range []bool{false, true} {
		for _, f := range a.Files {
			name, fixed := strings.CutPrefix(f.Name, "fixed/")
			if fixed != pass || fixed && !mended || name == "want" || name == "flags" {
				continue
			}
			p := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(p, f.Data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func flags(a *txtar.Archive) []string {
	for _, f := range a.Files {
		if f.Name == "flags" {
			return strings.Split(strings.TrimSpace(string(f.Data)), "\n")
		}
	}
	return nil
}

// Check runs all rules over a directory, with the flags of an archive.
func Check(t testing.TB, dir string, a *txtar.Archive) *report.Check {
	t.Helper()
	req := engine.CheckRequest{Request: engine.Request{Repo: dir, Dir: dir}}
	for _, l := range flags(a) {
		name, value, _ := strings.Cut(l, " ")
		switch name {
		case "flux-version":
			req.FluxVersion = value
		case "env":
			req.Environments = append(req.Environments, value)
		case "entry":
			req.Entries = append(req.Entries, value)
		case "cluster-objects":
			req.ClusterObjects = append(req.ClusterObjects, value)
		case "vars":
			req.Vars = append(req.Vars, value)
		case "age-key":
			req.Getenv = func(name string) string {
				return map[string]string{"SOPS_AGE_KEY": reference.TestAgeKey()}[name]
			}
		case "over", "":
		default:
			t.Fatalf("flags: %q", l)
		}
	}
	r, err := engine.Check(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// want is a finding that an archive says must be there.
type want struct {
	file    string
	line    int
	column  int
	rule    string
	pattern *regexp.Regexp
	found   bool
}

var (
	wantComment = regexp.MustCompile(`[#*] want ((?:TG\d{4} "(?:[^"\\]|\\.)*"\s*)+)`)
	wantEntry   = regexp.MustCompile(`(TG\d{4}) ("(?:[^"\\]|\\.)*")`)
	wantLine    = regexp.MustCompile(`^(\S+?):(\d+)(?::(\d+))? (TG\d{4}) ("(?:[^"\\]|\\.)*")$`)
)

func wants(t *testing.T, a *txtar.Archive) []*want {
	t.Helper()
	var out []*want
	pattern := func(quoted string) *regexp.Regexp {
		s, err := strconv.Unquote(quoted)
		if err != nil {
			t.Fatalf("%s: %v", quoted, err)
		}
		return regexp.MustCompile(s)
	}
	for _, f := range a.Files {
		if strings.HasPrefix(f.Name, "fixed/") {
			continue
		}
		for i, l := range strings.Split(string(f.Data), "\n") {
			if f.Name == "want" {
				if l = strings.TrimSpace(l); l == "" {
					continue
				}
				m := wantLine.FindStringSubmatch(l)
				if m == nil {
					t.Fatalf("want:%d: %q", i+1, l)
				}
				line, _ := strconv.Atoi(m[2])
				column, _ := strconv.Atoi(m[3])
				out = append(out, &want{file: m[1], line: line, column: column, rule: m[4], pattern: pattern(m[5])})
				continue
			}
			if m := wantComment.FindStringSubmatch(l); m != nil {
				for _, e := range wantEntry.FindAllStringSubmatch(m[1], -1) {
					out = append(out, &want{file: f.Name, line: i + 1, rule: e[1], pattern: pattern(e[2])})
				}
			}
		}
	}
	return out
}

func compare(t *testing.T, dir string, r *report.Check, wanted []*want) {
	t.Helper()
	for _, f := range r.Findings {
		Sound(t, dir, f)
		hit := false
		for _, w := range wanted {
			if !w.found && w.file == f.File && w.line == f.Line && w.rule == f.Rule && (w.column == 0 || w.column == f.Column) && w.pattern.MatchString(f.Message) {
				w.found, hit = true, true
				break
			}
		}
		if !hit {
			t.Errorf("not wanted:\n%s", line(f))
		}
	}
	for _, w := range wanted {
		if !w.found {
			t.Errorf("not found: %s:%d:%d %s %q", w.file, w.line, w.column, w.rule, w.pattern)
		}
	}
}

func line(f report.Finding) string {
	return fmt.Sprintf("%s:%d:%d %s %q %v", f.File, f.Line, f.Column, f.Rule, regexp.QuoteMeta(f.Message), f.Environments)
}

// Sound holds a finding to what every finding has: a place that exists, something that breaks, a way to mend it, and
// reasons whose places exist.
func Sound(t testing.TB, dir string, f report.Finding) {
	t.Helper()
	if f.Message == "" || f.Breaks == "" || len(f.Fixes) == 0 {
		t.Errorf("%s: message %q, breaks %q, %d fixes", line(f), f.Message, f.Breaks, len(f.Fixes))
	}
	if err := exists(dir, f.File, f.Line, f.Column, f.EndLine, f.EndColumn); err != nil {
		t.Errorf("%s: %v", line(f), err)
	}
	for _, b := range f.Because {
		if b.File != "" {
			if err := exists(dir, b.File, b.Line, b.Column, b.EndLine, b.EndColumn); err != nil {
				t.Errorf("%s: because: %v", line(f), err)
			}
		}
	}
	for _, fix := range f.Fixes {
		for _, e := range fix.Edits {
			if err := exists(dir, e.File, e.Line, e.Column, e.EndLine, e.EndColumn); err != nil {
				t.Errorf("%s: edit: %v", line(f), err)
			}
		}
	}
}

func exists(dir, file string, l, c, el, ec int) error {
	data, err := fs.ReadFile(os.DirFS(dir), file)
	if err != nil {
		if info, statErr := fs.Stat(os.DirFS(dir), file); statErr == nil && info.IsDir() && l == 0 {
			return nil
		}
		return err
	}
	if l == 0 {
		return nil
	}
	lines := strings.Split(string(data), "\n")
	if l < 1 || el < l || el > len(lines) || c < 1 || el == l && ec < c {
		return fmt.Errorf("%s:%d:%d-%d:%d is no span of a file of %d lines", file, l, c, el, ec, len(lines))
	}
	if c > len([]rune(lines[l-1]))+1 || ec > len([]rune(lines[el-1]))+1 {
		return fmt.Errorf("%s:%d:%d-%d:%d is beyond its lines", file, l, c, el, ec)
	}
	return nil
}
