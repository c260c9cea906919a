package subst

import (
	"slices"
	"strconv"
	"strings"
)

// evaluator reads a text and works its expressions out in the same pass. That is the order of envsubst, which evaluates
// arguments before what they belong to, except that there a syntax error comes first: so an error of evaluation is kept,
// and the rest is still read.
//
// Values are built in scratch, each expression above what its parents have there. A default is therefore never copied,
// however deep it is nested: it is kept or cut off.
type evaluator struct {
	scanner
	lookup  Lookup
	options Options
	budget  budget

	out      strings.Builder
	produced int // bytes in out that come from expressions
	segments []Segment
	opaque   []string // names for Result.Opaque, with repetitions

	scratch []byte
	reads   []string // names that the current top-level expression has read
	hidden  []string // opaque names that the values in scratch depend on, stacked like them
	held    int      // bytes in the arguments of the calls that are open

	faults  []*Error // errors of evaluation: the first, or all
	collect bool
}

// operand is a value, or the fact that it is not known.
type operand struct {
	text    string
	unknown bool
	risky   bool // for some of the values that may stand behind it, Flux panics
}

// call is one expression that is being read.
type call struct {
	at   int // of its "${"
	name string
	op   operator
	args [2]operand
	n    int // of args

	// A default has its parts in scratch instead.
	missing bool // a part of a default is unknown
	risky   bool // an argument is: nothing is certain, even where it is not used

	scratch, hidden int // the heights of the stacks at its start
}

// outcome says what finish left in scratch: the value, or nothing if it is unknown.
type outcome struct {
	unknown   bool
	risky     bool // as in operand
	defaulted bool
}

// run goes on from where the scanner is to the end, or to the first error of syntax.
func (e *evaluator) run() *Error {
	from := e.pos
	for {
		i := strings.IndexByte(e.text[e.pos:], '$')
		if i < 0 || e.pos+i+1 == len(e.text) {
			e.out.WriteString(e.text[from:])
			return nil
		}
		e.pos += i
		switch e.text[e.pos+1] {
		case '$':
			e.out.WriteString(e.text[from : e.pos+1])
			e.pos += 2
			from = e.pos
		case '{':
			e.out.WriteString(e.text[from:e.pos])
			if err := e.segment(); err != nil {
				return err
			}
			from = e.pos
		default:
			e.pos++
		}
	}
}

// segment reads an expression of the top level and writes what it comes to.
func (e *evaluator) segment() *Error {
	s := Segment{In: e.pos, Out: e.out.Len()}
	e.reads = e.reads[:0]
	result, err := e.expression(1)
	if err != nil {
		return err
	}
	s.InEnd = e.pos
	s.Name, s.Names = e.reads[0], distinct(e.reads)
	s.Defaulted, s.Opaque = result.defaulted, result.unknown
	if s.Opaque {
		e.out.WriteString(e.text[s.In:s.InEnd])
		e.opaque = append(e.opaque, e.hidden...)
	} else {
		e.out.Write(e.scratch)
		e.produced += len(e.scratch)
	}
	e.scratch, e.hidden = e.scratch[:0], e.hidden[:0]
	s.OutEnd = e.out.Len()
	e.segments = append(e.segments, s)
	return nil
}

// distinct gives the names without repetitions, in their order; nil if there is only one.
func distinct(names []string) []string {
	if len(names) == 1 {
		return nil
	}
	var list []string
	seen := make(map[string]bool, len(names))
	for _, n := range names {
		if !seen[n] {
			seen[n] = true
			list = append(list, n)
		}
	}
	if len(list) == 1 {
		return nil
	}
	return list
}

// stopped says that an error is certain, so that nothing needs to be worked out any more.
func (e *evaluator) stopped() bool { return len(e.faults) > 0 && !e.collect }

// fail keeps an error of evaluation for the case that no error of syntax follows.
func (e *evaluator) fail(c *call, err *Error) {
	err.Offset, err.Name = c.at, c.name
	if err.Kind != KindUndefined {
		err.text += ": " + strconv.Quote(c.name)
	}
	if err.Kind == KindLimit {
		e.collect = false // one is enough, and each could take as long again
	}
	e.faults = append(e.faults, err)
}

// push writes a part of a value of c to scratch.
func (e *evaluator) push(c *call, text string) {
	switch {
	case e.stopped():
	case !e.budget.spend(len(text)):
		e.fail(c, tooSlow())
	case len(text) > maxProduced-e.produced-e.held-len(e.scratch):
		e.fail(c, tooLarge())
	default:
		e.scratch = append(e.scratch, text...)
	}
}

// drop takes what c has written and depended on so far away.
func (e *evaluator) drop(c *call) {
	e.scratch, e.hidden = e.scratch[:c.scratch], e.hidden[:c.hidden]
}

// finish works c out. The parts of a default are in scratch already; for every other operator the arguments are in c.args.
// The hidden names of both are on the stack.
func (e *evaluator) finish(c *call) outcome {
	for _, a := range c.args {
		e.held -= len(a.text)
	}
	if e.stopped() {
		e.drop(c)
		return outcome{}
	}
	value, state := "", Undefined
	if e.lookup != nil {
		value, state = e.lookup(c.name)
	}
	if state != Known {
		value = ""
	}
	if state == Undefined && e.refuses(c.op) {
		e.drop(c)
		e.fail(c, undefinedError(c.at, c.name))
		return outcome{}
	}
	v := operand{text: value, unknown: state == Opaque}
	if c.op == opDefault && !v.unknown && value == "" {
		if c.missing {
			e.scratch = e.scratch[:c.scratch]
		}
		return outcome{unknown: c.missing, risky: c.risky, defaulted: true}
	}
	if c.op != opDefault {
		var err *Error
		if v, err = apply(c.op, v, c.args[:c.n], e.options, &e.budget); err != nil {
			e.drop(c)
			e.fail(c, err)
			return outcome{}
		}
	}
	if v.unknown || c.risky {
		e.scratch = e.scratch[:c.scratch]
		if state == Opaque {
			e.hidden = append(e.hidden, c.name)
		}
		return outcome{unknown: true, risky: v.risky || c.risky}
	}
	e.drop(c)
	e.push(c, v.text)
	return outcome{}
}

// refuses says whether strict mode wants a variable to be defined for this operator (template.go evalFunc).
func (e *evaluator) refuses(op operator) bool {
	if e.options.StrictBareOnly {
		return e.options.Strict && op == opValue
	}
	return e.options.Strict && op != opDefault
}

// hold keeps an argument of c.
func (e *evaluator) hold(c *call, o operand) {
	c.risky = c.risky || o.risky
	e.held += len(o.text)
	c.args[c.n] = o
	c.n++
}

// pop takes the value of a nested expression off scratch, as an argument.
func (e *evaluator) pop(from int, o outcome) operand {
	text := string(e.scratch[from:])
	e.scratch = e.scratch[:from]
	return operand{text: text, unknown: o.unknown, risky: o.risky}
}

// reset prepares for reading on after an error of syntax inside an expression.
func (e *evaluator) reset(pos int) {
	e.pos = pos
	e.scratch, e.hidden, e.held = e.scratch[:0], e.hidden[:0], 0
}

// names sorts and reduces the opaque names that were found.
func (e *evaluator) names() []string {
	slices.Sort(e.opaque)
	return slices.Compact(e.opaque)
}
