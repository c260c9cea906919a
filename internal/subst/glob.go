package subst

import (
	"strings"
	"unicode/utf8"
)

// The patterns of # ## % %% (path/match.go, which descends from Go's path.Match). The rules are:
//
//  1. * is any bytes, ? any rune, [a-z] and [^a-z] a rune of a set; \ takes the special meaning of the next byte away.
//  2. * crosses slashes.
//  3. A malformed pattern cuts nothing off: envsubst finds out only when it gets there, but no match can be complete then.
//  4. A match of the empty prefix does not count.
//  5. Runes are decoded in the prefix that is tried, so a prefix that ends within a rune sees single bytes there.

// glob is a pattern, taken apart at its stars.
type glob struct {
	runs   []run
	ranges []runeRange // of all sets
}

// run is what stands between two stars. Only the first can be without a star, and only the last can have no atoms.
type run struct {
	star  bool
	atoms []atom
}

type atom struct {
	kind     atomKind
	literal  byte
	negated  bool
	from, to int32 // in glob.ranges
}

type atomKind uint8

const (
	atomByte atomKind = iota
	atomAny
	atomSet
)

type runeRange struct{ low, high rune }

// compile gives not ok for a pattern that is malformed or needs more than room bytes: both match nothing.
func compile(pattern string, room int) (g glob, ok bool) {
	for pattern != "" {
		rest := strings.TrimLeft(pattern, "*")
		end := nextStar(rest)
		r := run{star: len(rest) < len(pattern)}
		if r.atoms, ok = g.atoms(rest[:end], room); !ok {
			return g, false
		}
		room -= len(r.atoms)
		g.runs = append(g.runs, r)
		pattern = rest[end:]
	}
	return g, true
}

// nextStar finds the next star that is neither escaped nor between brackets. It looks at brackets only roughly, as there:
// "[]*]" ends at its star, and is malformed by that.
func nextStar(s string) int {
	inside := false
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			inside = true
		case ']':
			inside = false
		case '*':
			if !inside {
				return i
			}
		}
	}
	return len(s)
}

func (g *glob) atoms(s string, room int) (list []atom, ok bool) {
	for s != "" {
		if len(list) == room {
			return nil, false // each atom takes a byte at least
		}
		a := atom{literal: s[0]}
		switch s[0] {
		case '?':
			a.kind = atomAny
		case '[':
			a.kind, a.from = atomSet, int32(len(g.ranges))
			if a.negated, s, ok = g.set(s[1:]); !ok {
				return nil, false
			}
			a.to = int32(len(g.ranges))
			list = append(list, a)
			continue
		case '\\':
			if s = s[1:]; s == "" {
				return nil, false
			}
			a.literal = s[0]
		}
		list = append(list, a)
		s = s[1:]
	}
	return list, true
}

// set reads behind a "[" up to its "]", and gives what follows. A set has at least one member.
func (g *glob) set(s string) (negated bool, rest string, ok bool) {
	if strings.HasPrefix(s, "^") {
		negated, s = true, s[1:]
	}
	for n := 0; n == 0 || s[0] != ']'; n++ {
		var r runeRange
		if r.low, s, ok = member(s); !ok {
			return false, "", false
		}
		r.high = r.low
		if s[0] == '-' {
			if r.high, s, ok = member(s[1:]); !ok {
				return false, "", false
			}
		}
		g.ranges = append(g.ranges, r)
	}
	return negated, s[1:], true
}

// member reads a rune of a set. Something must follow it, if only the bracket.
func member(s string) (r rune, rest string, ok bool) {
	if s == "" || s[0] == '-' || s[0] == ']' {
		return 0, "", false
	}
	s = strings.TrimPrefix(s, `\`)
	r, width := utf8.DecodeRuneInString(s)
	if width == 0 || r == utf8.RuneError && width == 1 || width == len(s) {
		return 0, "", false
	}
	return r, s[width:], true
}

// at matches a run at the start of s, and gives how many bytes it took.
func (g *glob) at(r run, s string, b *budget) (n int, ok bool) {
	steps := 0
	for i := range r.atoms {
		a := &r.atoms[i]
		steps++
		if n == len(s) {
			b.spend(steps)
			return 0, false
		}
		width := 1
		switch a.kind {
		case atomByte:
			ok = s[n] == a.literal
		default:
			var c rune
			c, width = utf8.DecodeRuneInString(s[n:])
			ok = a.kind == atomAny || g.in(a, c) != a.negated
			steps += int(a.to - a.from)
		}
		if !ok {
			b.spend(steps)
			return 0, false
		}
		n += width
	}
	b.spend(steps)
	return n, true
}

func (g *glob) in(a *atom, c rune) bool {
	for _, r := range g.ranges[a.from:a.to] {
		if r.low <= c && c <= r.high {
			return true
		}
	}
	return false
}

// find gives the first place from which r matches, and where that match ends.
func (g *glob) find(r run, s string, from int, b *budget) (begin, end int, ok bool) {
	for begin = from; begin <= len(s); begin++ {
		if n, ok := g.at(r, s[begin:], b); ok {
			return begin, begin + n, true
		}
		if !r.star || b.left == 0 {
			break
		}
	}
	return 0, 0, false
}

// match says whether all of s matches. Each run but the last takes the first place that it can have.
func (g *glob) match(s string, b *budget) bool {
	pos := 0
	for i, r := range g.runs {
		if len(r.atoms) == 0 {
			return true
		}
		begin, end, ok := g.find(r, s, pos, b)
		for last := i == len(g.runs)-1; ok && last && end < len(s) && r.star; {
			begin, end, ok = g.find(r, s, begin+1, b)
		}
		if !ok {
			return false
		}
		pos = end
	}
	return pos == len(s)
}

// trimPrefix cuts the shortest or the longest prefix that matches pattern off s. It is not ok when the budget is spent.
func trimPrefix(s, pattern string, long bool, b *budget) (rest string, ok bool) {
	g, ok := compile(pattern, len(s))
	if !ok || len(g.runs) == 0 || s == "" {
		return s, true
	}
	cut := 0
	if isASCII(s) {
		cut = g.cutASCII(s, long, b)
	} else {
		cut = g.cut(s, long, b)
	}
	return s[cut:], b.left > 0
}

// cut tries one prefix after the other, as envsubst does. 0 is none.
func (g *glob) cut(s string, long bool, b *budget) int {
	for i := 1; i <= len(s) && b.left > 0; i++ {
		n := i
		if long {
			n = len(s) + 1 - i
		}
		if g.match(s[:n], b) {
			return n
		}
	}
	return 0
}

// cutASCII finds the same in one go. If each rune of s is a byte, a run always takes as many bytes as it has atoms, and a
// prefix that ends behind a match does not change it. So all runs but the last have the same places in every prefix, and
// the first or the last place of the last run decides.
func (g *glob) cutASCII(s string, long bool, b *budget) int {
	pos, last := 0, g.runs[len(g.runs)-1]
	for _, r := range g.runs[:len(g.runs)-1] {
		_, end, ok := g.find(r, s, pos, b)
		if !ok {
			return 0
		}
		pos = end
	}
	switch {
	case len(last.atoms) == 0 && long:
		return len(s)
	case len(last.atoms) == 0:
		return max(pos, 1)
	case long && last.star:
		for begin := len(s) - len(last.atoms); begin >= pos && b.left > 0; begin-- {
			if n, ok := g.at(last, s[begin:], b); ok {
				return begin + n
			}
		}
		return 0
	}
	_, end, ok := g.find(last, s, pos, b)
	if !ok {
		return 0
	}
	return end
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
