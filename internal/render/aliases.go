package render

import (
	"bytes"
	"errors"
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

// The bounds of what aliases may expand to: nodes of one file, bytes of their texts, depth. The parser itself reads no
// more than 10,000 levels.
const (
	maxExpanded      = 1_000_000
	maxExpandedBytes = 64 << 20
	maxExpandedDepth = 10_000
)

var errItself = errors.New("value contains itself")

// CheckAliases tells whether the aliases of a YAML text expand to a size that can be handled: nil, or an error that
// names the line. Every decoder that goes by JSON writes each alias out.
func CheckAliases(data []byte) error { return checkAliases(data) }

// checkExpansion is checkAliases for a text that goes to a decoder which refuses an alias of itself in its own words.
func checkExpansion(data []byte) error {
	if err := checkAliases(data); !errors.Is(err, errItself) {
		return err
	}
	return nil
}

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
	if bytes.IndexByte(data, 0) >= 0 {
		return true // UTF-16, perhaps
	}
	if bytes.IndexByte(data, '&') < 0 || bytes.IndexByte(data, '*') < 0 {
		return false
	}
	used := map[string]bool{}
	eachMark(data, '*', func(name string) bool { used[name] = true; return true })
	found := false
	eachMark(data, '&', func(name string) bool { found = used[name]; return !found })
	return found
}

// eachMark hands out the names that stand behind a mark, until f says that it is enough.
func eachMark(data []byte, mark byte, f func(name string) bool) {
	for {
		i := bytes.IndexByte(data, mark)
		if i < 0 {
			return
		}
		data = data[i+1:]
		n := 0
		for n < len(data) && isAnchorByte(data[n]) {
			n++
		}
		if n > 0 && !f(string(data[:n])) {
			return
		}
	}
}

// isAnchorByte is what the parser takes into the name of an anchor (yaml.v3 yamlprivateh.go is_alpha).
func isAnchorByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '_' || c == '-'
}

// extent is what a node is once its aliases are copied into it.
type extent struct{ nodes, depth, bytes int }

type aliasCheck struct {
	sizes map[*yaml3.Node]extent // of anchored nodes that were measured
	open  map[*yaml3.Node]bool   // anchored nodes that are being measured
}

func (c *aliasCheck) measure(n *yaml3.Node) (extent, error) {
	if n.Kind == yaml3.AliasNode {
		if c.open[n.Alias] {
			return extent{}, fmt.Errorf("line %d: anchor '%s' %w", n.Line, n.Value, errItself)
		}
		return c.measure(n.Alias)
	}
	if e, ok := c.sizes[n]; ok {
		return e, nil
	}
	if n.Anchor != "" {
		c.open[n] = true
	}
	e := extent{nodes: 1, bytes: len(n.Value)}
	for _, child := range n.Content {
		in, err := c.measure(child)
		if err != nil {
			return extent{}, err
		}
		e.nodes += in.nodes
		e.bytes += in.bytes
		e.depth = max(e.depth, in.depth)
		if e.bytes > maxExpandedBytes {
			return extent{}, fmt.Errorf("line %d: aliases make more than %d MiB of this document", child.Line, maxExpandedBytes>>20)
		}
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
