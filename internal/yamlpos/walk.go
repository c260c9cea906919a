package yamlpos

import (
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	yaml3 "go.yaml.in/yaml/v3"
)

// run is a piece of a scalar: n bytes of the value and the source [from, to) that they were decoded from. In a same run
// they are the same bytes one by one; otherwise, as for an escape or a folded line break, only its ends are known.
type run struct {
	value, n int
	from, to int
	same     bool
}

// walk is a scalar with its source beside it. ok tells that the walk gave the value. Its runs follow each other without a
// gap in the value; a gap in the source was decoded to nothing.
type walk struct {
	runs  []run
	begin int // of the content in the source
	stop  int // the end of the scalar in the source
	ok    bool
}

// part leads the bytes [from, to) of the value to the source.
func (w *walk) part(from, to int) (start, end int, ok bool) {
	if !w.ok {
		return 0, 0, false
	}
	start, ok = w.start(from)
	end = start
	if ok && from < to {
		end, ok = w.end(to)
	}
	return min(start, w.stop), min(end, w.stop), ok && start <= end
}

// start leads a byte of the value to the source.
func (w *walk) start(at int) (int, bool) {
	i := sort.Search(len(w.runs), func(i int) bool { return w.runs[i].value+w.runs[i].n > at })
	if i == len(w.runs) {
		if i == 0 {
			return w.begin, at == 0
		}
		return w.runs[i-1].to, true
	}
	r := w.runs[i]
	if r.same {
		return r.from + at - r.value, true
	}
	return r.from, at == r.value
}

// end leads the end of a part to the source.
func (w *walk) end(at int) (int, bool) {
	i := sort.Search(len(w.runs), func(i int) bool { return w.runs[i].value+w.runs[i].n >= at })
	if i == len(w.runs) {
		return 0, false
	}
	r := w.runs[i]
	if r.same {
		return r.from + at - r.value, true
	}
	return r.to, at == r.value+r.n
}

// lineBreak is one of the source, and what the parser's read_line makes of it: LS and PS stay, others become LF.
type lineBreak struct {
	from, to int
	text     string
}

// walker goes along the source and the value at once. It does what yaml.v3's scanner does (scannerc.go, the functions are
// named below), with the value at hand: each byte that it would give is compared.
type walker struct {
	text   []byte // the source
	value  string
	at     int // in text
	v      int // in value
	begin  int
	keep   bool // the runs
	runs   []run
	breaks []lineBreak // those that lie before the next text
}

// walkScalar walks the source of a scalar that begins at an offset. Without keep it gives no runs.
func walkScalar(text []byte, offset int, style yaml3.Style, value string, keep bool) walk {
	w := &walker{text: text, value: value, at: offset, begin: offset, keep: keep}
	var ok bool
	switch {
	case style&yaml3.DoubleQuotedStyle != 0:
		ok = w.quoted('"')
	case style&yaml3.SingleQuotedStyle != 0:
		ok = w.quoted('\'')
	case style&yaml3.LiteralStyle != 0:
		ok = w.block('|')
	case style&yaml3.FoldedStyle != 0:
		ok = w.block('>')
	default:
		ok = w.plain()
	}
	return walk{w.runs, w.begin, w.at, ok && w.v == len(value)}
}

// copy takes n bytes that are the same on both sides.
func (w *walker) copy(n int) bool {
	if w.v+n > len(w.value) || w.value[w.v:w.v+n] != string(w.text[w.at:w.at+n]) {
		return false
	}
	if n == 0 {
		return true
	}
	if !w.keep {
		// The runs are not asked for.
	} else if k := len(w.runs) - 1; k >= 0 && w.runs[k].same && w.runs[k].to == w.at {
		w.runs[k].n += n
		w.runs[k].to += n
	} else {
		w.runs = append(w.runs, run{w.v, n, w.at, w.at + n, true})
	}
	w.v += n
	w.at += n
	return true
}

// turn takes the source [from, to) that was decoded to a text.
func (w *walker) turn(from, to int, text string) bool {
	if !strings.HasPrefix(w.value[w.v:], text) {
		return false
	}
	if text != "" && w.keep {
		w.runs = append(w.runs, run{w.v, len(text), from, to, false})
	}
	w.v += len(text)
	w.at = to
	return true
}

// isBlankOrBreak is what ends a stretch of text that is the same on both sides.
func (w *walker) isBlankOrBreak(at int) bool {
	switch w.text[at] {
	case ' ', '\t', '\n', '\r':
		return true
	case 0xC2, 0xE2:
		return breakLen(w.text, at) > 0
	}
	return false
}

// takeBreak adds the line break at an offset to the breaks, and gives where it ends.
func (w *walker) takeBreak(at int) int {
	b := lineBreak{at, at + breakLen(w.text, at), "\n"}
	if w.text[at] == 0xE2 {
		b.text = string(w.text[b.from:b.to])
	}
	w.breaks = append(w.breaks, b)
	return b.to
}

// give takes breaks as they are.
func (w *walker) give(breaks []lineBreak) bool {
	for _, b := range breaks {
		if !w.turn(b.from, b.to, b.text) {
			return false
		}
	}
	return true
}

// fold takes the breaks, folded, before the text at an offset: a single one is a blank, and of more the first is nothing.
func (w *walker) fold(next int) bool {
	first := w.breaks[0]
	switch {
	case first.text != "\n":
		return w.give(w.breaks)
	case len(w.breaks) == 1:
		return w.turn(first.from, next, " ")
	}
	w.breaks[1].from = first.from
	return w.give(w.breaks[1:])
}

// space takes the blanks and line breaks before the next text of a plain or quoted scalar. continued: a break that was
// escaped came before them.
func (w *walker) space(continued bool) bool {
	w.breaks = w.breaks[:0]
	at := w.at
	for at < len(w.text) {
		if isBlank(w.text[at]) {
			at++
		} else if breakLen(w.text, at) > 0 {
			at = w.takeBreak(at)
		} else {
			break
		}
	}
	var ok bool
	switch {
	case continued:
		ok = w.give(w.breaks)
	case len(w.breaks) == 0:
		return w.copy(at - w.at)
	default:
		ok = w.fold(at)
	}
	w.at = at
	return ok
}

// plain is yaml_parser_scan_plain_scalar. The value says where it ends.
func (w *walker) plain() bool {
	for w.v < len(w.value) {
		n := 0
		for limit := min(len(w.value)-w.v, len(w.text)-w.at); n < limit && !w.isBlankOrBreak(w.at+n); n++ {
		}
		if n == 0 && (w.at >= len(w.text) || !w.isBlankOrBreak(w.at)) {
			return false
		}
		if !w.copy(n) || w.v < len(w.value) && !w.space(false) {
			return false
		}
	}
	return true
}

// quoted is yaml_parser_scan_flow_scalar.
func (w *walker) quoted(quote byte) bool {
	if w.at >= len(w.text) || w.text[w.at] != quote {
		return false
	}
	w.at++
	w.begin = w.at
	for w.at < len(w.text) {
		n := 0
		for w.at+n < len(w.text) {
			if c := w.text[w.at+n]; c == quote || c == '\\' && quote == '"' || w.isBlankOrBreak(w.at+n) {
				break
			}
			n++
		}
		if !w.copy(n) || w.at >= len(w.text) {
			return false
		}
		var ok bool
		switch c := w.text[w.at]; {
		case c == '\\' && quote == '"':
			ok = w.escape()
		case c != quote:
			ok = w.space(false)
		case c == '\'' && w.at+1 < len(w.text) && w.text[w.at+1] == c:
			ok = w.turn(w.at, w.at+2, "'")
		default:
			w.at++
			return true
		}
		if !ok {
			return false
		}
	}
	return false
}

// escapes are those of one letter.
var escapes = map[byte]string{
	'0': "\x00", 'a': "\a", 'b': "\b", 't': "\t", '\t': "\t", 'n': "\n", 'v': "\v", 'f': "\f", 'r': "\r", 'e': "\x1b",
	' ': " ", '"': "\"", '\'': "'", '\\': "\\", 'N': "\u0085", '_': "\u00a0", 'L': "\u2028", 'P': "\u2029",
}

func (w *walker) escape() bool {
	at := w.at + 1
	if at >= len(w.text) {
		return false
	}
	if n := breakLen(w.text, at); n > 0 {
		w.at = at + n
		return w.space(true)
	}
	digits := 0
	switch w.text[at] {
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	default:
		text, ok := escapes[w.text[at]]
		return ok && w.turn(w.at, at+1, text)
	}
	end := at + 1 + digits
	if end > len(w.text) {
		return false
	}
	r, err := strconv.ParseUint(string(w.text[at+1:end]), 16, 32)
	return err == nil && r <= utf8.MaxRune && w.turn(w.at, end, string(rune(r)))
}
