package subst

// What follows the name decides which operator it is, and each has its own way of reading its arguments and its own error
// (parse/parse.go). An argument is one literal or one nested expression, never both; only a default may mix them.

// expression reads from "${" to the matching brace and leaves the value on scratch.
func (e *evaluator) expression(depth int) (outcome, *Error) {
	c := call{at: e.pos, scratch: len(e.scratch), hidden: len(e.hidden)}
	e.pos += len("${")
	if depth > maxDepth {
		err := limitError("expressions are nested too deep")
		err.Offset = c.at
		return outcome{}, err
	}
	if e.eat('#') {
		return e.length(&c)
	}
	if c.name = e.name(); c.name == "" {
		return outcome{}, noName.error(c.at, "")
	}
	e.reads = append(e.reads, c.name)
	switch e.peek() {
	case ':':
		return e.colon(&c, depth)
	case '=':
		e.pos++
		return e.defaults(&c, depth)
	case ',', '^':
		return e.casing(&c)
	case '/':
		return e.replacement(&c, depth)
	case '#', '%':
		return e.trim(&c, depth)
	}
	if !e.eat('}') {
		return outcome{}, noBrace.error(c.at, c.name)
	}
	c.op = opValue
	return e.finish(&c), nil
}

// close reads the brace that ends an expression and works it out.
func (e *evaluator) close(c *call) (outcome, *Error) {
	if !e.eat('}') {
		return outcome{}, badForm.error(c.at, c.name)
	}
	return e.finish(c), nil
}

// length reads ${#NAME}.
func (e *evaluator) length(c *call) (outcome, *Error) {
	if c.name = e.name(); c.name == "" {
		return outcome{}, badForm.error(c.at, "")
	}
	e.reads = append(e.reads, c.name)
	c.op = opLength
	return e.close(c)
}

// casing reads ${NAME,} ${NAME,,} ${NAME^} ${NAME^^}. A mixed pair is legal and does nothing.
func (e *evaluator) casing(c *call) (outcome, *Error) {
	first := e.peek()
	e.pos++
	second := e.peek()
	if second == ',' || second == '^' {
		e.pos++
	}
	switch {
	case first == ',' && second == ',':
		c.op = opLower
	case first == '^' && second == '^':
		c.op = opUpper
	case second == ',' || second == '^':
		c.op = opSame
	case first == ',':
		c.op = opLowerFirst
	default:
		c.op = opUpperFirst
	}
	return e.close(c)
}

// colon reads what may be a default or a substring.
func (e *evaluator) colon(c *call, depth int) (outcome, *Error) {
	e.pos++
	switch e.peek() {
	case '-', '=', '?', '+':
		e.pos++
		return e.defaults(c, depth)
	}
	if e.badOffset() {
		return outcome{}, badForm.error(c.at, c.name)
	}
	return e.substring(c, depth)
}

// defaults reads the default of ${NAME:-…} ${NAME:=…} ${NAME:?…} ${NAME:+…} ${NAME=…}, which all mean the same.
func (e *evaluator) defaults(c *call, depth int) (outcome, *Error) {
	c.op = opDefault
	for !e.eat('}') {
		if e.atExpression() {
			part, err := e.expression(depth + 1)
			if err != nil {
				return outcome{}, err
			}
			c.missing = c.missing || part.unknown
			c.risky = c.risky || part.risky
			continue
		}
		text := e.literal("}")
		if text == "" {
			return outcome{}, noOperand.error(c.at, c.name)
		}
		e.push(c, text)
	}
	return e.finish(c), nil
}

// substring reads ${NAME:OFFSET} and ${NAME:OFFSET:LENGTH}. Several colons separate like one.
func (e *evaluator) substring(c *call, depth int) (outcome, *Error) {
	c.op = opSubstring
	if err := e.argument(c, depth, ":}"); err != nil {
		return outcome{}, err
	}
	if e.eat('}') {
		return e.finish(c), nil
	}
	if e.eatUpTo(':', len(e.text)) == 0 {
		return outcome{}, badForm.error(c.at, c.name)
	}
	if err := e.argument(c, depth, "}"); err != nil {
		return outcome{}, err
	}
	return e.close(c)
}

// trim reads ${NAME#PATTERN} ${NAME##PATTERN} ${NAME%PATTERN} ${NAME%%PATTERN}.
func (e *evaluator) trim(c *call, depth int) (outcome, *Error) {
	sign := e.peek()
	long := e.eatUpTo(sign, 2) == 2
	switch {
	case sign == '#' && long:
		c.op = opTrimPrefixLong
	case sign == '#':
		c.op = opTrimPrefix
	case long:
		c.op = opTrimSuffixLong
	default:
		c.op = opTrimSuffix
	}
	if err := e.argument(c, depth, "}"); err != nil {
		return outcome{}, err
	}
	return e.close(c)
}

// replacement reads ${NAME/OLD/NEW} ${NAME//OLD/NEW} ${NAME/#OLD/NEW} ${NAME/%OLD/NEW}. Several slashes separate like one;
// NEW may be missing, the slash before it may not.
func (e *evaluator) replacement(c *call, depth int) (outcome, *Error) {
	e.pos++
	c.op = opReplaceFirst
	switch {
	case e.eat('/'):
		c.op = opReplaceAll
	case e.eat('#'):
		c.op = opReplacePrefix
	case e.eat('%'):
		c.op = opReplaceSuffix
	}
	if err := e.escapedArgument(c, depth, '/'); err != nil {
		return outcome{}, err
	}
	if e.eatUpTo('/', len(e.text)) == 0 {
		return outcome{}, badForm.error(c.at, c.name)
	}
	if e.eat('}') {
		return e.finish(c), nil
	}
	if err := e.escapedArgument(c, depth, '}'); err != nil {
		return outcome{}, err
	}
	return e.close(c)
}

// argument reads an argument that ends before a byte of stops.
func (e *evaluator) argument(c *call, depth int, stops string) *Error {
	if e.atExpression() {
		return e.nested(c, depth)
	}
	text := e.literal(stops)
	if text == "" {
		return noOperand.error(c.at, c.name)
	}
	e.hold(c, operand{text: text})
	return nil
}

// escapedArgument is argument with the escapes of a replacement.
func (e *evaluator) escapedArgument(c *call, depth int, stop byte) *Error {
	if e.atExpression() {
		return e.nested(c, depth)
	}
	text, some := e.escaped(stop)
	if !some {
		return noOperand.error(c.at, c.name)
	}
	e.hold(c, operand{text: text})
	return nil
}

// nested reads an argument that is an expression.
func (e *evaluator) nested(c *call, depth int) *Error {
	from := len(e.scratch)
	result, err := e.expression(depth + 1)
	if err != nil {
		return err
	}
	e.hold(c, e.pop(from, result))
	return nil
}
