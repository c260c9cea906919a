package yamlpos

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	yaml3 "go.yaml.in/yaml/v3"
)

// run is a piece of a scalar: n bytes of the value and what they were decoded from. In a same run they are the same
// bytes one by one; otherwise, as for an escape or a folded line break, only its ends are known.
type run struct {
	value, n   int
	source, to int
	same       bool
}

// walk is a scalar with its source beside it. ok tells that the walk gave the value; stop is the end in the source.
type walk struct {
	runs []run
	stop int
	ok   bool
}

// start leads a byte of the value to the source.
func (w *walk) start(at int) (int, bool) {
	for _, r := range w.runs {
		switch {
		case at < r.value || at >= r.value+r.n:
		case r.same:
			return r.source + at - r.value, true
		default:
			return r.source, at == r.value
		}
	}
	if n := len(w.runs); n > 0 && at == w.runs[n-1].value+w.runs[n-1].n {
		return w.runs[n-1].to, true
	}
	return w.stop, at == 0
}

// end leads the end of a part to the source.
func (w *walk) end(at int) (int, bool) {
	for _, r := range w.runs {
		switch {
		case at <= r.value || at > r.value+r.n:
		case r.same:
			return r.source + at - r.value, true
		default:
			return r.to, at == r.value+r.n
		}
	}
	return 0, false
}

// walker goes along the source and the value at once.
type walker struct {
	data  []byte
	value string
	at    int // in data
	v     int // in value
	runs  []run
}

// walkScalar walks the source of a scalar that begins at an offset.
func walkScalar(data []byte, offset int, style yaml3.Style, value string) walk {
	if offset > len(data) {
		return walk{}
	}
	w := &walker{data: data, value: value, at: offset}
	ok := false
	switch {
	case style&yaml3.DoubleQuotedStyle != 0:
		ok = w.double()
	case style&yaml3.SingleQuotedStyle != 0:
		ok = w.single()
	case style&yaml3.LiteralStyle != 0:
		ok = w.block(false)
	case style&yaml3.FoldedStyle != 0:
		ok = w.block(true)
	default:
		ok = w.plain()
	}
	return walk{w.runs, w.at, ok && w.v == len(value)}
}

// copy takes n bytes that are the same on both sides.
func (w *walker) copy(n int) bool {
	if w.v+n > len(w.value) || w.at+n > len(w.data) || w.value[w.v:w.v+n] != string(w.data[w.at:w.at+n]) {
		return false
	}
	if n == 0 {
		return true
	}
	if k := len(w.runs) - 1; k >= 0 && w.runs[k].same && w.runs[k].to == w.at {
		w.runs[k].n += n
		w.runs[k].to += n
	} else {
		w.runs = append(w.runs, run{w.v, n, w.at, w.at + n, true})
	}
	w.v += n
	w.at += n
	return true
}

// turn takes source bytes up to an offset that were decoded to a text.
func (w *walker) turn(to int, text string) bool {
	if !strings.HasPrefix(w.value[w.v:], text) {
		return false
	}
	if text != "" {
		w.runs = append(w.runs, run{w.v, len(text), w.at, to, false})
	}
	w.v += len(text)
	w.at = to
	return true
}

// breakAt tells whether blanks and a line break begin at an offset, gives how many breaks follow with nothing but blanks
// between them, and the offset of the next text.
func breakAt(data []byte, at int) (breaks, next int) {
	for i := at; ; {
		for i < len(data) && isBlank(data[i]) {
			i++
		}
		if i >= len(data) || data[i] != '\n' {
			if breaks == 0 {
				return 0, at
			}
			return breaks, i
		}
		breaks++
		i++
	}
}

// folded takes a line break of a plain or quoted scalar: one is a blank, more are one less.
func (w *walker) folded() (took, ok bool) {
	if w.at >= len(w.data) || !isBlank(w.data[w.at]) && w.data[w.at] != '\n' {
		return false, true
	}
	breaks, next := breakAt(w.data, w.at)
	switch breaks {
	case 0:
		return false, true
	case 1:
		return true, w.turn(next, " ")
	}
	return true, w.turn(next, strings.Repeat("\n", breaks-1))
}

func (w *walker) plain() bool {
	for w.v < len(w.value) {
		took, ok := w.folded()
		if !ok {
			return false
		}
		if !took && !w.copy(1) {
			return false
		}
	}
	return true
}

func (w *walker) single() bool {
	if w.at >= len(w.data) || w.data[w.at] != '\'' {
		return false
	}
	for w.at++; w.at < len(w.data); {
		if w.data[w.at] == '\'' {
			if w.at+1 >= len(w.data) || w.data[w.at+1] != '\'' {
				w.at++
				return true
			}
			if !w.turn(w.at+2, "'") {
				return false
			}
			continue
		}
		took, ok := w.folded()
		if !ok || !took && !w.copy(1) {
			return false
		}
	}
	return false
}

// escapes are those of one letter (YAML 1.1 section 5.6, as yaml.v3 scannerc.go has them).
var escapes = map[byte]string{
	'0': "\x00", 'a': "\a", 'b': "\b", 't': "\t", '\t': "\t", 'n': "\n", 'v': "\v", 'f': "\f", 'r': "\r", 'e': "\x1b",
	' ': " ", '"': "\"", '\'': "'", '\\': "\\", '/': "/", 'N': "\u0085", '_': "\u00a0", 'L': "\u2028", 'P': "\u2029",
}

func (w *walker) double() bool {
	if w.at >= len(w.data) || w.data[w.at] != '"' {
		return false
	}
	for w.at++; w.at < len(w.data); {
		switch c := w.data[w.at]; {
		case c == '"':
			w.at++
			return true
		case c == '\\':
			if !w.escape() {
				return false
			}
		default:
			took, ok := w.folded()
			if !ok || !took && !w.copy(1) {
				return false
			}
		}
	}
	return false
}

func (w *walker) escape() bool {
	if w.at+1 >= len(w.data) {
		return false
	}
	c := w.data[w.at+1]
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
	switch {
	case c == '\n' || c == '\r':
		// The line goes on: the break and the blanks after it are nothing.
		_, next := breakAt(w.data, w.at+1)
		i := w.at + 2
		if c == '\r' {
			i++
		}
		if breaks := bytes.Count(w.data[w.at:next], []byte("\n")); breaks > 1 {
			return w.turn(next, strings.Repeat("\n", breaks-1))
		}
		for i < len(w.data) && isBlank(w.data[i]) {
			i++
		}
		return w.turn(i, "")
	case digits > 0:
		end := w.at + 2 + digits
		if end > len(w.data) {
			return false
		}
		r, err := strconv.ParseUint(string(w.data[w.at+2:end]), 16, 32)
		return err == nil && r <= utf8.MaxRune && w.turn(end, string(rune(r)))
	}
	text, ok := escapes[c]
	return ok && w.turn(w.at+2, text)
}

// block walks a literal or folded block.
func (w *walker) block(fold bool) bool {
	if w.at >= len(w.data) || w.data[w.at] != '|' && w.data[w.at] != '>' {
		return false
	}
	head := bytes.IndexByte(w.data[w.at:], '\n')
	if head < 0 {
		w.at = len(w.data)
		return w.value == ""
	}
	start := w.at
	stop := start + len(bytes.TrimRight(w.data[start:start+head], " \t\r"))
	if i := bytes.IndexByte(w.data[start:stop], '#'); i > 0 {
		stop = start + len(bytes.TrimRight(w.data[start:start+i], " \t"))
	}
	w.at = start + head + 1
	indent := w.indentation()
	for w.v < len(w.value) && w.at < len(w.data) {
		end := len(w.data)
		if i := bytes.IndexByte(w.data[w.at:], '\n'); i >= 0 {
			end = w.at + i
		}
		line := bytes.TrimSuffix(w.data[w.at:end], []byte("\r"))
		textEnd := w.at + len(line)
		if in := leading(line); in >= indent {
			w.at += indent
			// Trailing blank lines that chomping dropped are no part of the value.
			if !w.copy(textEnd - w.at) {
				return false
			}
			if in < len(line) {
				stop = textEnd
			}
		} else if in < len(line) {
			return false
		} else {
			w.at = textEnd
		}
		if w.v == len(w.value) {
			break
		}
		next := min(end+1, len(w.data))
		if !w.lineEnd(fold, next) {
			return false
		}
	}
	ok := w.v == len(w.value)
	w.at = stop
	return ok
}

// lineEnd takes the break after a line of a block: a line feed, or in a folded block a blank, or nothing where a fold
// gave its break already.
func (w *walker) lineEnd(fold bool, next int) bool {
	switch {
	case w.value[w.v] == '\n':
		return w.turn(next, "\n")
	case fold && w.value[w.v] == ' ':
		return w.turn(next, " ")
	case fold:
		return w.turn(next, "")
	}
	return false
}

// indentation finds how far a block is indented: what the source has before its first text, less what the value has.
func (w *walker) indentation() int {
	value := ""
	for line := range strings.SplitSeq(w.value, "\n") {
		if strings.Trim(line, " ") != "" {
			value = line
			break
		}
	}
	if value == "" {
		return 0
	}
	for at := w.at; at < len(w.data); {
		end := len(w.data)
		if i := bytes.IndexByte(w.data[at:], '\n'); i >= 0 {
			end = at + i
		}
		line := bytes.TrimSuffix(w.data[at:end], []byte("\r"))
		if in := leading(line); in < len(line) {
			return max(0, in-leading([]byte(value)))
		}
		at = end + 1
	}
	return 0
}

// leading counts the blanks that a line begins with.
func leading(line []byte) int {
	return len(line) - len(bytes.TrimLeft(line, " "))
}
