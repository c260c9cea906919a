package sops

import (
	"bytes"
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Bounds of what aliases may add to a YAML document, and of the comparisons that looking for
// repeated keys takes (the decoder compares every key of a mapping with every other).
const (
	maxAliased = 16 << 20
	maxPairs   = 1 << 29
)

// yamlReader builds tables from YAML nodes, comments included (stores/yaml/store.go). The same
// parser as in SOPS hands the comments to the same nodes.
type yamlReader struct {
	depth   int
	inAlias int
	aliased int
	pairs   int
	first   bool // the first document is read more strictly
}

func readYAML(data []byte) ([]table, error) {
	var (
		docs []table
		dec  = yaml.NewDecoder(bytes.NewReader(data))
		r    = yamlReader{first: true}
	)
	for {
		var node yaml.Node
		err := dec.Decode(&node)
		if err == io.EOF {
			return docs, nil
		}
		if err != nil {
			return nil, notYAML(err)
		}
		t, err := r.document(&node)
		if err != nil {
			return nil, err
		}
		if r.first {
			// SOPS decodes the first document, and only that, to find repeated keys.
			if err := node.Decode(make(map[string]any)); err != nil {
				return nil, notYAML(err)
			}
		}
		r.first = false
		docs = append(docs, t)
	}
}

var yamlLine = regexp.MustCompile(`\bline (\d+)`)

// notYAML keeps only the line of a parser's error, which may quote values.
func notYAML(err error) error {
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		return malformed("it is not YAML that SOPS reads, at line %s: check the syntax, repeated keys and aliases there", m[1])
	}
	return malformed("it is not YAML that SOPS reads: check the syntax, repeated keys and aliases")
}

func (r *yamlReader) document(node *yaml.Node) (table, error) {
	t := above(table{}, node.HeadComment, node.LineComment)
	for _, root := range node.Content {
		var err error
		if t, err = r.root(root, t); err != nil {
			return nil, err
		}
	}
	return above(t, node.FootComment), nil
}

// root adds the content of a document to its table.
func (r *yamlReader) root(node *yaml.Node, t table) (table, error) {
	switch node.Kind {
	case yaml.MappingNode:
		return r.mapping(node, t, true)
	case yaml.AliasNode:
		// The parser lets no document be an alias; SOPS has this case nevertheless.
		return nil, malformed("a YAML document is an alias, which SOPS does not read")
	case yaml.ScalarNode:
		if node.ShortTag() == "!!null" {
			return above(t, node.HeadComment, node.LineComment), nil
		}
	}
	return nil, malformed("the YAML document at line %d is not a mapping: SOPS reads mappings only", node.Line)
}

// enter accounts for a node: its depth, and its size when it is here by an alias.
func (r *yamlReader) enter(node *yaml.Node) error {
	if r.depth++; r.depth > maxDepth {
		return limit("its YAML nests deeper than %d levels at line %d, aliases resolved", maxDepth, node.Line)
	}
	if r.inAlias > 0 {
		r.aliased += 32 + len(node.Value) + len(node.HeadComment) + len(node.LineComment) + len(node.FootComment)
		if r.aliased > maxAliased {
			return limit("its YAML aliases add more than %d bytes", maxAliased)
		}
	}
	return nil
}

// mapping adds the entries of a mapping to t. The comments around an entry become entries of their
// own; those of the mapping itself do too unless whoever called has taken them (own is false).
func (r *yamlReader) mapping(node *yaml.Node, t table, own bool) (table, error) {
	if err := r.enter(node); err != nil {
		return nil, err
	}
	defer func() { r.depth-- }()
	n := len(node.Content) / 2
	if r.pairs += n * n / 2; r.pairs > maxPairs {
		return nil, limit("its YAML mappings have too many keys (%d in the one at line %d)", n, node.Line)
	}
	if own {
		t = above(t, node.HeadComment, node.LineComment)
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, val := node.Content[i], node.Content[i+1]
		t = above(t, key.HeadComment, key.LineComment)
		// A nested mapping or list keeps its own comments inside.
		outside := val.Kind == yaml.ScalarNode || val.Kind == yaml.AliasNode
		if outside {
			t = above(t, val.HeadComment)
			t = beside(t, val.LineComment)
		}
		name, err := r.key(key)
		if err != nil {
			return nil, err
		}
		v, err := r.value(val, !outside)
		if err != nil {
			return nil, err
		}
		t = append(t, entry{Key: name, Val: v})
		if outside {
			t = above(t, val.FootComment)
		}
		t = above(t, key.FootComment)
	}
	if own {
		t = above(t, node.FootComment)
	}
	return t, nil
}

// key gives a key as the scalar that it is. What is no scalar has no place in the documents that
// SOPS reads; it is given as nil, for the walk to refuse where it comes across it.
func (r *yamlReader) key(node *yaml.Node) (any, error) {
	to := node
	if to.Kind == yaml.AliasNode {
		to = to.Alias
	}
	if to == nil || to.Kind != yaml.ScalarNode {
		if r.first {
			return nil, malformed("the YAML mapping at line %d has a key that is no string: SOPS reads string keys only", node.Line)
		}
		return nil, nil
	}
	return scalar(to), nil
}

// scalar gives the value of a scalar node; nil when its tag and text contradict each other, an
// error that SOPS ignores.
func scalar(node *yaml.Node) any {
	var v any
	if err := node.Decode(&v); err != nil {
		return v
	}
	return v
}

// value gives a node's value. own tells that comments on the node itself are still to be taken.
func (r *yamlReader) value(node *yaml.Node, own bool) (any, error) {
	switch node.Kind {
	case yaml.MappingNode:
		return r.mapping(node, table{}, own)
	case yaml.SequenceNode:
		return r.sequence(node, own)
	case yaml.ScalarNode:
		if err := r.enter(node); err != nil {
			return nil, err
		}
		r.depth--
		return scalar(node), nil
	case yaml.AliasNode:
		r.inAlias++
		v, err := r.value(node.Alias, true)
		r.inAlias--
		return v, err
	}
	return nil, nil
}

func (r *yamlReader) sequence(node *yaml.Node, own bool) (any, error) {
	if err := r.enter(node); err != nil {
		return nil, err
	}
	defer func() { r.depth-- }()
	var out []any
	add := func(inline bool, texts ...string) {
		for _, c := range comments(inline, texts...) {
			out = append(out, c)
		}
	}
	if own {
		add(false, node.HeadComment, node.LineComment)
	}
	for _, item := range node.Content {
		add(false, item.HeadComment)
		add(true, item.LineComment)
		v, err := r.value(item, false)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
		add(false, item.FootComment)
	}
	if own {
		add(false, node.FootComment)
	}
	return out, nil
}

// comments gives the lines of comment texts, the sign taken off.
func comments(inline bool, texts ...string) []comment {
	var out []comment
	for _, text := range texts {
		if text == "" {
			continue
		}
		for line := range strings.SplitSeq(text, "\n") {
			if line != "" {
				out = append(out, comment{Value: line[1:], Inline: inline})
			}
		}
	}
	return out
}

// above adds comments that stand on lines of their own, beside those that end a line.
func above(t table, texts ...string) table {
	for _, c := range comments(false, texts...) {
		t = append(t, entry{Key: c})
	}
	return t
}

func beside(t table, text string) table {
	for _, c := range comments(true, text) {
		t = append(t, entry{Key: c})
	}
	return t
}
