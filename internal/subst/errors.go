package subst

import (
	"strconv"
	"strings"
)

// Kind is what sort of error stopped a substitution.
type Kind uint8

const (
	// KindParse: an expression is not in the language.
	KindParse Kind = iota + 1
	// KindUndefined: strict mode, and nothing defines the variable.
	KindUndefined
	// KindFunction: the operator fails for this value; Flux panics there.
	KindFunction
	// KindLimit: the expression is too deep, too large or too slow to be worked out here.
	KindLimit
)

// Error is why a text could not be substituted.
type Error struct {
	// Offset is where in the input the `${` stands that is at fault: the innermost that was open. -1 if unknown.
	Offset int
	Kind   Kind
	// Name is the variable of that expression, "" if its name could not be read.
	Name string

	text   string
	advice string
}

// Error is exactly the text of Flux's envsubst package for KindParse and KindUndefined. (Flux wraps it in
// "envsubst error: variable substitution failed: ".) It holds no value of a variable.
func (e *Error) Error() string { return e.text }

// Advice says in a sentence what to do about it. Flux's own texts do not.
func (e *Error) Advice() string { return e.advice }

// Position gives the line and the column of Offset in text, which must be the text that Eval was given. Both count from
// 1, the column in bytes. It gives 0, 0 when the offset is not in the text.
func (e *Error) Position(text string) (line, col int) {
	if e.Offset < 0 || e.Offset > len(text) {
		return 0, 0
	}
	before := text[:e.Offset]
	return strings.Count(before, "\n") + 1, e.Offset - strings.LastIndexByte(before, '\n')
}

const keepText = "If it is meant for another program, write $${ to keep it."

// syntax is a way for an expression to be wrong. The texts are envsubst's (parse/parse.go): users see them in the status
// of a Kustomization.
type syntax uint8

const (
	badForm syntax = iota
	noBrace
	noName
	noOperand
)

func (s syntax) error(at int, name string) *Error {
	e := &Error{Offset: at, Kind: KindParse, Name: name}
	switch s {
	case noBrace:
		e.text = "missing closing brace"
		e.advice = "After the name Flux knows only } : = # % / , and ^; a default is written ${NAME:-default}. " + keepText
	case noName:
		e.text = "unable to parse variable name"
		e.advice = "Letters, digits or underscores must follow ${ at once. " + keepText
	case noOperand:
		e.text = "unable to parse substitution within function"
		e.advice = "The operator needs an argument, or the closing brace is missing. " + keepText
	default:
		e.text = "bad substitution"
		e.advice = "Flux has no such form of this operator. " + keepText
	}
	return e
}

func undefinedError(at int, name string) *Error {
	return &Error{
		Offset: at, Kind: KindUndefined, Name: name,
		text:   "variable not set (strict mode): " + strconv.Quote(name),
		advice: "Define it in postBuild.substitute or in a source of substituteFrom, or give it a default with ${NAME:-default}. " + keepText,
	}
}

// functionError and limitError leave out where; the evaluator adds it.
func functionError(text, advice string) *Error {
	return &Error{Offset: -1, Kind: KindFunction, text: text, advice: advice}
}

func limitError(text string) *Error {
	return &Error{Offset: -1, Kind: KindLimit, text: text, advice: "Simplify the expression, or shorten the values and patterns that it works on."}
}

func tooSlow() *Error { return limitError("substitution takes too many steps for this text") }

func tooLarge() *Error {
	return limitError("substitution comes to more than " + strconv.Itoa(maxProduced>>20) + " MiB")
}
