package subst

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestDepth(t *testing.T) {
	nest := func(n int) string { return strings.Repeat("${M:-a", n) + strings.Repeat("}", n) }
	deepest := nest(maxDepth)
	sameAsFlux(t, deepest, nil, true)
	sameAsFlux(t, strings.Repeat("${M#", maxDepth)+"a"+strings.Repeat("}", maxDepth), nil, false)
	for _, in := range []string{nest(maxDepth + 1), strings.Repeat("${a:-", 200_000), strings.Repeat("${a/", 200_000)} {
		_, err := Eval(in, nil, Options{})
		var e *Error
		if !errors.As(err, &e) || e.Kind != KindLimit || e.Offset != strings.LastIndex(in[:e.Offset+2], "${") {
			t.Errorf("%.20q…: %v", in, err)
		}
		if f := Faults(in, nil, Options{}); len(f) != 1 || f[0].Kind != KindLimit {
			t.Errorf("%.20q…: faults %v", in, f)
		}
	}
}

// TestHostileTexts is about what takes Flux very long or much memory, or might take us so. A second is far more than any
// needs that does not exhaust the budget.
func TestHostileTexts(t *testing.T) {
	const mega = 1 << 20
	vars := map[string]string{
		"TEN":   "xxxxxxxxxx",
		"BIG":   strings.Repeat("x", mega),
		"WIDE":  strings.Repeat("ö", mega/2),
		"BOMB":  strings.Repeat("x", 1000),
		"STARS": strings.Repeat("*x", 1000),
		"MORE":  strings.Repeat("*x", 1000) + "y",
		"RUN":   "*" + strings.Repeat("x", 500) + "y",
	}
	bomb := "y"
	for range 9 {
		bomb = "${BOMB//x/" + bomb + "}"
	}
	deep := strings.Repeat("${M:-x", 5000) + strings.Repeat("y", mega) + strings.Repeat("}", 5000)
	many := strings.Repeat("${BIG##*y}", 100_000)
	held := strings.Repeat("${TEN/${BIG}/", 5000) + "z" + strings.Repeat("}", 5000)
	for _, c := range []struct {
		name, in string
		kind     Kind // 0: it succeeds
	}{
		{"only openings", strings.Repeat("${", mega/2), KindParse},
		{"only dollars", strings.Repeat("$", mega), 0},
		{"dollars and letters", strings.Repeat("$a", mega/2), 0},
		{"an open default", "${M:-" + strings.Repeat("x", mega), KindParse},
		{"many expressions", strings.Repeat("${TEN:2}", mega/8), 0},
		{"many parts of one default", "${M:-" + strings.Repeat("${TEN}", mega/10) + "}", 0},
		{"many names in one default", "${M:-" + strings.Repeat("${A}${B}", mega/10) + "}", 0},
		{"escapes", `${TEN/` + strings.Repeat(`\/`, mega/2) + `/x}`, 0},
		{"a long text at the bottom", deep, 0},
		{"big values", strings.Repeat("${BIG}", 100), KindLimit},
		{"big values that are dropped", "${TEN:-" + strings.Repeat("${BIG}", 100_000) + "}", KindLimit},
		{"big values in defaults", strings.Repeat("${TEN:-${BIG}}", 1000), KindLimit},
		{"lengths of a big value", strings.Repeat("${#BIG}", 1000), KindLimit},
		{"big arguments", held, KindLimit},
		{"replacements that multiply", bomb, KindLimit},
		{"shortest prefix", "${BIG#*y}${BIG#*x*x*x}${BIG%%x*}", 0},
		{"a pattern longer than the value", "${TEN#${BIG}}", 0},
		{"stars", "${BIG##${STARS}}", 0},
		{"stars that do not match", "${BIG##${MORE}}", 0},
		{"prefixes of a value that is not ASCII", "${WIDE#*x}", KindLimit},
		{"a long run that nearly matches everywhere", "${BIG#${RUN}}", KindLimit},
		{"the same many times", many, KindLimit},
	} {
		begin := time.Now()
		_, err := Eval(c.in, known(vars), Options{NegativeLength: true})
		took := time.Since(begin)
		var e *Error
		if c.kind == 0 && err != nil || c.kind != 0 && (!errors.As(err, &e) || e.Kind != c.kind) {
			t.Errorf("%s: %v", c.name, err)
		}
		if took > 20*time.Second { // it is below a second even where the budget is used up; machines differ
			t.Errorf("%s took %v", c.name, took)
		}
		begin = time.Now()
		if f := Faults(c.in, known(vars), Options{NegativeLength: true}); (len(f) == 0) != (c.kind == 0) {
			t.Errorf("%s: %d faults", c.name, len(f))
		}
		t.Logf("%s: %v, faults %v", c.name, took, time.Since(begin))
		if took = time.Since(begin); took > 20*time.Second {
			t.Errorf("%s took %v for the faults", c.name, took)
		}
	}
}

func TestLimitErrorsHoldNoValue(t *testing.T) {
	vars := map[string]string{"SECRET": strings.Repeat("hunter2 ", 1<<18)}
	_, err := Eval(strings.Repeat("${SECRET}", 100), known(vars), Options{})
	if err == nil || err.Error() != `substitution comes to more than 16 MiB: "SECRET"` {
		t.Errorf("error is %.100v", err)
	}
}

// Each level of these holds an argument of 1 MB while the next is read, so the size has to stop it, and not the time.
func TestOpenArgumentsCount(t *testing.T) {
	in := strings.Repeat("${A/${BIG}/", 100) + "z" + strings.Repeat("}", 100)
	_, err := Eval(in, known(map[string]string{"BIG": strings.Repeat("x", 1<<20)}), Options{})
	if err == nil || !strings.Contains(err.Error(), "16 MiB") {
		t.Errorf("error is %v", err)
	}
	// Once they are used, they no longer count.
	in = strings.Repeat("${A/${BIG}/z}", 50)
	if _, err := Eval(in, known(map[string]string{"BIG": strings.Repeat("x", 1<<20)}), Options{}); err != nil {
		t.Error(err)
	}
}
