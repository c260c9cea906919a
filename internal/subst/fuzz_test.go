package subst

import "testing"

// FuzzEval compares with Flux's own package, in both modes, and checks that what is said about opaque values holds.
func FuzzEval(f *testing.F) {
	for _, c := range language {
		f.Add(c.in, "x", "axb/c.d")
	}
	f.Add("${A:5:9223372036854775807}${B##*[^a]?}", "abc", "ö*\xff")
	f.Add("${M:-${A/${B}/$$}${B:${A}:-1}}", "1", "-1")
	f.Fuzz(func(t *testing.T, in, a, b string) {
		if len(in) > 2000 || len(a)+len(b) > 200 {
			return // Flux needs too long for some of these
		}
		vars := map[string]string{"A": a, "B": b, "EMPTY": "", "P": languageVars["P"]}
		for _, strict := range []bool{false, true} {
			sameAsFlux(t, in, vars, strict)
			for _, name := range []string{"A", "M"} {
				soundWhenOpaque(t, in, vars, name, []string{a, b, "", "1", "-1", "9223372036854775807"}, Options{Strict: strict, NegativeLength: true})
			}
			soundWhenOpaque(t, in, vars, "B", []string{b, a, "", "-1"}, Options{Strict: strict})
		}
	})
}
