package yamlpos

import (
	"strings"
	"testing"

	yaml3 "go.yaml.in/yaml/v3"
)

// A walk whose value is not the one that the source has says nothing, whatever is wrong with it.
func TestWalkRefuses(t *testing.T) {
	sources := []struct {
		text  string
		style yaml3.Style
	}{
		{"one two", 0}, {"one\n\n  two\n three", 0}, {"one\u2028 two", 0}, {"'it''s\n \n so'", yaml3.SingleQuotedStyle},
		{`"a\tb\x41\u00e9\U0001F600 \\ \L"`, yaml3.DoubleQuotedStyle}, {"\"a\\\n\n  b\n c\"", yaml3.DoubleQuotedStyle},
		{"|2\n\n    a\n  b\n\n  c\n\n", yaml3.LiteralStyle}, {"|+ # x\n  \n   a\n\n", yaml3.LiteralStyle}, {"|\n\n", yaml3.LiteralStyle},
		{">\n  a\n  b\n\n   c\n\n  d\n e\n", yaml3.FoldedStyle}, {">+\n\n\n", yaml3.FoldedStyle},
	}
	refused := 0
	for _, s := range sources {
		var n yaml3.Node
		if err := yaml3.Unmarshal([]byte(s.text), &n); err != nil {
			t.Fatalf("%q: %v", s.text, err)
		}
		value := n.Content[0].Value
		if w := walkScalar([]byte(s.text), 0, s.style, value, true); !w.ok {
			t.Errorf("%q: %q is not found", s.text, value)
		}
		for i := 0; i <= len(value); i++ {
			for _, put := range []string{"#", "\n", " ", "\u2028", "\n\n"} {
				wrong := []string{value[:i] + put + value[i:]}
				if i < len(value) {
					wrong = append(wrong, value[:i]+put+value[i+1:], value[:i]+value[i+1:])
				}
				for _, v := range wrong {
					// The value says where a plain scalar ends, and how deep a block is and how it is chomped.
					switch {
					case v == value, s.style == 0 && strings.HasPrefix(value, v):
						continue
					case s.style&(yaml3.LiteralStyle|yaml3.FoldedStyle) != 0 && strings.TrimSpace(v) == strings.TrimSpace(value):
						continue
					}
					refused++
					if w := walkScalar([]byte(s.text), 0, s.style, v, true); w.ok {
						t.Errorf("%q is walked as %q", s.text, v)
					}
				}
			}
		}
		// Nor does it read beyond a text that ends too early.
		for i := range s.text {
			walkScalar([]byte(s.text[:i]), 0, s.style, value, true)
			walkScalar([]byte(s.text), i, s.style, value, true)
		}
	}
	if refused < 1000 {
		t.Errorf("%d values were tried", refused)
	}
}
