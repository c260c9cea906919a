package render

import (
	"fmt"
	"testing"

	yaml3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/resource"
)

// FuzzEncode reads objects from YAML as kustomize does and compares each with kustomize's own text.
func FuzzEncode(f *testing.F) {
	for _, s := range []string{"v: 1\n", "v: {a: , b: 'x'} # c\n", "v: &x [1, *x]\n", "v: |2-\n   x\n  y\n", "v: \"\\t\\u2028\\x85\"\n", plainDeployment, head + "---\n" + head} {
		f.Add([]byte(head + s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<12 {
			t.Skip("longer input finds nothing that shorter does not")
		}
		holdEncode(t, data)
	})
}

// FuzzEncodeScalar sets one scalar node, as transformers of kustomize make them: any value under any style and tag.
func FuzzEncodeScalar(f *testing.F) {
	for i, v := range []string{"x", "", "1", "\ta\nb", " x", "a\n", "\n", "true", "0x10", "a\u2028b", "\xff", "1e400", "<<", long} {
		f.Add(v, byte(i), byte(i/2), byte(i/3), i%5 == 0)
	}
	f.Fuzz(func(t *testing.T, value string, style, tag, at byte, comment bool) {
		if len(value) > 1<<12 {
			t.Skip("longer input finds nothing that shorter does not")
		}
		res := withScalar(t, value, style, tag, at, comment)
		if !writable(res) {
			t.Skip("yaml.v3 panics over such a node, which kustomize makes of no file")
		}
		holdResource(t, res)
	})
}

// FuzzReparse sends text through the hops that follow substitution.
func FuzzReparse(f *testing.F) {
	for _, s := range []string{"", head, head + "v: 1_000\n", head + "? \"\\ta\\nb\"\n: v\n", head + "v: 12345678901234567890\n", head + "v: [*x]\n", head + "yes: no\n", "[]\n", plainDeployment} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<12 {
			t.Skip("longer input finds nothing that shorter does not")
		}
		holdReparse(t, text)
	})
}

// TestEncodeScalarNodes goes through each combination of values, styles, tags and places.
func TestEncodeScalarNodes(t *testing.T) {
	values := []string{
		"", " ", "\t", "\n", "x", " x", "x ", "\tx", "x\t", "\nx", "x\n", "\n\nx", "x\n\n", " x\ny", "\tx\ny", "x\n y", "x\n\ty", "x \ny", "x\n\ny", "x\n \ny", "\r", "x\ry", "x\r\ny",
		"1", "-0", "0x1F", "1_000", "1.5", "1e400", ".inf", "9007199254740993", "true", "yes", "~", "null", "Null", "2026-01-02", "190:20:30",
		"=", "<<", "-", "- a", "a: b", "a #b", "#a", "'", `"`, "''", "{}", "[", "*x", "&x", "!x", "|", ">", "@", "%", "`", "---", "...", "\ufeff", "\ufeffx", "\u0085", "x\u2028y", "\u00a0", "\u200b", "\U0001F600", "\xff", "\xed\xa0\x80", "\x00", "\x1b", "\x7f",
		long, long + "\n" + long, " " + long,
	}
	if testing.Short() {
		values = values[:20]
	}
	for _, value := range values {
		t.Run(fmt.Sprintf("%.40q", value), func(t *testing.T) {
			for style := range byte(len(styles)) {
				for tag := range byte(len(tags)) {
					for at := range byte(placesOfNode) {
						res := withScalar(t, value, style, tag, at, style%2 == 0)
						if writable(res) {
							holdResource(t, res)
						}
					}
				}
			}
		})
	}
}

var (
	styles = []yaml3.Style{0, yaml3.SingleQuotedStyle, yaml3.DoubleQuotedStyle, yaml3.LiteralStyle, yaml3.FoldedStyle}
	tags   = []string{"", yaml3TagString, "!!int", "!!bool", "!!null", "!!float", "!!timestamp", "!x"}
)

const (
	yaml3TagString = "!!str"
	placesOfNode   = 6
)

// withScalar gives a resource in which one node is as told.
func withScalar(t *testing.T, value string, style, tag, at byte, comment bool) *resource.Resource {
	t.Helper()
	n := &yaml3.Node{Kind: yaml3.ScalarNode, Value: value, Style: styles[int(style)%len(styles)], Tag: tags[int(tag)%len(tags)]}
	if comment {
		n.LineComment = "# a comment"
	}
	other := func(s string) *yaml3.Node { return &yaml3.Node{Kind: yaml3.ScalarNode, Value: s, Tag: yaml3TagString} }
	var in *yaml3.Node
	switch at % placesOfNode {
	case 0:
		in = &yaml3.Node{Kind: yaml3.MappingNode, Tag: "!!map", Content: []*yaml3.Node{other("a"), n, other("b"), other("end")}}
	case 1:
		in = &yaml3.Node{Kind: yaml3.SequenceNode, Tag: "!!seq", Content: []*yaml3.Node{n, other("end")}}
	case 2:
		in = &yaml3.Node{Kind: yaml3.MappingNode, Tag: "!!map", Content: []*yaml3.Node{n, other("end")}}
	case 3:
		in = &yaml3.Node{Kind: yaml3.MappingNode, Style: yaml3.FlowStyle, Content: []*yaml3.Node{other("a"), n, other("b"), other("end")}}
	case 4:
		in = &yaml3.Node{Kind: yaml3.SequenceNode, Style: yaml3.FlowStyle, Content: []*yaml3.Node{n, other("end")}}
	case 5:
		in = n
	}
	res := blankResource(t)
	res.YNode().Content = append(res.YNode().Content, other("spec"), in)
	return res
}

// writable tells whether the encoder comes back.
func writable(res *resource.Resource) (ok bool) {
	defer func() { ok = recover() == nil }()
	_, _ = res.AsYAML()
	return true
}
