package gitwork

import (
	"bytes"
	"strings"
)

// A Rule is one pattern of an ignore file.
type Rule struct {
	Text string // as written, less trailing spaces
	Line int    // 1-based
	File string // the name given to ParseRules, for messages

	glob    *glob
	negated bool
	dirOnly bool
	byName  bool // no slash: matched against the last path element alone
}

// Rules are the patterns of one ignore file, which speak about paths below base only.
type Rules struct {
	base string // "" or "a/b/"
	list []*Rule
}

// ParseRules reads an ignore file. name is for messages. dir is the directory, relative to the work tree's root and "" for it, that the
// patterns are anchored at. fold is core.ignoreCase. Every input is accepted: git skips nothing but comments and empty lines.
func ParseRules(data []byte, name, dir string, fold bool) *Rules {
	rs := &Rules{}
	if dir != "" {
		rs.base = dir + "/"
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	for line := 1; len(data) > 0; line++ {
		text, rest, _ := bytes.Cut(data, []byte("\n"))
		data = rest
		if len(text) == 0 || text[0] == '#' {
			continue
		}
		text = bytes.TrimSuffix(text, []byte("\r"))
		if i := bytes.IndexByte(text, 0); i >= 0 {
			text = text[:i] // git reads C strings
		}
		if r := parseRule(trimSpaces(string(text)), fold); r != nil {
			r.Line, r.File = line, name
			rs.list = append(rs.list, r)
		}
	}
	return rs
}

// trimSpaces removes trailing spaces that no backslash protects. A line that ends in a lone backslash keeps what it has.
func trimSpaces(s string) string {
	keep := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ' ':
			continue
		case '\\':
			if i+1 == len(s) {
				return s
			}
			i++
		}
		keep = i + 1
	}
	return s[:keep]
}

func parseRule(text string, fold bool) *Rule {
	r := &Rule{Text: text}
	p := text
	if strings.HasPrefix(p, "!") {
		r.negated, p = true, p[1:]
	}
	if strings.HasSuffix(p, "/") {
		r.dirOnly, p = true, p[:len(p)-1]
	}
	r.byName = !strings.Contains(p, "/")
	if p = strings.TrimPrefix(p, "/"); p == "" {
		return nil // matches no path
	}
	r.glob = compileGlob(p, fold)
	return r
}

// Empty reports whether there is no pattern at all.
func (rs *Rules) Empty() bool { return rs == nil || len(rs.list) == 0 }

// match returns the last rule that matches path (relative to the work tree's root), or nil.
func (rs *Rules) match(path, name string, isDir bool) *Rule {
	if !strings.HasPrefix(path, rs.base) {
		return nil
	}
	rel := path[len(rs.base):]
	for i := len(rs.list) - 1; i >= 0; i-- {
		r := rs.list[i]
		if r.dirOnly && !isDir {
			continue
		}
		subject := rel
		if r.byName {
			subject = name
		}
		if r.glob.match(subject) {
			return r
		}
	}
	return nil
}

// A Scope is the ignore files that are in force inside one directory: its own in front of its parent's. The nil Scope has none.
// A Scope is immutable.
type Scope struct {
	parent *Scope
	rules  *Rules
}

// With returns the scope that consults rules before s.
func (s *Scope) With(rules *Rules) *Scope {
	if rules.Empty() {
		return s
	}
	return &Scope{parent: s, rules: rules}
}

// Ignored reports whether git ignores the untracked file or directory at path (relative to the work tree's root), given that none of its
// parents is ignored, and the rule that decided, nil when none did. Symbolic links count as files.
func (s *Scope) Ignored(path string, isDir bool) (bool, *Rule) {
	name := path[strings.LastIndexByte(path, '/')+1:]
	for ; s != nil; s = s.parent {
		if r := s.rules.match(path, name, isDir); r != nil {
			return !r.negated, r
		}
	}
	return false, nil
}
