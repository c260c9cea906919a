package substitution

import (
	"github.com/tidegate/tidegate/internal/facts"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/subst"
)

// Results pairs the built objects of a unit with what became of them.
type Results struct {
	unit *facts.Unit
	of   map[*model.Object]*facts.Object
}

// ResultsOf prepares the pairs.
func ResultsOf(u *facts.Unit) Results {
	r := Results{u, make(map[*model.Object]*facts.Object, len(u.Objects))}
	for _, o := range u.Objects {
		r.of[o.Final] = o
	}
	return r
}

// After gives an object after substitution. Where the unit failed, over another object perhaps, it is worked out from
// the object's text; nil where this object itself cannot be known: it has faults, or is no YAML afterwards.
func (r Results) After(o *facts.Object) *facts.Object {
	if o.From.Object != nil {
		return r.of[o.From.Object]
	}
	if Of(o) != On {
		return o
	}
	res, err := Eval(r.unit, o.Text)
	if err != nil {
		return nil
	}
	after := &facts.Object{Ref: o.Ref, Unit: o.Unit, Text: res.Text, Trace: o.Trace}
	if after.Tree() == nil {
		return nil
	}
	return after
}

// PathAfter gives the path that a built object's path has after substitution, whose keys may have been expressions.
// It is not ok where a key cannot be known.
func PathAfter(u *facts.Unit, p model.Path) (after model.Path, ok bool) {
	after = p
	for i, step := range p {
		key, is := step.(string)
		if !is || !subst.HasExpression(key) {
			continue
		}
		res, err := Eval(u, key)
		if err != nil || len(res.Opaque) > 0 {
			return nil, false
		}
		if &after[0] == &p[0] {
			after = append(model.Path{}, p...)
		}
		after[i] = res.Text
	}
	return after, true
}
