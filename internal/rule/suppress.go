package rule

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/facts"
	"github.com/tidegate/tidegate/internal/model"
)

// This file lets a repository's owner live with a finding, and holds them to saying why.
//
// The rules are:
//   - A comment `tidegate:ignore TG0304 the pid is meant` stands on the finding's line, or on a line of comments right
//     above it, or, for a finding within a block of text, at the key of that block.
//   - Or an entry of `allow` in tidegate.yaml says which rule, where, and why.
//   - One without a reason, of a rule that does not exist, or that nothing needs any more, is a finding itself (TG0002).

// Allowance is an entry of `allow` in tidegate.yaml.
type Allowance struct {
	Rule        string
	Path        string // a pattern of files; empty for all
	Object      string // KIND/NAMESPACE/NAME; empty for all
	Environment string // empty for all
	Reason      string
	Span        model.Span
}

// Suppression is the rule of suppressions themselves. It finds nothing by itself: Suppress reports in its name.
var Suppression = &Rule{ID: "TG0002", Name: "suppression", Severity: Warning, Run: func(*Pass) {},
	Doc: Doc{
		What: "a suppression says no reason, names no rule, or suppresses nothing",
		Why: "A finding that is meant can be kept quiet by a comment or by an entry of `allow` in tidegate.yaml. Whoever reads it a year later must learn why, and one that\n" +
			"outlived its finding hides the next: so a suppression without a reason is an error, and one that nothing needs is a warning.",
		Bad:    "-- clusters/home/app.yaml --\n" + docKustomization + "# tidegate:ignore TG0401\n",
		Good:   "-- clusters/home/app.yaml --\n" + docKustomization,
		Misses: "When only some rules are asked for, a suppression of another rule counts as needed.",
		Since:  "0.1",
	}}

const docKustomization = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: app
  namespace: flux-system
spec:
  interval: 10m
  path: ./app
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
-- app/app.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: app
  namespace: default
-- clusters/home/note.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: note
  namespace: default
`

// comment is a suppression in a file.
type comment struct {
	rules  []string
	reason string
	span   model.Span
	alone  bool // nothing else is on its line
	used   bool
}

var ignore = regexp.MustCompile(`(?:#|//|<!--)\s*tidegate:ignore\b[ \t]*([^\n]*)`)

var idPattern = regexp.MustCompile(`^TG\d{4}$`)

// Suppress moves findings that a comment or an allowance covers out of the result. known are all rules, run those that
// were asked.
func (r *Result) Suppress(ix *facts.Index, allowed []Allowance, known, run []*Rule) {
	s := &suppressor{ix: ix, files: map[string]*commented{}, known: map[string]bool{}, run: map[string]bool{}}
	for _, k := range known {
		s.known[k.ID] = true
	}
	for _, k := range run {
		s.run[k.ID] = true
	}
	used := make([]bool, len(allowed))
	var keep []*Merged
	for _, f := range r.Findings {
		if c := s.covering(f); c != nil && c.reason != "" {
			r.Suppressed = append(r.Suppressed, &Suppressed{f, c.reason, c.span})
			continue
		}
		if i := allowing(allowed, f); i >= 0 {
			used[i] = true
			if allowed[i].Reason != "" {
				r.Suppressed = append(r.Suppressed, &Suppressed{f, allowed[i].Reason, allowed[i].Span})
				continue
			}
		}
		keep = append(keep, f)
	}
	r.Findings = keep
	if !s.run[Suppression.ID] {
		return
	}
	for i, a := range allowed {
		s.judge([]string{a.Rule}, a.Reason, a.Span, used[i], "this entry of allow")
	}
	s.everyFile()
	for _, p := range slices.Sorted(keysOf(s.files)) {
		for _, c := range s.files[p].comments {
			s.judge(c.rules, c.reason, c.span, c.used, "this comment")
		}
	}
	r.Findings = append(r.Findings, s.found...)
	slices.SortStableFunc(r.Findings, compare)
}

func keysOf[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

type suppressor struct {
	ix         *facts.Index
	files      map[string]*commented
	known, run map[string]bool
	found      []*Merged
}

// commented is a file with its suppressions.
type commented struct {
	lines    [][]byte
	comments []*comment
}

// judge reports what is wrong with a suppression.
func (s *suppressor) judge(rules []string, reason string, span model.Span, used bool, what string) {
	report := func(severity Severity, message, fix string) {
		s.found = append(s.found, &Merged{Rule: Suppression, Finding: Finding{Severity: severity, Span: span, Certainty: model.CertaintyExact,
			Message: message, Breaks: "nothing in the cluster: it hides, or will hide, a finding that nobody decided to live with",
			Fixes: []Fix{{Message: fix}}}})
	}
	if len(rules) == 0 {
		report(Error, what+" names no rule", "name the rule, and why: tidegate:ignore TG0304 the pid is meant")
		return
	}
	asked := false
	for _, id := range rules {
		if !s.known[id] {
			report(Error, fmt.Sprintf("%s names %s, and there is no such rule", what, id), "see tidegate rules")
			return
		}
		asked = asked || s.run[id]
	}
	switch {
	case reason == "":
		report(Error, fmt.Sprintf("%s suppresses %s and does not say why", what, strings.Join(rules, ", ")), "write the reason behind the rule")
	case !used && asked:
		report(Warning, fmt.Sprintf("%s suppresses %s, which finds nothing here", what, strings.Join(rules, ", ")), "take it out")
	}
}

// covering gives the comment that covers a finding; nil when none does.
func (s *suppressor) covering(f *Merged) *comment {
	var out *comment
	for _, at := range s.lines(f) {
		file := s.file(f.Span.File)
		for _, c := range file.comments {
			if c.span.Line == at && slices.Contains(c.rules, f.Rule.ID) {
				c.used = true
				out = c
			}
		}
	}
	return out
}

// lines are those on which a comment covers a finding: its own, the comments right above it, and the same for the line
// that begins the block of text it is in.
func (s *suppressor) lines(f *Merged) []int {
	file := s.file(f.Span.File)
	if file == nil || f.Span.Line < 1 || f.Span.Line > len(file.lines) {
		return nil
	}
	out := above(file, f.Span.Line)
	if head := blockHead(file, f.Span.Line); head > 0 {
		out = append(out, above(file, head)...)
	}
	return out
}

// above gives a line and the comment lines right above it.
func above(file *commented, line int) []int {
	out := []int{line}
	for at := line - 1; at >= 1 && onlyComment(file.lines[at-1]); at-- {
		out = append(out, at)
	}
	return out
}

func onlyComment(line []byte) bool {
	line = bytes.TrimSpace(line)
	return bytes.HasPrefix(line, []byte("#")) || bytes.HasPrefix(line, []byte("//")) || bytes.HasPrefix(line, []byte("<!--"))
}

// blockScalar is a line that begins a block of text.
var blockScalar = regexp.MustCompile(`(?:^|[:\-]\s+)(?:[&!]\S*\s+)*[|>][0-9+-]*\s*(?:#.*)?$`)

// blockHead gives the line with the key of the block that a line is in; 0 when it is in none.
func blockHead(file *commented, line int) int {
	indent := leading(file.lines[line-1])
	for at := line - 1; at >= 1; at-- {
		text := bytes.TrimRight(file.lines[at-1], " \t\r")
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		if n := leading(text); n < indent {
			if blockScalar.Match(text) {
				return at
			}
			indent = n
		}
	}
	return 0
}

func leading(line []byte) int { return len(line) - len(bytes.TrimLeft(line, " ")) }

// file reads the suppressions of a file, once; nil when it cannot be read.
func (s *suppressor) file(p string) *commented {
	if c, ok := s.files[p]; ok {
		return c
	}
	c := &commented{}
	s.files[p] = c
	if s.ix.ReadFile == nil || p == "" {
		return c
	}
	data, err := s.ix.ReadFile(p)
	if err != nil {
		return c
	}
	c.lines = bytes.Split(data, []byte("\n"))
	if !bytes.Contains(data, []byte("tidegate:ignore")) {
		return c
	}
	for i, line := range c.lines {
		m := ignore.FindSubmatchIndex(line)
		if m == nil {
			continue
		}
		words := strings.FieldsFunc(strings.TrimSuffix(strings.TrimSpace(string(line[m[2]:m[3]])), "-->"), func(r rune) bool { return r == ' ' || r == '\t' || r == ',' })
		sup := &comment{span: model.Span{File: p, Line: i + 1, Column: utf8.RuneCount(line[:m[0]]) + 1, EndLine: i + 1,
			EndColumn: utf8.RuneCount(bytes.TrimRight(line, "\r")) + 1}}
		for len(words) > 0 && idPattern.MatchString(words[0]) {
			sup.rules, words = append(sup.rules, words[0]), words[1:]
		}
		sup.reason = strings.Join(words, " ")
		c.comments = append(c.comments, sup)
	}
	return c
}

// everyFile reads the files that units were built from, for suppressions that nothing needed.
func (s *suppressor) everyFile() {
	for _, env := range s.ix.Environments {
		for _, u := range env.Units {
			for _, p := range u.Files {
				s.file(p)
			}
		}
	}
}

// allowing gives the entry that allows a finding; -1 when none does.
func allowing(allowed []Allowance, f *Merged) int {
	for i, a := range allowed {
		if a.Rule != f.Rule.ID && a.Rule != f.Rule.Name || a.Path != "" && !matchPath(a.Path, f.Span.File) ||
			a.Object != "" && a.Object != f.Object.String() {
			continue
		}
		if a.Environment != "" && (len(f.Environments) != 1 || f.Environments[0] != a.Environment) {
			continue
		}
		return i
	}
	return -1
}

// matchPath matches a file against a pattern: `**` stands for any folders, `*` and `?` for what is within one name.
func matchPath(pattern, file string) bool {
	return matchSegments(strings.Split(path.Clean(pattern), "/"), strings.Split(file, "/"))
}

func matchSegments(pattern, file []string) bool {
	for i, p := range pattern {
		if p == "**" {
			for j := i; j <= len(file); j++ {
				if matchSegments(pattern[i+1:], file[j:]) {
					return true
				}
			}
			return false
		}
		if i >= len(file) {
			return false
		}
		if ok, err := path.Match(p, file[i]); err != nil || !ok {
			return false
		}
	}
	return len(pattern) == len(file)
}
