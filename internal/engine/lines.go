package engine

import (
	"bytes"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/report"
)

// lines gives the lines around places, of one file after the other: those who ask go by file. It reads a file once as long
// as the next place is in it, and of a line it gives no more than anybody would look at, since a file may be one line of
// megabytes with a thousand findings in it.
type lines struct {
	read   func(string) ([]byte, error)
	file   string
	data   []byte
	starts []int

	// Where the last long line was cut: the next place is behind it, nearly always.
	at, skipped, offset int
}

// The bounds of what a view gets: lines of one place, and characters of a line before and behind the place.
const (
	maxSourceLines = 8
	lineBefore     = 300
	lineBehind     = 600
)

// around gives the line before a span and those of it; nothing where the file has no such lines.
func (l *lines) around(span model.Span) []report.SourceLine {
	if span.Line == 0 || !l.open(span.File) {
		return nil
	}
	var out []report.SourceLine
	for n := max(1, span.Line-1); n <= span.EndLine && n <= len(l.starts) && len(out) < maxSourceLines; n++ {
		column := 1
		if n == span.Line {
			column = span.Column
		}
		out = append(out, l.line(n, column))
	}
	return out
}

func (l *lines) open(file string) bool {
	if file != l.file || l.starts == nil {
		data, err := l.read(file)
		if err != nil {
			return false
		}
		l.file, l.data, l.starts, l.at = file, data, []int{0}, 0
		for i, c := range data {
			if c == '\n' {
				l.starts = append(l.starts, i+1)
			}
		}
	}
	return true
}

// line gives a line, or of a long one what is around a column.
func (l *lines) line(n, column int) report.SourceLine {
	text := l.data[l.starts[n-1]:]
	if n < len(l.starts) {
		text = text[:l.starts[n]-l.starts[n-1]]
	}
	text = bytes.TrimRight(text, "\r\n")
	out := report.SourceLine{Number: n}
	if len(text) > lineBefore+lineBehind {
		if l.at != n || l.skipped > max(0, column-lineBefore) {
			l.at, l.skipped, l.offset = n, 0, 0
		}
		for l.skipped < column-lineBefore && l.offset < len(text) {
			_, size := utf8.DecodeRune(text[l.offset:])
			l.offset += size
			l.skipped++
		}
		text, out.Skipped = text[l.offset:], l.skipped
		end := 0
		for i := 0; i < lineBefore+lineBehind && end < len(text); i++ {
			_, size := utf8.DecodeRune(text[end:])
			end += size
		}
		text = text[:end]
	}
	out.Text = string(text)
	return out
}
