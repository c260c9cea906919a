package yamlpos

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"

	yaml3 "go.yaml.in/yaml/v3"

	"github.com/tidegate/tidegate/internal/model"
)

type Kind uint8

const (
	Mapping Kind = iota + 1
	Sequence
	Scalar
	Alias
)

type Pos struct{ Offset, Line, Column int }

type Node struct {
	Kind         Kind
	Value        string
	Tag          string
	Style        yaml3.Style
	Start, End   Pos
	Keys, Values []*Node
	Alias        *Node
}

type Document struct {
	Root *Node
	Line int
	Err  error
}

type File struct {
	Documents []*Document
	data      []byte
	lines     []int
	at        map[[2]int]*Node
	key       map[*Node]*Node
}

var sep = regexp.MustCompile(`\n---.*\n`)

func Parse(data []byte) *File {
	f := &File{data: data, at: map[[2]int]*Node{}, key: map[*Node]*Node{}}
	f.lines = []int{0}
	for i, c := range data {
		if c == '\n' {
			f.lines = append(f.lines, i+1)
		}
	}
	prev := 0
	add := func(from, to int) {
		d := &Document{Line: bytes.Count(data[:from], []byte("\n")) + 1}
		var n yaml3.Node
		if err := yaml3.Unmarshal(data[from:to], &n); err != nil {
			d.Err = err
		} else if len(n.Content) > 0 {
			d.Root = f.node(n.Content[0], d.Line-1, map[*yaml3.Node]*Node{}, 0)
		}
		f.Documents = append(f.Documents, d)
	}
	for _, loc := range sep.FindAllIndex(data, -1) {
		add(prev, loc[0])
		prev = loc[1]
	}
	add(prev, len(data))
	return f
}

func (f *File) offset(line, col int) int {
	if line < 1 || line > len(f.lines) {
		return len(f.data)
	}
	at := f.lines[line-1]
	for ; col > 1 && at < len(f.data); col-- {
		_, n := utf8.DecodeRune(f.data[at:])
		at += n
	}
	return at
}

func (f *File) pos(off int) Pos {
	line := bytes.Count(f.data[:off], []byte("\n")) + 1
	return Pos{off, line, utf8.RuneCount(f.data[f.lines[line-1]:off]) + 1}
}

func (f *File) node(n *yaml3.Node, shift int, seen map[*yaml3.Node]*Node, depth int) *Node {
	out := &Node{Value: n.Value, Tag: n.ShortTag(), Style: n.Style}
	seen[n] = out
	line := n.Line + shift
	out.Start = Pos{f.offset(line, n.Column), line, n.Column}
	out.End = out.Start
	switch n.Kind {
	case yaml3.MappingNode:
		out.Kind = Mapping
		for i := 0; i+1 < len(n.Content); i += 2 {
			k, v := f.node(n.Content[i], shift, seen, depth+1), f.node(n.Content[i+1], shift, seen, depth+1)
			out.Keys, out.Values = append(out.Keys, k), append(out.Values, v)
			f.key[v] = k
			out.End = v.End
		}
	case yaml3.SequenceNode:
		out.Kind = Sequence
		for _, c := range n.Content {
			v := f.node(c, shift, seen, depth+1)
			out.Values = append(out.Values, v)
			out.End = v.End
		}
	case yaml3.AliasNode:
		out.Kind = Alias
		out.Alias = seen[n.Alias]
	case yaml3.ScalarNode:
		out.Kind = Scalar
		end := f.scalarEnd(out)
		out.End = f.pos(end)
	}
	k := [2]int{line, n.Column}
	if old := f.at[k]; old == nil || out.Kind == Scalar {
		f.at[k] = out
	}
	return out
}

func (f *File) scalarEnd(n *Node) int {
	s := f.data[n.Start.Offset:]
	switch {
	case n.Style&yaml3.DoubleQuotedStyle != 0:
		for i := 1; i < len(s); i++ {
			if s[i] == '\\' {
				i++
			} else if s[i] == '"' {
				return n.Start.Offset + i + 1
			}
		}
	case n.Style&yaml3.SingleQuotedStyle != 0:
		for i := 1; i < len(s); i++ {
			if s[i] == '\'' {
				if i+1 < len(s) && s[i+1] == '\'' {
					i++
					continue
				}
				return n.Start.Offset + i + 1
			}
		}
	case n.Style&(yaml3.LiteralStyle|yaml3.FoldedStyle) != 0:
		lines := strings.SplitAfter(string(s), "\n")
		at := len(lines[0])
		indent := -1
		end := at
		for _, l := range lines[1:] {
			t := strings.TrimRight(l, "\n\r")
			if strings.TrimSpace(t) == "" {
				at += len(l)
				continue
			}
			in := len(t) - len(strings.TrimLeft(t, " "))
			if indent < 0 {
				indent = in
			}
			if in < indent {
				break
			}
			end = at + len(t)
			at += len(l)
		}
		return n.Start.Offset + end
	default:
		if bytes.HasPrefix(s, []byte(n.Value)) {
			return n.Start.Offset + len(n.Value)
		}
	}
	return n.Start.Offset
}

func (f *File) At(line, column int) *Node { return f.at[[2]int{line, column}] }
func (f *File) KeyOf(n *Node) *Node       { return f.key[n] }
func (f *File) DocumentAt(line int) *Document {
	var out *Document
	for _, d := range f.Documents {
		if d.Line <= line {
			out = d
		}
	}
	return out
}

func (d *Document) Find(p model.Path) (key, value *Node) {
	n := d.Root
	for _, step := range p {
		if n != nil && n.Kind == Alias {
			n = n.Alias
		}
		if n == nil {
			return nil, nil
		}
		var next *Node
		switch s := step.(type) {
		case string:
			for i, k := range n.Keys {
				if k.Value == s {
					key, next = k, n.Values[i]
				}
			}
		case int:
			if n.Kind == Sequence && s < len(n.Values) {
				key, next = nil, n.Values[s]
			}
		}
		n = next
	}
	return key, n
}

func (f *File) Span(n *Node) model.Span {
	return model.Span{Line: n.Start.Line, Column: n.Start.Column, EndLine: n.End.Line, EndColumn: n.End.Column}
}

func (f *File) Within(n *Node, from, to int) (model.Span, bool) {
	if from < 0 || to < from || to > len(n.Value) {
		return model.Span{}, false
	}
	raw := string(f.data[n.Start.Offset:n.End.Offset])
	part := n.Value[from:to]
	var a int
	switch {
	case n.Style&yaml3.LiteralStyle != 0:
		line := strings.Count(n.Value[:from], "\n")
		col := from - (strings.LastIndexByte(n.Value[:from], '\n') + 1)
		ls := strings.SplitAfter(raw, "\n")
		if line+1 >= len(ls) {
			return model.Span{}, false
		}
		indent := -1
		for _, l := range ls[1:] {
			if strings.TrimSpace(l) != "" {
				indent = len(l) - len(strings.TrimLeft(l, " "))
				break
			}
		}
		for _, l := range ls[:line+1] {
			a += len(l)
		}
		a += indent + col
	default:
		q := 0
		if n.Style&(yaml3.DoubleQuotedStyle|yaml3.SingleQuotedStyle) != 0 {
			q = 1
		}
		a = q + from
	}
	a += n.Start.Offset
	if a+len(part) > len(f.data) || string(f.data[a:a+len(part)]) != part {
		return model.Span{}, false
	}
	s, e := f.pos(a), f.pos(a+len(part))
	return model.Span{Line: s.Line, Column: s.Column, EndLine: e.Line, EndColumn: e.Column}, true
}

func (f *File) Text(s model.Span) string {
	return string(f.data[f.offset(s.Line, s.Column):f.offset(s.EndLine, s.EndColumn)])
}
