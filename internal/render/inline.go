package render

import (
	"strings"

	yaml2 "go.yaml.in/yaml/v2"

	"github.com/tidegate/tidegate/internal/subst"
)

// This file spares most objects the hops that follow substitution.
//
// Text that is substituted is parsed and written again, since a value may change the type or the shape of what it
// stands in. Where it changes neither, what is written is what was parsed: the substituted text.
//
// The rules are:
//   - The object is plain, and every expression stands in a value that the encoder writes as it is: no quotes, no
//     blanks (so no folding), on one line. None stands in a key, nor in what makes the object's identity.
//   - Each such value, substituted by itself, is again something that the YAML library reads and writes as it is: the
//     library itself is asked.
//   - Then the hops are the identity. A test compares with them.

// maxInline bounds the values that are looked at; a longer one takes the hops.
const maxInline = 200

// findSlots gives the scalars of a plain object that hold expressions, and tells whether all of them are inline.
func findSlots(tree any, f *forms) ([]string, bool) {
	s := slotFinder{ok: true, forms: f}
	s.walk(tree, 0, "")
	return s.slots, s.ok
}

type slotFinder struct {
	slots []string
	ok    bool
	forms *forms
}

// walk visits a value; at is its path within the first two levels, where an object's identity is.
func (f *slotFinder) walk(v any, depth int, at string) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if subst.HasExpression(k) {
				f.ok = false
			}
			below := ""
			if depth < 2 {
				below = at + "/" + k
			}
			f.walk(e, depth+1, below)
		}
	case []any:
		for _, e := range v {
			f.walk(e, depth+1, "")
		}
	case string:
		if !subst.HasExpression(v) {
			return
		}
		switch at {
		case "/apiVersion", "/kind", "/metadata/name", "/metadata/namespace":
			f.ok = false
		}
		if !f.forms.isInline(v) {
			f.ok = false
		}
		f.slots = append(f.slots, v)
	}
}

// isInline tells whether the YAML library reads a text as a scalar and writes that scalar as the same text, wherever
// it stands as a value.
func isInline(s string) bool {
	if s == "" || len(s) > maxInline || strings.ContainsAny(s, " \t\n") {
		return false
	}
	var v any
	if yaml2.Unmarshal([]byte(s), &v) != nil {
		return false
	}
	switch v.(type) {
	case string, int, bool:
	default:
		return false
	}
	if _, ok := plainTree(v, 0); !ok {
		return false
	}
	out, err := yaml2.Marshal(v)
	return err == nil && string(out) == s+"\n"
}

// inline tells whether an object's substituted text needs no hops.
func (s *substitution) inline(o *BuiltObject, opts subst.Options) bool {
	if !o.inline {
		return false
	}
	if s.slots == nil {
		s.slots = map[string]bool{}
	}
	for _, slot := range o.slots {
		fine, known := s.slots[slot]
		if !known {
			// An expression that is only closed in another scalar is an error here, so it takes the long way.
			res, err := subst.Eval(slot, s.vars.lookup(false), opts)
			fine = err == nil && s.forms.isInline(res.Text)
			s.slots[slot] = fine
		}
		if !fine {
			return false
		}
	}
	return true
}
