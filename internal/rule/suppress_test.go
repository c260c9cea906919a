package rule

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate/internal/facts"
	"github.com/tidegate/tidegate/internal/model"
)

// repo is an index over files, all of which one unit of each environment was built from.
func repo(files map[string]string, environments ...string) *facts.Index {
	var envs []*model.Environment
	for _, e := range environments {
		u := &model.Unit{ID: model.UnitID{Kind: "Kustomization", Namespace: "flux-system", Name: "app"}, Status: model.StatusOK}
		for p := range files {
			u.Files = append(u.Files, p)
		}
		slices.Sort(u.Files)
		envs = append(envs, &model.Environment{Name: e, Units: []*model.Unit{u}})
	}
	return facts.Build(envs, facts.Settings{}, func(p string) ([]byte, error) {
		if text, ok := files[p]; ok {
			return []byte(text), nil
		}
		return nil, errors.New("no such file")
	})
}

// suppressedOn tells on which line's finding of TG9001 in a file a comment is taken, and by which line's.
func suppressedOn(text string) map[int]int {
	ix := repo(map[string]string{"a.yaml": text}, "dev")
	out := map[int]int{}
	for i := range strings.Split(text, "\n") {
		r := &Result{Findings: []*Merged{{Rule: reporting("TG9001"), Finding: Finding{Span: span("a.yaml", i+1)}}}}
		r.Suppress(ix, nil, nil, nil)
		if len(r.Suppressed) == 1 {
			out[i+1] = r.Suppressed[0].By.Line
		}
	}
	return out
}

// A comment covers its line, the line below the comments that it stands in, and the block of text whose key it is at.
func TestCommentCovers(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       map[int]int
	}{
		{"on the line", "a: 1\nb: 2 # tidegate:ignore TG9001 why\nc: 3", map[int]int{2: 2}},
		{"above", "a: 1\n# tidegate:ignore TG9001 why\nc: 3\nd: 4", map[int]int{2: 2, 3: 2}},
		{"above, among comments", "# tidegate:ignore TG9001 why\n# and so on\n\t # more\nc: 3\nd: 4", map[int]int{1: 1, 2: 1, 3: 1, 4: 1}},
		{"above, and an empty line", "# tidegate:ignore TG9001 why\n\nc: 3", map[int]int{1: 1, 2: 1}},
		{"at the end of the line above", "a: 1 # tidegate:ignore TG9001 why\nb: 2", map[int]int{1: 1}},
		{"nearest first", "# tidegate:ignore TG9001 far\na: 1 # tidegate:ignore TG9001 near", map[int]int{1: 1, 2: 2}},
		{"nearest with a reason", "# tidegate:ignore TG9001 far\na: 1 # tidegate:ignore TG9001", map[int]int{1: 1, 2: 1}},
		{"at a block", "x:\n  a: | # tidegate:ignore TG9001 why\n    one\n\n      two\n   # three\n  b: 2", map[int]int{2: 2, 3: 2, 5: 2, 6: 2}},
		{"above a block", "x:\n  # tidegate:ignore TG9001 why\n  a: >-\n    one\n    two\n  b: 2", map[int]int{2: 2, 3: 2, 4: 2, 5: 2}},
		{"block in a list", "# tidegate:ignore TG9001 why\n- |2+\n    one\n- two", map[int]int{1: 1, 2: 1, 3: 1}},
		{"block in a mapping in a list", "- a: !!str &x |-\n    one # tidegate:ignore TG9001 inside\n    two\n  b: 3", map[int]int{2: 2}},
		{"block in the text of a block", "# tidegate:ignore TG9001 why\na: |\n  b: |\n    c\n", map[int]int{1: 1, 2: 1, 3: 1, 4: 1}},
		{"within a block", "a: |\n  one\n  # tidegate:ignore TG9001 why\n  two\n  three", map[int]int{3: 3, 4: 3}},
		{"a mapping is no block", "a: # tidegate:ignore TG9001 why\n  b: 1\n  c: 2", map[int]int{1: 1}},
		{"a pipe is no block", "a: x | # tidegate:ignore TG9001 why\n  y", map[int]int{1: 1}},
		{"a document", "--- | # tidegate:ignore TG9001 why\n one", map[int]int{1: 1, 2: 1}},
		{"line feeds of Windows", "# tidegate:ignore TG9001 why\r\na: 1\r\nb: 2", map[int]int{1: 1, 2: 1}},
		{"JSON with comments", "{\n  // tidegate:ignore TG9001 why\n  \"a\": 1\n}", map[int]int{2: 2, 3: 2}},
		{"Markdown", "<!-- tidegate:ignore TG9001 why -->\ntext", map[int]int{1: 1, 2: 1}},
		{"another rule", "a: 1 # tidegate:ignore TG9002 why", nil},
		{"several rules", "a: 1 # tidegate:ignore TG9002,TG9001 , TG9003 why", map[int]int{1: 1}},
		{"a colon", "a: 1 # tidegate:ignore TG9001: why", map[int]int{1: 1}},
		{"no reason", "a: 1 # tidegate:ignore TG9001", nil},
		{"a dash for a reason", "a: 1 # tidegate:ignore TG9001 - ", nil},
		{"no comment", "a: tidegate:ignore TG9001 why\nb: x#tidegate:ignore TG9001 why", nil},
		{"another word", "a: 1 # tidegate:ignored TG9001 why", nil},
		{"prose", "a: 1 # see tidegate:ignore TG9001 why", nil},
		{"behind another comment", "a: 1 # note # tidegate:ignore TG9001 why", map[int]int{1: 1}},
		{"no space", "a: 1 #tidegate:ignore TG9001 why", map[int]int{1: 1}},
		{"the rule in the reason", "a: 1 # tidegate:ignore TG9002 as TG9001", nil},
		{"a rule's beginning", "a: 1 # tidegate:ignore TG90012 why", nil},
	} {
		got := suppressedOn(c.text)
		if c.want == nil {
			c.want = map[int]int{}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// The reason is the text as it is written, and the place that of the comment.
func TestCommentSays(t *testing.T) {
	for _, c := range []struct {
		text, reason string
		column, end  int
	}{
		{"a: 1 # tidegate:ignore TG9001 it is, as they say,  meant ", "it is, as they say,  meant", 6, 57},
		{"öäü: 1 # tidegate:ignore TG9001,TG9002: für später\r", "für später", 8, 51},
		{"<!-- tidegate:ignore TG9001 why -->", "why", 1, 36},
		{"#tidegate:ignore TG9001 TG9002 – why", "why", 1, 37},
	} {
		ix := repo(map[string]string{"a.yaml": c.text}, "dev")
		r := &Result{Findings: []*Merged{{Rule: reporting("TG9001"), Finding: Finding{Span: span("a.yaml", 1)}}}}
		r.Suppress(ix, nil, nil, nil)
		if len(r.Suppressed) != 1 || len(r.Findings) != 0 {
			t.Fatalf("%q: not suppressed", c.text)
		}
		s := r.Suppressed[0]
		if want := (model.Span{File: "a.yaml", Line: 1, Column: c.column, EndLine: 1, EndColumn: c.end}); s.Reason != c.reason || s.By != want {
			t.Errorf("%q: reason %q, %+v", c.text, s.Reason, s.By)
		}
	}
}

// judged runs Suppress over findings and gives those of TG0002.
func judged(ix *facts.Index, r *Result, allowed []Allowance, ids ...string) []string {
	all := []*Rule{Suppression, reporting("TG9001"), reporting("TG9002")}
	asked := all
	if ids != nil {
		asked = slices.DeleteFunc(slices.Clone(all), func(r *Rule) bool { return !slices.Contains(ids, r.ID) })
	}
	r.Suppress(ix, allowed, all, asked)
	var out []string
	for _, f := range r.Findings {
		if f.Rule == Suppression {
			out = append(out, fmt.Sprintf("%s:%d %s %s", f.Span.File, f.Span.Line, f.Severity, f.Message))
			if f.Breaks == "" || len(f.Fixes) == 0 {
				out = append(out, "nothing breaks, and no fix")
			}
		}
	}
	return out
}

func TestJudge(t *testing.T) {
	ix := repo(map[string]string{"a.yaml": strings.Join([]string{
		"a: 1 # tidegate:ignore TG9001 needed",
		"b: 2 # tidegate:ignore TG9001,TG9002 one of them is needed",
		"c: 3 # tidegate:ignore TG9001",
		"d: 4 # tidegate:ignore TG9001 outlived",
		"e: 5 # tidegate:ignore TG9001, TG7777 no such rule",
		"f: 6 # tidegate:ignore",
		"g: 7 # tidegate:ignore because",
		"h: 8 # tidegate:ignore TG9002",
	}, "\n")}, "dev")
	r := &Result{}
	for _, line := range []int{1, 2, 3, 5} {
		r.Findings = append(r.Findings, &Merged{Rule: reporting("TG9001"), Finding: Finding{Span: span("a.yaml", line)}})
	}
	got := judged(ix, r, nil)
	want := []string{
		"a.yaml:2 warning this comment suppresses TG9002, which finds nothing here",
		"a.yaml:3 error this comment suppresses TG9001 and does not say why",
		"a.yaml:4 warning this comment suppresses TG9001, which finds nothing here",
		"a.yaml:5 error this comment names TG7777, and there is no such rule",
		"a.yaml:6 error this comment names no rule",
		"a.yaml:7 error this comment names no rule",
		"a.yaml:8 error this comment suppresses TG9002 and does not say why",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(r.Suppressed) != 3 {
		t.Errorf("%d suppressed", len(r.Suppressed))
	}
}

// Nothing is called needless where that is not known.
func TestNeedlessIsKnown(t *testing.T) {
	file := map[string]string{"a.yaml": "a: 1 # tidegate:ignore TG9001 why"}
	allowed := []Allowance{{Rule: "TG9001", Reason: "why", Span: span("tidegate.yaml", 2)}, {Rule: "TG9001", Environment: "prod", Reason: "why", Span: span("tidegate.yaml", 3)}}
	unit := func(e *facts.Environment) *model.Unit { return e.Units[0].Unit }
	for _, c := range []struct {
		name   string
		change func(*facts.Index, *Result)
		asked  []string
		want   int
	}{
		{"known", func(*facts.Index, *Result) {}, nil, 3},
		{"only some environments", func(_ *facts.Index, r *Result) { r.Partial = true }, nil, 0},
		{"the rule was left out", func(*facts.Index, *Result) {}, []string{"TG0002", "TG9002"}, 0},
		{"suppressions are not asked", func(*facts.Index, *Result) {}, []string{"TG9001"}, 0},
		{"another rule was skipped", func(_ *facts.Index, r *Result) { r.Skips = []Skip{{Rule: "TG9002"}} }, nil, 3},
		{"skipped", func(_ *facts.Index, r *Result) { r.Skips = []Skip{{Rule: "TG9001"}} }, nil, 0},
		{"skipped in dev", func(_ *facts.Index, r *Result) { r.Skips = []Skip{{Rule: "TG9001", Environment: "dev"}} }, nil, 1},
		{"panicked", func(_ *facts.Index, r *Result) { r.Panicked = []string{"TG9001"} }, nil, 0},
		{"a unit failed", func(ix *facts.Index, _ *Result) { unit(ix.Environments[1]).Status = model.StatusFailed }, nil, 0},
		{"a unit is not known", func(ix *facts.Index, _ *Result) {
			unit(ix.Environments[1]).Status = model.StatusUnverified
			unit(ix.Environments[1]).Reasons = []model.Reason{{Code: model.CodeParentUnknown}}
		}, nil, 0},
		{"a unit is another repository's", func(ix *facts.Index, _ *Result) {
			unit(ix.Environments[1]).Status = model.StatusUnverified
			unit(ix.Environments[1]).Reasons = []model.Reason{{Code: model.CodeForeignSource}}
		}, nil, 3},
		{"an environment is not known", func(ix *facts.Index, _ *Result) { ix.Environments[0].Reasons = []model.Reason{{Code: model.CodeEntry}} }, nil, 0},
	} {
		ix, r := repo(file, "dev", "prod"), &Result{}
		c.change(ix, r)
		if got := judged(ix, r, allowed, c.asked...); len(got) != c.want {
			t.Errorf("%s: %d, want %d: %q", c.name, len(got), c.want, got)
		}
	}
}

func TestAllow(t *testing.T) {
	ix := repo(nil, "dev", "prod")
	object := model.Ref{Kind: "Deployment", Namespace: "web", Name: "site"}
	for _, c := range []struct {
		name         string
		allowed      []Allowance
		left, hidden string // environments
	}{
		{"by rule", []Allowance{{Rule: "TG9001", Reason: "why"}}, "", "[dev prod]"},
		{"by the rule's name", []Allowance{{Rule: "name-of-TG9001", Reason: "why"}}, "", "[dev prod]"},
		{"another rule", []Allowance{{Rule: "TG9002", Reason: "why"}}, "[dev prod]", ""},
		{"no reason", []Allowance{{Rule: "TG9001"}}, "[dev prod]", ""},
		{"path", []Allowance{{Rule: "TG9001", Path: "apps/**", Reason: "why"}}, "", "[dev prod]"},
		{"another path", []Allowance{{Rule: "TG9001", Path: "apps/*.yaml", Reason: "why"}}, "[dev prod]", ""},
		{"object", []Allowance{{Rule: "TG9001", Object: "Deployment/web/site", Reason: "why"}}, "", "[dev prod]"},
		{"another object", []Allowance{{Rule: "TG9001", Object: "Deployment/web/other", Reason: "why"}}, "[dev prod]", ""},
		{"environment", []Allowance{{Rule: "TG9001", Environment: "dev", Reason: "why"}}, "[prod]", "[dev]"},
		{"another environment", []Allowance{{Rule: "TG9001", Environment: "test", Reason: "why"}}, "[dev prod]", ""},
		{"each environment", []Allowance{{Rule: "TG9001", Environment: "prod", Reason: "why"}, {Rule: "TG9001", Environment: "dev", Reason: "why"}}, "", "[prod] [dev]"},
		{"an environment and the rest", []Allowance{{Rule: "TG9001", Environment: "dev", Reason: "why"}, {Rule: "TG9001", Reason: "why"}}, "", "[dev] [prod]"},
		{"twice", []Allowance{{Rule: "TG9001", Reason: "why"}, {Rule: "TG9001", Environment: "dev", Reason: "why"}}, "", "[dev prod]"},
	} {
		r := &Result{Findings: []*Merged{{Rule: reporting("TG9001"), Environments: []string{"dev", "prod"},
			Finding: Finding{Environment: "dev", Object: object, Span: span("apps/site/a.yaml", 3)}}}}
		before := slices.Clone(c.allowed)
		r.Suppress(ix, c.allowed, []*Rule{reporting("TG9001")}, nil)
		var left, hidden []string
		for _, f := range r.Findings {
			left = append(left, fmt.Sprint(f.Environments))
		}
		for _, s := range r.Suppressed {
			hidden = append(hidden, fmt.Sprint(s.Environments))
			if s.Reason != "why" {
				t.Errorf("%s: reason %q", c.name, s.Reason)
			}
		}
		if strings.Join(left, " ") != c.left || strings.Join(hidden, " ") != c.hidden {
			t.Errorf("%s: left %v, suppressed %v", c.name, left, hidden)
		}
		if diff := cmp.Diff(before, c.allowed); diff != "" {
			t.Errorf("%s: the caller's entries changed: %s", c.name, diff)
		}
	}
}

// Entries that cannot do anything are findings at their place, and say no more than a line.
func TestAllowJudged(t *testing.T) {
	at := span("tidegate.yaml", 4)
	for _, c := range []struct {
		allow Allowance
		want  string
	}{
		{Allowance{Span: at}, "error this entry of allow names no rule"},
		{Allowance{Span: at, Rule: "nonsense", Reason: "why"}, "error this entry of allow names nonsense, and there is no such rule"},
		{Allowance{Span: at, Rule: strings.Repeat("x", 5000), Reason: "why"}, "error this entry of allow names " + strings.Repeat("x", 100) + "…, and there is no such rule"},
		{Allowance{Span: at, Rule: "TG9001"}, "error this entry of allow suppresses TG9001 and does not say why"},
		{Allowance{Span: at, Rule: "TG9001", Path: "a/[", Reason: "why"}, `error this entry of allow has the path "a/[", which is no pattern`},
		{Allowance{Span: at, Rule: "TG9001", Path: "a/*", Reason: "why"}, "warning this entry of allow suppresses TG9001, which finds nothing here"},
		{Allowance{Span: at, Rule: "TG9001", Environment: "nowhere", Reason: "why"}, "warning this entry of allow suppresses TG9001, which finds nothing here"},
	} {
		if got := judged(repo(nil, "dev"), &Result{}, []Allowance{c.allow}); len(got) != 1 || got[0] != "tidegate.yaml:4 "+c.want {
			t.Errorf("%+v: %q", c.allow, got)
		}
	}
}

// A suppression that covers a finding which another covers as well is not needless: to take out either is safe, both not.
func TestBothAreNeeded(t *testing.T) {
	ix := repo(map[string]string{"a.yaml": "# tidegate:ignore TG9001 above\na: 1 # tidegate:ignore TG9001 beside"}, "dev")
	r := &Result{Findings: []*Merged{{Rule: reporting("TG9001"), Environments: []string{"dev"}, Finding: Finding{Span: span("a.yaml", 2)}}}}
	if got := judged(ix, r, []Allowance{{Rule: "TG9001", Reason: "why"}, {Rule: "TG9001", Environment: "dev", Reason: "why"}}); got != nil {
		t.Errorf("got %q", got)
	}
	if len(r.Suppressed) != 1 || r.Suppressed[0].Reason != "beside" {
		t.Errorf("suppressed %+v", r.Suppressed)
	}
}

// Nobody can live with a defect of tidegate unawares.
func TestDefectIsNotSuppressed(t *testing.T) {
	r := run(t, &Rule{ID: "TG9001", Run: func(*Pass) { panic("x") }})
	r.Suppress(repo(nil, "dev"), []Allowance{{Rule: "TG9001", Reason: "why"}}, []*Rule{reporting("TG9001")}, nil)
	if len(r.Findings) != 1 || len(r.Suppressed) != 0 {
		t.Errorf("%v left", told(r.Findings))
	}
}

func TestMatchPath(t *testing.T) {
	for _, c := range []struct {
		pattern, file string
		want          bool
	}{
		{"apps/legacy/**", "apps/legacy/a.yaml", true},
		{"apps/legacy/**", "apps/legacy/b/c/a.yaml", true},
		{"apps/legacy/**", "apps/legacy", true},
		{"apps/legacy/**", "apps/legacy2/a.yaml", false},
		{"./apps/*/a.yaml", "apps/x/a.yaml", true},
		{"apps/*/a.yaml", "apps/x/y/a.yaml", false},
		{"apps/**/a.yaml", "apps/a.yaml", true},
		{"apps/**/a.yaml", "apps/x/y/a.yaml", true},
		{"**/a.yaml", "a.yaml", true},
		{"**", "x/y", true},
		{"*", "x/y", false},
		{"*.yaml", "a.yaml", true},
		{"a?[bc].yaml", "axc.yaml", true},
		{"a**", "abc", true},
		{"a**", "a/b", false},
		{"a[", "a[", false},
		{"a", "", false},
	} {
		if got := matchPath(c.pattern, c.file); got != c.want {
			t.Errorf("%s %s: %t", c.pattern, c.file, got)
		}
	}
}

// Patterns and files that are made to cost time do not.
func TestHostileSuppressions(t *testing.T) {
	if matchPath(strings.Repeat("**/a/", 500)+"b", strings.Repeat("a/", 1000)+"c") {
		t.Error("matches")
	}
	deep := strings.Builder{}
	for i := range 700 {
		deep.WriteString(strings.Repeat(" ", i) + "a: |\n")
	}
	for name, text := range map[string]string{
		"comments":     strings.Repeat("# tidegate:ignore TG9001 why\n", 5_000) + "a: 1",
		"deep":         "# tidegate:ignore TG9001 why\n" + deep.String(),
		"one line":     "a: 1 # tidegate:ignore " + strings.Repeat("TG9001,", 50_000),
		"markers":      strings.Repeat("# tidegate:ignore ", 50_000),
		"binary":       "\x00\xff\xfe# tidegate:ignore TG9001 \xff\x00",
		"end":          "# tidegate:ignore",
		"control":      "# tidegate:ignore TG9001 \x1b[2J\u202e",
		"spaces":       "#" + strings.Repeat(" ", 100_000) + "tidegate:ignore TG9001" + strings.Repeat(" ", 100_000) + "x",
		"only comment": strings.Repeat("#\n", 100_000) + "# tidegate:ignore TG9001 x",
	} {
		ix := repo(map[string]string{"a.yaml": text}, "dev")
		r := &Result{}
		n := strings.Count(text, "\n") + 1
		for line := -1; line <= n+1; line += 1 + n/500 {
			r.Findings = append(r.Findings, &Merged{Rule: reporting("TG9001"), Finding: Finding{Span: model.Span{File: "a.yaml", Line: line}}})
		}
		before := len(r.Findings)
		judged(ix, r, nil)
		kept := 0
		for _, f := range r.Findings {
			if f.Rule != Suppression {
				kept++
			}
		}
		if kept+len(r.Suppressed) != before {
			t.Errorf("%s: %d findings became %d and %d suppressed", name, before, kept, len(r.Suppressed))
		}
	}
}

// FuzzComments holds that every suppression that is found has a place on its line, and that nothing panics.
func FuzzComments(f *testing.F) {
	f.Add([]byte("a: |\n  # tidegate:ignore TG9001 why\n  b\n"))
	f.Add([]byte("ä: 1 # tidegate:ignore TG9001, TG9002: why\r\n"))
	f.Add([]byte("<!-- tidegate:ignore TG9001 why -->"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file := parse("a.yaml", data, nil)
		if file == nil {
			return
		}
		for line, c := range file.comments {
			text := []rune(string(file.lines[line-1]))
			if c.span.Line != line || c.span.Column < 1 || c.span.EndColumn <= c.span.Column || c.span.EndColumn > len(text)+1 {
				t.Errorf("%+v in a line of %d", c.span, len(text))
			}
			if !strings.HasPrefix(string(text[c.span.Column-1:]), "#") && !strings.HasPrefix(string(text[c.span.Column-1:]), "//") && !strings.HasPrefix(string(text[c.span.Column-1:]), "<!--") {
				t.Errorf("column %d of %q begins no comment", c.span.Column, string(text))
			}
			if strings.TrimSpace(c.reason) != c.reason {
				t.Errorf("reason %q", c.reason)
			}
		}
		for i := range file.lines {
			if p := file.parents[i]; p > i {
				t.Errorf("line %d is below %d", i+1, p)
			}
			file.covering(i + 1)
		}
	})
}

// A comment that was code once is the head of no block of text, and covers nothing below it.
func TestCommentIsNoHead(t *testing.T) {
	f := parse("a.yaml", []byte("data:\n# tidegate:ignore TG0304 only for a\n# was: |\n  a: $$x\n  b: $$y\n"), nil)
	if len(f.covering(4)) != 1 || len(f.covering(5)) != 0 {
		t.Errorf("line 4 is covered by %d, line 5 by %d", len(f.covering(4)), len(f.covering(5)))
	}
}

// A sign within a quoted text begins no comment.
func TestCommentInQuotes(t *testing.T) {
	for line, want := range map[string]int{
		`a: "x # tidegate:ignore TG0304 in a text $$x"`:     0,
		`"key # tidegate:ignore TG0304 in a key": $$x`:      0,
		`- ' # tidegate:ignore TG0304 in a text'`:           0,
		`a: "x $$x" # tidegate:ignore TG0304 it is meant`:   1,
		`a: it's # tidegate:ignore TG0304 it is meant`:      1,
		`  echo "$$x" # tidegate:ignore TG0304 it is meant`: 1,
		`a: 'it''s' # tidegate:ignore TG0304 it is meant`:   1,
		`a: "x\"y" # tidegate:ignore TG0304 it is meant`:    1,
	} {
		got := 0
		if f := parse("a.yaml", []byte(line+"\n"), nil); f != nil {
			got = len(f.comments)
		}
		if got != want {
			t.Errorf("%s: %d comments, want %d", line, got, want)
		}
	}
}
