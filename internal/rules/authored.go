package rules

import (
	"fmt"

	"github.com/tidegate/tidegate/internal/facts"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/rule"
)

// authored says where a person wrote a value of an object: where the variable is set that brought it, else in the manifest.
// because leads from there to the object. value picks the expression in a text that has several; empty takes the first.
func authored(o *facts.Object, at model.Path, value string) (span model.Span, certainty model.Certainty, name string, because []rule.Because) {
	if o.Trace == nil {
		return model.Span{}, model.CertaintyObject, "", nil
	}
	origin := o.Trace.Origin(at)
	for _, use := range origin.Uses {
		if value != "" && use.Became != value {
			continue
		}
		for _, v := range use.Variable {
			if v.Set == nil {
				continue
			}
			if set := v.Set(); set.Span.Known() {
				return set.Span, set.Certainty, v.Name, []rule.Because{{Span: use.Span, Message: fmt.Sprintf("%s takes %s", shown(o.Ref, at), v.Name)}}
			}
		}
	}
	return origin.Span, origin.Certainty, "", nil
}

// becauseOf points at a value of another object, where it was written.
func becauseOf(o *facts.Object, at model.Path, value, message string) rule.Because {
	span, _, name, _ := authored(o, at, value)
	if name != "" {
		message += " (" + name + ")"
	}
	return rule.Because{Span: span, Message: message}
}

// called puts the name of a variable before what it is.
func called(name, what string) string {
	if name == "" {
		return what
	}
	return name + ", " + what + ","
}
