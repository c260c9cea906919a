package gitwork

import (
	"strings"
	"testing"
	"time"
)

func TestGlob(t *testing.T) {
	tests := []struct {
		pattern string
		yes, no []string
	}{
		{"foo", []string{"foo"}, []string{"fo", "foo/", "a/foo", "Foo"}},
		{"*.yaml", []string{".yaml", "a.yaml"}, []string{"a.yml", "a/b.yaml", "a.yaml.bak"}},
		{"f*o", []string{"fo", "foo", "fxxo"}, []string{"f/o", "foox"}},
		{"?", []string{"a"}, []string{"", "/", "ab", "é"}},
		{"??", []string{"é"}, []string{"a"}},
		{"a/**", []string{"a/b", "a/b/c"}, []string{"a", "b/a/c"}},
		{"**/a", []string{"a", "x/a", "x/y/a"}, []string{"xa", "a/b"}},
		{"a/**/b", []string{"a/b", "a/x/b", "a/x/y/b"}, []string{"ab", "a/xb"}},
		{"a/**/**/b", []string{"a/b", "a/x/y/b"}, []string{"a/bb"}},
		{"**", []string{"a", "a/b"}, nil},
		{"a**b", []string{"ab", "axxb"}, []string{"a/b"}},
		{"foo**/bar", []string{"foox/bar", "foo/bar"}, []string{"foo/x/bar", "foobar"}},
		{"a/*/c", []string{"a/b/c"}, []string{"a/c", "a/b/b/c"}},
		{"[abc]x", []string{"ax", "cx"}, []string{"dx", "x"}},
		{"[!a-c]", []string{"d"}, []string{"a", "b", "/"}},
		{"[^a]", []string{"b"}, []string{"a"}},
		{"[]-]", []string{"]", "-"}, []string{"a"}},
		{"[[:digit:]a]", []string{"1", "a"}, []string{"b", ":"}},
		{"[[:]", []string{"[", ":"}, []string{"a"}},
		{"[[:nope:]]", nil, []string{"n", "[", ":"}},
		{"[a", nil, []string{"a", "[a"}},
		{`\*`, []string{"*"}, []string{"a"}},
		{`a\`, nil, []string{"a", `a\`}},
		{`[\]]`, []string{"]"}, []string{`\`}},
		{`[a\-c]`, []string{"a", "-", "c"}, []string{"b"}},
		{`**\/a`, []string{"x/a"}, []string{"a"}},
	}
	for _, tt := range tests {
		g := compileGlob(tt.pattern, false)
		for _, s := range tt.yes {
			if !g.match(s) {
				t.Errorf("%q does not match %q", tt.pattern, s)
			}
		}
		for _, s := range tt.no {
			if g.match(s) {
				t.Errorf("%q matches %q", tt.pattern, s)
			}
		}
	}
}

func TestGlobIgnoreCase(t *testing.T) {
	for _, tt := range []struct {
		pattern, text string
		want          bool
	}{
		{"Foo", "fOO", true},
		{"*.YAML", "a.yaml", true},
		{"[A-C]?", "bX", true},
		{"[A]", "A", false}, // the text is lower case by then, the member is not: git's own quirk
		{`\A*`, "A", false}, // likewise
		{"[[:upper:]]", "a", true},
		{"a/**/B", "A/x/b", true},
	} {
		if got := compileGlob(tt.pattern, true).match(tt.text); got != tt.want {
			t.Errorf("%q on %q: %v", tt.pattern, tt.text, got)
		}
	}
}

func TestGlobIsNotExponential(t *testing.T) {
	for _, pattern := range []string{
		strings.Repeat("*a", 40) + "b",
		strings.Repeat("**/", 500) + "b",
		strings.Repeat("**/*a*/", 40) + "b",
		strings.Repeat("*", 4000) + "b",
	} {
		text := strings.Repeat("a", 500) + strings.Repeat("/aaa", 200)
		start := time.Now()
		if compileGlob(pattern, false).match(text) {
			t.Errorf("%.20q… matches", pattern)
		}
		if d := time.Since(start); d > 2*time.Second {
			t.Errorf("%.20q… took %v", pattern, d)
		}
	}
}

// reference is wildmatch written down as its definition, by trying everything. It is for short inputs.
func reference(p, s string, start bool) bool {
	if p == "" {
		return s == ""
	}
	if p[0] == '*' {
		rest := strings.TrimLeft(p, "*")
		if stars := len(p) - len(rest); stars > 1 && start && (rest == "" || rest[0] == '/' || strings.HasPrefix(rest, `\/`)) {
			if strings.HasPrefix(rest, "/") && reference(rest[1:], s, true) {
				return true
			}
			for i := 0; i <= len(s); i++ {
				if reference(rest, s[i:], false) {
					return true
				}
			}
			return false
		}
		for i := 0; ; i++ {
			if reference(rest, s[i:], false) {
				return true
			}
			if i == len(s) || s[i] == '/' {
				return false
			}
		}
	}
	if s == "" {
		return false
	}
	switch p[0] {
	case '?':
		return s[0] != '/' && reference(p[1:], s[1:], false)
	case '[':
		set, next, ok := parseClass(p, 1, false)
		return ok && s[0] != '/' && set[s[0]>>6]&(1<<(s[0]&63)) != 0 && reference(p[next:], s[1:], false)
	case '\\':
		return len(p) > 1 && p[1] == s[0] && reference(p[2:], s[1:], p[1] == '/')
	}
	return p[0] == s[0] && reference(p[1:], s[1:], p[0] == '/')
}

func FuzzGlob(f *testing.F) {
	for _, s := range []string{"*", "**/a", "a/**/b", "[a-c]*/?", `\**`, "[[:alpha:]]*", "a**/b", "[!a", "*/*/**"} {
		f.Add(s, "a/b/c")
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		got := compileGlob(pattern, false).match(text)
		compileGlob(pattern, true).match(text)
		// The definition is about paths, and exponential.
		if len(pattern) > 16 || len(text) > 12 || strings.ContainsRune(pattern+text, 0) || strings.HasPrefix(text, "/") || strings.HasSuffix(text, "/") || strings.Contains(text, "//") || text == "" {
			return
		}
		if want := reference(pattern, text, true); got != want {
			t.Errorf("%q on %q: %v, by definition %v", pattern, text, got, want)
		}
	})
}

func BenchmarkGlob(b *testing.B) {
	for _, pattern := range []string{"node_modules", "*.log", "apps/**/charts/*.tgz", "[Bb]uild?"} {
		g := compileGlob(pattern, false)
		b.Run(pattern, func(b *testing.B) {
			for b.Loop() {
				g.match("apps/team-a/service/charts/redis-1.2.3.tgz")
			}
		})
	}
}
