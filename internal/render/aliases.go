package render

import (
	"bytes"
	"fmt"

	yaml3 "go.yaml.in/yaml/v3"
)

// This file keeps YAML aliases from taking the process down. kustomize copies what each alias stands for (kyaml
// yaml/rnode.go deAnchor) and counts nothing: an anchor that holds an alias to itself overflows the stack, which no
// Go program survives, and aliases of aliases fill the memory. kustomize-controller dies of such a file; here it is a
// failure of the unit.
//
// The rules are:
//   - Only text that has an anchor and an alias of its name is parsed, so that ordinary files cost one search.
//   - Text that is no YAML is let through: it is a generator's input, or kustomize says what is wrong with it.

// The bounds of what aliases may expand to, in nodes of one file and in depth. The parser itself reads no more than
// 10,000 levels.
const (
	maxExpanded      = 1_000_000
	maxExpandedDepth = 10_000
)

// checkAliases tells whether kustomize can take data apart: nil, or an error that names the anchor.
func checkAliases(data []byte) error {
	if !hasAliases(data) {
		return nil
	}
	dec := yaml3.NewDecoder(bytes.NewReader(data))
	for {
		var doc yaml3.Node
		if dec.Decode(&doc) != nil {
			return nil
		}
		c := aliasCheck{sizes: map[*yaml3.Node]extent{}, open: map[*yaml3.Node]bool{}}
		if _, err := c.measure(&doc); err != nil {
			return err
		}
	}
}

// hasAliases tells whether a name stands behind a `&` somewhere and behind a `*` somewhere. It errs on the side of yes.
func hasAliases(data []byte) bool {
	for rest := data; ; {
		i := bytes.IndexByte(rest, '&')
		if i < 0 {
			return false
		}
		rest = rest[i+1:]
		end := bytes.IndexAny(rest, " \t\r\n,[]{}")
		if end < 0 {
			end = len(rest)
		}
		if end > 0 && bytes.Contains(data, append([]byte{'*'}, rest[:end]...)) {
			return true
		}
	}
}

// extent is what a node is once its aliases are copied into it.
type extent struct{ nodes, depth int }

type aliasCheck struct {
	sizes map[*yaml3.Node]extent // of anchored nodes that were measured
	open  map[*yaml3.Node]bool   // anchored nodes that are being measured
}

func (c *aliasCheck) measure(n *yaml3.Node) (extent, error) {
	if n.Kind == yaml3.AliasNode {
		if c.open[n.Alias] {
			return extent{}, fmt.Errorf("line %d: anchor '%s' value contains itself", n.Line, n.Value)
		}
		return c.measure(n.Alias)
	}
	if e, ok := c.sizes[n]; ok {
		return e, nil
	}
	if n.Anchor != "" {
		c.open[n] = true
	}
	e := extent{nodes: 1}
	for _, child := range n.Content {
		in, err := c.measure(child)
		if err != nil {
			return extent{}, err
		}
		e.nodes += in.nodes
		e.depth = max(e.depth, in.depth)
		if e.nodes > maxExpanded {
			return extent{}, fmt.Errorf("line %d: aliases make more than %d values of this document", child.Line, maxExpanded)
		}
	}
	if e.depth++; e.depth > maxExpandedDepth {
		return extent{}, fmt.Errorf("line %d: aliases nest more than %d levels", n.Line, maxExpandedDepth)
	}
	if n.Anchor != "" {
		delete(c.open, n)
		c.sizes[n] = e
	}
	return e, nil
}
