package gitwork

import (
	"strings"
)

// A glob is one compiled wildmatch pattern, with the meaning that git's wildmatch.c gives it under WM_PATHNAME. Matching follows all
// alternatives at once, so that its cost is at most length of pattern times length of text, whatever the asterisks.
type glob struct {
	kind   globKind
	lit    string // exact: the whole; suffix: what follows the asterisk; general: literal bytes that every match begins with
	toks   []token
	minLen int // no text shorter than this matches
	fold   bool
}

type globKind uint8

const (
	globExact   globKind = iota // no special byte at all
	globSuffix                  // one asterisk, then literal bytes
	globGeneral                 // anything else
	globNever                   // malformed: matches nothing, as in git
)

type token struct {
	kind tokenKind
	c    byte
	set  *[4]uint64
}

type tokenKind uint8

const (
	tokByte tokenKind = iota
	tokAny            // ?
	tokSet            // [...]
	tokStar           // *: anything but a slash
	tokDeep           // **: anything
	tokDirs           // begins "**/": a way past the two tokens that follow, tokDeep and the slash
)

const globSpecial = `*?[\`

// compileGlob compiles pattern. fold asks for git's core.ignoreCase.
func compileGlob(pattern string, fold bool) *glob {
	g := &glob{fold: fold}
	special := strings.IndexAny(pattern, globSpecial)
	switch {
	case special < 0:
		g.kind, g.lit = globExact, pattern
		return g
	case special == 0 && pattern[0] == '*' && !strings.ContainsAny(pattern[1:], globSpecial) && !strings.Contains(pattern, "/"):
		g.kind, g.lit = globSuffix, pattern[1:]
		return g
	}
	g.kind = globGeneral
	for i := 0; i < len(pattern); {
		next, ok := g.compileOne(pattern, i)
		if !ok {
			g.kind, g.toks = globNever, nil
			return g
		}
		i = next
	}
	for i, t := range g.toks {
		switch t.kind {
		case tokByte:
			// The slash of "**/" is passed by when there are no directories.
			if i < 2 || g.toks[i-2].kind != tokDirs {
				g.minLen++
			}
		case tokAny, tokSet:
			g.minLen++
		}
	}
	if !fold {
		g.lit = pattern[:special]
	}
	return g
}

// compileOne appends the token that begins at pattern[i] and returns where the next one begins. Runs of asterisks that mean the same as
// one are merged, so that there are never many more tokens than bytes in the shortest match.
func (g *glob) compileOne(pattern string, i int) (int, bool) {
	switch c := pattern[i]; c {
	case '*':
		return g.compileStars(pattern, i), true
	case '?':
		g.toks = append(g.toks, token{kind: tokAny})
		return i + 1, true
	case '[':
		set, next, ok := parseClass(pattern, i+1, g.fold)
		if !ok {
			return 0, false
		}
		g.toks = append(g.toks, token{kind: tokSet, set: set})
		return next, true
	case '\\':
		if i+1 == len(pattern) {
			return 0, false
		}
		// git lower-cases the text and the plain pattern bytes under ignoreCase, but not an escaped one.
		g.toks = append(g.toks, token{kind: tokByte, c: pattern[i+1]})
		return i + 2, true
	default:
		if g.fold {
			c = lower(c)
		}
		g.toks = append(g.toks, token{kind: tokByte, c: c})
		return i + 1, true
	}
}

func (g *glob) compileStars(pattern string, i int) int {
	end := i
	for end < len(pattern) && pattern[end] == '*' {
		end++
	}
	rest := pattern[end:]
	atStart := i == 0 || pattern[i-1] == '/'
	deep := end-i > 1 && atStart && (rest == "" || rest[0] == '/' || strings.HasPrefix(rest, `\/`))
	n := len(g.toks)
	switch {
	case !deep:
		g.toks = append(g.toks, token{kind: tokStar})
	case strings.HasPrefix(rest, "/"):
		if n >= 3 && g.toks[n-3].kind == tokDirs {
			return end + 1 // "**/**/" is "**/"
		}
		g.toks = append(g.toks, token{kind: tokDirs}, token{kind: tokDeep}, token{kind: tokByte, c: '/'})
		return end + 1
	default:
		g.toks = append(g.toks, token{kind: tokDeep})
	}
	return end
}

// match reports whether text, a path without leading or trailing slash, is matched from its first to its last byte.
func (g *glob) match(text string) bool {
	switch g.kind {
	case globExact:
		if g.fold {
			return len(text) == len(g.lit) && equalFoldASCII(text, g.lit)
		}
		return text == g.lit
	case globSuffix:
		if len(text) < len(g.lit) || strings.Contains(text, "/") {
			return false
		}
		tail := text[len(text)-len(g.lit):]
		return tail == g.lit || g.fold && equalFoldASCII(tail, g.lit)
	case globNever:
		return false
	}
	if len(text) < g.minLen || !strings.HasPrefix(text, g.lit) {
		return false
	}
	return g.run(text)
}

// A stateSet is a set of positions in the token list, which remembers them in a list too so that a step costs what is live.
type stateSet struct {
	in   []bool
	list []int
}

func (s *stateSet) clear() {
	for _, i := range s.list {
		s.in[i] = false
	}
	s.list = s.list[:0]
}

// add inserts position i and every position reached from it without reading a byte.
func (s *stateSet) add(toks []token, i int) {
	for !s.in[i] {
		s.in[i] = true
		s.list = append(s.list, i)
		if i == len(toks) {
			return
		}
		switch toks[i].kind {
		case tokDirs:
			s.add(toks, i+3)
			i++
		case tokStar, tokDeep:
			i++
		default:
			return
		}
	}
}

func (g *glob) run(text string) bool {
	const onStack = 96
	var marks [2][onStack]bool
	var lists [2][onStack]int
	n := len(g.toks) + 1
	cur, next := stateSet{in: marks[0][:], list: lists[0][:0]}, stateSet{in: marks[1][:], list: lists[1][:0]}
	if n > onStack {
		cur, next = stateSet{in: make([]bool, n)}, stateSet{in: make([]bool, n)}
	}
	cur.add(g.toks, 0)
	for k := 0; k < len(text) && len(cur.list) > 0; k++ {
		c := text[k]
		if g.fold {
			c = lower(c)
		}
		for _, i := range cur.list {
			if i == len(g.toks) {
				continue
			}
			switch t := g.toks[i]; t.kind {
			case tokByte:
				if c == t.c {
					next.add(g.toks, i+1)
				}
			case tokAny:
				if c != '/' {
					next.add(g.toks, i+1)
				}
			case tokSet:
				if c != '/' && t.set[c>>6]&(1<<(c&63)) != 0 {
					next.add(g.toks, i+1)
				}
			case tokStar:
				if c != '/' {
					next.add(g.toks, i)
				}
			case tokDeep:
				next.add(g.toks, i)
			}
		}
		cur.clear()
		cur, next = next, cur
	}
	return cur.in[n-1]
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func equalFoldASCII(a, b string) bool {
	for i := 0; i < len(a); i++ {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}
