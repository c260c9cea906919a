// Package subst is the substitution language of Flux's spec.postBuild: the dialect of shell parameter expansion that
// github.com/fluxcd/pkg/envsubst v1.8.0 understands. It gives the text that kustomize-controller would get, and it also
// says which part of that text came from which expression and variable, and which parts cannot be known.
//
// The rules are:
//
//  1. The text and the error are those of envsubst, byte for byte, oddities included. Where the two differ, this package
//     is wrong. The tests compare them.
//  2. Only `${` begins an expression. Outside of one `$$` becomes `$`; a backslash means nothing there.
//  3. A syntax error anywhere rejects the whole text, before any error about a variable.
//  4. Arguments are worked out even where their result is not used, so in strict mode ${A:-${B}} needs B.
//  5. Strict mode refuses an undefined variable, unless the operator brings a default. Defined but empty is defined.
//  6. A value that exists and is not known (Opaque) is never guessed. The outermost expression that depends on it stays in
//     the text as it was written and is marked.
//  7. No input makes it panic, overflow the stack, or run without end: what goes beyond the limits in limits.go is an
//     error of KindLimit. Flux has no such limits; where it would panic, the error is a KindFunction.
package subst

import (
	"slices"
	"strings"
)

// State says what is known about a variable.
type State uint8

const (
	// Undefined: no source defines the variable. It reads as "" in lax mode.
	Undefined State = iota
	// Known: the variable is defined, and this is its value (which may be "").
	Known
	// Opaque: the variable is defined, but its value cannot be known here: its Secret is encrypted, or what holds it is
	// made in the cluster.
	Opaque
)

// Lookup gives the value of a variable. The value counts only if the state is Known. It may be asked for the same name
// several times in one Eval and has to answer the same. A nil Lookup defines nothing.
type Lookup func(name string) (value string, state State)

// Options choose between the behaviours of Flux's versions and modes. The zero value is lax mode before envsubst 1.8.
type Options struct {
	// Strict is kustomize-controller's StrictPostBuildSubstitutions: an undefined variable is an error.
	Strict bool
	// StrictBareOnly narrows Strict to what envsubst did before 1.6: only a bare ${X} has to be defined, and in ${X^^} or
	// ${#X} an undefined X reads as "".
	StrictBareOnly bool
	// NegativeLength lets ${V:2:-1} count from the end of the value, as envsubst does from 1.8 on. Before that it
	// panicked (unless the offset lay far enough beyond the value), which is an error of KindFunction here.
	NegativeLength bool
}

// Segment is one `${…}` of the top level in the input and what it became.
type Segment struct {
	// In and InEnd are the byte offsets of the expression in the input, from `$` to just after `}`.
	In, InEnd int
	// Out and OutEnd are the byte offsets in Result.Text of what it became.
	Out, OutEnd int
	// Name is the variable that the expression names first.
	Name string
	// Names are all the variables that it read, nested ones too, each once, in the order of the input. Nil when that is
	// just Name.
	Names []string
	// Defaulted: Name was undefined or empty and its operator has a default, so what stands there is the default (which
	// may be empty, too). It speaks of the outermost operator only.
	Defaulted bool
	// Opaque: the result depends on a value that is not known, so the expression was left as it was written.
	Opaque bool
}

// Result is a text after substitution.
type Result struct {
	Text string
	// Segments are the expressions of the top level, in order. `$$` has none.
	Segments []Segment
	// Opaque are the names of the opaque variables that the opaque segments depend on, sorted, each once.
	Opaque []string
}

// HasExpression says whether Eval could change this text or reject it. It costs little and never says no wrongly; it may
// say yes to a text that stays the same.
func HasExpression(text string) bool {
	for rest := text; ; {
		i := strings.IndexByte(rest, '$')
		if i < 0 || i+1 == len(rest) {
			break
		}
		if c := rest[i+1]; c == '$' || c == '{' {
			return true
		}
		rest = rest[i+1:]
	}
	// A NUL byte is the end of the text for envsubst, and what follows is lost.
	return strings.IndexByte(text, 0) >= 0
}

// Eval replaces the expressions in text by what lookup says of their variables. The error is always an *Error, and then
// the Result is empty. A text without expressions is returned as it is, without an allocation.
func Eval(text string, lookup Lookup, o Options) (Result, error) {
	if !HasExpression(text) {
		return Result{Text: text}, nil
	}
	e := evaluator{scanner: newScanner(text), lookup: lookup, options: o, budget: newBudget()}
	e.out.Grow(len(e.text))
	if err := e.run(); err != nil {
		return Result{}, err
	}
	if len(e.faults) > 0 {
		return Result{}, e.faults[0]
	}
	return Result{Text: e.out.String(), Segments: e.segments, Opaque: e.names()}, nil
}

// Faults gives every error in text, in order, where Eval and Flux stop at the first: each undefined variable, and each
// expression that does not parse, after which it goes on behind the `${` at fault. It is empty exactly when Eval
// succeeds. After an error of KindLimit there may be more that it does not give.
func Faults(text string, lookup Lookup, o Options) []*Error {
	if !HasExpression(text) {
		return nil
	}
	e := evaluator{scanner: newScanner(text), lookup: lookup, options: o, budget: newBudget(), collect: true}
	for {
		err := e.run()
		if err == nil {
			break
		}
		// What was found inside the broken expression will be found again. It is what was found last.
		n := len(e.faults)
		for n > 0 && e.faults[n-1].Offset > err.Offset {
			n--
		}
		e.faults = append(e.faults[:n], err)
		if err.Kind == KindLimit {
			break
		}
		e.reset(err.Offset + len("${"))
	}
	slices.SortStableFunc(e.faults, func(a, b *Error) int { return a.Offset - b.Offset })
	return e.faults
}
