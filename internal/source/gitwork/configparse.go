package gitwork

import (
	"fmt"
	"strings"
)

// A configVar is one assignment of a git configuration file. section and key are lower case.
type configVar struct {
	section, subsection, key, value string
	hasValue                        bool // false for a line that names the key alone, which means true
}

// parseConfig calls fn for every assignment, in order, until the end or the first line that is not one (git-config(1), SYNTAX).
func parseConfig(text string, fn func(configVar)) error {
	p := configParser{text: strings.TrimPrefix(text, "\xef\xbb\xbf"), line: 1}
	var v configVar
	for {
		p.blank()
		if p.pos >= len(p.text) {
			return nil
		}
		var err error
		if p.text[p.pos] == '[' {
			v.section, v.subsection, err = p.header()
		} else if v.section == "" {
			err = fmt.Errorf("line %d: a value outside any section", p.line)
		} else {
			v.key, v.value, v.hasValue, err = p.assignment()
			if err == nil {
				fn(v)
			}
		}
		if err != nil {
			return err
		}
	}
}

type configParser struct {
	text string
	pos  int
	line int
}

// next returns the next byte with "\r\n" made "\n"; 0 at the end.
func (p *configParser) next() byte {
	if p.pos >= len(p.text) {
		return 0
	}
	c := p.text[p.pos]
	p.pos++
	if c == '\r' && p.pos < len(p.text) && p.text[p.pos] == '\n' {
		c = '\n'
		p.pos++
	}
	if c == '\n' {
		p.line++
	}
	return c
}

// blank skips white space and comments.
func (p *configParser) blank() {
	for p.pos < len(p.text) {
		switch p.text[p.pos] {
		case ' ', '\t', '\r', '\n', 0:
			p.next()
		case '#', ';':
			for c := p.next(); c != '\n' && p.pos < len(p.text); {
				c = p.next()
			}
		default:
			return
		}
	}
}

// header reads [section], [section "subsection"] or the old [section.subsection].
func (p *configParser) header() (section, subsection string, err error) {
	p.next()
	start := p.pos
	for p.pos < len(p.text) && (isNameByte(p.text[p.pos]) || p.text[p.pos] == '.') {
		p.pos++
	}
	section = strings.ToLower(p.text[start:p.pos])
	if s, sub, ok := strings.Cut(section, "."); ok {
		section, subsection = s, sub
	}
	c := p.next()
	for c == ' ' || c == '\t' {
		c = p.next()
	}
	if c == '"' {
		var b strings.Builder
		for c = p.next(); c != '"'; c = p.next() {
			if c == '\\' {
				c = p.next()
			}
			if c == '\n' || c == 0 {
				return "", "", fmt.Errorf("line %d: the section header does not end", p.line)
			}
			b.WriteByte(c)
		}
		subsection = b.String()
		c = p.next()
	}
	if section == "" || c != ']' {
		return "", "", fmt.Errorf("line %d: malformed section header", p.line)
	}
	return section, subsection, nil
}

func (p *configParser) assignment() (key, value string, hasValue bool, err error) {
	start := p.pos
	for p.pos < len(p.text) && isNameByte(p.text[p.pos]) {
		p.pos++
	}
	key = strings.ToLower(p.text[start:p.pos])
	line := p.line
	c := p.next()
	for c == ' ' || c == '\t' {
		c = p.next()
	}
	if key == "" || c != '=' && c != '\n' && c != 0 {
		return "", "", false, fmt.Errorf("line %d: not an assignment", line)
	}
	if c != '=' {
		return key, "", false, nil
	}
	value, err = p.value()
	return key, value, true, err
}

// value reads to the end of the line: quotes group, a backslash escapes or continues, "#" and ";" outside quotes begin a comment, and
// unquoted white space at the end does not count.
func (p *configParser) value() (string, error) {
	var b strings.Builder
	kept := 0 // length without trailing unquoted white space
	quoted, comment := false, false
	line := p.line
	for {
		c := p.next()
		switch {
		case c == '\n' || c == 0:
			if quoted {
				return "", fmt.Errorf("line %d: a quote does not end", line)
			}
			return b.String()[:kept], nil
		case comment:
		case (c == ' ' || c == '\t') && !quoted:
			if b.Len() > 0 {
				b.WriteByte(c)
			}
		case (c == '#' || c == ';') && !quoted:
			comment = true
		case c == '"':
			quoted = !quoted
			kept = b.Len()
		case c == '\\':
			switch c = p.next(); c {
			case '\n':
				continue
			case 'n':
				c = '\n'
			case 't':
				c = '\t'
			case 'b':
				c = '\b'
			case '\\', '"':
			default:
				return "", fmt.Errorf("line %d: unknown escape in a value", line)
			}
			b.WriteByte(c)
			kept = b.Len()
		default:
			b.WriteByte(c)
			kept = b.Len()
		}
	}
}

func isNameByte(c byte) bool {
	return c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
