// Package yamlpos gives YAML files with the place of every node in them, its start and its end, and leads from a part of
// a decoded scalar back to the characters of the file that it was decoded from.
//
// go.yaml.in/yaml/v3, which kustomize reads with, tells where a node starts. Where it ends, and where the bytes of its
// value stand, is found here by walking the source beside the value.
//
// The rules are:
//   - A walk that does not give the very value that the parser gave says nothing: a wrong place cannot come out.
//   - Documents are split as kustomize splits them (kyaml kio/byteio_reader.go splitDocuments), each is read by itself,
//     and one that does not parse takes no other with it.
//   - Lines of the file end with a line feed and nothing else; columns count characters, a byte order mark at the
//     beginning of the file is none. Lines that yaml.v3 counts end with other characters too (scannerc.go is_break): At
//     takes its counting, and every place that comes out has the file's.
//   - Aliases are not expanded.
package yamlpos

import (
	"bytes"
	"sort"
	"sync"
	"unicode/utf8"

	yaml3 "go.yaml.in/yaml/v3"

	"github.com/tidegate/tidegate/internal/model"
)

// Kind says what a node is.
type Kind uint8

// The kinds of nodes.
const (
	Mapping Kind = iota + 1
	Sequence
	Scalar
	Alias
)

// Pos is a position in a file: a byte offset from 0, a line and a column in characters from 1.
type Pos struct{ Offset, Line, Column int }

// Node is a value or a key. Start and End are those of the value itself, without anchor and tag, with quotes; End is
// exclusive. A block scalar goes from its indicator to the end of its last line of content; a mapping or sequence from
// its first key or item to the end of its last, in flow style with the brackets. A null that is not written is empty and
// stands where it could be. Where the end cannot be told it is the start.
type Node struct {
	Kind       Kind
	Style      yaml3.Style
	Value      string // decoded, of a scalar; the name of an alias
	Tag        string // short: !!str, !!int, …
	Start, End Pos
	Keys       []*Node // of a mapping, in order
	Values     []*Node // of a mapping or a sequence
	Alias      *Node   // what an alias stands for

	key *Node // that it is the value of
}

// Document is one document of a file.
type Document struct {
	Root *Node // nil when it is empty or Err is set
	Line int   // the line of the file on which its text begins
	Err  error
}

// File is a file with positions. It is safe for concurrent use.
type File struct {
	Documents []*Document

	data  []byte
	lines []int // the offset of each line's first byte, in data
	// text is data with LF for CRLF, which is what kyaml gives to the parser, and textLines its lines. Only ends of lines
	// differ, so a line and a number of bytes in it mean the same in both.
	text      []byte
	textLines []int
	marks     []mark // of all nodes, by position

	mu     sync.Mutex
	walked *Node // the scalar that was last walked: many parts of one are asked for
	walk   walk
	cursor cursor
}

// mark is where yaml.v3 says that a node is: a line of the file as its own line and that of its document give it.
type mark struct {
	line, column, document int32 // a file of 2 GiB is none that anybody parses
	node                   *Node
}

// Parse reads a file. It never fails: a document that is no YAML has an error and no root.
func Parse(data []byte) *File {
	f := &File{data: data, text: data}
	f.lines = lineStarts(data)
	f.textLines = f.lines
	if bytes.Contains(data, []byte("\r\n")) {
		f.text = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
		f.textLines = lineStarts(f.text)
	}
	f.cursor = cursor{file: f}
	b := &builder{file: f, cursor: cursor{file: f}}
	for start := 0; ; {
		end, next := DocumentEnd(f.text, start)
		b.parse(start, end)
		if next == end {
			break
		}
		start = next
	}
	f.index()
	return f
}

var byteOrderMark = []byte("\ufeff")

// lineStarts gives the offset of each line's first character.
func lineStarts(text []byte) []int {
	starts := make([]int, 1, bytes.Count(text, []byte("\n"))+1)
	for at := 0; ; {
		i := bytes.IndexByte(text[at:], '\n')
		if i < 0 {
			break
		}
		at += i + 1
		starts = append(starts, at)
	}
	if bytes.HasPrefix(text, byteOrderMark) {
		starts[0] = len(byteOrderMark)
	}
	return starts
}

// DocumentEnd gives where the document that begins at start ends, and where the next one begins; both are the end of
// the text for the last. The separator is `\n---.*\n`, and its first line feed belongs to the document.
func DocumentEnd(text []byte, start int) (end, next int) {
	i := bytes.Index(text[start:], []byte("\n---"))
	if i < 0 {
		return len(text), len(text)
	}
	end = start + i + 1
	j := bytes.IndexByte(text[end:], '\n')
	if j < 0 {
		return len(text), len(text)
	}
	return end, end + j + 1
}

// decode reads the first document of a text. The parser panics on some input that is no YAML.
func decode(text []byte, n *yaml3.Node) (err error) {
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return errUTF16
	}
	defer func() {
		if r := recover(); r != nil {
			err = errPanic
		}
	}()
	return yaml3.Unmarshal(text, n)
}

type parseError string

func (e parseError) Error() string { return string(e) }

const (
	errPanic = parseError("the YAML parser gives up on it")
	errUTF16 = parseError("it is UTF-16; only UTF-8 has positions")
)

// index sorts the marks. They nearly are: yaml.v3 reads forward.
func (f *File) index() {
	less := func(i, j int) bool {
		a, b := f.marks[i], f.marks[j]
		return a.line < b.line || a.line == b.line && a.column < b.column
	}
	if !sort.SliceIsSorted(f.marks, less) {
		sort.SliceStable(f.marks, less)
	}
}

// At gives the node that yaml.v3 reports at a line and column of the file: the line is node.Line plus Line of the document
// less one. Of several that begin there it is the scalar, of scalars the one that is not empty. nil when there is none.
func (f *File) At(line, column int) *Node {
	i := sort.Search(len(f.marks), func(i int) bool {
		m := f.marks[i]
		return int(m.line) > line || int(m.line) == line && int(m.column) >= column
	})
	var best *mark
	for ; i < len(f.marks) && int(f.marks[i].line) == line && int(f.marks[i].column) == column; i++ {
		// A document whose lines yaml.v3 counts otherwise may seem to reach into the next one.
		if m := &f.marks[i]; best == nil || m.document > best.document || m.document == best.document && rank(m.node) > rank(best.node) {
			best = m
		}
	}
	if best == nil {
		return nil
	}
	return best.node
}

func rank(n *Node) int {
	switch {
	case n.Kind == Mapping || n.Kind == Sequence:
		return 0
	case n.Start == n.End:
		return 1
	}
	return 2
}

// KeyOf gives the key that a value stands under; nil for a key, an item of a sequence and a root.
func (f *File) KeyOf(n *Node) *Node { return n.key }

// DocumentAt gives the document that a line belongs to; nil when the file has none. A line that separates documents
// belongs to the one before it.
func (f *File) DocumentAt(line int) *Document {
	i := sort.Search(len(f.Documents), func(i int) bool { return f.Documents[i].Line > line })
	if i == 0 || line > len(f.lines) {
		return nil
	}
	return f.Documents[i-1]
}

// Span gives the place of a node, without a file.
func (f *File) Span(n *Node) model.Span {
	return model.Span{Line: n.Start.Line, Column: n.Start.Column, EndLine: n.End.Line, EndColumn: n.End.Column}
}

// Within gives the place of the bytes [from, to) of a scalar's value. ok is false where it cannot be told, as for half
// of an escape, or of a character. A blank that is a folded line break goes from the end of its line to the next text.
// Line feeds that a block ends with stand behind its span, so they are empty and at its end.
func (f *File) Within(n *Node, from, to int) (span model.Span, ok bool) {
	if n.Kind != Scalar || from < 0 || to < from || to > len(n.Value) ||
		from < len(n.Value) && !utf8.RuneStart(n.Value[from]) || to < len(n.Value) && !utf8.RuneStart(n.Value[to]) {
		return model.Span{}, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.walked != n {
		f.walked, f.walk = n, walkScalar(f.text, f.textOffset(n.Start), n.Style, n.Value, true)
	}
	start, end, ok := f.walk.part(from, to)
	if !ok {
		return model.Span{}, false
	}
	s := f.cursor.pos(start)
	e := f.cursor.pos(end)
	return model.Span{Line: s.Line, Column: s.Column, EndLine: e.Line, EndColumn: e.Column}, true
}

// textOffset leads a position to the text.
func (f *File) textOffset(p Pos) int {
	return p.Offset - f.lines[p.Line-1] + f.textLines[p.Line-1]
}

// Text gives the bytes of a span; empty when it is none of the file.
func (f *File) Text(s model.Span) string {
	from, ok1 := f.Offset(s.Line, s.Column)
	to, ok2 := f.Offset(s.EndLine, s.EndColumn)
	if !ok1 || !ok2 || to < from {
		return ""
	}
	return string(f.data[from:to])
}

// Offset gives the byte at a line and column; ok is false when the file has no such place.
func (f *File) Offset(line, column int) (int, bool) {
	if line < 1 || line > len(f.lines) || column < 1 {
		return 0, false
	}
	at, end := f.lines[line-1], len(f.data)
	if line < len(f.lines) {
		end = f.lines[line]
	}
	for ; column > 1; column-- {
		if at >= end {
			return 0, false
		}
		_, n := utf8.DecodeRune(f.data[at:])
		at += n
	}
	return at, true
}
