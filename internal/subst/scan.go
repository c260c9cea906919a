package subst

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// scanner reads a text from left to right and never goes back. envsubst reads runes; all its delimiters are ASCII, so
// that bytes give the same, in invalid UTF-8 too.
type scanner struct {
	text string
	pos  int
	// nul: a NUL byte ended the text. envsubst's scanner takes it for the end, with one difference (see badOffset).
	nul bool
}

func newScanner(text string) scanner {
	if i := strings.IndexByte(text, 0); i >= 0 {
		return scanner{text: text[:i], nul: true}
	}
	return scanner{text: text}
}

// peek gives the next byte, or 0 at the end: the text has no NUL.
func (s *scanner) peek() byte {
	if s.pos < len(s.text) {
		return s.text[s.pos]
	}
	return 0
}

// eat skips the next byte if it is c.
func (s *scanner) eat(c byte) bool {
	if s.peek() != c || c == 0 {
		return false
	}
	s.pos++
	return true
}

// eatUpTo skips at most n bytes that are c, and says how many.
func (s *scanner) eatUpTo(c byte, n int) int {
	from := s.pos
	for s.pos-from < n && s.eat(c) {
	}
	return s.pos - from
}

func (s *scanner) atExpression() bool { return strings.HasPrefix(s.text[s.pos:], "${") }

// name reads letters, digits and underscores of any script, in any order; it may find none.
func (s *scanner) name() string {
	from := s.pos
	for s.pos < len(s.text) {
		c := s.text[s.pos]
		if c < utf8.RuneSelf {
			if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_') {
				break
			}
			s.pos++
			continue
		}
		r, width := utf8.DecodeRuneInString(s.text[s.pos:])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		s.pos += width
	}
	return s.text[from:s.pos]
}

// badOffset says whether envsubst stumbles over what follows the colon that was just read. Its parser looks one rune ahead
// and then steps back twice by the width of that rune, so it only gets back to the colon if the rune has one byte
// (parse/parse.go parseDefaultOrSubstr): not at the end of the text, though at a NUL byte, and not at a rune of two or more.
func (s *scanner) badOffset() bool {
	if s.pos == len(s.text) {
		return !s.nul
	}
	_, width := utf8.DecodeRuneInString(s.text[s.pos:])
	return width > 1
}

// literal reads up to `${` or a byte of stops. It may find nothing.
func (s *scanner) literal(stops string) string {
	from := s.pos
	for s.pos < len(s.text) {
		i := strings.IndexByte(stops, s.text[s.pos])
		if i >= 0 || s.text[s.pos] == '$' && s.atExpression() {
			break
		}
		s.pos++
	}
	return s.text[from:s.pos]
}

// escaped is literal for the arguments of a replacement, the only place where \/ \\ and $$ stand for / \ and $. It also
// says whether it read anything at all.
func (s *scanner) escaped(stop byte) (text string, some bool) {
	from, begin := s.pos, s.pos
	var b strings.Builder
	for s.pos < len(s.text) {
		c, next := s.text[s.pos], byte(0)
		if s.pos+1 < len(s.text) {
			next = s.text[s.pos+1]
		}
		switch {
		case c == '$' && next == '{':
		case c == '$' && next == '$', c == '\\' && (next == '/' || next == '\\'):
			b.WriteString(s.text[from:s.pos])
			from = s.pos + 1
			s.pos += 2
			continue
		case c != stop:
			s.pos++
			continue
		}
		break
	}
	if b.Len() == 0 && from == begin {
		return s.text[begin:s.pos], s.pos > begin
	}
	b.WriteString(s.text[from:s.pos])
	return b.String(), true
}
