// Package substitution reads the expressions of postBuild in objects as they were built: where they stand, what is
// wrong with them, and what is known of the names in them. Several rules share it.
package substitution

import (
	"regexp"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/facts"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/subst"
)

// Site is a text of an object that has a `$` that may mean something: the value at a path, or its key.
type Site struct {
	Object *facts.Object
	Path   model.Path
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
					out = append(out, Site{o, below, k, true})
				}
				walk(v[k], below)
			}
		case []any:
			for i, e := range v {
				walk(e, at.Child(i))
			}
		case string:
			if subst.HasExpression(v) {
				out = append(out, Site{o, at, v, false})
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

// Fault is an error of a site's text.
type Fault struct {
	Site
	*subst.Error
	From, To int // the expression in the text
}

// Faults gives every error in the objects of a unit, in order. Undefined names are among them in lax mode too.
func Faults(u *facts.Unit) []Fault {
	var out []Fault
	for _, o := range u.Built {
		if Of(o) != On {
			continue
		}
		for _, s := range Sites(o) {
			for _, e := range subst.Faults(s.Text, Lookup(u.Substitution), Options(u.Substitution, true)) {
				from := max(0, e.Offset)
				out = append(out, Fault{s, e, from, from + len(Expression(s.Text, from))})
			}
		}
	}
	return out
}

// Expression gives the expression that begins at an offset: to its closing brace, or to the end of the line where it
// has none.
func Expression(text string, at int) string {
	rest := text[at:]
	depth := 0
	for i := 0; i < len(rest); i++ {
		switch {
		case strings.HasPrefix(rest[i:], "${"):
			depth++
			i++
		case rest[i] == '}':
			if depth--; depth <= 0 {
				return rest[:i+1]
			}
		case rest[i] == '\n' && depth <= 1:
			return strings.TrimRight(rest[:i], " \t")
		}
	}
	return rest
}

// Token is a `${NAME…}` that stands in a text.
type Token struct {
	At      int
	Text    string // the whole expression
	Name    string
	Escaped bool // it stands there as `$${NAME…}`; At is that of the first dollar
}

var tokenPattern = regexp.MustCompile(`\$+\{#?([A-Za-z_][A-Za-z0-9_]*)([}:=/#%,^])`)

// Tokens finds what reads like an expression.
func Tokens(text string) []Token {
	var out []Token
	for _, m := range tokenPattern.FindAllStringSubmatchIndex(text, -1) {
		dollars := strings.IndexByte(text[m[0]:], '{')
		name := text[m[2]:m[3]]
		at := m[0] + dollars - 1
		t := Token{At: at, Text: Expression(text, at), Name: name}
		if dollars > 1 {
			t.At, t.Text, t.Escaped = at-1, "$"+t.Text, true
		}
		out = append(out, t)
	}
	return out
}

// Assigned tells whether a text itself sets a variable, as a shell script or a Makefile does.
func Assigned(text, name string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		i += at
		at = i + len(name)
		if i > 0 && isName(text[i-1]) || at < len(text) && isName(text[at]) {
			continue
		}
		rest := strings.TrimLeft(text[at:], " \t")
		before := strings.TrimRight(text[:i], " \t")
		switch {
		case strings.HasPrefix(text[at:], "=") || strings.HasPrefix(text[at:], "+=") || strings.HasPrefix(rest, ":=") || strings.HasPrefix(rest, "= "):
			if i == 0 || text[i-1] != '{' {
				return true
			}
		case strings.HasPrefix(rest, "in ") && strings.HasSuffix(before, "for"):
			return true
		}
		for _, word := range []string{"read", "read -r", "local", "export", "declare", "readonly", "let", "const", "var", "def", "variable"} {
			if strings.HasSuffix(before, word) {
				return true
			}
		}
	}
}

func isName(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// EnvironmentOf tells whether an object gives its containers an environment variable of a name.
func EnvironmentOf(o *facts.Object, name string) bool {
	found := false
	o.Strings(func(p model.Path, v string) {
		if v == name && len(p) >= 3 && p[len(p)-1] == "name" {
			if _, index := p[len(p)-2].(int); index && p[len(p)-3] == "env" {
				found = true
			}
		}
	})
	return found
}

// Script tells whether a text is a program that expands such expressions itself.
func Script(text string) bool {
	return strings.HasPrefix(strings.TrimLeft(text, " \t\n"), "#!")
}
