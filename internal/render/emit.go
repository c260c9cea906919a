package render

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	yaml2 "go.yaml.in/yaml/v2"
)

// This file writes plain trees as yaml.v2 writes them, at a fraction of what its event queue costs; encoding is a
// tenth of a render.
//
// The rules are:
//   - How a scalar is written (plain, which quotes, as a block) is the library's answer, asked once for each text and
//     remembered. Only the structure around scalars is written here.
//   - Where the library's answer would depend on the place, it is asked for the whole document: a line of more than 80
//     columns with a blank in it may be folded, and keys with digits are ordered by value.
//   - A test and a fuzz test compare with the library.

// foldColumn is the column behind which yaml.v2 breaks a line at a blank (emitterc.go best_width).
const foldColumn = 80

// forms remembers how scalars are written. The zero value is ready; nil remembers nothing. Safe for concurrent use.
type forms struct {
	mu     sync.RWMutex
	m      map[string]string
	inline map[string]bool // isInline's answers
}

// The bounds of what is remembered: short texts, such as recur, and not without end.
const (
	maxForm  = 64
	maxForms = 1 << 16
)

// of gives a text as the library writes it as a value, without the final line feed.
func (f *forms) of(s string) (string, bool) {
	if f == nil || len(s) > maxForm {
		return askForm(s)
	}
	f.mu.RLock()
	form, ok := f.m[s]
	f.mu.RUnlock()
	if ok {
		return form, true
	}
	if form, ok = askForm(s); !ok {
		return "", false
	}
	f.mu.Lock()
	if f.m == nil {
		f.m = map[string]string{}
	}
	if len(f.m) < maxForms {
		f.m[strings.Clone(s)] = form
	}
	f.mu.Unlock()
	return form, true
}

// isInline is isInline with a memory.
func (f *forms) isInline(s string) bool {
	if f == nil || len(s) > maxForm {
		return isInline(s)
	}
	f.mu.RLock()
	fine, ok := f.inline[s]
	f.mu.RUnlock()
	if ok {
		return fine
	}
	fine = isInline(s)
	f.mu.Lock()
	if f.inline == nil {
		f.inline = map[string]bool{}
	}
	if len(f.inline) < maxForms {
		f.inline[strings.Clone(s)] = fine
	}
	f.mu.Unlock()
	return fine
}

func askForm(s string) (string, bool) {
	var v any = s
	block := strings.IndexByte(s, '\n') >= 0
	if block {
		// Within a mapping a block has the indentation of its place, which at the root of a document it has not.
		v = map[string]string{"k": s}
	}
	out, err := yaml2.Marshal(v)
	if err != nil {
		return "", false
	}
	form := strings.TrimSuffix(string(out), "\n")
	if block {
		form = strings.TrimPrefix(string(out), "k: ")
		if !strings.HasPrefix(form, "|") {
			form = strings.TrimSuffix(form, "\n")
		}
	}
	return form, form != ""
}

// emit writes a plain tree as yaml.v2 does; ok is false when the library must be asked.
func emit(tree any, f *forms) (text string, ok bool) {
	m, isMap := tree.(map[string]any)
	if !isMap || len(m) == 0 {
		return "", false
	}
	e := emitter{forms: f, out: make([]byte, 0, 1024)}
	if !e.mapping(m, 0, false) {
		return "", false
	}
	return string(e.out), true
}

type emitter struct {
	forms *forms
	out   []byte
}

const blanks = "                                                                                "

func (e *emitter) indent(n int) bool {
	if n > len(blanks) {
		return false
	}
	e.out = append(e.out, blanks[:n]...)
	return true
}

// mapping writes the entries of a mapping at a column; opened tells that the first stands on a line that began.
func (e *emitter) mapping(m map[string]any, column int, opened bool) bool {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	if !sortLikeYAML(keys) {
		return false
	}
	for i, k := range keys {
		if (i > 0 || !opened) && !e.indent(column) {
			return false
		}
		form, ok := e.forms.of(k)
		// An empty key and one of several lines are written as `? key`; and a key is not folded, as a value is.
		if !ok || k == "" || strings.IndexByte(k, '\n') >= 0 || strings.IndexByte(form, '\n') >= 0 {
			return false
		}
		e.out = append(e.out, form...)
		e.out = append(e.out, ':')
		if !e.value(m[k], column, column+len(form)+1) {
			return false
		}
	}
	return true
}

// value writes what follows a key that stands at column; at is the column after the colon.
func (e *emitter) value(v any, column, at int) bool {
	switch v := v.(type) {
	case map[string]any:
		if len(v) > 0 {
			e.out = append(e.out, '\n')
			return e.mapping(v, column+2, false)
		}
	case []any:
		if len(v) > 0 {
			e.out = append(e.out, '\n')
			return e.sequence(v, column, false)
		}
	}
	e.out = append(e.out, ' ')
	return e.scalar(v, column, at+1)
}

func (e *emitter) sequence(list []any, column int, opened bool) bool {
	for i, v := range list {
		if (i > 0 || !opened) && !e.indent(column) {
			return false
		}
		e.out = append(e.out, '-', ' ')
		ok := false
		switch v := v.(type) {
		case map[string]any:
			if len(v) > 0 {
				ok = e.mapping(v, column+2, true)
			} else {
				ok = e.scalar(v, column, column+2)
			}
		case []any:
			if len(v) > 0 {
				ok = e.sequence(v, column+2, true)
			} else {
				ok = e.scalar(v, column, column+2)
			}
		default:
			ok = e.scalar(v, column, column+2)
		}
		if !ok {
			return false
		}
	}
	return true
}

// scalar writes a value that needs no lines of its own but for a block's; column is its parent's, at its own.
func (e *emitter) scalar(v any, column, at int) bool {
	switch v := v.(type) {
	case nil:
		e.out = append(e.out, "null\n"...)
	case bool:
		e.out = append(strconv.AppendBool(e.out, v), '\n')
	case int:
		e.out = append(strconv.AppendInt(e.out, int64(v), 10), '\n')
	case map[string]any:
		e.out = append(e.out, "{}\n"...)
	case []any:
		e.out = append(e.out, "[]\n"...)
	case string:
		form, ok := e.forms.of(v)
		if !ok {
			return false
		}
		if form[0] == '|' && strings.IndexByte(v, '\n') >= 0 {
			return e.block(form, column+2)
		}
		if strings.IndexByte(form, '\n') >= 0 || at+len(form) > foldColumn && strings.IndexByte(form, ' ') >= 0 {
			return false
		}
		e.out = append(append(e.out, form...), '\n')
	default:
		return false
	}
	return true
}

// block writes a literal block: its header, and its lines at a column instead of at 2. Empty lines have no blanks.
func (e *emitter) block(form string, column int) bool {
	header, body, ok := strings.Cut(form, "\n")
	if !ok {
		return false
	}
	e.out = append(append(e.out, header...), '\n')
	for body != "" {
		line, rest, _ := strings.Cut(body, "\n")
		body = rest
		if line != "" {
			if !strings.HasPrefix(line, "  ") || !e.indent(column) {
				return false
			}
			e.out = append(e.out, line[2:]...)
		}
		e.out = append(e.out, '\n')
	}
	return true
}

// sortLikeYAML sorts keys as yaml.v2 orders a mapping (sorter.go): letters come after what is none, and runs of digits
// count as numbers. Keys that differ in a digit, or are not ASCII, are left to the library: then it says false.
func sortLikeYAML(keys []string) bool {
	ok := true
	slices.SortFunc(keys, func(a, b string) int {
		n := min(len(a), len(b))
		for i := 0; i < n; i++ {
			x, y := a[i], b[i]
			if x == y && x < 0x80 {
				continue
			}
			if x >= 0x80 || y >= 0x80 || isDigit(x) || isDigit(y) {
				ok = false
				return int(x) - int(y)
			}
			switch lx, ly := isLetter(x), isLetter(y); {
			case lx == ly:
				return int(x) - int(y)
			case lx:
				return 1
			}
			return -1
		}
		return len(a) - len(b)
	})
	return ok
}

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
