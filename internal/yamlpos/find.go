package yamlpos

import "github.com/tidegate/tidegate/internal/model"

// Find follows a path of keys and indices, through aliases and merge keys; nil, nil when it leads nowhere. The key is
// nil for an item of a sequence, and for the root. A value that is an alias is given as such.
func (d *Document) Find(p model.Path) (key, value *Node) {
	value = d.Root
	for _, step := range p {
		if value = value.target(); value == nil {
			return nil, nil
		}
		switch s := step.(type) {
		case string:
			key, value = value.field(s)
		case int:
			if value.Kind != Sequence || s < 0 || s >= len(value.Values) {
				return nil, nil
			}
			key, value = nil, value.Values[s]
		default:
			return nil, nil
		}
	}
	return key, value
}

// target gives what an alias stands for, and any other node itself. No anchor can be on an alias, so one step is all.
func (n *Node) target() *Node {
	if n != nil && n.Kind == Alias {
		return n.Alias
	}
	return n
}

// field finds a key of a mapping. What is merged in comes after the mapping's own keys, and of several the first wins
// (kyaml yaml/rnode.go findMergeValues and mergeAll, and YAML's definition of merge keys). Each mapping is looked at
// once: merges may lead back, and a few lines of them make billions of ways.
func (n *Node) field(name string) (key, value *Node) {
	var seen map[*Node]bool
	for todo := []*Node{n}; len(todo) > 0; {
		m := todo[len(todo)-1].target()
		todo = todo[:len(todo)-1]
		if m == nil || m.Kind != Mapping || seen[m] {
			continue
		}
		first := len(todo)
		for i, k := range m.Keys {
			if k.Tag == "!!merge" {
				if s := m.Values[i]; s.Kind == Sequence {
					todo = append(todo, s.Values...)
				} else {
					todo = append(todo, s)
				}
				continue
			}
			if t := k.target(); t != nil && t.Kind == Scalar && t.Value == name {
				return k, m.Values[i]
			}
		}
		if len(todo) == 0 {
			break
		}
		if seen == nil {
			seen = map[*Node]bool{}
		}
		seen[m] = true
		for i, j := first, len(todo)-1; i < j; i, j = i+1, j-1 {
			todo[i], todo[j] = todo[j], todo[i]
		}
	}
	return nil, nil
}
