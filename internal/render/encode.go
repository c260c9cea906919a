package render

import (
	"strconv"
	"strings"
	"unicode/utf8"

	yaml2 "go.yaml.in/yaml/v2"
	yaml3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/kyaml/yaml"
	sigsyaml "sigs.k8s.io/yaml"
)

// This file turns resources into text and text back into resources, with the bytes that Flux gets.
//
// Flux takes a long way. A resource becomes text by YAML 1.2 text → map → JSON → YAML 1.1 map → text (kustomize
// api/resource/resource.go AsYAML), and substitution sends that text through YAML 1.1 → JSON → map → YAML 1.2 → the
// same way again (fluxcd/pkg kustomize/kustomize_varsub.go). Each hop is the identity for plain values: strings of
// printable text, integers a float64 holds exactly, booleans and null. So:
//
// The rules are:
//   - A resource that holds nothing but plain values is encoded at once with the last encoder of the chain (yaml.v2).
//   - Anything else takes the long way, hop for hop. What is plain is decided conservatively.
//   - Both ways are compared, byte for byte, by a differential test and a fuzz test.

// maxExactInt is the largest integer that survives the float64 hop of json.Unmarshal and is still written as an integer.
const maxExactInt = 1 << 53

// maxPlainDepth bounds recursion on hostile input; what is deeper takes the long way, which has limits of its own.
const maxPlainDepth = 100

// encodeNode gives the text of a resource exactly as kustomize's Resource.AsYAML does. stable tells that reparse
// would give the same text again.
func encodeNode(n *yaml.RNode) (text string, stable bool, err error) {
	text, tree, err := encodeTree(n, nil)
	return text, tree != nil, err
}

// encodeTree is encodeNode with the tree that was encoded, when it is plain; nil otherwise.
func encodeTree(n *yaml.RNode, f *forms) (text string, tree any, err error) {
	if v, ok := plainNode(n.YNode(), 0, false); ok {
		if text, ok := emit(v, f); ok {
			return text, v, nil
		}
		if out, err := yaml2.Marshal(v); err == nil {
			return string(out), v, nil
		}
	}
	text, err = encodeLong(n)
	return text, nil, err
}

// encodeLong is AsYAML itself, hop for hop.
func encodeLong(n *yaml.RNode) (string, error) {
	j, err := n.MarshalJSON()
	if err != nil {
		return "", err
	}
	out, err := sigsyaml.JSONToYAML(j)
	return string(out), err
}

// decoded is a document after the hop through YAML 1.1: its text, and its tree for whoever must look inside.
type decoded struct {
	text string
	obj  map[string]any
}

// reparse sends text through the hops that follow substitution: YAML 1.1 → JSON → resource → text. The error is
// Flux's, with the prefix that tells the hop.
func reparse(text string) (decoded, error) {
	if err := checkExpansion([]byte(text)); err != nil {
		return decoded{}, &hopError{"YAMLToJSON", err}
	}
	var tree any
	if err := yaml2.Unmarshal([]byte(text), &tree); err == nil {
		if v, ok := plainTree(tree, 0); ok {
			if m, ok := v.(map[string]any); ok {
				if out, err := yaml2.Marshal(m); err == nil {
					return decoded{string(out), m}, nil
				}
			}
		}
	}
	return reparseLong(text)
}

// reparseLong is the chain of fluxcd/pkg's SubstituteVariables, hop for hop.
func reparseLong(text string) (decoded, error) {
	j, err := sigsyaml.YAMLToJSON([]byte(text))
	if err != nil {
		return decoded{}, &hopError{"YAMLToJSON", err}
	}
	return fromJSON(j)
}

// fromJSON makes a resource of JSON as RNode.UnmarshalJSON does, and gives its text.
func fromJSON(j []byte) (decoded, error) {
	n := yaml.NewRNode(nil)
	if err := n.UnmarshalJSON(j); err != nil {
		return decoded{}, &hopError{"UnmarshalJSON", err}
	}
	out, err := encodeLong(n)
	if err != nil {
		return decoded{}, &hopError{"AsYAML", err}
	}
	var obj map[string]any
	if err := sigsyaml.Unmarshal([]byte(out), &obj); err != nil {
		return decoded{}, &hopError{"AsYAML", err}
	}
	return decoded{out, obj}, nil
}

// hopError says which hop failed, in the words that kustomize-controller reports.
type hopError struct {
	hop string
	err error
}

func (e *hopError) Error() string { return e.hop + ": " + e.err.Error() }
func (e *hopError) Unwrap() error { return e.err }

// plainNode gives the value of a node when each hop keeps it. flow tells that an ancestor is in flow style, where the
// encoder of yaml.v3 misplaces comments.
func plainNode(n *yaml3.Node, depth int, flow bool) (any, bool) {
	if n == nil || depth > maxPlainDepth || n.Anchor != "" || n.Style&yaml3.TaggedStyle != 0 {
		return nil, false
	}
	flow = flow || n.Style&yaml3.FlowStyle != 0
	if flow && (n.HeadComment != "" || n.LineComment != "" || n.FootComment != "") {
		return nil, false
	}
	switch n.Kind {
	case yaml3.MappingNode:
		return plainMapping(n, depth, flow)
	case yaml3.SequenceNode:
		list := make([]any, len(n.Content))
		for i, c := range n.Content {
			v, ok := plainNode(c, depth+1, flow)
			if !ok {
				return nil, false
			}
			list[i] = v
		}
		return list, true
	case yaml3.ScalarNode:
		return plainScalar(n, flow)
	}
	return nil, false
}

func plainMapping(n *yaml3.Node, depth int, flow bool) (any, bool) {
	if len(n.Content)%2 != 0 {
		return nil, false
	}
	m := make(map[string]any, len(n.Content)/2)
	for i := 0; i < len(n.Content); i += 2 {
		k, ok := plainNode(n.Content[i], depth+1, flow)
		if !ok {
			return nil, false
		}
		// yaml.v2 refuses a key of more than 1,024 bytes in JSON, and "<<" is a merge to yaml.v3.
		key, ok := k.(string)
		if !ok || len(key) > 128 || key == "<<" {
			return nil, false
		}
		if _, twice := m[key]; twice {
			return nil, false
		}
		v, ok := plainNode(n.Content[i+1], depth+1, flow)
		if !ok {
			return nil, false
		}
		m[key] = v
	}
	return m, true
}

func plainScalar(n *yaml3.Node, flow bool) (any, bool) {
	tag := n.ShortTag()
	const quoted = yaml3.SingleQuotedStyle | yaml3.DoubleQuotedStyle
	if tag != "!!str" {
		if n.Style != 0 {
			// A quoted or block scalar is a string once it is text, whatever its tag says.
			return nil, false
		}
		switch tag {
		case "!!int":
			return plainInt(n.Value)
		case "!!bool":
			return n.Value == "true", n.Value == "true" || n.Value == "false"
		case "!!null":
			// Nothing at all in flow style, `{a: }`, is written as an empty string.
			return nil, n.Value == "null" || n.Value == "~" || n.Value == "" && !flow
		}
		return nil, false
	}
	switch {
	case n.Style&yaml3.FoldedStyle != 0:
		// The encoder adds a blank line before more-indented lines: the text differs, and Flux's is the text.
		return nil, false
	case n.Style&yaml3.LiteralStyle != 0:
		// A block that begins with white space is not written so that it can be read again.
		if n.Value == "" || strings.IndexByte(" \t\n", n.Value[0]) >= 0 {
			return nil, false
		}
	case n.Style&quoted == 0 && n.Tag == "" && n.Value == "":
		return nil, false
	}
	return n.Value, plainString(n.Value) && !leadingSpace(n.Value)
}

func plainInt(s string) (any, bool) {
	digits := strings.TrimPrefix(s, "-")
	if digits == "" || len(digits) > 1 && digits[0] == '0' || s == "-0" {
		return nil, false
	}
	for i := 0; i < len(digits); i++ {
		if digits[i] < '0' || digits[i] > '9' {
			return nil, false
		}
	}
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil || v > maxExactInt || v < -maxExactInt {
		return nil, false
	}
	return int(v), true
}

// plainString tells whether every hop keeps a string: printable text, tabs and line feeds.
func plainString(s string) bool {
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
				return false
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		// Not plain: broken UTF-8, C1 controls and NEL, the Unicode line ends, byte order marks, non-characters.
		if r == utf8.RuneError || r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff || r >= 0xfff0 && r <= 0xffff {
			return false
		}
		i += size
	}
	return true
}

// leadingSpace tells strings of several lines that start with white space: as block scalars they need an indentation
// indicator, which yaml.v3 does not always write rightly.
func leadingSpace(s string) bool {
	return s != "" && strings.IndexByte(" \t\n", s[0]) >= 0 && strings.IndexByte(s, '\n') >= 0
}

// plainTree gives a tree that yaml.v2 decoded in JSON's shape when the hops that follow keep it.
func plainTree(v any, depth int) (any, bool) {
	if depth > maxPlainDepth {
		return nil, false
	}
	switch v := v.(type) {
	case map[any]any:
		m := make(map[string]any, len(v))
		for k, e := range v {
			key, ok := k.(string)
			if !ok || len(key) > 128 || key == "<<" || !plainString(key) || leadingSpace(key) {
				return nil, false
			}
			if m[key], ok = plainTree(e, depth+1); !ok {
				return nil, false
			}
		}
		return m, true
	case []any:
		for i, e := range v {
			e, ok := plainTree(e, depth+1)
			if !ok {
				return nil, false
			}
			v[i] = e
		}
		return v, true
	case string:
		return v, plainString(v) && !leadingSpace(v)
	case int:
		return v, v <= maxExactInt && v >= -maxExactInt
	case bool, nil:
		return v, true
	}
	return nil, false
}
