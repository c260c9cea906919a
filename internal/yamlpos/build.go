package yamlpos

import (
	"bytes"
	"sort"
	"unicode/utf8"

	yaml3 "go.yaml.in/yaml/v3"
)

// builder turns the parser's nodes into ours.
type builder struct {
	file   *File
	shift  int // lines of the file before the document
	seen   map[*yaml3.Node]*Node
	cursor cursor
}

func (b *builder) node(n *yaml3.Node) *Node {
	out := &Node{Tag: n.ShortTag(), Style: n.Style}
	b.seen[n] = out
	line := n.Line + b.shift
	offset := b.cursor.at(line, n.Column)
	if n.Anchor != "" && n.Kind != yaml3.AliasNode || n.Style&yaml3.TaggedStyle != 0 {
		offset = b.properties(offset)
	}
	out.Start = b.cursor.pos(offset)
	out.End = out.Start
	switch n.Kind {
	case yaml3.MappingNode:
		out.Kind = Mapping
		for i := 0; i+1 < len(n.Content); i += 2 {
			k := b.node(n.Content[i])
			v := b.node(n.Content[i+1])
			out.Keys, out.Values = append(out.Keys, k), append(out.Values, v)
			b.file.keys[v] = k
		}
		b.collection(out, n.Style, '}')
	case yaml3.SequenceNode:
		out.Kind = Sequence
		for _, c := range n.Content {
			out.Values = append(out.Values, b.node(c))
		}
		b.collection(out, n.Style, ']')
	case yaml3.AliasNode:
		out.Kind, out.Value = Alias, n.Value
		out.Alias = b.seen[n.Alias]
		if name := "*" + n.Value; bytes.HasPrefix(b.file.data[offset:], []byte(name)) {
			out.End = b.cursor.pos(offset + len(name))
		}
	default:
		out.Kind, out.Value = Scalar, n.Value
		if w := walkScalar(b.file.data, offset, n.Style, n.Value); w.ok {
			out.End = b.cursor.pos(w.stop)
		}
	}
	at := position{line, n.Column}
	if old := b.file.at[at]; old == nil || out.Kind == Scalar && old.Kind != Scalar {
		b.file.at[at] = out
	}
	return out
}

// properties skips anchors and tags, and what stands between them and the value.
func (b *builder) properties(offset int) int {
	data := b.file.data
	for offset < len(data) && (data[offset] == '&' || data[offset] == '!') {
		for offset < len(data) && !isBlank(data[offset]) && data[offset] != '\n' {
			offset++
		}
		offset = skipSpace(data, offset)
	}
	return min(offset, len(data))
}

// skipSpace goes over blanks, line feeds and comments.
func skipSpace(data []byte, at int) int {
	for at < len(data) {
		switch c := data[at]; {
		case isBlank(c) || c == '\n':
			at++
		case c == '#' && (at == 0 || isBlank(data[at-1]) || data[at-1] == '\n'):
			for at < len(data) && data[at] != '\n' {
				at++
			}
		default:
			return at
		}
	}
	return at
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// collection sets where a mapping or sequence begins and ends.
func (b *builder) collection(n *Node, style yaml3.Style, closing byte) {
	var first, last *Node
	if len(n.Values) > 0 {
		first, last = n.Values[0], n.Values[len(n.Values)-1]
		if n.Kind == Mapping {
			first = n.Keys[0]
		}
		n.End = last.End
	}
	if style&yaml3.FlowStyle == 0 {
		if first != nil && n.Kind == Mapping && first.Start.Offset >= n.Start.Offset {
			n.Start = first.Start
		}
		if n.End.Offset < n.Start.Offset {
			n.End = n.Start
		}
		return
	}
	from := n.Start.Offset + 1
	if last != nil && last.End.Offset > from {
		from = last.End.Offset
	}
	at := skipSpace(b.file.data, min(from, len(b.file.data)))
	if at < len(b.file.data) && b.file.data[at] == ',' {
		at = skipSpace(b.file.data, at+1)
	}
	if at < len(b.file.data) && b.file.data[at] == closing {
		n.End = b.cursor.pos(at + 1)
	} else if n.End.Offset < n.Start.Offset {
		n.End = n.Start
	}
}

// cursor turns lines and columns into offsets and back, and goes on from where it was last: a document may be one line
// of megabytes.
type cursor struct {
	file                 *File
	line, column, offset int
}

func (c *cursor) lineStart(line int) int {
	if line < 1 {
		return 0
	}
	if line > len(c.file.lines) {
		return len(c.file.data)
	}
	return c.file.lines[line-1]
}

// move puts the cursor to the beginning of a line, unless it is on that line and not beyond the limit.
func (c *cursor) move(line int, beyond bool) {
	if c.line != line || beyond || c.column == 0 {
		c.line, c.column, c.offset = line, 1, c.lineStart(line)
	}
}

// at gives the byte at a line and column as yaml.v3 counts them.
func (c *cursor) at(line, column int) int {
	c.move(line, c.column > column)
	for c.column < column && c.offset < len(c.file.data) && c.file.data[c.offset] != '\n' {
		_, n := utf8.DecodeRune(c.file.data[c.offset:])
		c.offset += n
		c.column++
	}
	return c.offset
}

// pos gives the position of an offset.
func (c *cursor) pos(offset int) Pos {
	lines := c.file.lines
	line := c.line
	if line < 1 || line > len(lines) || offset < lines[line-1] || line < len(lines) && offset >= lines[line] {
		line = sort.SearchInts(lines, offset+1)
	}
	c.move(line, c.offset > offset)
	c.column += utf8.RuneCount(c.file.data[c.offset:offset])
	c.offset = offset
	return Pos{offset, c.line, c.column}
}
