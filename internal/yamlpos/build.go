package yamlpos

import (
	"bytes"
	"sort"

	yaml3 "go.yaml.in/yaml/v3"
)

// builder turns the parser's nodes into ours, document by document.
type builder struct {
	file     *File
	document int // number of the document
	shift    int // lines of the file before it
	end      int // of its text
	anchors  map[*yaml3.Node]*Node
	mark     yamlCursor
	cursor   cursor
	slab     []Node
	gap      gap
}

// gap is what is between a key and where the parser has a value that is not written, and where we have it.
type gap struct{ from, to, null int }

// parse adds the document whose text is [start, end).
func (b *builder) parse(start, end int) {
	f := b.file
	d := &Document{Line: max(1, sort.SearchInts(f.textLines, start+1))}
	b.document = len(f.Documents)
	f.Documents = append(f.Documents, d)
	var n yaml3.Node
	if d.Err = decode(f.text[start:end], &n); d.Err != nil || len(n.Content) == 0 {
		return
	}
	b.shift, b.end, b.mark = d.Line-1, end, newYAMLCursor(f, d.Line, start, end)
	d.Root = b.node(n.Content[0])
	b.anchors, b.gap = nil, gap{}
}

// alloc gives a node. They are made by the hundred: a file has many, and they live as long as it.
func (b *builder) alloc() *Node {
	if len(b.slab) == cap(b.slab) {
		b.slab = make([]Node, 0, min(8+2*cap(b.slab), 512))
	}
	b.slab = b.slab[:len(b.slab)+1]
	return &b.slab[len(b.slab)-1]
}

// node builds a node and what it holds. The parser bounds the depth (yaml.v3 scannerc.go max_flow_level, max_indents).
func (b *builder) node(n *yaml3.Node) *Node {
	out := b.alloc()
	out.Tag, out.Style = n.ShortTag(), n.Style
	if n.Anchor != "" {
		if b.anchors == nil {
			b.anchors = map[*yaml3.Node]*Node{}
		}
		b.anchors[n] = out
	}
	offset := b.mark.offset(n.Line, n.Column)
	b.file.marks = append(b.file.marks, mark{int32(n.Line + b.shift), int32(n.Column), int32(b.document), out})
	switch n.Kind {
	case yaml3.MappingNode:
		out.Kind = Mapping
		b.mapping(out, n, offset)
	case yaml3.SequenceNode:
		out.Kind = Sequence
		b.sequence(out, n, offset)
	case yaml3.AliasNode:
		out.Kind, out.Value, out.Alias = Alias, n.Value, b.anchors[n.Alias]
		end := offset
		if name := "*" + n.Value; bytes.HasPrefix(b.file.text[offset:b.end], []byte(name)) {
			end += len(name)
		}
		b.place(out, offset, end)
	default:
		out.Kind, out.Value = Scalar, n.Value
		b.scalar(out, n, offset)
	}
	return out
}

func (b *builder) place(n *Node, start, end int) {
	n.Start = b.cursor.pos(start)
	n.End = n.Start
	if end > start {
		n.End = b.cursor.pos(end)
	}
}

func (b *builder) scalar(out *Node, n *yaml3.Node, offset int) {
	if n.Value == "" && n.Style&^yaml3.TaggedStyle == 0 {
		if n.Anchor != "" || n.Style&yaml3.TaggedStyle != 0 {
			offset, _ = b.properties(offset)
		}
		b.place(out, offset, offset)
		return
	}
	_, offset = b.properties(offset)
	w := walkScalar(b.file.text[:b.end], offset, n.Style, n.Value, false)
	if !w.ok {
		w.stop = offset
	}
	b.place(out, offset, w.stop)
}

func (b *builder) mapping(out *Node, n *yaml3.Node, offset int) {
	_, offset = b.properties(offset)
	// A pair in a flow sequence is of flow style too, and has no brackets. Where its key has them, its end finds none.
	flow := n.Style&yaml3.FlowStyle != 0 && offset < b.end && b.file.text[offset] == '{'
	if flow {
		out.Start = b.cursor.pos(offset)
	}
	count := len(n.Content) / 2
	nodes := make([]*Node, 2*count)
	out.Keys, out.Values = nodes[:count:count], nodes[count:]
	for i := range count {
		k, v := b.node(n.Content[2*i]), b.node(n.Content[2*i+1])
		v.key = k
		out.Keys[i], out.Values[i] = k, v
		if c := n.Content[2*i+1]; v.Kind == Scalar && c.Value == "" && c.Style == 0 && c.Anchor == "" {
			b.null(k, v)
		}
	}
	if flow {
		b.close(out, '}')
		return
	}
	if count == 0 {
		b.place(out, offset, offset)
		return
	}
	out.Start, out.End = out.Keys[0].Start, out.Values[count-1].End
	if out.End.Offset < out.Start.Offset {
		out.End = out.Start
	}
}

// null places a value that is not written behind the colon of its key, or behind the key where there is no colon. The
// parser has it where the next thing begins (yaml.v3 parserc.go yaml_parser_process_empty_scalar), which may be many
// lines below.
func (b *builder) null(k, v *Node) {
	from, to := b.file.textOffset(k.End), b.file.textOffset(v.Start)
	if to < from {
		return
	}
	// Keys that are mappings whose values are not written either end at one place: it is looked at once.
	if b.gap.from != from || b.gap.to != to {
		b.gap = gap{from, to, from}
		if at := skipSpace(b.file.text[:to], from); at < to && b.file.text[at] == ':' {
			b.gap.null = at + 1
		}
	}
	if b.gap.null < to {
		b.place(v, b.gap.null, b.gap.null)
	}
}

func (b *builder) sequence(out *Node, n *yaml3.Node, offset int) {
	_, offset = b.properties(offset)
	out.Start = b.cursor.pos(offset)
	out.Values = make([]*Node, len(n.Content))
	for i, c := range n.Content {
		out.Values[i] = b.node(c)
	}
	if n.Style&yaml3.FlowStyle != 0 {
		b.close(out, ']')
		return
	}
	out.End = out.Start
	if last := len(out.Values) - 1; last >= 0 && out.Values[last].End.Offset > out.Start.Offset {
		out.End = out.Values[last].End
	}
}

// close finds the bracket that ends a flow collection.
func (b *builder) close(n *Node, bracket byte) {
	text := b.file.text[:b.end]
	n.End = n.Start
	from := b.file.textOffset(n.Start) + 1
	if last := len(n.Values) - 1; last >= 0 && n.Values[last].End.Offset > n.Start.Offset {
		n.End = n.Values[last].End
		from = b.file.textOffset(n.End)
	}
	at := skipSpace(text, min(from, len(text)))
	if at < len(text) && text[at] == ',' {
		at = skipSpace(text, at+1)
	}
	if at < len(text) && text[at] == bracket {
		n.End = b.cursor.pos(at + 1)
	}
}

// properties skips an anchor and a tag, in either order, and gives where they end and where the value begins.
func (b *builder) properties(offset int) (end, value int) {
	text := b.file.text[:b.end]
	at := offset
	for seen := byte(0); at < len(text) && (text[at] == '&' || text[at] == '!') && text[at] != seen; {
		seen = text[at]
		// An anchor ends with its name, a tag at a blank (yaml.v3 scannerc.go yaml_parser_scan_anchor and _tag).
		for at++; at < len(text); at++ {
			if seen == '&' && !isWord(text[at]) || isBlank(text[at]) || breakLen(text, at) > 0 {
				break
			}
		}
		end = at
		at = skipSpace(text, at)
	}
	if end == 0 {
		end = offset
	}
	return end, at
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '_' || c == '-'
}

// skipSpace goes over blanks, line breaks and comments.
func skipSpace(text []byte, at int) int {
	for at < len(text) {
		if isBlank(text[at]) {
			at++
		} else if n := breakLen(text, at); n > 0 {
			at += n
		} else if text[at] == '#' {
			for at < len(text) && breakLen(text, at) == 0 {
				at++
			}
		} else {
			break
		}
	}
	return at
}
