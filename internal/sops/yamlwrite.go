package sops

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"
)

// yamlIndent is SOPS's default; the controller sets no other.
const yamlIndent = 4

// writeYAML writes the tables as documents, comments included (stores/yaml/store.go).
func writeYAML(docs []table) ([]byte, error) {
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(yamlIndent)
	for _, doc := range docs {
		root, err := yamlTable(doc)
		if err != nil {
			return nil, err
		}
		if err := enc.Encode(&yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{root}}); err != nil {
			return nil, malformed("its values cannot be written as YAML")
		}
	}
	if err := enc.Close(); err != nil {
		return nil, malformed("its values cannot be written as YAML")
	}
	return out.Bytes(), nil
}

// pending holds the comments met since the last value, until a node is there to carry them.
type pending struct {
	above, beside []string
	begun         bool // the first value of the table or list has been met
}

func (p *pending) add(c comment) {
	if c.Inline {
		p.beside = append(p.beside, c.Value)
	} else {
		p.above = append(p.above, c.Value)
	}
}

// place gives the comments to the nodes of an element. Those before the first element belong to
// the whole.
func (p *pending) place(whole, head, side *yaml.Node) {
	target := head
	if !p.begun {
		target = whole
	}
	p.begun = true
	if text := commentText(p.above); text != "" {
		target.HeadComment = joined(text, target.HeadComment)
	}
	if text := commentText(p.beside); text != "" {
		side.LineComment = joined(side.LineComment, text)
	}
	p.above, p.beside = nil, nil
}

// rest gives the comments after the last element to the node that foot names, or to the whole when
// there was no element.
func (p *pending) rest(whole *yaml.Node, foot func() *yaml.Node) {
	text := commentText(append(p.above, p.beside...))
	switch {
	case text == "":
	case p.begun:
		node := foot()
		node.FootComment = joined(node.FootComment, text)
	default:
		whole.HeadComment = joined(text, whole.HeadComment)
	}
}

func commentText(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return "#" + strings.Join(lines, "\n#")
}

func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}

func yamlTable(t table) (*yaml.Node, error) {
	var (
		node = &yaml.Node{Kind: yaml.MappingNode}
		p    pending
	)
	for _, e := range t {
		if c, ok := e.Key.(comment); ok {
			p.add(c)
			continue
		}
		key, err := yamlScalar(e.Key)
		if err != nil {
			return nil, err
		}
		val, err := yamlValue(e.Val)
		if err != nil {
			return nil, err
		}
		p.place(node, key, val)
		node.Content = append(node.Content, key, val)
	}
	p.rest(node, func() *yaml.Node { return node.Content[len(node.Content)-2] })
	return node, nil
}

func yamlValue(v any) (*yaml.Node, error) {
	switch v := v.(type) {
	case table:
		return yamlTable(v)
	case []any:
		return yamlList(v)
	}
	return yamlScalar(v)
}

func yamlList(list []any) (*yaml.Node, error) {
	var (
		node = &yaml.Node{Kind: yaml.SequenceNode}
		p    pending
	)
	for _, v := range list {
		if c, ok := v.(comment); ok {
			p.add(c)
			continue
		}
		item, err := yamlValue(v)
		if err != nil {
			return nil, err
		}
		p.place(node, item, item)
		node.Content = append(node.Content, item)
	}
	p.rest(node, func() *yaml.Node { return node.Content[len(node.Content)-1] })
	return node, nil
}

func yamlScalar(v any) (*yaml.Node, error) {
	node := &yaml.Node{}
	if err := node.Encode(v); err != nil {
		return nil, malformed("it has a value that YAML cannot hold")
	}
	return node, nil
}
