package gitwork

import (
	"strings"
)

// A glob is one compiled wildmatch pattern, with the meaning that git's wildmatch.c gives it under WM_PATHNAME. Matching follows all
// alternatives at once, so that its cost is at most length of pattern times length of text, whatever the asterisks.
type glob struct {
	kind   globKind
	lit    string // exact: the whole; suffix: what follows the asterisk; general: literal bytes that every match begins with
	tail   string // general: literal bytes that every match ends with
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
		end := len(g.toks)
		for end > 0 && g.toks[end-1].kind == tokByte && (end < 3 || g.toks[end-3].kind != tokDirs) {
			end--
		}
		tail := make([]byte, 0, len(g.toks)-end)
		for _, t := range g.toks[end:] {
			tail = append(tail, t.c)
		}
		g.tail = string(tail)
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
	if len(text) < g.minLen || !strings.HasPrefix(text, g.lit) || !strings.HasSuffix(text, g.tail) {
		return false
	}
	return g.run(text)
}

// reach adds to a set of positions in the token list the position i, and every one reached from it without reading a byte. The set is kept
// twice, as marks and as a list, so that a step costs what is live. Slices go in and out so that they can stay on the caller's stack.
func reach(toks []token, marks []bool, list []int32, i int) []int32 {
	for !marks[i] {
		marks[i] = true
		list = append(list, int32(i))
		if i == len(toks) {
			break
		}
		switch toks[i].kind {
		case tokDirs:
			list = reach(toks, marks, list, i+3)
			i++
		case tokStar, tokDeep:
			i++
		}
	}
	return list
}

func (g *glob) run(text string) bool {
	const onStack = 64
	var marksA, marksB [onStack]bool
	var listA, listB [onStack]int32
	marks, nextMarks, list, next := marksA[:], marksB[:], listA[:0], listB[:0]
	n := len(g.toks) + 1
	if n > onStack {
		marks, nextMarks = make([]bool, n), make([]bool, n)
	}
	list = reach(g.toks, marks, list, 0)
	for k := 0; k < len(text) && len(list) > 0; k++ {
		c := text[k]
		if g.fold {
			c = lower(c)
		}
		for _, at := range list {
			i := int(at)
			marks[i] = false
			if i == len(g.toks) {
				continue
			}
			to := i + 1
			switch t := g.toks[i]; t.kind {
			case tokByte:
				if c != t.c {
					continue
				}
			case tokAny:
				if c == '/' {
					continue
				}
			case tokSet:
				if c == '/' || t.set[c>>6]&(1<<(c&63)) == 0 {
					continue
				}
			case tokStar:
				if c == '/' {
					continue
				}
				to = i
			case tokDeep:
				to = i
			case tokDirs:
				continue // its ways on are in the list already
			}
			next = reach(g.toks, nextMarks, next, to)
		}
		list, next = next, list[:0]
		marks, nextMarks = nextMarks, marks
	}
	return marks[n-1]
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
