package yamlpos

import (
	"strings"
	"unicode/utf8"
)

// block is yaml_parser_scan_block_scalar. The indentation that the parser reckoned with is not in its nodes; it is what
// the source has before the first line of content less what the value has.
func (w *walker) block(indicator byte) bool {
	if w.at >= len(w.text) || w.text[w.at] != indicator {
		return false
	}
	at := w.at + 1
	for at < len(w.text) && (w.text[at] == '+' || w.text[at] == '-' || w.text[at] >= '0' && w.text[at] <= '9') {
		at++
	}
	stop := at
	w.begin = stop
	for at < len(w.text) && breakLen(w.text, at) == 0 {
		at++ // blanks and a comment
	}
	if at < len(w.text) {
		at += breakLen(w.text, at)
	}
	w.at = at
	indent, ok := w.leadingBreaks()
	if !ok {
		return false
	}
	w.breaks = w.breaks[:0]
	for blank := false; w.v < len(w.value); {
		// A line of content. Breaks before and after one that begins with a blank are not folded.
		next := w.at
		wasBlank := blank
		blank = next < len(w.text) && isBlank(w.text[next])
		if indicator == '>' && !blank && !wasBlank && len(w.breaks) > 0 {
			ok = w.fold(next)
		} else {
			ok = w.give(w.breaks)
		}
		w.at = next
		if !ok || !w.line() {
			return false
		}
		stop = w.at
		if !w.nextLine(indent) {
			ok = w.chomped()
			break
		}
	}
	w.at = stop
	return ok
}

// leadingBreaks takes the lines before the first that has content, and finds the indentation of that.
func (w *walker) leadingBreaks() (indent int, ok bool) {
	for w.v < len(w.value) {
		spaces := w.spaces(w.at)
		at := w.at + spaces
		r, _ := utf8.DecodeRuneInString(w.value[w.v:])
		if r != '\n' && r != '\u2028' && r != '\u2029' {
			own := w.value[w.v:]
			own = own[:len(own)-len(strings.TrimLeft(own, " "))]
			if indent = spaces - len(own); indent < 1 {
				return 0, false
			}
			w.at += indent
			return indent, true
		}
		if at >= len(w.text) || breakLen(w.text, at) == 0 {
			return 0, false
		}
		w.breaks = w.breaks[:0]
		w.at = w.takeBreak(at)
		if !w.give(w.breaks) {
			return 0, false
		}
	}
	return 0, true
}

// spaces counts those at an offset. A tab is no indentation.
func (w *walker) spaces(at int) int {
	n := 0
	for at+n < len(w.text) && w.text[at+n] == ' ' {
		n++
	}
	return n
}

// line takes the content of a line.
func (w *walker) line() bool {
	n := 0
	for w.at+n < len(w.text) && breakLen(w.text, w.at+n) == 0 {
		n++
	}
	return w.copy(n)
}

// nextLine collects breaks up to the next line of content and goes to its text; false when there is none.
func (w *walker) nextLine(indent int) bool {
	w.breaks = w.breaks[:0]
	if w.at >= len(w.text) {
		return false
	}
	at := w.takeBreak(w.at)
	for {
		n := 0
		for n < indent && at+n < len(w.text) && w.text[at+n] == ' ' {
			n++
		}
		at += n
		switch {
		case at >= len(w.text):
			return false
		case breakLen(w.text, at) > 0:
			at = w.takeBreak(at) // a line of the indentation alone is empty as well
		default:
			w.at = at
			return n == indent
		}
	}
}

// chomped takes the breaks that a block ends with: none, one or all of them.
func (w *walker) chomped() bool {
	for _, b := range w.breaks {
		if w.v == len(w.value) {
			break
		}
		if !w.turn(b.from, b.to, b.text) {
			return false
		}
	}
	return w.v == len(w.value)
}
