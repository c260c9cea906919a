package subst

import (
	"maps"
	"slices"
	"testing"
)

// opaque is known, with some variables whose values are not.
func opaque(vars map[string]string, names ...string) Lookup {
	return func(name string) (string, State) {
		if slices.Contains(names, name) {
			return "the value of an opaque variable must not be used", Opaque
		}
		return known(vars)(name)
	}
}

func TestOpaque(t *testing.T) {
	const (
		stays  = true
		solved = false
	)
	for _, c := range []struct {
		in    string
		want  string // "" if it stays
		names []string
	}{
		// The value is needed. X and Y are opaque.
		{in: "${X}", names: []string{"X"}},
		{in: "${X:0:3}", names: []string{"X"}},
		{in: "${X:-d}", names: []string{"X"}},
		{in: "${X:-${A}}", names: []string{"X"}},
		{in: "${X:=${Y}}", names: []string{"X", "Y"}},
		{in: "${#X}", names: []string{"X"}},
		{in: "${X^^}", names: []string{"X"}},
		{in: "${X,^}", names: []string{"X"}},
		{in: "${X#a}", names: []string{"X"}},
		{in: "${X/a/b}", names: []string{"X"}},
		{in: "${X/#a/}", names: []string{"X"}},
		{in: "${X:1:2}", names: []string{"X"}},
		{in: "${X:z}", names: []string{"X"}},
		{in: "${M:-${X}}", names: []string{"X"}},
		{in: "${M:-a${A}${X}b}", names: []string{"X"}},
		{in: "${EMPTY=${Y}${X}${Y}}", names: []string{"X", "Y"}},
		{in: "${M:-${A/x/${X}}}", names: []string{"X"}},
		{in: "${A#${X}}", names: []string{"X"}},
		{in: "${A/${X}/y}", names: []string{"X"}},
		{in: "${A/x/${X}}", names: []string{"X"}},
		{in: "${A/x/$$${X}}", want: "error"},
		{in: "${A:${X}}", names: []string{"X"}},
		{in: "${A:0:${X}}", names: []string{"X"}},
		{in: "${A:${X}:1}", names: []string{"X"}},
		{in: "${EMPTY:5:${X}}", names: []string{"X"}}, // Flux panics if X is the largest number
		{in: "${EMPTY:${X}:${Y}}", names: []string{"X", "Y"}},
		{in: "${EMPTY/${X}/y}", names: []string{"X"}},
		{in: "${A:-${X:1:1}${X:${X}:1}}", names: []string{"X"}}, // and here
		{in: "${EMPTY#${A:1:${X}}}", names: []string{"X"}},
		{in: "${X#*}", names: []string{"X"}},

		// It cannot matter.
		{in: "${A:-${X}}", want: "x"},
		{in: "${A:-${X}${M:-${Y}}}", want: "x"},
		{in: "${A:-${X:1:1}${X:-2:3}${X:1:-1}${A:0:${X}}${A:${X}:-1}}", want: "x"},
		{in: "${X##*}[]", want: "[]"},
		{in: "${X%%**}[]", want: "[]"},
		{in: "${X:3:0}[]", want: "[]"},
		{in: "${EMPTY#${X}}[]", want: "[]"},
		{in: "${EMPTY%%${X}}[]", want: "[]"},
		{in: "${EMPTY:${X}}[]", want: "[]"},
		{in: "${EMPTY:${X}:0}[]", want: "[]"},
		{in: "${EMPTY:0:${X}}[]", want: "[]"},
		{in: "${EMPTY/${X}/}[]", want: "[]"},
		{in: "${EMPTY//${X}/${M}}[]", want: "[]"},
		{in: "${A:z:${X}}", want: "x"},
		{in: "${A:${X}:z}", want: "x"},
		{in: "${A/y/${X}}", want: "x"},
		{in: "${A//y/${X}}", want: "x"},
		{in: "${A/#y/${X}}", want: "x"},
		{in: "${A/%y/${X}}", want: "x"},
		{in: "${A/#${X}/}", want: "x"},
	} {
		r, err := Eval(c.in, opaque(languageVars, "X", "Y"), Options{NegativeLength: true})
		if c.want == "error" {
			if err == nil {
				t.Errorf("%s = %q, want an error", c.in, r.Text)
			}
			continue
		}
		want, mark := c.want, solved
		if want == "" {
			want, mark = c.in, stays
		}
		if err != nil || r.Text != want || r.Segments[0].Opaque != mark || !slices.Equal(r.Opaque, c.names) {
			t.Errorf("%s = %q, %v, opaque %v %q; want %q, %v %q", c.in, r.Text, err, r.Segments[0].Opaque, r.Opaque, want, mark, c.names)
		}
	}
}

func TestOpaqueBesideKnown(t *testing.T) {
	r, err := Eval("$$${X} ${A} ${Z:-${X}$$} ${M:-d}", opaque(languageVars, "X", "Z"), Options{Strict: true})
	want := Result{
		Text: "$${X} x ${Z:-${X}$$} d",
		Segments: []Segment{
			{In: 2, InEnd: 6, Out: 1, OutEnd: 5, Name: "X", Opaque: true},
			{In: 7, InEnd: 11, Out: 6, OutEnd: 7, Name: "A"},
			{In: 12, InEnd: 24, Out: 8, OutEnd: 20, Name: "Z", Names: []string{"Z", "X"}, Opaque: true},
			{In: 25, InEnd: 32, Out: 21, OutEnd: 22, Name: "M", Defaulted: true},
		},
		Opaque: []string{"X", "Z"},
	}
	if err != nil || r.Text != want.Text || !slices.Equal(r.Opaque, want.Opaque) || len(r.Segments) != len(want.Segments) {
		t.Fatalf("got %+v, %v\nwant %+v", r, err, want)
	}
	for i, s := range r.Segments {
		w := want.Segments[i]
		if !slices.Equal(s.Names, w.Names) || (s.Names == nil) != (w.Names == nil) {
			t.Errorf("segment %d: names %q, want %q", i, s.Names, w.Names)
		}
		s.Names, w.Names = nil, nil
		if s.In != w.In || s.InEnd != w.InEnd || s.Out != w.Out || s.OutEnd != w.OutEnd || s.Name != w.Name || s.Defaulted != w.Defaulted || s.Opaque != w.Opaque {
			t.Errorf("segment %d is %+v, want %+v", i, s, w)
		}
	}
}

// guesses are values that make a difference to one operator or another.
var guesses = []string{"", "x", "a", "*", "?", "[", "0", "1", "-1", "z", "Xx", "/", "9223372036854775807", "-9223372036854775808", "ö", "\xff", "axax"}

// soundWhenOpaque checks that what Eval says with some names opaque holds whatever their values: text outside of opaque
// segments is the same for all values, and so is an error.
func soundWhenOpaque(t *testing.T, in string, vars map[string]string, name string, values []string, o Options) {
	t.Helper()
	r, err := Eval(in, opaque(vars, name), o)
	if err == nil {
		consistent(t, in, r, opaque(vars, name), o)
	}
	trial := maps.Clone(vars)
	for _, v := range values {
		trial[name] = v
		got, trialErr := Eval(in, known(trial), o)
		if err != nil {
			if trialErr == nil {
				t.Errorf("%q fails with %s opaque (%v), but not with %q", in, name, err, v)
			}
			continue
		}
		if trialErr != nil {
			if len(r.Opaque) == 0 {
				t.Errorf("%q does not depend on %s, but fails with %q: %v", in, name, v, trialErr)
			}
			continue
		}
		if len(got.Segments) != len(r.Segments) {
			t.Errorf("%q has %d segments with %s opaque, %d with %q", in, len(r.Segments), name, len(got.Segments), v)
			continue
		}
		for i, s := range r.Segments {
			g := got.Segments[i]
			if !s.Opaque && (r.Text[s.Out:s.OutEnd] != got.Text[g.Out:g.OutEnd] || s.Defaulted != g.Defaulted) {
				t.Errorf("%q, segment %d: %q with %s opaque, %q with %q", in, i, r.Text[s.Out:s.OutEnd], name, got.Text[g.Out:g.OutEnd], v)
			}
		}
		if len(r.Opaque) == 0 && r.Text != got.Text {
			t.Errorf("%q: %q with %s opaque, %q with %q", in, r.Text, name, got.Text, v)
		}
	}
}
