package view

import (
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/report"
)

// TestSnippet holds that the marks stand under what they mark, whatever is before it.
func TestSnippet(t *testing.T) {
	wide := strings.Repeat("x", 90) + "${HERE}" + strings.Repeat("y", 90)
	for name, c := range map[string]struct {
		finding report.Finding
		want    string
	}{
		"plain": {spanning(3, 4, 3, 7, line(3, "a: ${b}")), `
    3 │ a: ${b}
      │    ^^^`},
		"wide characters take two columns": {spanning(3, 7, 3, 9, line(3, "a: 日本 ab")), `
    3 │ a: 日本 ab
      │         ^^`},
		"marks that combine take none": {spanning(3, 6, 3, 8, line(3, "e\u0301: x ab")), "\n    3 │ e\u0301: x ab\n      │     ^^"},
		"a tab takes two":              {spanning(3, 6, 3, 8, line(3, "\ta: xy")), "\n    3 │   a: xy\n      │       ^"},
		"what a terminal would obey":   {spanning(3, 4, 3, 6, line(3, "\x1b[1ab")), "\n    3 │  [1ab\n      │    ^^"},
		"several lines": {spanning(9, 4, 11, 4, line(9, "a: |-"), line(10, "  one"), line(11, "  two"), line(12, "b: 1")), `
     9 │ a: |-
       │    ^^
    10 │   one
       │   ^^^
    11 │   two
       │   ^
    12 │ b: 1`},
		"an empty span":              {spanning(3, 4, 3, 4, line(3, "a: ")), "\n    3 │ a:\n      │    ^"},
		"a line wider than any":      {spanning(3, 91, 3, 98, line(3, wide)), "\n    3 │ …" + strings.Repeat("x", 10) + "${HERE}" + strings.Repeat("y", 13) + "…\n      │  " + strings.Repeat(" ", 10) + "^^^^^^^"},
		"a line that was cut before": {spanning(3, 101, 3, 104, report.SourceLine{Number: 3, Text: "a ${b}", Skipped: 98}), "\n    3 │ …a ${b}\n      │    ^^^"},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			Style{Width: 40}.snippet(&b, c.finding)
			if got := "\n" + strings.TrimRight(b.String(), "\n"); got != c.want {
				t.Errorf("got%s\nwant%s", got, c.want)
			}
		})
	}
}

func spanning(line, column, endLine, endColumn int, source ...report.SourceLine) report.Finding {
	return report.Finding{Line: line, Column: column, EndLine: endLine, EndColumn: endColumn, Source: source}
}

func line(n int, text string) report.SourceLine { return report.SourceLine{Number: n, Text: text} }
