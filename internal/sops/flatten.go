package sops

import (
	"strconv"
	"strings"
)

// In dotenv and INI the metadata is flat: the way to a value is written into its name, as in
// age__list_0__map_recipient (stores/flatten.go).
const (
	mapMark  = "__map_"
	listMark = "__list_"
)

// bough is a place in metadata that is being unflattened: a leaf, or a fork with names, or one
// with positions.
type bough struct {
	leaf   bool
	val    any
	names  map[string]*bough
	places map[int]*bough
	order  []string
}

// unflatten rebuilds nested metadata. It refuses names that contradict each other.
func unflatten(flat table) (table, error) {
	root := &bough{}
	for _, e := range flat {
		if _, ok := e.Key.(comment); ok {
			continue
		}
		name, ok := e.Key.(string)
		if !ok {
			return nil, malformed("its sops metadata has a key that is no string")
		}
		if err := root.grow(name, e.Val); err != nil {
			return nil, err
		}
	}
	v, err := root.build()
	if err != nil {
		return nil, err
	}
	t, ok := v.(table)
	if !ok {
		return nil, malformed("its sops metadata is not a mapping")
	}
	return t, nil
}

// grow puts a value where its name leads.
func (b *bough) grow(name string, val any) error {
	at, isList := b, false
	for depth := 0; ; depth++ {
		if depth > maxDepth {
			return limit("its sops metadata nests deeper than %d levels", maxDepth)
		}
		end, next, mark := len(name), false, 0
		if i := strings.Index(name, mapMark); i >= 0 {
			end, mark = i, len(mapMark)
		}
		if i := strings.Index(name, listMark); i >= 0 && i < end {
			end, mark, next = i, len(listMark), true
		}
		at = at.child(name[:end], isList)
		if mark == 0 {
			break
		}
		name, isList = name[end+mark:], next
	}
	if at.leaf {
		return malformed("its sops metadata gives one field twice")
	}
	at.leaf, at.val = true, val
	return nil
}

func (b *bough) child(name string, isList bool) *bough {
	if isList {
		place, _ := strconv.Atoi(name) // SOPS takes what is no number for 0
		if b.places == nil {
			b.places = map[int]*bough{}
		}
		if b.places[place] == nil {
			b.places[place] = &bough{}
		}
		return b.places[place]
	}
	if b.names == nil {
		b.names = map[string]*bough{}
	}
	if b.names[name] == nil {
		b.names[name] = &bough{}
		b.order = append(b.order, name)
	}
	return b.names[name]
}

func (b *bough) build() (any, error) {
	switch {
	case b.leaf && (b.names != nil || b.places != nil), b.names != nil && b.places != nil:
		return nil, malformed("its sops metadata uses one field in two ways")
	case b.leaf:
		return b.val, nil
	case b.places != nil:
		out := make([]any, len(b.places))
		for i := range out {
			c, ok := b.places[i]
			if !ok {
				return nil, malformed("a list in its sops metadata lacks an element")
			}
			v, err := c.build()
			if err != nil {
				return nil, err
			}
			out[i] = v
		}
		return out, nil
	}
	out := table{}
	for _, name := range b.order {
		v, err := b.names[name].build()
		if err != nil {
			return nil, err
		}
		out = append(out, entry{Key: name, Val: v})
	}
	return out, nil
}
