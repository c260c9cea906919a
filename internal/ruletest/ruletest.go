// Package ruletest runs rules over small repositories that say themselves what must be found in them. It is for tests,
// and for the examples in the rules' documentation.
//
// A repository is a txtar archive. The rules are:
//
//   - `# want TG0301 "regexp"` at the end of a line: a finding of that rule begins on the line, and its message
//     matches. Several may follow each other.
//   - A file named want, for lines that bear no comment: `apps/x.yaml:12 TG0301 "regexp"`, with or without a column.
//   - Everything that is wanted is found, and everything that is found is wanted. Something is rendered.
//   - Files below fixed/ lie over the others for a second run, in which nothing is found.
//   - A file named flags has options, one a line: `flux-version 2.8`, `env NAME`, `entry NAME=PATH`,
//     `cluster-objects FILE`, `vars ENV=FILE`, `age-key` (the reference platform's), and `overlay reference`, which lays
//     the archive over the reference platform.
package ruletest

import (
	"context"
	"errors"
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
	Rendered(t, r)
	wanted, err := wants(a)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range compare(dir, r, wanted) {
		t.Error(problem)
	}
	fixed := false
	for _, f := range a.Files {
		fixed = fixed || strings.HasPrefix(f.Name, "fixed/")
	}
	if fixed {
		dir := t.TempDir()
		Write(t, dir, a, true)
		r := Check(t, dir, a)
		Rendered(t, r)
		for _, f := range r.Findings {
			t.Errorf("mended, it still has %s", line(f))
		}
	}
}

// Rendered refuses a repository in which there is nothing that a rule could speak of: without findings it says nothing.
func Rendered(t testing.TB, r *report.Check) {
	t.Helper()
	for _, e := range r.Environments {
		if e.Units > 0 && e.Objects > 0 || len(r.Findings) > 0 {
			return
		}
	}
	t.Errorf("nothing is rendered: %d environments, warnings %q", len(r.Environments), r.Warnings)
}

// Write puts an archive's repository into a directory; mended lays what is below fixed/ over it.
func Write(t testing.TB, dir string, a *txtar.Archive, mended bool) {
	t.Helper()
	for _, l := range flags(a) {
		if l == "overlay reference" {
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
		case "overlay", "":
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
	quoted  string
	pattern *regexp.Regexp
	found   bool
}

var (
	wantMarker  = regexp.MustCompile(`[#*] *want\b.*\bTG\d`)
	wantComment = regexp.MustCompile(`[#*] want ((?:TG\d{4} "(?:[^"\\]|\\.)*"\s*)+)(?:\*/)?$`)
	wantEntry   = regexp.MustCompile(`(TG\d{4}) ("(?:[^"\\]|\\.)*")`)
	wantLine    = regexp.MustCompile(`^(\S+?):(\d+)(?::(\d+))? (TG\d{4}) ("(?:[^"\\]|\\.)*")$`)
)

// wants reads what an archive wants, and refuses what looks like it and is not.
func wants(a *txtar.Archive) ([]*want, error) {
	var out []*want
	for _, f := range a.Files {
		if strings.HasPrefix(f.Name, "fixed/") {
			continue
		}
		for i, l := range strings.Split(string(f.Data), "\n") {
			l = strings.TrimRight(l, "\r")
			var list []*want
			switch {
			case f.Name == "want" && strings.TrimSpace(l) != "":
				m := wantLine.FindStringSubmatch(strings.TrimSpace(l))
				if m == nil {
					return nil, fmt.Errorf("want:%d: %q is not FILE:LINE TGNNNN \"PATTERN\"", i+1, l)
				}
				line, _ := strconv.Atoi(m[2])
				column, _ := strconv.Atoi(m[3])
				list = []*want{{file: m[1], line: line, column: column, rule: m[4], quoted: m[5]}}
			case wantMarker.MatchString(l):
				m := wantComment.FindStringSubmatch(l)
				if m == nil {
					return nil, fmt.Errorf("%s:%d: %q is not # want TGNNNN \"PATTERN\" at the end of a line", f.Name, i+1, l)
				}
				for _, e := range wantEntry.FindAllStringSubmatch(m[1], -1) {
					list = append(list, &want{file: f.Name, line: i + 1, rule: e[1], quoted: e[2]})
				}
			}
			for _, w := range list {
				text, err := strconv.Unquote(w.quoted)
				if err != nil {
					return nil, fmt.Errorf("%s:%d: %s: %w", f.Name, i+1, w.quoted, err)
				}
				if w.pattern, err = regexp.Compile(text); err != nil {
					return nil, fmt.Errorf("%s:%d: %w", f.Name, i+1, err)
				}
			}
			out = append(out, list...)
		}
	}
	return out, nil
}

// compare gives what is wrong: what was found and not wanted, in the form of the file want, and the reverse.
func compare(dir string, r *report.Check, wanted []*want) []string {
	var problems []string
	for _, f := range r.Findings {
		for _, err := range unsound(dir, f) {
			problems = append(problems, fmt.Sprintf("%s: %v", line(f), err))
		}
		hit := false
		for _, w := range wanted {
			if !w.found && w.file == f.File && w.line == f.Line && w.rule == f.Rule && (w.column == 0 || w.column == f.Column) && w.pattern.MatchString(f.Message) {
				w.found, hit = true, true
				break
			}
		}
		if !hit {
			problems = append(problems, fmt.Sprintf("not wanted, in %v; if it is right, paste into the file want:\n%s", f.Environments, line(f)))
		}
	}
	for _, w := range wanted {
		if !w.found {
			problems = append(problems, fmt.Sprintf("not found: %s:%d:%d %s %s", w.file, w.line, w.column, w.rule, w.quoted))
		}
	}
	return problems
}

// line is a finding as the file want writes it.
func line(f report.Finding) string {
	return fmt.Sprintf("%s:%d:%d %s %q", f.File, f.Line, f.Column, f.Rule, regexp.QuoteMeta(f.Message))
}

// Sound holds a finding to what every finding has: a place that exists, something that breaks, a way to mend it, and
// reasons whose places exist.
func Sound(t testing.TB, dir string, f report.Finding) {
	t.Helper()
	for _, err := range unsound(dir, f) {
		t.Errorf("%s: %v", line(f), err)
	}
}

func unsound(dir string, f report.Finding) (problems []error) {
	if f.Message == "" || f.Breaks == "" || len(f.Fixes) == 0 {
		problems = append(problems, fmt.Errorf("message %q, breaks %q, %d fixes", f.Message, f.Breaks, len(f.Fixes)))
	}
	if err := exists(dir, f.File, f.Line, f.Column, f.EndLine, f.EndColumn); err != nil {
		problems = append(problems, err)
	}
	for _, b := range f.Because {
		if b.Message == "" {
			problems = append(problems, fmt.Errorf("because of %s:%d, without a message", b.File, b.Line))
		}
		if b.File == "" {
			continue
		}
		if err := exists(dir, b.File, b.Line, b.Column, b.EndLine, b.EndColumn); err != nil {
			problems = append(problems, fmt.Errorf("because %s: %w", b.Message, err))
		}
	}
	for _, fix := range f.Fixes {
		if fix.Message == "" {
			problems = append(problems, errors.New("a fix without a message"))
		}
		for _, e := range fix.Edits {
			if err := exists(dir, e.File, e.Line, e.Column, e.EndLine, e.EndColumn); err != nil {
				problems = append(problems, fmt.Errorf("edit of %s: %w", fix.Message, err))
			} else if e.Line == 0 {
				problems = append(problems, fmt.Errorf("edit of %s: no place in %s", fix.Message, e.File))
			}
		}
	}
	return problems
}

// exists tells whether a span is one of a file: a file or folder without a position, or what begins and ends within its
// lines.
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
	lines := strings.Split(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")
	if l < 1 || el < l || el > len(lines) || c < 1 || el == l && ec < c {
		return fmt.Errorf("%s:%d:%d-%d:%d is no span of a file of %d lines", file, l, c, el, ec, len(lines))
	}
	if c > len([]rune(lines[l-1]))+1 || ec > len([]rune(lines[el-1]))+1 {
		return fmt.Errorf("%s:%d:%d-%d:%d is beyond its lines", file, l, c, el, ec)
	}
	return nil
}
