package subst

import (
	"math"
	"strconv"
)

// substring counts in bytes. An offset or length that is not a decimal number, a space before it included, leaves the
// value as it is. The rest of this file is about which of that is certain when an operand is not known.
func substring(v operand, args []operand, negative bool) (operand, *Error) {
	offset, ok := number(args[0])
	if !ok {
		return v, nil
	}
	if len(args) == 1 {
		switch {
		case !v.unknown && v.text == "":
			return v, nil
		case v.unknown || args[0].unknown:
			return operand{unknown: true}, nil
		}
		v.text = v.text[min(start(len(v.text), offset), len(v.text)):]
		return v, nil
	}
	length, ok := number(args[1])
	if !ok {
		return v, nil
	}
	switch {
	case !args[0].unknown && !args[1].unknown && alwaysPanics(offset, length, negative):
		return operand{}, substringPanic(length)
	case v.unknown && !args[0].unknown && !args[1].unknown && length == 0:
		return operand{}, nil
	case !v.unknown && v.text == "" && emptyStaysEmpty(args, offset, length, negative):
		return v, nil
	case v.unknown || args[0].unknown || args[1].unknown:
		return operand{unknown: true, risky: mayPanic(args, offset, length, negative)}, nil
	}
	from, to, ok := window(len(v.text), offset, length, negative)
	if !ok {
		return operand{}, substringPanic(length)
	}
	v.text = v.text[from:to]
	return v, nil
}

// number reads an operand; an unknown one may be any number, so that it is ok and 0.
func number(o operand) (n int, ok bool) {
	if o.unknown {
		return 0, true
	}
	n, err := strconv.Atoi(o.text)
	return n, err == nil
}

// start is where an offset lies in a value of n bytes. It may lie behind the end.
func start(n, offset int) int {
	if offset < 0 {
		return max(n+offset, 0)
	}
	return offset
}

// window gives the bounds of the substring of a value of n bytes, or not ok where envsubst slices out of bounds
// (funcs.go toSubstr): a negative length before 1.8, and an offset and length whose sum is no int.
func window(n, offset, length int, negative bool) (from, to int, ok bool) {
	from = start(n, offset)
	if length < 0 && negative {
		to = n + length
		if to < from {
			return 0, 0, true
		}
		return from, to, true
	}
	to = from + length // wraps around, as there
	switch {
	case to >= n && from < n:
		return from, n, true
	case to >= n:
		return 0, 0, true
	}
	return from, to, to >= from
}

// alwaysPanics says whether window fails whatever the value.
func alwaysPanics(offset, length int, negative bool) bool {
	if length < 0 && negative {
		return false
	}
	if offset < 0 {
		return length < 0 // the start is in the value, and the end before it
	}
	return offset+length < 0 // by its sign, or because it wraps around
}

// mayPanic says whether window could fail for some value of what is not known. It may say so without need.
func mayPanic(args []operand, offset, length int, negative bool) bool {
	switch {
	case args[1].unknown:
		return args[0].unknown || offset != 0 || !negative
	case length < 0:
		return !negative
	case args[0].unknown:
		return length > 0
	}
	return offset < 0 && length > math.MaxInt/2
}

// emptyStaysEmpty says whether a substring of the empty value is empty for each value of the unknown arguments, and so not
// one at which Flux would panic.
func emptyStaysEmpty(args []operand, offset, length int, negative bool) bool {
	switch {
	case args[0].unknown && args[1].unknown:
		return false
	case args[0].unknown:
		return length == 0 || length < 0 && negative
	case args[1].unknown:
		return offset <= 0 && negative
	}
	return false
}

func substringPanic(length int) *Error {
	if length < 0 {
		return functionError("substring with a negative length panics in this Flux version",
			"Count the length from the offset, or cut the end off with ${NAME%PATTERN}.")
	}
	return functionError("substring panics in Flux: offset and length are too large", "Use a smaller offset or length.")
}
