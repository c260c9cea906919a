package rule

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/facts"
	"github.com/tidegate/tidegate/internal/model"
)

// This file lets a repository's owner live with a finding, and holds them to saying why.
//
// The rules are:
//   - A comment `tidegate:ignore TG0304 the pid is meant` stands on the finding's line, or on a line of comments right
//     above it, or, for a finding within a block of text, at the key of that block.
//   - Or an entry of `allow` in tidegate.yaml says which rule, where, and why.
//   - Of a finding that several environments share, an entry for one environment covers that one's part.
//   - One without a reason, of a rule that does not exist, or that nothing needs any more, is a finding itself (TG0002).
//   - Nothing is called needless where that is not known: when a unit failed, or its rule was skipped, left out or panicked.

// Allowance is an entry of `allow` in tidegate.yaml.
type Allowance struct {
	Rule        string // ID or name
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
			"outlived its finding hides the next: so a suppression without a reason is an error, and one that nothing needs is a warning.\n\n" +
			"The comment is `# tidegate:ignore TG0304 why it is meant`, on the line of the finding or in the comments right above it; of a text that spans lines also at or\n" +
			"above its key. Several rules are separated by commas. The entry is `allow: [{rule: TG0203, path: \"apps/legacy/**\", reason: why it is meant}]`; `object`\n" +
			"(KIND/NAMESPACE/NAME) and `environment` narrow it. What is suppressed is counted, and listed with its reason by -o json.",
		Bad:  "-- clusters/home/app.yaml --\n" + docKustomization + "# tidegate:ignore TG0401\n",
		Good: "-- clusters/home/app.yaml --\n" + docKustomization,
		Misses: "Whether a suppression is needed is known only when everything was asked: nothing is called needless while a Kustomization fails, when only some\n" +
			"environments are rendered, or when the rule was skipped or not asked for. Only files that Kustomizations are built from, and those that findings are in, are searched.",
		Since: "0.1",
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

// Suppress moves findings that a comment or an allowance covers out of the result. known are all rules, run those that
// were asked.
func (r *Result) Suppress(ix *facts.Index, allowed []Allowance, known, run []*Rule) {
	s := &suppressor{ix: ix, files: map[string]*file{}, allowed: slices.Clone(allowed), needed: make([]bool, len(allowed)),
		known: map[string]bool{}, ids: map[string]string{}, run: map[string]bool{}, result: r}
	for _, k := range known {
		s.known[k.ID] = true
		s.ids[k.Name] = k.ID
		for i := range s.allowed {
			if s.allowed[i].Rule == k.Name {
				s.allowed[i].Rule = k.ID
			}
		}
	}
	for _, k := range run {
		s.run[k.ID] = true
	}
	found := r.Findings
	r.Findings = nil
	for _, f := range found {
		if rest := s.suppress(f); rest != nil {
			r.Findings = append(r.Findings, rest)
		}
	}
	if s.run[Suppression.ID] {
		s.judgeAll()
	}
	slices.SortStableFunc(r.Findings, compare)
}

type suppressor struct {
	ix         *facts.Index
	files      map[string]*file // nil for one without a suppression
	allowed    []Allowance
	needed     []bool // by allowance
	known, run map[string]bool
	ids        map[string]string // by name
	result     *Result
}

// suppress gives what is left of a finding: itself, a part of it, or nil.
func (s *suppressor) suppress(f *Merged) *Merged {
	if f.defect {
		return f
	}
	var by *comment
	for _, c := range s.file(f.Span.File).covering(f.Span.Line) {
		if !slices.Contains(c.rules, f.Rule.ID) {
			continue
		}
		c.used[f.Rule.ID] = true
		if by == nil && c.reason != "" {
			by = c
		}
	}
	if by != nil {
		s.result.Suppressed = append(s.result.Suppressed, &Suppressed{f, by.reason, by.span})
	}
	// The allowances are asked even so: one that covers it as well is not needless.
	left := slices.Clone(f.Environments)
	whole := false
	for i := range s.allowed {
		a := &s.allowed[i]
		if !a.covers(f) {
			continue
		}
		s.needed[i] = true
		if by != nil || whole || a.Reason == "" {
			continue
		}
		if a.Environment == "" || len(f.Environments) == 1 {
			part := f
			if len(left) < len(f.Environments) {
				part = f.only(left)
			}
			s.result.Suppressed = append(s.result.Suppressed, &Suppressed{part, a.Reason, a.Span})
			whole = true
			continue
		}
		if at := slices.Index(left, a.Environment); at >= 0 {
			left = slices.Delete(left, at, at+1)
			s.result.Suppressed = append(s.result.Suppressed, &Suppressed{f.only([]string{a.Environment}), a.Reason, a.Span})
			whole = len(left) == 0
		}
	}
	switch {
	case by != nil || whole:
		return nil
	case len(left) < len(f.Environments):
		return f.only(left)
	}
	return f
}

// only gives the part of a finding that concerns some of its environments.
func (m *Merged) only(environments []string) *Merged {
	part := *m
	part.Environments = environments
	part.Environment = environments[0]
	return &part
}

// covers tells whether an entry speaks of a finding, in one of its environments at least.
func (a *Allowance) covers(f *Merged) bool {
	return a.Rule == f.Rule.ID &&
		(a.Path == "" || matchPath(a.Path, f.Span.File)) &&
		(a.Object == "" || a.Object == f.Object.String()) &&
		(a.Environment == "" || slices.Contains(f.Environments, a.Environment))
}

// file reads the suppressions of a file, once.
func (s *suppressor) file(p string) *file {
	if f, ok := s.files[p]; ok {
		return f
	}
	var f *file
	if p != "" && s.ix.ReadFile != nil {
		// What cannot be read holds no suppression; a rule that points at it has said so.
		if data, err := s.ix.ReadFile(p); err == nil {
			f = parse(p, data, s.ids)
		}
	}
	s.files[p] = f
	return f
}

// judgeAll reports what is wrong with suppressions, in every file that units were built from or findings are in.
func (s *suppressor) judgeAll() {
	for _, env := range s.ix.Environments {
		for _, u := range env.Units {
			for _, p := range u.Files {
				s.file(p)
			}
		}
	}
	complete := s.complete()
	for i, a := range s.allowed {
		rules := []string{a.Rule}
		if a.Rule == "" {
			rules = nil
		}
		if _, err := path.Match(a.Path, ""); err != nil {
			s.report(Error, a.Span, fmt.Sprintf("this entry of allow has the path %q, which is no pattern", short(a.Path)), "escape what is meant as itself with \\: \\[")
			continue
		}
		s.judge(rules, a.Reason, a.Span, "this entry of allow", func(id string) bool { return s.needed[i] || !complete || s.unsure(id, a.Environment) })
	}
	for _, p := range slices.Sorted(maps.Keys(s.files)) {
		f := s.files[p]
		if f == nil {
			continue
		}
		for _, line := range slices.Sorted(maps.Keys(f.comments)) {
			c := f.comments[line]
			s.judge(c.rules, c.reason, c.span, "this comment", func(id string) bool { return c.used[id] || !complete || s.unsure(id, "") })
		}
	}
}

// complete tells whether everything was rendered that a finding could be in. What comes from another repository is no
// matter: no suppression is in its files.
func (s *suppressor) complete() bool {
	if s.result.Partial {
		return false
	}
	for _, env := range s.ix.Environments {
		if len(env.Reasons) > 0 {
			return false
		}
		for _, u := range env.Units {
			if u.Status == model.StatusFailed {
				return false
			}
			if u.ID.Kind == "Kustomization" && u.Status == model.StatusUnverified && len(u.Built) == 0 && len(u.Objects) == 0 &&
				!slices.ContainsFunc(u.Reasons, func(r model.Reason) bool { return r.Code == model.CodeForeignSource }) {
				return false
			}
		}
	}
	return true
}

// unsure tells whether a rule may have found more, had it been asked for everything; environment is empty for all.
func (s *suppressor) unsure(id, environment string) bool {
	if !s.run[id] || slices.Contains(s.result.Panicked, id) {
		return true
	}
	if environment != "" && !slices.ContainsFunc(s.ix.Environments, func(e *facts.Environment) bool { return e.Name == environment }) {
		// Nothing is rendered of it: a mistake, or an environment that is gone. Either way nothing is suppressed.
		return false
	}
	return slices.ContainsFunc(s.result.Skips, func(k Skip) bool {
		return k.Rule == id && (k.Environment == "" || environment == "" || k.Environment == environment)
	})
}

// judge reports what is wrong with a suppression. needed tells whether it suppresses a rule's finding, or may.
func (s *suppressor) judge(rules []string, reason string, span model.Span, what string, needed func(id string) bool) {
	if len(rules) == 0 {
		s.report(Error, span, what+" names no rule", "name the rule, and why: TG0304 the pid is meant")
		return
	}
	var needless []string
	for _, id := range rules {
		if !s.known[id] {
			s.report(Error, span, fmt.Sprintf("%s names %s, and there is no such rule", what, short(id)), "tidegate rules lists the rules")
			continue
		}
		if !needed(id) {
			needless = append(needless, id)
		}
	}
	switch {
	case reason == "":
		s.report(Error, span, fmt.Sprintf("%s suppresses %s and does not say why", what, short(strings.Join(rules, ", "))), "write the reason")
	case len(needless) > 0:
		s.report(Warning, span, fmt.Sprintf("%s suppresses %s, which finds nothing here", what, strings.Join(needless, ", ")), "take it out")
	}
}

func (s *suppressor) report(severity Severity, span model.Span, message, fix string) {
	s.result.Findings = append(s.result.Findings, &Merged{Rule: Suppression, Finding: Finding{Severity: severity, Span: span, Certainty: model.CertaintyExact,
		Message: message, Breaks: "nothing in the cluster: it hides, or will hide, a finding that nobody decided to live with",
		Fixes: []Fix{{Message: fix}}}})
}

// short cuts what a message quotes.
func short(text string) string {
	const most = 100
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// matchPath matches a file against a pattern: `**` stands for any number of folders, and what path.Match knows for what is
// within one name. Its time is that of the two lengths multiplied.
func matchPath(pattern, file string) bool {
	parts := strings.Split(path.Clean(pattern), "/")
	names := strings.Split(file, "/")
	// reach[i] tells whether what was read of the pattern matches the first i names.
	reach := make([]bool, len(names)+1)
	reach[0] = true
	for _, p := range parts {
		next := make([]bool, len(names)+1)
		for i := range next {
			switch {
			case p == "**":
				next[i] = reach[i] || i > 0 && next[i-1]
			case i > 0 && reach[i-1]:
				ok, err := path.Match(p, names[i-1])
				next[i] = err == nil && ok
			}
		}
		reach = next
	}
	return reach[len(names)]
}
