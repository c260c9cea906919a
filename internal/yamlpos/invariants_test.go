package yamlpos_test

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	yaml3 "go.yaml.in/yaml/v3"

	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/yamlpos"
)

// each visits all nodes of a file, keys too.
func each(f *yamlpos.File, visit func(*yamlpos.Node)) {
	var walk func(n *yamlpos.Node)
	walk = func(n *yamlpos.Node) {
		visit(n)
		for i, v := range n.Values {
			if n.Kind == yamlpos.Mapping {
				walk(n.Keys[i])
			}
			walk(v)
		}
	}
	for _, d := range f.Documents {
		if d.Root != nil {
			walk(d.Root)
		}
	}
}

// invariants are what holds for every input. It gives the number of scalars.
func invariants(t testing.TB, data []byte) (scalars int) {
	t.Helper()
	f := yamlpos.Parse(data)
	likeParser(t, f, data)
	each(f, func(n *yamlpos.Node) {
		inFile(t, f, data, n)
		nested(t, n)
		if n.Kind == yamlpos.Scalar {
			scalars++
			decodes(t, f, n)
			parts(t, f, n)
		}
	})
	return scalars
}

var separator = regexp.MustCompile(`\n---.*\n`)

// likeParser compares with what yaml.v3 gives for the documents as kyaml splits them.
func likeParser(t testing.TB, f *yamlpos.File, data []byte) {
	t.Helper()
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	odd := strings.ContainsAny(text, "\r\u0085\u2028\u2029")
	prev, i := 0, 0
	for more := true; more; i++ {
		piece, start := text[prev:], prev
		if loc := separator.FindStringIndex(piece); loc != nil {
			piece, prev = piece[:loc[0]]+"\n", prev+loc[1]
		} else {
			more = false
		}
		if i >= len(f.Documents) {
			t.Fatalf("%q has %d documents", data, len(f.Documents))
		}
		d := f.Documents[i]
		if line := 1 + strings.Count(text[:start], "\n"); d.Line != line {
			t.Fatalf("%q: document %d begins on line %d, not %d", data, i, line, d.Line)
		}
		if got := f.DocumentAt(d.Line); got != d {
			t.Fatalf("%q: line %d is not of document %d", data, d.Line, i)
		}
		var n yaml3.Node
		err := decode(piece, &n)
		switch {
		case strings.HasPrefix(piece, "\xff\xfe") || strings.HasPrefix(piece, "\xfe\xff"):
			if d.Err == nil || d.Root != nil {
				t.Fatalf("%q: document %d is UTF-16", data, i)
			}
		case err == io.EOF:
			if d.Root != nil || d.Err != nil {
				t.Fatalf("%q: document %d is empty", data, i)
			}
		case err != nil:
			if d.Err == nil || d.Root != nil {
				t.Fatalf("%q: document %d: %v", data, i, err)
			}
		case d.Err != nil:
			t.Fatalf("%q: document %d is one: %v", data, i, d.Err)
		default:
			same(t, f, d, n.Content[0], d.Root, odd)
		}
	}
	if i != len(f.Documents) {
		t.Fatalf("%q has %d documents, not %d", data, i, len(f.Documents))
	}
}

func decode(text string, n *yaml3.Node) (err error) {
	defer func() {
		if recover() != nil {
			err = io.ErrUnexpectedEOF
		}
	}()
	return yaml3.NewDecoder(strings.NewReader(text)).Decode(n)
}

func same(t testing.TB, f *yamlpos.File, d *yamlpos.Document, theirs *yaml3.Node, ours *yamlpos.Node, odd bool) {
	t.Helper()
	kinds := map[yaml3.Kind]yamlpos.Kind{yaml3.MappingNode: yamlpos.Mapping, yaml3.SequenceNode: yamlpos.Sequence, yaml3.ScalarNode: yamlpos.Scalar, yaml3.AliasNode: yamlpos.Alias}
	if kinds[theirs.Kind] != ours.Kind || theirs.Value != ours.Value || theirs.ShortTag() != ours.Tag || theirs.Style != ours.Style {
		t.Fatalf("%+v is made of %+v", ours, theirs)
	}
	// Where several begin, it is another that begins there as well.
	at := f.At(d.Line+theirs.Line-1, theirs.Column)
	switch {
	case at == ours || odd && at != nil:
	case at == nil:
		t.Fatalf("nothing is at %d:%d, where %+v is", d.Line+theirs.Line-1, theirs.Column, theirs)
	case ours.Kind == yamlpos.Scalar && ours.Start != ours.End:
		t.Fatalf("%+v is at %d:%d, and not %+v", at, d.Line+theirs.Line-1, theirs.Column, theirs)
	}
	switch theirs.Kind {
	case yaml3.MappingNode:
		if 2*len(ours.Keys) != len(theirs.Content) || len(ours.Keys) != len(ours.Values) {
			t.Fatalf("%+v has other keys than %+v", ours, theirs)
		}
		for i := range ours.Keys {
			same(t, f, d, theirs.Content[2*i], ours.Keys[i], odd)
			same(t, f, d, theirs.Content[2*i+1], ours.Values[i], odd)
			if f.KeyOf(ours.Values[i]) != ours.Keys[i] {
				t.Fatalf("the key of %+v is another", ours.Values[i])
			}
		}
	case yaml3.SequenceNode:
		for i, v := range ours.Values {
			same(t, f, d, theirs.Content[i], v, odd)
			if f.KeyOf(v) != nil {
				t.Fatalf("%+v has a key", v)
			}
		}
	case yaml3.AliasNode:
		if ours.Alias == nil || ours.Alias.Tag != theirs.Alias.ShortTag() {
			t.Fatalf("%+v is an alias of %+v", ours, ours.Alias)
		}
	}
}

// inFile: a span is one of the file.
func inFile(t testing.TB, f *yamlpos.File, data []byte, n *yamlpos.Node) {
	t.Helper()
	if n.Start.Offset < 0 || n.End.Offset > len(data) || n.Start.Offset > n.End.Offset {
		t.Fatalf("%+v is no span of %d bytes", n, len(data))
	}
	for _, p := range []yamlpos.Pos{n.Start, n.End} {
		if at, ok := f.Offset(p.Line, p.Column); !ok || at != p.Offset {
			t.Fatalf("%q: %+v: line %d, column %d is byte %d, %v", data, p, p.Line, p.Column, at, ok)
		}
		before := bytes.TrimPrefix(data[:p.Offset], []byte("\ufeff"))
		line, last := 1+bytes.Count(before, []byte("\n")), before[bytes.LastIndexByte(before, '\n')+1:]
		if line != p.Line || utf8.RuneCount(last)+1 != p.Column {
			t.Fatalf("%q: %+v is line %d, column %d", data, p, line, utf8.RuneCount(last)+1)
		}
	}
	text := f.Text(f.Span(n))
	if text != string(data[n.Start.Offset:n.End.Offset]) {
		t.Fatalf("%+v has the text %q", n, text)
	}
	if n.Kind == yamlpos.Alias && text != "*"+n.Value {
		t.Fatalf("the alias %s is %q", n.Value, text)
	}
	if n.Kind == yamlpos.Mapping || n.Kind == yamlpos.Sequence {
		if trimmed := strings.TrimSpace(text); n.Style&yaml3.FlowStyle != 0 && len(n.Values) == 0 &&
			(len(trimmed) < 2 || !strings.ContainsRune("{[", rune(trimmed[0])) || trimmed[len(trimmed)-1] != trimmed[0]+2) {
			t.Fatalf("%q: %+v is %q", data, n, text)
		}
	}
}

// nested: what a node holds is in its span, in order.
func nested(t testing.TB, n *yamlpos.Node) {
	t.Helper()
	at := n.Start.Offset
	in := func(c *yamlpos.Node) {
		if c.Start.Offset < at || c.End.Offset > n.End.Offset {
			t.Fatalf("%+v is not between %d and %d in %+v", c, at, n.End.Offset, n)
		}
		at = c.End.Offset
	}
	for i, v := range n.Values {
		if n.Kind == yamlpos.Mapping {
			in(n.Keys[i])
		}
		in(v)
	}
}

// decodes: the text of a scalar, read again by itself, is its value.
func decodes(t testing.TB, f *yamlpos.File, n *yamlpos.Node) {
	t.Helper()
	text := f.Text(f.Span(n))
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if text == "" {
		if n.Value != "" {
			t.Fatalf("%q has no text", n.Value)
		}
		return
	}
	block := n.Style&(yaml3.LiteralStyle|yaml3.FoldedStyle) != 0
	want := n.Value
	if block {
		want = strings.TrimRight(want, "\n\u2028\u2029")
	}
	if n.Style&^yaml3.TaggedStyle == 0 {
		text, want = "x"+text+"x", "x"+want+"x" // what may begin or end a key is nothing else here
	}
	var last string
	// How deep a block with an indicator is depends on what it stands in.
	for depth := 0; depth < 60; depth++ {
		front := " "
		if block {
			front = strings.Repeat(" ", depth) + "k: "
		}
		var again yaml3.Node
		if err := decode(front+text+"\n", &again); err == nil {
			v := again.Content[0]
			if v.Kind == yaml3.MappingNode && block {
				v = v.Content[1]
			}
			if last = v.Value; block {
				last = strings.TrimRight(last, "\n\u2028\u2029")
			}
			if last == want && v.Style&^yaml3.TaggedStyle == n.Style&^yaml3.TaggedStyle {
				return
			}
		}
		if !block {
			break
		}
	}
	t.Fatalf("%q is decoded to %q, not %q", text, last, n.Value)
}

// parts: a part of a scalar, from character to character, has a place; what stands there is the part.
func parts(t testing.TB, f *yamlpos.File, n *yamlpos.Node) {
	t.Helper()
	v := n.Value
	step := 1 + len(v)/30
	for from := 0; from <= len(v); from += step {
		for _, to := range []int{from, from + 1, from + 2, from + 3, from + 7, len(v)} {
			if to > len(v) {
				continue
			}
			s, ok := f.Within(n, from, to)
			inner := from < len(v) && !utf8.RuneStart(v[from]) || to < len(v) && !utf8.RuneStart(v[to])
			if ok == inner {
				t.Fatalf("bytes %d to %d of %+v: %v", from, to, n, ok)
			}
			if ok {
				part(t, f, n, v[from:to], s)
			}
		}
	}
}

func part(t testing.TB, f *yamlpos.File, n *yamlpos.Node, part string, s model.Span) {
	t.Helper()
	start, ok1 := f.Offset(s.Line, s.Column)
	end, ok2 := f.Offset(s.EndLine, s.EndColumn)
	if !ok1 || !ok2 || start > end || start < n.Start.Offset || end > n.End.Offset {
		t.Fatalf("%q of %+v is at %v", part, n, s)
	}
	text := f.Text(s)
	if strings.ContainsAny(text, "\r\n\u0085\u2028\u2029") || strings.ContainsAny(part, "\n\u2028\u2029") && n.Style&yaml3.DoubleQuotedStyle == 0 {
		return // a line break: it is folded, or stands behind the span
	}
	got := text
	switch {
	case n.Style&yaml3.DoubleQuotedStyle != 0:
		got = unquote(t, `"`+text+`"`)
	case n.Style&yaml3.SingleQuotedStyle != 0:
		got = unquote(t, `'`+text+`'`)
	}
	if got != part {
		t.Fatalf("%q of %+v is at %v, and that is %q", part, n, s, text)
	}
}

func unquote(t testing.TB, text string) string {
	t.Helper()
	var n yaml3.Node
	if err := decode(text, &n); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return n.Content[0].Value
}
