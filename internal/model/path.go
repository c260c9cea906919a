package model

import (
	"fmt"
	"strconv"
	"strings"
)

// Path leads into an object: a string for each key of a mapping, an int for each index of a sequence.
type Path []any

// String writes a path as people do: spec.ports[0].port, metadata.labels["app.kubernetes.io/name"].
func (p Path) String() string {
	var b strings.Builder
	for i, step := range p {
		switch s := step.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", s)
		case string:
			switch {
			case !plainKey(s):
				b.WriteString("[" + strconv.Quote(s) + "]")
			case i > 0:
				b.WriteString("." + s)
			default:
				b.WriteString(s)
			}
		}
	}
	return b.String()
}

func plainKey(s string) bool {
	if s == "" {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '_' && c != '-' && c != '/' && c != '$' && !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z') {
			return false
		}
	}
	return true
}

// ParsePath reads what String writes. Besides, quotes around a key may be left out where nothing in it ends one, and
// single quotes do as well as double ones.
func ParsePath(s string) (Path, error) {
	var out Path
	for rest := s; rest != ""; {
		switch {
		case rest[0] == '[':
			end, step, err := bracket(rest)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", s, err)
			}
			out, rest = append(out, step), rest[end:]
		case rest[0] == '.' && len(out) > 0 || len(out) == 0:
			if rest[0] == '.' {
				rest = rest[1:]
			}
			n := strings.IndexAny(rest, ".[")
			if n < 0 {
				n = len(rest)
			}
			if n == 0 {
				return nil, fmt.Errorf("%q: a key is missing", s)
			}
			out, rest = append(out, rest[:n]), rest[n:]
		default:
			return nil, fmt.Errorf("%q: a '.' or '[' is missing before %q", s, rest)
		}
	}
	return out, nil
}

// bracket reads [0], ["key"], ['key'] or [key] and gives its length.
func bracket(s string) (end int, step any, err error) {
	if len(s) > 1 && (s[1] == '"' || s[1] == '\'') {
		for i := 2; i < len(s); i++ {
			switch {
			case s[i] == '\\' && s[1] == '"':
				i++
			case s[i] == s[1]:
				if i+1 >= len(s) || s[i+1] != ']' {
					return 0, nil, fmt.Errorf("a ']' is missing after %s", s[:i+1])
				}
				key := s[2:i]
				if s[1] == '"' {
					if key, err = strconv.Unquote(s[1 : i+1]); err != nil {
						return 0, nil, fmt.Errorf("%s is no quoted text", s[1:i+1])
					}
				}
				return i + 2, key, nil
			}
		}
		return 0, nil, fmt.Errorf("a quote is open")
	}
	n := strings.IndexByte(s, ']')
	if n < 2 {
		return 0, nil, fmt.Errorf("an index or a key is missing in []")
	}
	if i, err := strconv.Atoi(s[1:n]); err == nil && i >= 0 {
		return n + 1, i, nil
	}
	return n + 1, s[1:n], nil
}

// Child gives the path one step further, in memory of its own.
func (p Path) Child(step any) Path {
	out := make(Path, len(p)+1)
	copy(out, p)
	out[len(p)] = step
	return out
}

// Equal compares step by step.
func (p Path) Equal(q Path) bool {
	if len(p) != len(q) {
		return false
	}
	for i := range p {
		if p[i] != q[i] {
			return false
		}
	}
	return true
}

// HasPrefix tells whether q is p or an ancestor of it.
func (p Path) HasPrefix(q Path) bool { return len(p) >= len(q) && p[:len(q)].Equal(q) }
