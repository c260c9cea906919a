package sops

import (
	"errors"
	"regexp"
	"strings"
	"time"
)

// A document is a list of tables (several only in YAML). A table keeps the order of its entries and
// its comments, which are entries whose key is a comment. The values are what the parsers give:
// table, []any, string, int, float64, bool, time.Time, nil; in a list, comments stand among the
// elements. The exported field names are the ones that show when a value ends up where its format
// has no place for it and is written by reflection, as the library does.
type (
	table []entry
	entry struct {
		Key any // string or comment
		Val any
	}
	comment struct {
		Value  string
		Inline bool
	}
)

// maxDepth bounds how deep tables and lists nest. Kubernetes objects stay below a quarter of it.
const maxDepth = 256

// maxRule bounds the length of an expression in the metadata, maxAuthenticated the text that is
// authenticated with the values of one document (each value authenticates its whole path).
const (
	maxRule          = 4 << 10
	maxAuthenticated = 1 << 30
)

// rule tells which values of a document are encrypted (sops.go, shouldBeEncrypted). A document has
// exactly one: keys or comments are matched, and what is below or after a match is encrypted or,
// inverted, stays clear.
type rule struct {
	byComment bool
	inverted  bool
	matches   func(string) bool
}

func suffixRule(suffix string, inverted bool) rule {
	return rule{inverted: inverted, matches: func(key string) bool { return strings.HasSuffix(key, suffix) }}
}

// regexRule makes a rule of an expression. One that does not compile matches nothing: SOPS ignores
// the error.
func regexRule(expr string, byComment, inverted bool) (rule, error) {
	if len(expr) > maxRule {
		return rule{}, limit("an expression in the sops metadata has %d bytes, at most %d are read", len(expr), maxRule)
	}
	r := rule{byComment: byComment, inverted: inverted, matches: func(string) bool { return false }}
	if re, err := regexp.Compile(expr); err == nil {
		r.matches = re.MatchString
	}
	return r, nil
}

// opener gives the value for a sealed one: its plaintext, or a mask. path leads to it.
type opener func(s sealed, path []string) (any, error)

// walker replaces what is encrypted in a document, in place.
type walker struct {
	rule rule
	// clearTimes: timestamps that are not encrypted count for the checksum too and must be
	// representable there, though the sum is never compared.
	clearTimes bool
	open       opener
	path       []string
}

// scope is what the rule has seen on the way to a place: a key above that matches, or an active
// comment on a level above.
type scope struct {
	keyHit     bool
	commentHit bool
}

// level follows the comments of one table or list. Comments are active from where they stand to
// the end of the value that follows them.
type level struct {
	at   scope
	rule *rule
	own  bool // an active comment of this level matches
}

func (l *level) encrypted(hit bool) bool { return hit != l.rule.inverted }

// value tells whether a value on this level is encrypted, and the scope within it.
func (l *level) value() (bool, scope) {
	in := scope{keyHit: l.at.keyHit, commentHit: l.at.commentHit || l.own}
	if l.rule.byComment {
		return l.encrypted(in.commentHit), in
	}
	return l.encrypted(in.keyHit), in
}

// comment tells whether a comment is encrypted and makes it active. A comment that turns
// encryption on is not encrypted itself; one that turns it off stays clear itself.
func (l *level) comment(text string) bool {
	before := l.at.commentHit || l.own
	if !l.rule.byComment {
		return l.encrypted(l.at.keyHit)
	}
	l.own = l.own || l.rule.matches(text)
	if l.rule.inverted {
		return l.encrypted(before || l.own)
	}
	return l.encrypted(before)
}

// end forgets the comments: a value has followed them.
func (l *level) end() { l.own = false }

func (w *walker) table(t table, at scope) error {
	l := level{at: at, rule: &w.rule}
	for i := range t {
		if c, ok := t[i].Key.(comment); ok {
			opened, err := w.comment(c, l.comment(c.Value), true)
			if err != nil {
				return err
			}
			t[i].Key = opened
			continue
		}
		key, ok := t[i].Key.(string)
		if !ok {
			return malformed("a mapping at %s has a key that is no string: SOPS reads string keys only, quote it", showPath(w.path))
		}
		w.path = append(w.path, key)
		enc, in := l.value()
		if !w.rule.byComment {
			in.keyHit = in.keyHit || w.rule.matches(key)
			enc = l.encrypted(in.keyHit)
		}
		v, err := w.value(t[i].Val, enc, in)
		if err != nil {
			return err
		}
		t[i].Val = v
		w.path = w.path[:len(w.path)-1]
		l.end()
	}
	return nil
}

func (w *walker) list(list []any, at scope) error {
	l := level{at: at, rule: &w.rule}
	for i := range list {
		if c, ok := list[i].(comment); ok {
			opened, err := w.comment(c, l.comment(c.Value), false)
			if err != nil {
				return err
			}
			list[i] = opened
			continue
		}
		enc, in := l.value()
		v, err := w.value(list[i], enc, in)
		if err != nil {
			return err
		}
		list[i] = v
		l.end()
	}
	return nil
}

// value gives the value that takes the place of v.
func (w *walker) value(v any, enc bool, in scope) (any, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil // SOPS encrypts no null
	case table:
		return v, w.table(v, in)
	case []any:
		return v, w.list(v, in)
	case string:
		if !enc || v == "" { // nor an empty string
			return v, nil
		}
		s, ok := parseSealed(v)
		if !ok {
			return nil, malformed("the value at %s should be encrypted and is not: encrypt the file again, or fix encrypted_regex and its like in its metadata", showPath(w.path))
		}
		opened, err := w.open(s, w.path)
		if err != nil {
			return nil, err
		}
		return opened, w.summable(opened)
	case bool, int, float64, time.Time:
		if enc {
			return nil, malformed("the value at %s should be encrypted and is %s in clear: encrypt the file again", showPath(w.path), kindOf(v))
		}
		if w.clearTimes {
			return v, w.summable(v)
		}
		return v, nil
	}
	return nil, malformed("the value at %s is of a kind that SOPS does not read (an integer beyond 64 bits, perhaps)", showPath(w.path))
}

// comment gives what takes the place of a comment: a comment, or in a list also a plain value when
// the comment was sealed as one. What does not open is taken for a comment that never was encrypted.
func (w *walker) comment(c comment, enc, inTable bool) (any, error) {
	if !enc {
		return c, nil
	}
	var opened any = ""
	if c.Value != "" {
		s, ok := parseSealed(c.Value)
		if !ok || !s.known() {
			return c, nil
		}
		v, err := w.open(s, w.path)
		if err == errBytes || errors.Is(err, ErrLimit) {
			return nil, err
		}
		if err != nil {
			return c, nil
		}
		if err := w.summable(v); err != nil {
			return nil, err
		}
		if inTable && s.kind != "str" && s.kind != "comment" {
			return nil, malformed("a comment at %s holds a value that is no text: encrypt the file again", showPath(w.path))
		}
		opened = v
	}
	if text, ok := opened.(string); ok && inTable {
		return comment{Value: text, Inline: c.Inline}, nil
	}
	return opened, nil
}

// summable fails for the timestamps that SOPS cannot add to its checksum.
func (w *walker) summable(v any) error {
	if t, ok := v.(time.Time); ok {
		if _, err := t.MarshalText(); err != nil {
			return malformed("the timestamp at %s is outside of what SOPS reads", showPath(w.path))
		}
	}
	return nil
}

func kindOf(v any) string {
	switch v.(type) {
	case bool:
		return "a boolean"
	case int, float64:
		return "a number"
	}
	return "a timestamp"
}
