package source

import (
	"bufio"
	"bytes"
	"path/filepath"
	"strconv"
	"strings"
)

// A sourcePattern is one line of a .sourceignore file or of spec.ignore, with the meaning that fluxcd/pkg/sourceignore gives it
// (gitignore/pattern.go), which is not git's:
//   - Without a slash inside, it is compared with every element of the path, so what it excludes it excludes with everything below; but a
//     later pattern can re-include a file below an excluded directory.
//   - With a slash inside it is anchored at its directory, matches everything below what it matches, and "**" counts only as a whole
//     element. Elements are compared with filepath.Match.
//   - "x/**" matches x itself too.
//
// An own implementation, held to Flux's by differential tests, because ours matches each path element once and not once for every file
// below it, and because it knows the line that a pattern comes from.
type sourcePattern struct {
	text      string // as written
	where     string // where from, for messages
	line      int    // 0 for a built-in
	inclusion bool
	dirOnly   bool
	anchored  bool // has a slash inside
	elems     []elemPattern
}

// reason says, for the user, why a path is out.
func (p *sourcePattern) reason() string {
	if p.line == 0 {
		return p.where + " " + strconv.Quote(p.text)
	}
	return "pattern " + strconv.Quote(p.text) + " in " + p.where + ", line " + strconv.Itoa(p.line)
}

func parseSourcePattern(text, where string, line int) *sourcePattern {
	p := &sourcePattern{text: text, where: where, line: line}
	text, p.inclusion = strings.CutPrefix(text, "!")
	if !strings.HasSuffix(text, `\ `) {
		text = strings.TrimRight(text, " ")
	}
	text, p.dirOnly = strings.CutSuffix(text, "/")
	p.anchored = strings.Contains(text, "/")
	for _, elem := range strings.Split(text, "/") {
		p.elems = append(p.elems, compileElem(elem))
	}
	return p
}

// parseSourceIgnore reads patterns as sourceignore.ReadPatterns does. That stops without a word at a line of 64 KiB, so we do too.
func parseSourceIgnore(data []byte, where string) []*sourcePattern {
	var list []*sourcePattern
	scanner := bufio.NewScanner(bytes.NewReader(data))
	for line := 1; scanner.Scan(); line++ {
		text := scanner.Text()
		if !strings.HasPrefix(text, "#") && strings.TrimSpace(text) != "" {
			list = append(list, parseSourcePattern(text, where, line))
		}
	}
	return list
}

// An elemPattern is what one path element is compared with: filepath.Match, with shortcuts that give the same answers.
type elemPattern struct {
	kind elemKind
	text string
}

type elemKind uint8

const (
	elemEmpty   elemKind = iota // "", between two slashes
	elemDeep                    // **
	elemInvalid                 // ** together with something else: an anchored pattern with it matches nothing
	elemLiteral
	elemSuffix // * and a literal
	elemGeneral
)

func compileElem(text string) elemPattern {
	const special = `*?[\`
	switch {
	case text == "":
		return elemPattern{kind: elemEmpty}
	case text == "**":
		return elemPattern{kind: elemDeep, text: text}
	case strings.Contains(text, "**"):
		return elemPattern{kind: elemInvalid, text: text}
	case !strings.ContainsAny(text, special):
		return elemPattern{kind: elemLiteral, text: text}
	case text[0] == '*' && !strings.ContainsAny(text[1:], special):
		return elemPattern{kind: elemSuffix, text: text[1:]}
	}
	return elemPattern{kind: elemGeneral, text: text}
}

// match compares with one path element. An error is filepath.ErrBadPattern, which ends the comparison with the whole path.
func (e elemPattern) match(name string) (bool, error) {
	switch e.kind {
	case elemEmpty:
		return name == "", nil
	case elemLiteral:
		return name == e.text, nil
	case elemSuffix:
		return strings.HasSuffix(name, e.text), nil
	}
	return filepath.Match(e.text, name)
}

// A nameState is what a pattern without slash made of the elements of a directory's path.
type nameState uint8

const (
	stateOpen    nameState = iota // no element matched yet
	stateMatched                  // an element matched: everything below does
	stateBroken                   // the comparison failed: nothing below matches
)

// step returns the state inside the directory name, given the one around it. For patterns without slash.
func (p *sourcePattern) step(s nameState, name string) nameState {
	if s != stateOpen {
		return s
	}
	switch ok, err := p.elems[0].match(name); {
	case err != nil:
		return stateBroken
	case ok:
		return stateMatched
	}
	return stateOpen
}

// matchName reports whether the entry name matches, given the state of the directory that it is in. For patterns without slash.
func (p *sourcePattern) matchName(s nameState, name string, isDir bool) bool {
	switch s {
	case stateMatched:
		return true
	case stateBroken:
		return false
	}
	ok, err := p.elems[0].match(name)
	return ok && err == nil && (isDir || !p.dirOnly)
}

// matchPath reports whether a path matches, given by its elements below the pattern's directory. For patterns with a slash. The walk takes
// the first element that fits and never goes back, as Flux's does.
func (p *sourcePattern) matchPath(path []string, isDir bool) bool {
	matched, deep := false, false
	for i, elem := range p.elems {
		switch elem.kind {
		case elemEmpty:
			deep = false
			continue
		case elemDeep:
			if i == len(p.elems)-1 {
				return p.closes(matched, isDir, path)
			}
			deep = true
			continue
		case elemInvalid:
			return false
		}
		if len(path) == 0 {
			return false
		}
		if !deep {
			if ok, err := elem.match(path[0]); err != nil || !ok {
				return false
			}
			matched, path = true, path[1:]
			continue
		}
		deep = false
		for len(path) > 0 {
			ok, err := elem.match(path[0])
			path = path[1:]
			if err != nil {
				return false
			}
			if ok {
				matched = true
				break
			}
			if len(path) == 0 {
				matched = false
			}
		}
	}
	return p.closes(matched, isDir, path)
}

// closes applies a trailing slash: the pattern must have matched a directory, the path itself or one around it.
func (p *sourcePattern) closes(matched, isDir bool, rest []string) bool {
	return matched && (!p.dirOnly || isDir || len(rest) > 0)
}
