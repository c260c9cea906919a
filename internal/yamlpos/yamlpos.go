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
// exclusive. A block scalar goes from its indicator to the end of its last line that is not empty; a mapping or
// sequence from its first key or item to the end of its last, in flow style with the brackets. Where the end cannot be
// told it is the start.
type Node struct {
	Kind       Kind
	Value      string // decoded, of a scalar
	Tag        string // short: !!str, !!int, …
	Style      yaml3.Style
	Start, End Pos
	Keys       []*Node // of a mapping, in order
	Values     []*Node // of a mapping or a sequence
	Alias      *Node   // what an alias stands for
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
	lines []int // the offset of each line's first byte
	at    map[position]*Node
	keys  map[*Node]*Node

	mu     sync.Mutex
	walked *Node // the scalar that was last walked: many parts of one are asked for
	walk   walk
}

type position struct{ line, column int }

// Parse reads a file. It never fails: a document that is no YAML has an error and no root.
func Parse(data []byte) *File {
	f := &File{data: data, at: map[position]*Node{}, keys: map[*Node]*Node{}, lines: []int{0}}
	for i, c := range data {
		if c == '\n' {
			f.lines = append(f.lines, i+1)
		}
	}
	for start := 0; ; {
		end, next := documentEnd(data, start)
		f.document(start, end)
		if next == end {
			return f
		}
		start = next
	}
}

// documentEnd gives where the document that begins at start ends, and where the next one begins; both are the end of
// the data for the last. The separator is `\n---.*\n`.
func documentEnd(data []byte, start int) (end, next int) {
	i := bytes.Index(data[start:], []byte("\n---"))
	if i < 0 {
		return len(data), len(data)
	}
	at := start + i
	j := bytes.IndexByte(data[at+1:], '\n')
	if j < 0 {
		return len(data), len(data)
	}
	return at, at + 1 + j + 1
}

func (f *File) document(start, end int) {
	line := sort.SearchInts(f.lines, start+1)
	d := &Document{Line: line}
	f.Documents = append(f.Documents, d)
	var n yaml3.Node
	if err := decode(f.data[start:end], &n); err != nil {
		d.Err = err
		return
	}
	if len(n.Content) == 0 {
		return
	}
	b := builder{file: f, shift: line - 1, seen: map[*yaml3.Node]*Node{}, cursor: cursor{file: f}}
	d.Root = b.node(n.Content[0])
}

// decode reads the first document of a text. The parser panics on some input that is no YAML.
func decode(data []byte, n *yaml3.Node) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errPanic
		}
	}()
	return yaml3.Unmarshal(data, n)
}

type parseError string

func (e parseError) Error() string { return string(e) }

const errPanic = parseError("the YAML parser gives up on it")

// At gives the node that yaml.v3 reports at a line and column of the file; of several that begin there the scalar.
func (f *File) At(line, column int) *Node { return f.at[position{line, column}] }

// KeyOf gives the key that a value stands under; nil for an item of a sequence and for a root.
func (f *File) KeyOf(n *Node) *Node { return f.keys[n] }

// DocumentAt gives the document that a line belongs to; nil when the file has none.
func (f *File) DocumentAt(line int) *Document {
	i := sort.Search(len(f.Documents), func(i int) bool { return f.Documents[i].Line > line })
	if i == 0 {
		return nil
	}
	return f.Documents[i-1]
}

// Span gives the place of a node, without a file.
func (f *File) Span(n *Node) model.Span {
	return model.Span{Line: n.Start.Line, Column: n.Start.Column, EndLine: n.End.Line, EndColumn: n.End.Column}
}

// Within gives the place of the bytes [from, to) of a scalar's value. ok is false where it cannot be told, as for half
// of an escape.
func (f *File) Within(n *Node, from, to int) (span model.Span, ok bool) {
	if n.Kind != Scalar || from < 0 || to < from || to > len(n.Value) {
		return model.Span{}, false
	}
	w := f.walkOf(n)
	if !w.ok {
		return model.Span{}, false
	}
	start, ok1 := w.start(from)
	end, ok2 := w.end(to)
	if from == to {
		end, ok2 = start, ok1
	}
	if !ok1 || !ok2 || end < start {
		return model.Span{}, false
	}
	// The line feeds that a block ends with stand behind its span.
	s, e := f.pos(min(start, n.End.Offset)), f.pos(min(end, n.End.Offset))
	return model.Span{Line: s.Line, Column: s.Column, EndLine: e.Line, EndColumn: e.Column}, true
}

func (f *File) walkOf(n *Node) walk {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.walked != n {
		f.walked, f.walk = n, walkScalar(f.data, n.Start.Offset, n.Style, n.Value)
	}
	return f.walk
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

func (f *File) pos(offset int) Pos {
	line := sort.SearchInts(f.lines, offset+1)
	return Pos{offset, line, utf8.RuneCount(f.data[f.lines[line-1]:offset]) + 1}
}

// Find follows a path of keys and indices, through aliases and merge keys; nil, nil when it leads nowhere. The key is
// nil for an item of a sequence, and for the root.
func (d *Document) Find(p model.Path) (key, value *Node) {
	value = d.Root
	for _, step := range p {
		for hops := 0; value != nil && value.Kind == Alias && hops < maxHops; hops++ {
			value = value.Alias
		}
		if value == nil {
			return nil, nil
		}
		switch s := step.(type) {
		case string:
			if value.Kind != Mapping {
				return nil, nil
			}
			key, value = value.field(s, 0)
		case int:
			if value.Kind != Sequence || s < 0 || s >= len(value.Values) {
				return nil, nil
			}
			key, value = nil, value.Values[s]
		default:
			return nil, nil
		}
	}
	return key, value
}

// maxHops bounds chains of merge keys, which may lead back to themselves.
const maxHops = 16

func (n *Node) field(name string, depth int) (key, value *Node) {
	for i, k := range n.Keys {
		if k.Value == name && k.Kind == Scalar {
			return k, n.Values[i]
		}
	}
	if depth == maxHops {
		return nil, nil
	}
	for i, k := range n.Keys {
		if k.Tag != "!!merge" {
			continue
		}
		sources := []*Node{n.Values[i]}
		if n.Values[i].Kind == Sequence {
			sources = n.Values[i].Values
		}
		for _, s := range sources {
			if s.Kind == Alias {
				s = s.Alias
			}
			if s != nil && s.Kind == Mapping {
				if key, value = s.field(name, depth+1); value != nil {
					return key, value
				}
			}
		}
	}
	return nil, nil
}
