package subst

import (
	"errors"
	"strings"
	"testing"
)

// languageVars are the variables of the tables: A=x, an empty one, a path, and names whose values show that values are not
// expanded again.
var languageVars = map[string]string{
	"A":     "x",
	"EMPTY": "",
	"P":     "/home/u/file.tar.gz",
	"W":     "Straße und Öl",
	"NEST":  "${A}",
	"TWICE": "aXbXc",
	"STAR":  "*",
	"BYTES": "\xff\xfea\xe2\x82",
	"ÄÖ1":   "umlaut",
}

const (
	errBrace   = "missing closing brace"
	errName    = "unable to parse variable name"
	errBad     = "bad substitution"
	errOperand = "unable to parse substitution within function"
)

// language is the grammar: what each text becomes, or how it fails. strict is the error in strict mode where lax has none.
var language = []struct {
	in, want, err, strict string
}{
	// Text that is none of its business.
	{in: "", want: ""},
	{in: "$A", want: "$A"},
	{in: "$(cmd)", want: "$(cmd)"},
	{in: "$((1+2))", want: "$((1+2))"},
	{in: "$", want: "$"},
	{in: "{{ .x }}", want: "{{ .x }}"},
	{in: "}{", want: "}{"},
	{in: "a$\nb", want: "a$\nb"},

	// Dollars and backslashes outside of expressions.
	{in: "$$A", want: "$A"},
	{in: "$${A}", want: "${A}"},
	{in: "$$${A}", want: "$x"},
	{in: "$$$${A}", want: "$${A}"},
	{in: "$$", want: "$"},
	{in: "$$$", want: "$$"},
	{in: "$$$$", want: "$$"},
	{in: `\${A}`, want: `\x`},
	{in: `\\${A}\/`, want: `\\x\/`},
	{in: "${A}}", want: "x}"},
	{in: "${A}$", want: "x$"},
	{in: "${A}${A}$$${A}", want: "xx$x"},
	{in: "a\x00b ${", want: "a"},
	{in: "\x00", want: ""},

	// Plain values.
	{in: "${A}", want: "x"},
	{in: "${NEST}", want: "${A}"},
	{in: "${EMPTY}", want: ""},
	{in: "${MISSING}", want: "", strict: `variable not set (strict mode): "MISSING"`},
	{in: "${1}", want: "", strict: `variable not set (strict mode): "1"`},
	{in: "${1A}", want: "", strict: `variable not set (strict mode): "1A"`},
	{in: "${ÄÖ}", want: "", strict: `variable not set (strict mode): "ÄÖ"`},
	{in: "${ÄÖ1}", want: "umlaut"},

	// Defaults, which are all the same.
	{in: "${M:-d}", want: "d"},
	{in: "${M:=d}", want: "d"},
	{in: "${M=d}", want: "d"},
	{in: "${EMPTY=d}", want: "d"},
	{in: "${EMPTY:-d}", want: "d"},
	{in: "${A:+alt}", want: "x"},
	{in: "${M:+alt}", want: "alt"},
	{in: "${M:?err}", want: "err"},
	{in: "${M:-}", want: ""},
	{in: "${M=}", want: ""},
	{in: "${A:-d}", want: "x"},
	{in: "${A:-1}", want: "x"},
	{in: "${M:--}", want: "-"},
	{in: "${M==x}", want: "=x"},
	{in: "${M:-${A}}", want: "x"},
	{in: "${M:-a${A}b${A}c}", want: "axbxc"},
	{in: "${M:-${N:-${O:-deep}}}", want: "deep"},
	{in: "${M:-$$}", want: "$$"},
	{in: "${M:-$${A}}", want: "$x"},
	{in: `${M:-\/\\}`, want: `\/\\`},
	{in: `${M:-{"k":1}}`, want: `{"k":1}`},
	{in: "${M:-a\nb}", want: "a\nb"},
	{in: "${M:-${OTHER}}", want: "", strict: `variable not set (strict mode): "OTHER"`},
	{in: "${A:-${OTHER}}", want: "x", strict: `variable not set (strict mode): "OTHER"`},
	{in: "${OUTER^${INNER}}", err: errBad},
	{in: "${OUTER#${INNER}}", want: "", strict: `variable not set (strict mode): "INNER"`},

	// Operators that are not in the language.
	{in: "${M-d}", err: errBrace},
	{in: "${A+alt}", err: errBrace},
	{in: "${M?e}", err: errBrace},
	{in: "${A }", err: errBrace},
	{in: "${A.B}", err: errBrace},
	{in: "${A-B}", err: errBrace},
	{in: "${A[0]}", err: errBrace},
	{in: "${A[@]}", err: errBrace},
	{in: "${A@Q}", err: errBrace},
	{in: "${A", err: errBrace},
	{in: "${A\x00}", err: errBrace},
	{in: "${}", err: errName},
	{in: "${ A }", err: errName},
	{in: "${@}", err: errName},
	{in: "${*}", err: errName},
	{in: "${!A}", err: errName},
	{in: "${{ x }}", err: errName},
	{in: "${${A}}", err: errName},
	{in: "${", err: errName},
	{in: "${\xff}", err: errName},

	// Length, in bytes.
	{in: "${#A}", want: "1"},
	{in: "${#W}", want: "15"},
	{in: "${#M}", want: "0", strict: `variable not set (strict mode): "M"`},
	{in: "${#}", err: errBad},
	{in: "${##A}", err: errBad},
	{in: "${#A:-d}", err: errBad},
	{in: "${#A", err: errBad},

	// Case.
	{in: "${A^^} ${A,,} ${A^} ${A,}", want: "X x X x"},
	{in: "${W^^} ${W,,} ${W,}", want: "STRAßE UND ÖL straße und öl straße und Öl"},
	{in: "${A,^}${A^,}", want: "xx"},
	{in: "${M,^}", want: "", strict: `variable not set (strict mode): "M"`},
	{in: "${A,,,}", err: errBad},
	{in: "${A^x}", err: errBad},
	{in: "${BYTES^}", want: "\ufffd\xfea\xe2\x82"},

	// Trimming.
	{in: "${P##*/}", want: "file.tar.gz"},
	{in: "${P#*/}", want: "home/u/file.tar.gz"},
	{in: "${P%%.*}", want: "/home/u/file"},
	{in: "${P%.*}", want: "/home/u/file.tar"},
	{in: "${P#/[a-h]?me}", want: "/u/file.tar.gz"},
	{in: "${P#/[^h]*}", want: "/home/u/file.tar.gz"},
	{in: "${P%[a-z]z}", want: "/home/u/file.tar.gz"},
	{in: "${P#[}", want: "/home/u/file.tar.gz"},
	{in: "${P#*[}", want: "/home/u/file.tar.gz"},
	{in: `${P#\/home}`, want: "/u/file.tar.gz"},
	{in: "${P##*}${P%%*}", want: ""},
	{in: "${A#*}${A%*}", want: ""},
	{in: "${P#*}", want: "home/u/file.tar.gz"},
	{in: "${P#$$}", want: "/home/u/file.tar.gz"},
	{in: "${P###}", want: "/home/u/file.tar.gz"},
	{in: "${P##${STAR}}", want: ""},
	{in: "${P#${STAR}/}", err: errBad},
	{in: "${W%Öl}", want: "Straße und "},
	{in: "${BYTES%x}", want: "\ufffd\ufffda\ufffd\ufffd"},
	{in: "${P#}", err: errOperand},
	{in: "${P%", err: errOperand},
	{in: "${P#a${A}}", err: errBad},
	{in: "${P#a", err: errBad},

	// Substrings.
	{in: "${A:0:1} ${P:2:-1} ${A: -1}", want: "x ome/u/file.tar.g x"},
	{in: "${P: -3}", want: "/home/u/file.tar.gz"}, // no substring: the blank is no part of a number
	{in: "${P:6}", want: "u/file.tar.gz"},
	{in: "${P:6:1}", want: "u"},
	{in: "${P:6::1}", want: "u"},
	{in: "${P:${A}}", want: "/home/u/file.tar.gz"},
	{in: "${P:99}${P:99:1}${P:99:-1}", want: ""},
	{in: "${P:0:99}", want: "/home/u/file.tar.gz"},
	{in: "${P:x:1}${P:1:x}", want: "/home/u/file.tar.gz/home/u/file.tar.gz"},
	{in: "${P:}", err: errOperand},
	{in: "${P:1:}", err: errOperand},
	{in: "${P:1", err: errBad},
	{in: "${P:", err: errBad},
	{in: "${P:\x00", err: errOperand},
	{in: "${P:ä}", err: errBad},
	{in: "${P:\xff}", want: "/home/u/file.tar.gz"},
	{in: "${P:1ä}", want: "/home/u/file.tar.gz"},
	{in: "${P:1${A}}", err: errBad},

	// Replacing.
	{in: `${P//\//-}`, want: "-home-u-file.tar.gz"},
	{in: `${P/\//-}`, want: "-home/u/file.tar.gz"},
	{in: "${A/x/}", want: ""},
	{in: "${TWICE//X/}", want: "abc"},
	{in: "${TWICE/X/--}", want: "a--bXc"},
	{in: "${TWICE/#a/--}${TWICE/%c/--}", want: "--XbXcaXbX--"},
	{in: "${TWICE/#X/--}${TWICE/%X/--}", want: "aXbXcaXbXc"},
	{in: "${TWICE/#a/}${TWICE/%c/}", want: "aXbXcaXbXc"},
	{in: "${TWICE//${EMPTY}/.}", want: ".a.X.b.X.c."},
	{in: "${TWICE/X////-}", want: "a-bXc"},
	{in: "${TWICE/X/$$}", want: "a$bXc"},
	{in: "${TWICE/X/$${A}}", want: "a${AbXc}"},
	{in: `${TWICE/X/\\}`, want: `a\bXc`},
	{in: `${TWICE/X/\}}`, want: `a\bXc}`},
	{in: "${TWICE/X/${A}}", want: "axbXc"},
	{in: "${TWICE/${A}/y}", want: "aXbXc"},
	{in: "${A/x} and/y}", want: "x"},
	{in: "${A/x}", err: errBad},
	{in: "${A//x}", err: errBad},
	{in: "${A/x${A}/y}", err: errBad},
	{in: "${A/", err: errOperand},
	{in: "${A///x/}", err: errOperand},
	{in: "${A/x/y", err: errBad},
	{in: "${A/x/y${A}}", err: errBad},

	// Any error of syntax comes before an error about a variable.
	{in: "${M} ${}", err: errName},
	{in: "${A} ${A.B}", err: errBrace},
}

func TestLanguage(t *testing.T) {
	for _, c := range language {
		for _, strict := range []bool{false, true} {
			wantErr := c.err
			if strict && wantErr == "" {
				wantErr = c.strict
			}
			want := c.want
			if wantErr != "" {
				want = ""
			}
			r, err := Eval(c.in, known(languageVars), Options{Strict: strict, NegativeLength: true})
			if text(err) != wantErr || r.Text != want {
				t.Errorf("Eval(%q, strict=%v) = %q, %q; want %q, %q", c.in, strict, r.Text, text(err), want, wantErr)
			}
			sameAsFlux(t, c.in, languageVars, strict)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// known makes a Lookup of a map.
func known(vars map[string]string) Lookup {
	return func(name string) (string, State) {
		if v, ok := vars[name]; ok {
			return v, Known
		}
		return "", Undefined
	}
}

func TestStrictIsAboutEveryOperatorButDefaults(t *testing.T) {
	for in, refused := range map[string]bool{
		"${M}": true, "${#M}": true, "${M^}": true, "${M,,}": true, "${M:1}": true, "${M#a}": true, "${M%%a}": true, "${M/a/b}": true,
		"${M:-a}": false, "${M:=a}": false, "${M:?a}": false, "${M:+a}": false, "${M=a}": false,
	} {
		_, err := Eval(in, nil, Options{Strict: true, NegativeLength: true})
		if (err != nil) != refused {
			t.Errorf("%s: error %v, want refused=%v", in, err, refused)
		}
		_, err = Eval(in, nil, Options{Strict: true, StrictBareOnly: true, NegativeLength: true})
		if (err != nil) != (in == "${M}") {
			t.Errorf("%s before envsubst 1.6: error %v", in, err)
		}
		if _, err = Eval(in, nil, Options{StrictBareOnly: true}); err != nil {
			t.Errorf("%s in lax mode: %v", in, err)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		in        string
		kind      Kind
		name      string
		offset    int
		line, col int
	}{
		{"ok: ${A}\nbad: ${M}", KindUndefined, "M", 14, 2, 6},
		{"${A:-${M}}", KindUndefined, "M", 5, 1, 6},
		{"a\n\n${A.B}", KindParse, "A", 3, 3, 1},
		{"${A:-${B}", KindParse, "A", 0, 1, 1},
		{"x ${A:-${B}", KindParse, "A", 2, 1, 3},
		{"${A/${ }/}", KindParse, "", 4, 1, 5},
		{"$$$ ${#}", KindParse, "", 4, 1, 5},
		{"${M} ${A.B}", KindParse, "A", 5, 1, 6},
		{"é${P:9223372036854775807:1}", KindFunction, "P", 2, 1, 3},
	} {
		_, err := Eval(c.in, known(languageVars), Options{Strict: true, NegativeLength: true})
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%q: error is %v", c.in, err)
			continue
		}
		if e.Kind != c.kind || e.Name != c.name || e.Offset != c.offset {
			t.Errorf("%q: kind %d name %q offset %d, want %d %q %d", c.in, e.Kind, e.Name, e.Offset, c.kind, c.name, c.offset)
		}
		if line, col := e.Position(c.in); line != c.line || col != c.col {
			t.Errorf("%q: position %d:%d, want %d:%d", c.in, line, col, c.line, c.col)
		}
		if e.Advice() == "" || strings.Contains(e.Error()+e.Advice(), languageVars["P"]) {
			t.Errorf("%q: advice %q", c.in, e.Advice())
		}
	}
	for _, offset := range []int{-1, 4} {
		if line, col := (&Error{Offset: offset}).Position("abc"); line != 0 || col != 0 {
			t.Errorf("offset %d has position %d:%d", offset, line, col)
		}
	}
}

func TestNegativeLengthBefore18(t *testing.T) {
	for in, want := range map[string]string{
		"${P:2:-1}": "", "${P:-0:-1}": "/home/u/file.tar.gz", "${P:0:-99}": "", "${EMPTY:0:-1}": "", "${OPAQUE:0:-1}": "",
	} {
		r, err := Eval(in, opaque(languageVars, "OPAQUE"), Options{})
		if want != "" {
			if err != nil || r.Text != want {
				t.Errorf("%s = %q, %v; want %q", in, r.Text, err, want)
			}
			continue
		}
		var e *Error
		if !errors.As(err, &e) || e.Kind != KindFunction || !strings.Contains(e.Error(), "panics in this Flux version") {
			t.Errorf("%s: %q, %v", in, r.Text, err)
		}
	}
	// So far behind the end that the old code never sliced.
	if r, err := Eval("[${A:99:-1}]", known(languageVars), Options{}); err != nil || r.Text != "[]" {
		t.Errorf("got %q, %v", r.Text, err)
	}
}

func TestFaults(t *testing.T) {
	in := "${A}\n${M} ${B.C} ${A:-${N}} ${}\n${D:-${O} ${E:-${F^^}}"
	type fault struct {
		kind   Kind
		offset int
	}
	var got []fault
	for _, f := range Faults(in, known(languageVars), Options{Strict: true}) {
		got = append(got, fault{f.Kind, f.Offset})
	}
	at := func(s string) int { return strings.Index(in, s) }
	want := []fault{
		{KindUndefined, at("${M}")}, {KindParse, at("${B.C}")}, {KindUndefined, at("${N}")}, {KindParse, at("${}")},
		{KindParse, at("${D:-")}, {KindUndefined, at("${O}")}, {KindUndefined, at("${F^^}")},
	}
	if len(got) != len(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("fault %d is %v, want %v", i, got[i], want[i])
		}
	}
	if f := Faults("$ ${A} $$", known(languageVars), Options{Strict: true}); len(f) != 0 {
		t.Errorf("faults in a good text: %v", f)
	}
}
