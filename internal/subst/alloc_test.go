package subst

import (
	"strings"
	"testing"
	"unsafe"
)

const quietLine = "      - name: http\n        containerPort: 8080 # $(POD_IP) costs $5\n"

func TestTextWithoutExpressionsCostsNothing(t *testing.T) {
	in := strings.Repeat(quietLine, 100)
	var r Result
	if n := testing.AllocsPerRun(100, func() { r, _ = Eval(in, nil, Options{Strict: true}) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if unsafe.StringData(r.Text) != unsafe.StringData(in) || len(r.Text) != len(in) {
		t.Error("the text was copied")
	}
}

func TestAllocationsGrowWithExpressions(t *testing.T) {
	lookup := known(languageVars)
	allocs := func(in string) float64 {
		return testing.AllocsPerRun(20, func() {
			if _, err := Eval(in, lookup, Options{Strict: true}); err != nil {
				t.Fatal(err)
			}
		})
	}
	if n := allocs(strings.Repeat(quietLine, 1000) + "${A}"); n > 10 {
		t.Errorf("one expression in a long text: %v allocations", n)
	}
	// Values and defaults are copied into what is there already.
	if n := allocs(strings.Repeat("${A} ${M:-some default} ${P} ", 100)); n > 40 {
		t.Errorf("300 simple expressions: %v allocations", n)
	}
}

func benchmarkEval(b *testing.B, in string) {
	lookup := known(languageVars)
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Eval(in, lookup, Options{Strict: true, NegativeLength: true}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEvalQuiet(b *testing.B) { benchmarkEval(b, strings.Repeat(quietLine, 100)) }

func BenchmarkEvalTypical(b *testing.B) {
	benchmarkEval(b, strings.Repeat(strings.Repeat(quietLine, 10)+"image: ${P}:${TAG:-v1}\n", 10))
}

func BenchmarkEvalDense(b *testing.B) {
	benchmarkEval(b, strings.Repeat("${P##*/}.${A^^}${M:-${A}-x}${P//\\//-} ", 100))
}

func BenchmarkFluxTypical(b *testing.B) {
	in := strings.Repeat(strings.Repeat(quietLine, 10)+"image: ${P}:${TAG:-v1}\n", 10)
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		if _, failure, _ := flux(in, languageVars, true); failure != "" {
			b.Fatal(failure)
		}
	}
}
