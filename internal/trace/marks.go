package trace

import (
	"slices"
	"strings"

	yaml3 "go.yaml.in/yaml/v3"
)

// mark is where kyaml says that a node was read: a line of the padded numbering and a column. Zero for a node that a
// transformer or generator made.
type mark struct{ line, column int32 }

// Marks are the positions of one object's nodes, in the order of walkOrder. It is all that a build keeps.
type Marks []mark

// maxDepth bounds recursion over an object; a deeper one has no marks.
const maxDepth = 1000

// Collect takes the marks of an object's nodes. It gives nil for an object that is no plain tree.
func Collect(root *yaml3.Node) Marks {
	c := collector{marks: make(Marks, 0, 64)}
	if !c.node(root, 0) {
		return nil
	}
	return slices.Clip(c.marks)
}

type collector struct {
	marks Marks
	order []int
}

// node visits in the order that the walk over an object's text has too: a mapping's own mark, then for each key in
// bytewise order the key's and the value's.
func (c *collector) node(n *yaml3.Node, depth int) bool {
	if n == nil || depth > maxDepth {
		return false
	}
	c.marks = append(c.marks, mark{int32(n.Line), int32(n.Column)})
	switch n.Kind {
	case yaml3.MappingNode:
		if len(n.Content)%2 != 0 {
			return false
		}
		base := len(c.order)
		for i := 0; i < len(n.Content); i += 2 {
			c.order = append(c.order, i)
		}
		order := c.order[base:]
		insertionSort(order, n)
		for _, i := range order {
			k := n.Content[i]
			if k.Kind != yaml3.ScalarNode {
				return false
			}
			c.marks = append(c.marks, mark{int32(k.Line), int32(k.Column)})
			if !c.node(n.Content[i+1], depth+1) {
				return false
			}
		}
		c.order = c.order[:base]
	case yaml3.SequenceNode:
		for _, e := range n.Content {
			if !c.node(e, depth+1) {
				return false
			}
		}
	case yaml3.ScalarNode:
	default:
		return false
	}
	return true
}

// insertionSort orders the keys of a mapping; most have few, and are sorted already.
func insertionSort(order []int, n *yaml3.Node) {
	if len(order) > 32 {
		slices.SortStableFunc(order, func(a, b int) int { return strings.Compare(n.Content[a].Value, n.Content[b].Value) })
		return
	}
	for i := 1; i < len(order); i++ {
		for j := i; j > 0 && n.Content[order[j]].Value < n.Content[order[j-1]].Value; j-- {
			order[j], order[j-1] = order[j-1], order[j]
		}
	}
}

// tree is an object's text as nodes, with the mark of each.
type tree struct {
	root   *branch
	intact bool // the marks are those of this text
}

// branch is a node with what leads to it.
type branch struct {
	node    *yaml3.Node
	at, key mark
	keys    []string // of a mapping, in order
	kids    []*branch
	parent  *branch
	step    any
}

// grow reads an object's text and puts the marks to its nodes.
func grow(text string, marks Marks) *tree {
	var doc yaml3.Node
	if yaml3.Unmarshal([]byte(text), &doc) != nil || len(doc.Content) == 0 {
		return &tree{}
	}
	g := grower{marks: marks}
	t := &tree{root: g.node(doc.Content[0], 0)}
	t.intact = t.root != nil && !g.short && g.next == len(marks)
	return t
}

type grower struct {
	marks Marks
	next  int
	short bool
}

func (g *grower) take() mark {
	if g.next >= len(g.marks) {
		g.short = true
		return mark{}
	}
	m := g.marks[g.next]
	g.next++
	return m
}

func (g *grower) node(n *yaml3.Node, depth int) *branch {
	b := &branch{node: n, at: g.take()}
	if depth > maxDepth {
		g.short = true
		return b
	}
	switch n.Kind {
	case yaml3.MappingNode:
		order := make([]int, 0, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			order = append(order, i)
		}
		slices.SortStableFunc(order, func(x, y int) int { return strings.Compare(n.Content[x].Value, n.Content[y].Value) })
		for _, i := range order {
			key := g.take()
			kid := g.node(n.Content[i+1], depth+1)
			kid.key, kid.parent, kid.step = key, b, n.Content[i].Value
			b.keys = append(b.keys, n.Content[i].Value)
			b.kids = append(b.kids, kid)
		}
	case yaml3.SequenceNode:
		for i, e := range n.Content {
			kid := g.node(e, depth+1)
			kid.parent, kid.step = b, i
			b.kids = append(b.kids, kid)
		}
	}
	return b
}

// find goes down a path; nil when it leads nowhere.
func (b *branch) find(path []any) *branch {
	for _, step := range path {
		if b == nil {
			return nil
		}
		switch s := step.(type) {
		case string:
			i, ok := slices.BinarySearch(b.keys, s)
			if !ok || b.node.Kind != yaml3.MappingNode {
				return nil
			}
			b = b.kids[i]
		case int:
			if b.node.Kind != yaml3.SequenceNode || s < 0 || s >= len(b.kids) {
				return nil
			}
			b = b.kids[s]
		}
	}
	return b
}

// path gives the steps that lead to a branch.
func (b *branch) path() []any {
	var out []any
	for at := b; at.parent != nil; at = at.parent {
		out = append(out, at.step)
	}
	slices.Reverse(out)
	return out
}
