package view

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/width"

	"github.com/tidegate/tidegate/internal/report"
)

// maxSnippet bounds the lines of a span that are shown.
const maxSnippet = 6

// snippet writes the lines of a finding with the span underlined, no wider than the screen.
func (s Style) snippet(b *strings.Builder, f report.Finding) {
	if f.Line == 0 || len(f.Source) == 0 {
		return
	}
	gutter := len(fmt.Sprint(f.Source[len(f.Source)-1].Number))
	for i, l := range f.Source {
		if i == maxSnippet {
			fmt.Fprintf(b, "    %s %s\n", strings.Repeat(" ", gutter), s.dim("│ …"))
			return
		}
		from, to := -1, -1
		text := []rune(l.Text)
		switch {
		case l.Number < f.Line || l.Number > f.EndLine:
		case l.Number == f.Line && l.Number == f.EndLine:
			from, to = f.Column-1, f.EndColumn-1
		case l.Number == f.Line:
			from, to = f.Column-1, len(text)
		case l.Number == f.EndLine:
			from, to = indentOf(text), f.EndColumn-1
		default:
			from, to = indentOf(text), len(text)
		}
		if l.Skipped > 0 && from >= 0 {
			from, to = max(0, from-l.Skipped), min(to-l.Skipped, len(text))
		}
		line, mark := s.fit(text, from, to, s.width()-gutter-7)
		if l.Skipped > 0 && !strings.HasPrefix(line, "…") {
			line, mark = "…"+line, " "+mark
		}
		fmt.Fprintf(b, "    %s %s\n", s.dim(fmt.Sprintf("%*d │", gutter, l.Number)), strings.TrimRight(line, " "))
		if mark != "" {
			fmt.Fprintf(b, "    %s %s\n", s.dim(strings.Repeat(" ", gutter)+" │"), s.red(mark))
		}
	}
}

func indentOf(text []rune) int {
	for i, r := range text {
		if !unicode.IsSpace(r) {
			return i
		}
	}
	return len(text)
}

// fit cuts a line to a width around the part that is underlined, and gives the line below it. Tabs count as two
// columns, wide characters as two, marks that combine with the one before as none.
func (s Style) fit(text []rune, from, to, columns int) (line, mark string) {
	start := 0
	if from >= 0 && columnsOf(text[:min(from, len(text))])+min(columnsOf(text[min(from, len(text)):min(max(to, from), len(text))]), columns/2) > columns {
		// Leave a third of the width before the part.
		for start = min(from, len(text)); start > 0 && columnsOf(text[start:min(from, len(text))]) < columns/3; {
			start--
		}
	}
	var out, under strings.Builder
	if start > 0 {
		out.WriteString("…")
		under.WriteString(" ")
	}
	used := columnsOf([]rune(out.String()))
	for i := start; i < len(text); i++ {
		w := runeColumns(text[i])
		if used+w > columns || used+w == columns && i+1 < len(text) {
			out.WriteString("…")
			break
		}
		used += w
		if text[i] == '\t' {
			out.WriteString("  ")
		} else {
			out.WriteString(oneLine(string(text[i])))
		}
		c := " "
		if i >= from && i < to {
			c = "^"
		}
		under.WriteString(strings.Repeat(c, w))
	}
	if from >= 0 && from >= len(text) || from >= 0 && to <= from {
		under.WriteString("^")
	}
	return out.String(), strings.TrimRight(under.String(), " ")
}

func columnsOf(text []rune) int {
	n := 0
	for _, r := range text {
		n += runeColumns(r)
	}
	return n
}

func runeColumns(r rune) int {
	switch {
	case r == '\t':
		return 2
	case unicode.In(r, unicode.Mn, unicode.Me) || r == 0x200d:
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// wrap writes a text in lines of the screen's width behind a label; further lines stand under the first.
func (s Style) wrap(b *strings.Builder, label, text string) {
	const indent = 11
	lead := "  " + s.dim(label) + strings.Repeat(" ", max(1, indent-2-len(label)))
	at := indent
	b.WriteString(lead)
	for i, word := range strings.Fields(oneLine(text)) {
		n := columnsOf([]rune(word))
		if i > 0 {
			if at+1+n > s.width() {
				b.WriteString("\n" + strings.Repeat(" ", indent))
				at = indent
			} else {
				b.WriteByte(' ')
				at++
			}
		}
		b.WriteString(word)
		at += n
	}
	b.WriteByte('\n')
}

func (s Style) width() int {
	if s.Width < 40 {
		return 100
	}
	return min(s.Width, 160)
}
