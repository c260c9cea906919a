package view

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/report"
)

func explained() report.Rule {
	return report.Rule{ID: "TG9001", Name: "a-rule", Severity: "error", Since: "0.1", What: "something is wrong", Needs: []string{"this", "that"},
		Why:    strings.Repeat("words of some length ", 30) + "\n\n" + strings.Repeat("ä", 200),
		Bad:    "-- a/x.yaml --\none: 1\n\ntwo: 2\n-- b/y.yaml --\nthree: 3\nthree: 3\n-- gone.yaml --\nfour: 4\n",
		Good:   "-- a/x.yaml --\none: 1\n\ntwo: 5\n-- b/y.yaml --\nthree: 3\n-- new.yaml --\nsix: 6\n",
		Misses: "nothing",
		Found:  []report.Finding{{Rule: "TG9001", Name: "a-rule", Severity: "error", File: "a/x.yaml", Line: 3, Column: 6, EndLine: 3, EndColumn: 7, Message: "m", Breaks: "b"}}}
}

func TestExplainText(t *testing.T) {
	r := explained()
	r.Why = "It breaks.\nIt does.\n\nAnd it was missed."
	var b bytes.Buffer
	if err := Explain(&b, r, Style{}); err != nil {
		t.Fatal(err)
	}
	want := `TG9001 a-rule (error, since 0.1)

Finds that something is wrong.

Needs this, that; it is skipped without.

It breaks. It does.

And it was missed.

What it looks like

    # a/x.yaml
    one: 1

    two: 2

    # and b/y.yaml, gone.yaml

What check says

error TG9001 a-rule: m
  a/x.yaml:3:6
  breaks   b

Mended

    # a/x.yaml

    - two: 2
    + two: 5

    # b/y.yaml
      three: 3
    - three: 3

    # gone.yaml
    - four: 4

    # new.yaml
    + six: 6

What it leaves alone

nothing
`
	if b.String() != want {
		t.Errorf("got:\n%s", b.String())
	}
}

// Prose is as wide as the terminal, within reason, and a word that is wider stands alone.
func TestExplainIsWrapped(t *testing.T) {
	for width, most := range map[int]int{0: 100, 10: 100, 60: 60, 100: 100, 1000: 160} {
		var b bytes.Buffer
		if err := Explain(&b, explained(), Style{Width: width}); err != nil {
			t.Fatal(err)
		}
		wide := 0
		for line := range strings.Lines(b.String()) {
			line = strings.TrimRight(line, "\n")
			if strings.TrimRight(line, " ") != line {
				t.Errorf("width %d: %q ends in a space", width, line)
			}
			if !strings.Contains(line, "ää") {
				wide = max(wide, utf8.RuneCountInString(line))
			} else if utf8.RuneCountInString(line) != 200 {
				t.Errorf("width %d: the long word does not stand alone: %q", width, line)
			}
		}
		if wide > most || wide < most-25 {
			t.Errorf("width %d: the longest line has %d, want up to %d", width, wide, most)
		}
	}
}

var escapes = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// Colour is there on a terminal alone, and changes nothing else.
func TestExplainColour(t *testing.T) {
	var plain, coloured bytes.Buffer
	if err := Explain(&plain, explained(), Style{}); err != nil {
		t.Fatal(err)
	}
	if err := Explain(&coloured, explained(), Style{Colour: true}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(plain.String(), "\x1b") {
		t.Error("colour without a terminal")
	}
	if !strings.Contains(coloured.String(), "\x1b") || escapes.ReplaceAllString(coloured.String(), "") != plain.String() {
		t.Error("with colour it is another text")
	}
}

// What stays and what goes make the first text, what stays and what comes the second.
func TestDiff(t *testing.T) {
	for _, c := range [][2]string{{"", ""}, {"a", ""}, {"", "a"}, {"abc", "abc"}, {"abcabba", "cbabac"}, {"aaa", "aa"}, {"ab", "ba"}, {"xay", "uav"}} {
		a, b := strings.Split(c[0], ""), strings.Split(c[1], "")
		var before, after strings.Builder
		kept := 0
		for _, l := range diff(a, b) {
			if l[0] != '+' {
				before.WriteString(l[2:])
			}
			if l[0] != '-' {
				after.WriteString(l[2:])
			}
			if !changed(l) {
				kept++
			}
		}
		if before.String() != c[0] || after.String() != c[1] {
			t.Errorf("%q: %q", c, diff(a, b))
		}
		if want := map[string]int{"abc": 3, "abcabba": 4, "aaa": 2, "ab": 1, "xay": 1}[c[0]]; kept != want {
			t.Errorf("%q: %d stay, want %d", c, kept, want)
		}
	}
}

func TestRulesTable(t *testing.T) {
	var b bytes.Buffer
	err := Rules(&b, &report.Rules{Rules: []report.Rule{
		{ID: "TG9001", Name: "short", Severity: "error", What: "one"},
		{ID: "TG9002", Name: "much-longer", Severity: "warning", What: "two", Needs: []string{"a", "b"}},
	}})
	want := "RULE    NAME         SEVERITY  WHAT IT FINDS\nTG9001  short        error     one\nTG9002  much-longer  warning   two (needs a, b)\n"
	if err != nil || b.String() != want {
		t.Errorf("%v\n%s", err, b.String())
	}
}
