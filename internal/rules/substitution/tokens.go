package substitution

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/facts"
	"github.com/tidegate/tidegate/internal/model"
)

// maxExpression bounds what is told of an expression: a text may have as many of them as letters, each reaching to its
// end.
const maxExpression = 4 << 10

// Expression gives the expression that begins at an offset: to its closing brace, or to the end of the line where it
// has none; of a very long one, the beginning.
func Expression(text string, at int) string {
	rest := text[at:]
	if len(rest) > maxExpression {
		end := maxExpression
		for end > maxExpression-utf8.UTFMax && !utf8.RuneStart(rest[end]) {
			end--
		}
		rest = rest[:end]
	}
	return rest[:Length(rest)]
}

// Length gives the length of the expression that a text begins with.
func Length(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch {
		case strings.HasPrefix(text[i:], "${"):
			depth++
			i++
		case text[i] == '}':
			if depth--; depth <= 0 {
				return i + 1
			}
		case text[i] == '\n' && depth <= 1:
			return len(strings.TrimRight(text[:i], " \t"))
		}
	}
	return len(text)
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
		if dollars%2 == 0 { // of an odd number, the last begins an expression
			t.At, t.Text, t.Escaped = at-1, "$"+t.Text, true
		}
		out = append(out, t)
	}
	return out
}

// Assigned tells whether a text itself sets a variable, as a shell script or a Makefile does, or names it as its own, as
// a dashboard does in JSON.
func Assigned(text, name string) bool {
	if strings.Contains(text, `"name": "`+name+`"`) || strings.Contains(text, `"name":"`+name+`"`) {
		return true
	}
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
			value := strings.TrimLeft(rest, ":+= \t\"'")
			if (i == 0 || !strings.ContainsRune("{?&", rune(text[i-1]))) && !strings.HasPrefix(value, "${"+name) {
				return true // NAME=${NAME} takes it from elsewhere
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

// Given tells whether something in the unit of a site gives programs a variable of a name: an entry of env, or a key of
// that name in a map, such as the data of a ConfigMap that a container takes its environment from. NAME: ${NAME} gives
// nothing where nothing substitutes in it.
func Given(s Site, name string) bool {
	objects := []*facts.Object{s.Object}
	if s.Object.Unit != nil {
		objects = s.Object.Unit.Built
	}
	for _, o := range objects {
		if strings.Contains(o.Text, name) && gives(o, name) {
			return true
		}
	}
	return false
}

func gives(o *facts.Object, name string) bool {
	found := false
	literal := o.Unit == nil || Of(o) != On
	takes := func(v any) bool { return literal && v == "${"+name+"}" }
	o.Scalars(func(p model.Path, v any) {
		if found || len(p) < 2 {
			return
		}
		switch last := p[len(p)-1]; {
		case last == name:
			found = !takes(v)
		case last == "name" && v == name && len(p) > 2:
			list, _ := p[len(p)-3].(string)
			value := append(append([]any{}, p[:len(p)-1]...), "value")
			found = strings.Contains(strings.ToLower(list), "env") && !takes(o.Get(value...))
		}
	})
	return found
}

// Script tells whether a text is a program that expands such expressions itself.
func Script(text string) bool {
	return strings.HasPrefix(strings.TrimLeft(text, " \t\n"), "#!")
}

// Shell tells whether a site is what a container's shell runs: a text beside sh -c.
func Shell(s Site) bool {
	n := len(s.Path)
	if n < 2 {
		return false
	}
	if _, index := s.Path[n-1].(int); !index {
		return false
	}
	if list, _ := s.Path[n-2].(string); list != "args" && list != "command" {
		return false
	}
	for _, field := range []string{"command", "args"} {
		words, _ := s.Object.Get(append(append([]any{}, s.Path[:n-2]...), field)...).([]any)
		for _, w := range words {
			if text, _ := w.(string); slices.Contains([]string{"sh", "bash", "ash", "dash", "ksh", "zsh"}, text[strings.LastIndexByte(text, '/')+1:]) {
				return true
			}
		}
	}
	return false
}
