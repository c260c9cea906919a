package subst

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// operator is what an expression does with its variable. The default is not among those that apply knows: its argument is
// never copied, so the evaluator decides it.
type operator uint8

const (
	opValue operator = iota
	opSame           // ${V,^} and ${V^,}: nothing, but strict mode refuses them like the others
	opDefault
	opLength
	opLower
	opLowerFirst
	opUpper
	opUpperFirst
	opSubstring
	opTrimPrefix
	opTrimPrefixLong
	opTrimSuffix
	opTrimSuffixLong
	opReplaceFirst
	opReplaceAll
	opReplacePrefix
	opReplaceSuffix
)

// apply works an operator out (funcs.go). The result is unknown if any values of the unknown operands could make a
// difference. It gives an error where Flux would panic for every such value, or when the budget is spent.
func apply(op operator, v operand, args []operand, o Options, b *budget) (operand, *Error) {
	cost := len(v.text)
	for _, a := range args {
		cost += len(a.text)
	}
	if !b.spend(cost) {
		return operand{}, tooSlow()
	}
	switch op {
	case opSubstring:
		return substring(v, args, o.NegativeLength)
	case opTrimPrefix, opTrimPrefixLong, opTrimSuffix, opTrimSuffixLong:
		return trim(op, v, args[0], b)
	case opReplaceFirst, opReplaceAll, opReplacePrefix, opReplaceSuffix:
		return replace(op, v, args)
	}
	if v.unknown {
		return v, nil
	}
	switch op {
	case opLength:
		v.text = strconv.Itoa(len(v.text))
	case opLower:
		v.text = strings.ToLower(v.text)
	case opUpper:
		v.text = strings.ToUpper(v.text)
	case opLowerFirst:
		v.text = first(v.text, unicode.ToLower)
	case opUpperFirst:
		v.text = first(v.text, unicode.ToUpper)
	}
	return v, nil
}

// first changes the first rune. A byte that is not UTF-8 becomes U+FFFD by it.
func first(s string, change func(rune) rune) string {
	if s == "" {
		return s
	}
	r, width := utf8.DecodeRuneInString(s)
	return string(change(r)) + s[width:]
}

// replace is literal: Flux has no patterns here.
func replace(op operator, v operand, args []operand) (operand, *Error) {
	old, with := args[0], operand{}
	switch {
	case len(args) == 2:
		with = args[1]
	case op == opReplacePrefix || op == opReplaceSuffix:
		return v, nil // funcs.go wants two arguments for these, so ${V/#old/} changes nothing
	}
	if !v.unknown && !old.unknown && !occurs(op, v.text, old.text) {
		return v, nil
	}
	if !v.unknown && v.text == "" && !with.unknown && with.text == "" {
		return v, nil
	}
	if v.unknown || old.unknown || with.unknown {
		return operand{unknown: true}, nil
	}
	times := 1
	if op == opReplaceAll {
		times = strings.Count(v.text, old.text)
	}
	if int64(len(v.text))+int64(times)*int64(len(with.text)-len(old.text)) > maxProduced {
		return operand{}, tooLarge()
	}
	switch op {
	case opReplaceSuffix:
		v.text = v.text[:len(v.text)-len(old.text)] + with.text
	default:
		// A prefix is also the first place where it occurs.
		v.text = strings.Replace(v.text, old.text, with.text, times)
	}
	return v, nil
}

func occurs(op operator, s, old string) bool {
	switch op {
	case opReplacePrefix:
		return strings.HasPrefix(s, old)
	case opReplaceSuffix:
		return strings.HasSuffix(s, old)
	}
	return strings.Contains(s, old)
}

// trim cuts what a pattern matches off one end.
func trim(op operator, v, pattern operand, b *budget) (operand, *Error) {
	long := op == opTrimPrefixLong || op == opTrimSuffixLong
	switch {
	case !v.unknown && v.text == "":
		return v, nil
	case v.unknown && !pattern.unknown && long && pattern.text != "" && strings.Trim(pattern.text, "*") == "":
		return operand{}, nil // the longest match of * is everything
	case v.unknown || pattern.unknown:
		return operand{unknown: true}, nil
	}
	text := v.text
	var ok bool
	if op == opTrimSuffix || op == opTrimSuffixLong {
		// envsubst turns value and pattern around, so a set or an escape in a suffix pattern is read backwards too: it
		// mostly does not match. Invalid UTF-8 comes back as U+FFFD.
		text, ok = trimPrefix(reversed(text), reversed(pattern.text), long, b)
		text = reversed(text)
	} else {
		text, ok = trimPrefix(text, pattern.text, long, b)
	}
	if !ok {
		return operand{}, tooSlow()
	}
	return operand{text: text}, nil
}

func reversed(s string) string {
	runes := []rune(s)
	for i, j := 0, len(runes)-1; i < j; i, j = i+1, j-1 {
		runes[i], runes[j] = runes[j], runes[i]
	}
	return string(runes)
}
