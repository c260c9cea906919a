package yamlpos

import (
	"bytes"
	"sort"
	"unicode/utf8"
)

// isBlank is yaml.v3's is_blank.
func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// breakLen gives the length of the line break at an offset, 0 when there is none: LF, CR, NEL, LS or PS, as yaml.v3's
// is_break has them (yamlprivateh.go).
func breakLen(text []byte, at int) int {
	switch text[at] {
	case '\n':
		return 1
	case '\r':
		if at+1 < len(text) && text[at+1] == '\n' {
			return 2
		}
		return 1
	case 0xC2:
		if at+1 < len(text) && text[at+1] == 0x85 {
			return 2
		}
	case 0xE2:
		if at+2 < len(text) && text[at+1] == 0x80 && text[at+2]&^1 == 0xA8 {
			return 3
		}
	}
	return 0
}

// yamlCursor turns the lines and columns of yaml.v3 into offsets of the text. It goes on from where it was last: the
// parser reads forward, and a document may be one line of megabytes.
type yamlCursor struct {
	text             []byte // to the document's end
	lines            []int  // offsets, as yaml.v3 counts lines
	line, column, at int
}

func newYAMLCursor(f *File, line, start, end int) yamlCursor {
	c := yamlCursor{text: f.text[:end]}
	piece := f.text[start:end]
	plain := bytes.IndexByte(piece, '\r') < 0 && (start == 0 || !bytes.HasPrefix(piece, byteOrderMark))
	for _, s := range []string{"\u0085", "\u2028", "\u2029"} {
		plain = plain && !bytes.Contains(piece, []byte(s))
	}
	if plain {
		c.lines = f.textLines[line-1:]
		return c
	}
	first := start
	if bytes.HasPrefix(piece, byteOrderMark) {
		first += len(byteOrderMark) // the parser's reader takes it away
	}
	c.lines = append(c.lines, first)
	for at := first; at < end; {
		if n := breakLen(c.text, at); n > 0 {
			at += n
			c.lines = append(c.lines, at)
		} else {
			at++
		}
	}
	return c
}

// offset gives the byte of the text at a line and column of yaml.v3.
func (c *yamlCursor) offset(line, column int) int {
	if line > len(c.lines) {
		return len(c.text) // the end of the text begins a line of its own (yaml.v3 yaml_parser_fetch_stream_end)
	}
	if line != c.line || column < c.column {
		c.line, c.column, c.at = line, 1, c.lines[line-1]
	}
	for ; c.column < column && c.at < len(c.text); c.column++ {
		_, n := utf8.DecodeRune(c.text[c.at:])
		c.at += n
	}
	return min(c.at, len(c.text))
}

// cursor turns offsets of the text into positions of the file. It goes on from where it was last, forward or
// back.
type cursor struct {
	file                 *File
	line, column, offset int
}

func (c *cursor) pos(offset int) Pos {
	f := c.file
	lines := f.textLines
	offset = max(lines[0], min(offset, len(f.text)))
	line := c.line
	if line < 1 || offset < lines[line-1] || line < len(lines) && offset >= lines[line] {
		line = sort.SearchInts(lines, offset+1)
	}
	start := lines[line-1]
	switch {
	case line != c.line || offset-start < c.offset-offset:
		c.column = 1 + utf8.RuneCount(f.text[start:offset])
	case offset >= c.offset:
		c.column += utf8.RuneCount(f.text[c.offset:offset])
	default:
		c.column -= utf8.RuneCount(f.text[offset:c.offset])
	}
	c.line, c.offset = line, offset
	return Pos{offset - start + f.lines[line-1], line, c.column}
}
