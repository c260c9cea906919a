// Package substitution reads the expressions of postBuild in objects as they were built: where they stand, what is
// wrong with them, and what is known of the names in them. Several rules share it.
//
// The rules are:
//
//  1. A text is looked at scalar by scalar, keys too, so that each expression has its place in a file. Flux looks at the
//     whole object at once: where the two disagree on whether it fails, the whole object is right.
//  2. What is masked or not known is never guessed: an expression that needs it is neither right nor wrong.
//  3. Nothing here changes what it is given, and all of it is safe for concurrent use.
package substitution

import (
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/facts"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/subst"
)

// Site is a text of an object that has a `$` that may mean something: the value at a path, its key, or the whole object.
type Site struct {
	Object *facts.Object
	Path   model.Path // empty for the whole object
	Text   string
	Key    bool
}

// Sites gives the texts of an object that hold `${` or `$$`.
func Sites(o *facts.Object) []Site {
	if !strings.Contains(o.Text, "${") && !strings.Contains(o.Text, "$$") {
		return nil
	}
	var out []Site
	var walk func(v any, at model.Path)
	walk = func(v any, at model.Path) {
		switch v := v.(type) {
		case map[string]any:
			keys := make([]string, 0, len(v))
			for k := range v {
				keys = append(keys, k)
			}
			slices.Sort(keys)
			for _, k := range keys {
				below := at.Child(k)
				if subst.HasExpression(k) {
					out = append(out, Site{Object: o, Path: below, Text: k, Key: true})
				}
				walk(v[k], below)
			}
		case []any:
			for i, e := range v {
				walk(e, at.Child(i))
			}
		case string:
			if subst.HasExpression(v) {
				out = append(out, Site{Object: o, Path: at, Text: v})
			}
		}
	}
	walk(o.Tree(), nil)
	return out
}

// Span gives the place of the bytes [from, to) of a site's text.
func (s Site) Span(from, to int) (model.Span, model.Certainty) {
	switch {
	case s.Object.Trace == nil && s.Object.Unit == nil:
		return model.Span{}, model.CertaintyObject
	case s.Object.Trace == nil:
		return model.Span{File: s.Object.Unit.Path}, model.CertaintyObject
	case len(s.Path) == 0:
		return s.Object.Trace.Origin(model.Path{"metadata", "name"}).Span, model.CertaintyObject
	case s.Key:
		return s.Object.Trace.Key(s.Path), model.CertaintyAttributed
	}
	return s.Object.Trace.Within(s.Path, from, to)
}

// State tells how substitution treats an object.
type State uint8

const (
	// Off: nothing substitutes in it.
	Off State = iota
	// OptedOut: a label or annotation of the object keeps substitution from it.
	OptedOut
	// On: it is substituted.
	On
	// Unknown: whether there is any variable depends on what is not in the repository.
	Unknown
)

// Of gives the state of a built object.
func Of(o *facts.Object) State {
	s := o.Unit.Substitution
	switch {
	case s == nil:
		return Off
	case s.Doubt:
		return Unknown
	case !s.Runs:
		return Off
	case o.From != nil && o.From.OptedOut:
		return OptedOut
	}
	return On
}

// Uses tells whether an object of a unit has an expression, or doubled dollars, that substitution would act upon.
func Uses(u *facts.Unit) bool {
	return slices.ContainsFunc(u.Built, func(o *facts.Object) bool {
		return !o.From.OptedOut && len(Sites(o)) > 0
	})
}

// Lookup gives a unit's variables to the language. A secret's value is not known to a rule.
func Lookup(s *model.Substitution) subst.Lookup {
	return func(name string) (string, subst.State) {
		v, ok := s.Variables[name]
		switch {
		case !ok && len(s.Missing) > 0:
			return "", subst.Opaque
		case !ok:
			return "", subst.Undefined
		case v.Unknown != nil || v.Secret:
			return "", subst.Opaque
		}
		return v.Value, subst.Known
	}
}

// Options are those of a unit; strict looks for undefined names also where Flux lets them pass.
func Options(s *model.Substitution, strict bool) subst.Options {
	return subst.Options{Strict: strict, NegativeLength: s.NegativeLength}
}

// Inherited tells whether an expression in an object of a unit came with the unit's own spec, in a patch say, and stands
// there only because what renders that spec does not know its value, or knows it for a secret and does not show it. The
// cluster's object holds the value instead.
func Inherited(u *facts.Unit, expression string) bool {
	return u.Self != nil && strings.Contains(u.Self.Display, expression) &&
		(u.Display != nil || slices.ContainsFunc(u.Reasons, func(r model.Reason) bool { return r.Code == model.CodeParentUnknown }))
}

// Eval substitutes in a text as the unit does.
func Eval(u *facts.Unit, text string) (subst.Result, error) {
	return subst.Eval(text, Lookup(u.Substitution), Options(u.Substitution, u.Substitution.Strict))
}

// maxFaults bounds the faults of one object that are told: a file may be one fault after the other.
const maxFaults = 1000

// Fault is an error of a site's text.
type Fault struct {
	Site
	*subst.Error
	From, To int // the expression in the text
}

// Faults gives every error in the objects of a unit, in order. Undefined names are among them in lax mode too; what is
// inherited is not.
func Faults(u *facts.Unit) []Fault {
	var out []Fault
	for _, o := range u.Built {
		if Of(o) == On {
			out = append(out, ofObject(u, o)...)
		}
	}
	return out
}

func ofObject(u *facts.Unit, o *facts.Object) []Fault {
	sites := Sites(o)
	if len(sites) == 0 {
		return nil
	}
	lookup, options := Lookup(u.Substitution), Options(u.Substitution, true)
	// What Flux sees is the text of the object, in which an expression may reach from one scalar into the next.
	whole := subst.Faults(o.Text, lookup, options)
	if len(whole) == 0 {
		return nil
	}
	var out []Fault
	here := false // the fault lies within a scalar
	for _, s := range sites {
		for _, e := range subst.Faults(s.Text, lookup, options) {
			here = true
			if len(out) == maxFaults {
				return out
			}
			from := max(0, e.Offset)
			expression := Expression(s.Text, from)
			if !Inherited(u, expression) {
				out = append(out, Fault{s, e, from, from + len(expression)})
			}
		}
	}
	if !here {
		e := whole[0]
		from := max(0, e.Offset)
		out = append(out, Fault{Site{Object: o, Text: o.Text}, e, from, from + len(Expression(o.Text, from))})
	}
	return out
}
