package subst

import (
	"strings"
	"testing"

	"github.com/fluxcd/pkg/envsubst"
)

// flux is what Flux makes of a text (its call is in kustomize/kustomize_varsub.go varSubstitution).
func flux(in string, vars map[string]string, strict bool) (out, failure string, panicked bool) {
	defer func() {
		if recover() != nil {
			out, failure, panicked = "", "", true
		}
	}()
	out, err := envsubst.Eval(in, func(name string) (string, bool) {
		v, ok := vars[name]
		return v, ok || !strict
	})
	if err != nil {
		return "", err.Error(), false
	}
	return out, "", false
}

// sameAsFlux compares Eval with the oracle, and checks what must hold for every result.
func sameAsFlux(t *testing.T, in string, vars map[string]string, strict bool) {
	t.Helper()
	want, failure, panicked := flux(in, vars, strict)
	o := Options{Strict: strict, NegativeLength: true}
	r, err := Eval(in, known(vars), o)
	if panicked {
		if e, ok := err.(*Error); !ok || e.Kind != KindFunction {
			t.Errorf("%q strict=%v %q: Flux panics, got %q, %v", in, strict, vars, r.Text, err)
		}
		return
	}
	if text(err) != failure || r.Text != want {
		t.Errorf("%q strict=%v %q:\n got %q, error %q\nwant %q, error %q", in, strict, vars, r.Text, text(err), want, failure)
		return
	}
	if (failure != "" || want != in) && !HasExpression(in) {
		t.Errorf("%q: HasExpression is false", in)
	}
	faults := Faults(in, known(vars), o)
	if (err == nil) != (len(faults) == 0) {
		t.Errorf("%q strict=%v: error %v, faults %v", in, strict, err, faults)
	}
	if err == nil {
		consistent(t, in, r, known(vars), o)
		return
	}
	e := err.(*Error)
	if e.Offset < 0 || !strings.HasPrefix(in[e.Offset:], "${") || strings.Contains(e.Name, "$") || e.Advice() == "" {
		t.Errorf("%q: error %+v", in, e)
	}
	found := false
	for i, f := range faults {
		found = found || *f == *e
		if i > 0 && faults[i-1].Offset >= f.Offset {
			t.Errorf("%q: faults %v and %v are not in order", in, faults[i-1], f)
		}
	}
	if !found {
		t.Errorf("%q: %+v is not among the faults", in, e)
	}
}

// consistent checks the segments: they and the text between them make up the whole on both sides, and each comes to what
// it comes to alone.
func consistent(t *testing.T, in string, r Result, lookup Lookup, o Options) {
	t.Helper()
	if i := strings.IndexByte(in, 0); i >= 0 {
		in = in[:i]
	}
	from, out := 0, 0
	between := func(to, outTo int) {
		if got, want := r.Text[out:outTo], strings.ReplaceAll(in[from:to], "$$", "$"); got != want {
			t.Errorf("%q: between %d and %d stands %q, want %q", in, from, to, got, want)
		}
	}
	for _, s := range r.Segments {
		if s.In < from || s.InEnd > len(in) || s.Out < out || s.OutEnd > len(r.Text) || s.OutEnd < s.Out {
			t.Fatalf("%q: segment %+v is out of bounds", in, s)
		}
		between(s.In, s.Out)
		source, value := in[s.In:s.InEnd], r.Text[s.Out:s.OutEnd]
		if !strings.HasPrefix(source, "${") || !strings.HasSuffix(source, "}") {
			t.Errorf("%q: segment is %q", in, source)
		}
		alone, err := Eval(source, lookup, o)
		if err != nil || alone.Text != value || len(alone.Segments) != 1 {
			t.Errorf("%q alone: %q, %v; in %q it is %q", source, alone.Text, err, in, value)
		}
		if s.Opaque && source != value {
			t.Errorf("%q: opaque %q became %q", in, source, value)
		}
		names := s.Names
		if names == nil {
			names = []string{s.Name}
		} else if len(names) < 2 || names[0] != s.Name {
			t.Errorf("%q: names of %q are %q and %q", in, source, s.Name, names)
		}
		for _, n := range names {
			if n == "" || !strings.Contains(source, n) {
				t.Errorf("%q: %q has no variable %q", in, source, n)
			}
		}
		from, out = s.InEnd, s.OutEnd
	}
	between(len(in), len(r.Text))
}
