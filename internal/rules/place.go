package rules

import (
	"fmt"
	"strings"

	"github.com/tidegate/tidegate/internal/facts"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/rule"
)

// selfSpan gives the place of a field of a unit's own object; of its parent's field where it has none itself.
func selfSpan(u *facts.Unit, path ...any) (model.Span, bool) {
	if u.Self == nil || u.Self.Trace == nil {
		return model.Span{}, false
	}
	for n := len(path); n > 0; n-- {
		if exists(u, path[:n]) {
			o := u.Self.Trace.Origin(path[:n])
			return o.Span, o.Span.Known()
		}
	}
	s := u.Self.Trace.Origin(model.Path{"metadata", "name"}).Span
	return s, s.Known()
}

// becauseSelf gives a reason at a field of a unit's own object, or without a place.
func becauseSelf(u *facts.Unit, message string, path ...any) rule.Because {
	at, _ := selfSpan(u, path...)
	return rule.Because{Span: at, Message: message}
}

// exists tells whether the unit's object has a field.
func exists(u *facts.Unit, path []any) bool {
	if u.Self == nil {
		return false
	}
	o := facts.Object{Text: u.Self.Display}
	return o.Get(path...) != nil
}

// becauseSet tells where a variable's value is written.
func becauseSet(v model.Variable) []rule.Because {
	what := fmt.Sprintf("%s is set here, by %s", v.Name, v.Source)
	if v.Set == nil {
		return []rule.Because{{Message: fmt.Sprintf("%s is set by %s", v.Name, v.Source)}}
	}
	o := v.Set()
	if !o.Span.Known() {
		return []rule.Because{{Message: fmt.Sprintf("%s is set by %s", v.Name, v.Source)}}
	}
	out := []rule.Because{{Span: o.Span, Message: what}}
	if o.Overrides != nil && o.Overrides.Span.Known() {
		out = append(out, rule.Because{Span: o.Overrides.Span, Message: "and overrides the base default here"})
	}
	return out
}

// short cuts a text for a message, which is one line.
func short(s string) string {
	s, _, cut := strings.Cut(s, "\n")
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	if cut {
		return s + "…"
	}
	return s
}

// shown names an object and a field in it.
func shown(ref model.Ref, p model.Path) string {
	if len(p) == 0 {
		return ref.String()
	}
	return ref.String() + " " + p.String()
}

// sources lists what a unit's variables come from, for a message.
func sources(u *facts.Unit) string {
	if u.Substitution == nil {
		return "no source"
	}
	seen := map[string]bool{}
	var out []string
	for _, v := range u.Substitution.Variables {
		if v.Source != "" && !seen[v.Source] {
			seen[v.Source] = true
			out = append(out, v.Source)
		}
	}
	if len(out) == 0 {
		return "no source"
	}
	sortStrings(out)
	return strings.Join(out, ", ")
}
