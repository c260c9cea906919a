package gitwork

// parseClass reads a bracket expression whose first byte after "[" is at i. It returns the bytes that match and the position behind "]".
// ok is false for what git's wildmatch.c gives up on: no closing bracket, or an unknown [:name:].
//
// The rules are:
//   - "!" or "^" first negates; "]" first is a member.
//   - A backslash takes the next byte literally, also as the end of a range.
//   - "-" makes a range unless it is first, last, or follows a range or a [:name:].
//   - Under ignoreCase the text is lower case, so a plain upper-case member never matches, but a range and [:upper:] do.
func parseClass(p string, i int, fold bool) (set *[4]uint64, next int, ok bool) {
	set = new([4]uint64)
	add := func(c byte) { set[c>>6] |= 1 << (c & 63) }
	negated := i < len(p) && (p[i] == '!' || p[i] == '^')
	if negated {
		i++
	}
	var prev byte
	for first := true; ; first = false {
		if i >= len(p) {
			return nil, 0, false
		}
		c := p[i]
		if c == ']' && !first {
			i++
			break
		}
		switch {
		case c == '\\':
			i++
			if i >= len(p) {
				return nil, 0, false
			}
			c = p[i]
			add(c)
			prev = c
			i++
		case c == '-' && prev != 0 && i+1 < len(p) && p[i+1] != ']':
			i++
			hi := p[i]
			if hi == '\\' {
				i++
				if i >= len(p) {
					return nil, 0, false
				}
				hi = p[i]
			}
			for b := int(prev); b <= int(hi); b++ {
				add(byte(b))
				if fold {
					add(lower(byte(b)))
				}
			}
			prev = 0
			i++
		case c == '[' && i+1 < len(p) && p[i+1] == ':':
			end := i + 2
			for end < len(p) && p[end] != ']' {
				end++
			}
			if end >= len(p) {
				return nil, 0, false
			}
			if end-1 < i+2 || p[end-1] != ':' { // no ":]": an ordinary "["
				add('[')
				prev = '['
				i++
				continue
			}
			if !addNamed(set, p[i+2:end-1], fold) {
				return nil, 0, false
			}
			prev = 0
			i = end + 1
		default:
			add(c)
			prev = c
			i++
		}
	}
	if negated {
		for w := range set {
			set[w] = ^set[w]
		}
	}
	return set, i, true
}

// addNamed adds the members of a POSIX class, which is about ASCII only, as in git's own ctype table.
func addNamed(set *[4]uint64, name string, fold bool) bool {
	isLower := func(c byte) bool { return 'a' <= c && c <= 'z' }
	isUpper := func(c byte) bool { return 'A' <= c && c <= 'Z' }
	isDigit := func(c byte) bool { return '0' <= c && c <= '9' }
	isAlnum := func(c byte) bool { return isLower(c) || isUpper(c) || isDigit(c) }
	isPrint := func(c byte) bool { return 0x20 <= c && c <= 0x7e }
	var in func(c byte) bool
	switch name {
	case "alnum":
		in = isAlnum
	case "alpha":
		in = func(c byte) bool { return isLower(c) || isUpper(c) }
	case "blank":
		in = func(c byte) bool { return c == ' ' || c == '\t' }
	case "cntrl":
		in = func(c byte) bool { return c < 0x20 || c == 0x7f }
	case "digit":
		in = isDigit
	case "graph":
		in = func(c byte) bool { return isPrint(c) && c != ' ' }
	case "lower":
		in = isLower
	case "print":
		in = isPrint
	case "punct":
		in = func(c byte) bool { return isPrint(c) && c != ' ' && !isAlnum(c) }
	case "space":
		// git's isspace: no vertical tab, no form feed.
		in = func(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
	case "upper":
		in = func(c byte) bool { return isUpper(c) || fold && isLower(c) }
	case "xdigit":
		in = func(c byte) bool { return isDigit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' }
	default:
		return false
	}
	for b := 0; b < 256; b++ {
		if in(byte(b)) {
			set[b>>6] |= 1 << (b & 63)
		}
	}
	return true
}
