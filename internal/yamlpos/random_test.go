package yamlpos_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	yaml3 "go.yaml.in/yaml/v3"

	"github.com/tidegate/tidegate/internal/yamlpos"
)

var pieces = []string{"a", "b", "word", "ä", "漢", " ", "  ", "\n", "\n\n", "\n  ", "\t", "'", "\"", "\\", "#", " #", ": ", ":", "- ", "-", "---",
	"${X}", "${Y:=z}", "$", "{", "}", "[", ",", "|", ">", "&", "*", "!", "%", "\u00a0", "\u0085", "\u2028", "\u2029", "\ufeff", "😀", "\r"}

func randomText(r *rand.Rand, most int) string {
	var b strings.Builder
	for n := r.IntN(most + 1); n > 0; n-- {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

// randomTree makes a tree in random styles, with comments, tags, anchors and aliases.
func randomTree(r *rand.Rand, depth int, anchors *[]*yaml3.Node) *yaml3.Node {
	n := &yaml3.Node{}
	if r.IntN(6) == 0 {
		n.HeadComment = "# head"
	}
	if r.IntN(8) == 0 {
		n.LineComment = "# ${line}"
	}
	switch kind := r.IntN(10); {
	case kind == 0 && len(*anchors) > 0:
		target := (*anchors)[r.IntN(len(*anchors))]
		return &yaml3.Node{Kind: yaml3.AliasNode, Value: target.Anchor, Alias: target}
	case kind < 5 && depth > 0:
		n.Kind, n.Tag = yaml3.MappingNode, "!!map"
		for i := r.IntN(5); i > 0; i-- {
			n.Content = append(n.Content, &yaml3.Node{Kind: yaml3.ScalarNode, Tag: "!!str", Value: fmt.Sprint("k", i, randomText(r, 2))}, randomTree(r, depth-1, anchors))
		}
	case kind < 7 && depth > 0:
		n.Kind, n.Tag = yaml3.SequenceNode, "!!seq"
		for i := r.IntN(5); i > 0; i-- {
			n.Content = append(n.Content, randomTree(r, depth-1, anchors))
		}
	default:
		styles := []yaml3.Style{0, yaml3.SingleQuotedStyle, yaml3.DoubleQuotedStyle, yaml3.LiteralStyle, yaml3.FoldedStyle}
		n.Kind, n.Tag, n.Value, n.Style = yaml3.ScalarNode, "!!str", randomText(r, 14), styles[r.IntN(len(styles))]
		if r.IntN(6) == 0 {
			n.Tag, n.Value, n.Style = "!!null", "", 0
		}
	}
	if n.Kind != yaml3.ScalarNode && r.IntN(4) == 0 {
		n.Style = yaml3.FlowStyle
	}
	if r.IntN(8) == 0 {
		n.Style |= yaml3.TaggedStyle
	}
	if r.IntN(8) == 0 {
		n.Anchor = fmt.Sprint("a", len(*anchors))
		*anchors = append(*anchors, n)
	}
	return n
}

func marshal(n *yaml3.Node) (data []byte, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false // the emitter gives up on some
		}
	}()
	data, err := yaml3.Marshal(n)
	return data, err == nil
}

// variant gives a file what files have.
func variant(r *rand.Rand, data []byte) []byte {
	if r.IntN(3) == 0 {
		data = append([]byte("# first ä\nother: [1, ${X}]\n--- # next\n"), data...)
	}
	if r.IntN(4) == 0 {
		data = append(data, "---\nlast: |\n  ${X}\n"...)
	}
	if r.IntN(4) == 0 {
		data = bytes.TrimRight(data, "\n")
	}
	if r.IntN(4) == 0 {
		data = bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n"))
	}
	if r.IntN(6) == 0 {
		data = append([]byte("\ufeff"), data...)
	}
	return data
}

// Random trees as yaml.v3 writes them.
func TestRandomTrees(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	scalars := 0
	for range 3000 {
		var anchors []*yaml3.Node
		if data, ok := marshal(randomTree(r, 4, &anchors)); ok {
			scalars += invariants(t, variant(r, data))
		}
	}
	if scalars < 10000 {
		t.Errorf("%d scalars", scalars)
	}
}

// source writes a scalar as people may and emitters do not: lines anywhere, every escape, indentation indicators. Not all
// that it writes is YAML.
func source(r *rand.Rand, indent int) string {
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	lineBreak := func() string {
		s := pick("", " ", "\t ") + pick("\n", "\n", "\n", "\n\n", "\n \n\n", "\r", "\u0085", "\u2028", "\u2029")
		return s + strings.Repeat(" ", indent+r.IntN(3)) + pick("", "", "\t")
	}
	words := func(from ...string) string {
		var b strings.Builder
		for n := r.IntN(9); n > 0; n-- {
			switch r.IntN(6) {
			case 0:
				b.WriteString(lineBreak())
			case 1:
				b.WriteString(pick(from...))
			case 2:
				b.WriteString(pick(" ", "  ", "\t", " \t "))
			default:
				b.WriteString(pick("x", "ä", "漢字", "😀", "${X}", "${A:-b c}", "y-z", "a:b"))
			}
		}
		return b.String()
	}
	switch r.IntN(5) {
	case 0:
		return "p" + words("'", "\"", "\\n", "-") + pick("", " # ${X}")
	case 1:
		return "'" + words("''", "''''", "\\", "\"", "# ", ": ") + "'"
	case 2:
		return `"` + words(`\"`, `\\`, `\n`, `\t`, `\x41`, `\u00e9`, `\U0001F600`, `\_`, `\N`, `\L`, `\P`, `\ `, `\0`, `\e`, "\\\n  ", "\\\n\n \t", "\\\r ", "'", "# ", ": ") + `"`
	}
	digit := 0
	head := pick("|", "|", ">")
	if r.IntN(3) == 0 {
		digit = 1 + r.IntN(4)
		head += fmt.Sprint(digit)
	}
	head += pick("", "", "-", "+") + pick("", "", "  # ${X}", "\t")
	if digit == 0 {
		digit = indent + r.IntN(3)
	}
	var b strings.Builder
	b.WriteString(head)
	for n := r.IntN(8); n > 0; n-- {
		b.WriteString(pick("\n", "\n", "\n", "\n\n", "\n ", "\r", "\u0085", "\u2028"))
		if r.IntN(5) > 0 {
			b.WriteString(strings.Repeat(" ", digit) + pick("", "", " ", "   ", "\t") + pick("x", "${X}", "ä ${X} # b", "- c: d", "trailing  ", "", "'q'", "#"))
		}
	}
	return b.String()
}

// Random sources, in block and flow, under keys and in lists, with anchors and tags.
func TestRandomSources(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	scalars, read := 0, 0
	for range 12000 {
		var b strings.Builder
		front := func() string {
			return []string{"", "", "", "", "&x ", "!!str ", "&y !t ", "!<tag:t> &z ", "! ", "&n\n    # why\n    ", "!!str\n    "}[r.IntN(11)]
		}
		switch r.IntN(5) {
		case 0:
			b.WriteString("k: " + front() + source(r, 1) + "\nz: end\n")
		case 1:
			b.WriteString("k:\n- " + front() + source(r, 1) + "\n-\n  - " + source(r, 3) + "\n- z\n")
		case 2:
			b.WriteString("k: {a: " + front() + source(r, 0) + " , " + source(r, 0) + ": [" + source(r, 0) + ", " + front() + ", b: " + source(r, 0) + "], c} # d\nz: e\n")
		case 3:
			b.WriteString("? " + front() + source(r, 2) + "\n: " + source(r, 2) + "\n? x\n? y\n# c\n\nz:\n  q:\n\n  r: " + source(r, 3) + "\n")
		case 4:
			b.WriteString(front() + source(r, 0) + "\n")
		}
		data := variant(r, []byte(b.String()))
		if f := yamlpos.Parse(data); f.Documents[len(f.Documents)-1].Err == nil {
			read++
		}
		scalars += invariants(t, data)
	}
	if read < 6000 || scalars < 30000 {
		t.Errorf("%d files were YAML, with %d scalars", read, scalars)
	}
}
