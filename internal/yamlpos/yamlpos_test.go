package yamlpos_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	yaml3 "go.yaml.in/yaml/v3"

	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/yamlpos"
)

func TestWithin(t *testing.T) {
	for _, c := range []struct{ name, file, part, want string }{
		{"plain", "a: one ${X} two\n", "${X}", "1:8-1:12"},
		{"plain over lines", "a: one\n  ${X}\n  two\n", "${X}", "2:3-2:7"},
		{"plain with an empty line", "a: one\n\n  ${X}\n", "\n${X}", "1:7-3:7"},
		{"single", "a: 'it''s ${X}'\n", "${X}", "1:11-1:15"},
		{"single over lines", "a: 'one\n  ${X}'\n", "${X}", "2:3-2:7"},
		{"double", "a: \"x\\t${X}\"\n", "${X}", "1:8-1:12"},
		{"double with a quote", "a: \"say \\\"${X}\\\"\"\n", "\"${X}\"", "1:9-1:17"},
		{"double unicode", "a: \"\\u00e9${X}\"\n", "${X}", "1:11-1:15"},
		{"double continued", "a: \"one \\\n   ${X}\"\n", "${X}", "2:4-2:8"},
		{"characters, not bytes", "a: äöü ${X}\n", "${X}", "1:8-1:12"},
		{"literal", "a: |\n  one\n    ${X}\n", "${X}", "3:5-3:9"},
		{"literal with indicator", "a: |2\n    one\n  ${X}\n", "${X}", "3:3-3:7"},
		{"literal with comment", "a: |- # why\n  one ${X}\n\n\nb: c\n", "${X}", "2:7-2:11"},
		{"literal in a list", "a:\n- |\n  x\n  ${X}\n- b\n", "${X}", "4:3-4:7"},
		{"literal, dos", "a: |\r\n  one\r\n  ${X}\r\n", "${X}", "3:3-3:7"},
		{"folded", "a: >\n  one\n  ${X} two\n\n  three\n", "${X} two", "3:3-3:11"},
		{"folded, across", "a: >-\n  one\n  two\n", "one two", "2:3-3:6"},
		{"folded, more indented", "a: >\n  one\n\n    ${X}\n  two\n", "${X}", "4:5-4:9"},
		{"key", "${X}: a\n", "${X}", "1:1-1:5"},
		{"anchor", "a: &b ${X}\n", "${X}", "1:7-1:11"},
		{"tag", "a: !!str ${X}\n", "${X}", "1:10-1:14"},
		{"json", `{"a": {"b": ["x", "${X}"]}}`, "${X}", "1:20-1:24"},
		{"second document", "a: b\n---\n# c\nd: ${X}\n", "${X}", "4:4-4:8"},
		{"double, every escape", "a: \"\\x41\\u00e9\\U0001F600\\N\\_\\L\\P\\0\\e\\\t${X}\"\n", "${X}", "1:39-1:43"},
		{"an escape itself", "a: \"x\\u00e9y\"\n", "é", "1:6-1:12"},
		{"double continued over an empty line", "a: \"one\\\n\n  ${X}\"\n", "${X}", "3:3-3:7"},
		{"single, all of it", "a: 'b'\n", "b", "1:5-1:6"},
		{"single, a quote", "a: 'it''s'\n", "'", "1:7-1:9"},
		{"tabs", "a: |\n  x\n  \ty ${X}\n", "${X}", "3:6-3:10"},
		{"literal, whole lines", "a: |\n  one\n  two\n  three\n", "two\n", "3:3-4:1"},
		{"literal, its last line feed", "a: |\n  one\n", "one\n", "2:3-2:6"},
		{"literal, deeper first", "a: |2\n     one\n\n  ${X}\n", "${X}", "4:3-4:7"},
		{"literal, blanks alone", "a: |2\n     \n  ${X}\n", "   \n", "2:3-3:1"},
		{"literal, after empty lines", "a: |\n\n   \n   ${X}\n", "${X}", "4:4-4:8"},
		{"literal, no end of file", "a: |\n  ${X}", "${X}", "2:3-2:7"},
		{"literal at a document's end", "a: |\n  ${X}\n---\nb: c\n", "${X}\n", "2:3-2:7"},
		{"folded, the fold", "a: >-\n  one\n  two\n", " ", "2:6-3:3"},
		{"folded, dos", "a: >-\r\n  one\r\n  ${X}\r\n", "${X}", "3:3-3:7"},
		{"plain in dos lines", "a: one\r\n  ${X}\r\nb: c\r\n", "one ${X}", "1:4-2:7"},
		{"a carriage return ends a line of YAML alone", "a: b\rc: ${X}\n", "${X}", "1:9-1:13"},
		{"so does NEL", "a: b\u0085c: ${X}\nd: e\n", "${X}", "1:9-1:13"},
		{"byte order mark", "\ufeffa: ${X}\n", "${X}", "1:4-1:8"},
		{"byte order mark of a document", "a: b\n---\n\ufeffc: ${X}\n", "${X}", "3:5-3:9"},
		{"anchor and tag on other lines", "a: &b\n  # why\n  !!str\n  ${X}\n", "${X}", "4:3-4:7"},
		{"flow over lines", "a: {b: one\n  $X, c: d}\n", "$X", "2:3-2:5"},
		{"single, empty", "''\n", "", "1:2-1:2"},
		{"double, empty", "\"\"\n", "", "1:2-1:2"},
		{"literal, empty", "|-\n", "", "1:3-1:3"},
		{"own marker", "---\nd: ${X}\n", "${X}", "2:4-2:8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := yamlpos.Parse([]byte(c.file))
			found := false
			each(f, func(n *yamlpos.Node) {
				i := strings.Index(n.Value, c.part)
				if n.Kind != yamlpos.Scalar || i < 0 || found {
					return
				}
				found = true
				s, ok := f.Within(n, i, i+len(c.part))
				if got := fmt.Sprintf("%d:%d-%d:%d", s.Line, s.Column, s.EndLine, s.EndColumn); !ok || got != c.want {
					t.Errorf("it is at %s, %v; want %s", got, ok, c.want)
				}
			})
			if !found {
				t.Error("no scalar has it")
			}
		})
	}
}

func TestSpans(t *testing.T) {
	const file = "a: {b: [1, 2 ], c: {}}\nd:\n  - e: |\n      x\n\n  - 'f'\ng: &h\n  i: j\nk: *h\n" +
		"l: [m: n, {o: p}: q, r]\ns:\n\n# c\nt: !u\n  - v\nw: &x\n# d\ny: [ # e\n  1, # f\n]\n? z\n? {a, b: , c}\n"
	f := yamlpos.Parse([]byte(file))
	d := f.Documents[0]
	for _, c := range []struct {
		path       string
		key, value string
	}{
		{"a", "a", "{b: [1, 2 ], c: {}}"}, {"a.b", "b", "[1, 2 ]"}, {"a.c", "c", "{}"}, {"a.b[1]", "", "2"},
		{"d", "d", "- e: |\n      x\n\n  - 'f'"}, {"d[0].e", "e", "|\n      x"}, {"d[1]", "", "'f'"}, {"g", "g", "i: j"}, {"k", "k", "*h"}, {"k.i", "i", "j"},
		{"l", "l", "[m: n, {o: p}: q, r]"}, {"l[0]", "", "m: n"}, {"l[1]", "", "{o: p}: q"}, {"s", "s", ""}, {"t", "t", "- v"}, {"w", "w", ""},
		{"y", "y", "[ # e\n  1, # f\n]"}, {"z", "z", ""},
	} {
		p, err := model.ParsePath(c.path)
		if err != nil {
			t.Fatal(err)
		}
		key, value := d.Find(p)
		if value == nil {
			t.Errorf("%s is not found", c.path)
			continue
		}
		if got := f.Text(f.Span(value)); got != c.value {
			t.Errorf("%s is %q, want %q", c.path, got, c.value)
		}
		if key == nil && c.key != "" || key != nil && f.Text(f.Span(key)) != c.key {
			t.Errorf("the key of %s is %v", c.path, key)
		}
		if key != nil && c.path != "k.i" && f.KeyOf(value) != key {
			t.Errorf("the key of the value of %s is another", c.path)
		}
	}
	if k, v := d.Find(nil); k != nil || v != d.Root {
		t.Error("no path leads to the root")
	}
	for _, p := range []model.Path{{"d", "x"}, {"d", 2}, {"d", -1}, {"a", 0}, {"a", "b", 0, "c"}, {"d", 1.5}, {"nothing", "there"}} {
		if k, v := d.Find(p); k != nil || v != nil {
			t.Errorf("%v leads to %v, %v", p, k, v)
		}
	}
}

// A null that is not written stands behind its colon, or its key; the parser has it where the next thing begins.
func TestNulls(t *testing.T) {
	for file, want := range map[string]string{
		"a:\nb: c\n": "1:3", "? a\n\n# x\n\nb: c\n": "1:4", "{a, b: c}": "1:3", "{a: , b: c}": "1:4", "{a: }": "1:4", "a: &b\nc: d\n": "1:6", "a: !!null\nc: d\n": "1:10",
		"? a\n": "1:4", "a: # x\nb: c": "1:3", "a: &b\n&c d: e\n": "1:6", "a: !!null &b # x\nc: d\n": "1:13",
	} {
		f := yamlpos.Parse([]byte(file))
		if _, v := f.Documents[0].Find(model.Path{"a"}); v == nil || fmt.Sprintf("%d:%d", v.Start.Line, v.Start.Column) != want || v.Start != v.End {
			t.Errorf("%q: %+v, want %s", file, v, want)
		}
	}
}

// Merge keys and aliases, also those that lead to themselves.
func TestMerges(t *testing.T) {
	f := yamlpos.Parse([]byte("x: &x {a: 1}\ny: &y\n  <<: *x\n  b: 2\nz:\n  <<: [*x, *y]\nl: &l [*l]\nm: &m\n  <<: *m\n"))
	d := f.Documents[0]
	for p, want := range map[string]string{"y.a": "1", "z.b": "2", "z.a": "1"} {
		path, _ := model.ParsePath(p)
		if _, v := d.Find(path); v == nil || v.Value != want {
			t.Errorf("%s is %v", p, v)
		}
	}
	if _, v := d.Find(model.Path{"l", 0, 0, 0, 0}); v == nil || v.Alias == nil {
		t.Errorf("the list in itself is %v", v)
	}
	if _, v := d.Find(model.Path{"m", "q"}); v != nil {
		t.Error("m.q is somewhere")
	}
	// A key in quotes is none.
	if _, v := yamlpos.Parse([]byte("a: {\"<<\": {x: 1}}\n")).Documents[0].Find(model.Path{"a", "x"}); v != nil {
		t.Errorf("a.x is %v", v)
	}
	// The own keys come first, then the first of a list (kyaml agrees), then what that merges.
	f = yamlpos.Parse([]byte("a: &a {x: 1, y: 1}\nb: &b {x: 2, z: 2}\nc: &c\n  <<: *b\n  y: 3\nd:\n  <<: [*c, *a]\n  w: 4\n*a : 5\n"))
	for p, want := range map[string]string{"d.x": "2", "d.y": "3", "d.z": "2", "d.w": "4"} {
		path, _ := model.ParsePath(p)
		if _, v := f.Documents[0].Find(path); v == nil || v.Value != want {
			t.Errorf("%s is %v, want %s", p, v, want)
		}
	}
}

// Thousands of merges, each of the two before it, have more ways than there is time.
func TestMergeBomb(t *testing.T) {
	var b strings.Builder
	b.WriteString("m0: &m0 {z: 1}\nm1: &m1 {y: 2}\n")
	for i := 2; i < 3000; i++ {
		fmt.Fprintf(&b, "m%d: &m%d\n  <<: [*m%d, *m%d]\n", i, i, i-1, i-2)
	}
	d := yamlpos.Parse([]byte(b.String())).Documents[0]
	if _, v := d.Find(model.Path{"m2999", "z"}); v == nil || v.Value != "1" {
		t.Errorf("z is %v", v)
	}
	if _, v := d.Find(model.Path{"m2999", "q"}); v != nil {
		t.Errorf("q is %v", v)
	}
}

// Parts of several scalars are asked for at once.
func TestParallel(t *testing.T) {
	f := yamlpos.Parse([]byte("a: one ${X}\nb: 'two ${X}'\nc: |\n  three ${X}\n"))
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 200 {
				each(f, func(n *yamlpos.Node) {
					if i := strings.Index(n.Value, "${X}"); i >= 0 {
						if s, ok := f.Within(n, i, i+4); !ok || f.Text(s) != "${X}" {
							t.Errorf("%q has it at %v", n.Value, s)
						}
					}
				})
			}
		})
	}
	group.Wait()
}

func TestAt(t *testing.T) {
	f := yamlpos.Parse([]byte("# x\na: &x !!str 1\n---\n---\nb:\n- c: 2\n  d:\n- *x\n---\ne: [f: {g}]\n"))
	for at, want := range map[[2]int]string{{2, 1}: "a", {2, 4}: "1", {10, 1}: "e", {10, 5}: "f", {10, 9}: "g"} {
		if n := f.At(at[0], at[1]); n == nil || n.Value != want {
			t.Errorf("%v has %+v, want %s", at, n, want)
		}
	}
	for _, at := range [][2]int{{1, 1}, {3, 1}, {9, 9}, {0, 0}, {-1, 1}, {99, 1}} {
		if n := f.At(at[0], at[1]); n != nil {
			t.Errorf("%v has %+v", at, n)
		}
	}
	if n := f.At(10, 4); n == nil || n.Kind != yamlpos.Sequence {
		t.Errorf("%+v is no list", n)
	}
	for line, want := range map[int]int{1: 0, 2: 0, 3: 0, 4: 1, 8: 1, 9: 1, 10: 2} {
		if got := f.DocumentAt(line); got != f.Documents[want] {
			t.Errorf("line %d is of %+v", line, got)
		}
	}
	// yaml.v3 counts three lines in the first document, which has one.
	f2 := yamlpos.Parse([]byte("a: b\rc: d\re: f\n---\ng: h\n"))
	for at, want := range map[[2]int]string{{1, 1}: "a", {2, 1}: "c", {3, 1}: "g"} {
		if n := f2.At(at[0], at[1]); n == nil || n.Value != want {
			t.Errorf("%v has %+v, want %s", at, n, want)
		}
	}
	if f.DocumentAt(0) != nil || f.DocumentAt(99) != nil {
		t.Error("a line that is not there has a document")
	}
}

// Where kyaml splits decides what a scalar at a document's end is.
func TestDocuments(t *testing.T) {
	for _, c := range []struct {
		file  string
		lines []int
		last  string
	}{
		{"", []int{1}, ""},
		{"a: |\n  b\n---\n", []int{1, 4}, "b\n"},
		{"a: |\r\n  b\r\n---\r\n", []int{1, 4}, "b\n"},
		{"---\na: b\n---\n---\nc: d\n", []int{1, 4}, "d"},
		{"a: b\n---", []int{1}, "b"},
		{"a: b\n--- # c\nd: |\n  e", []int{1, 3}, "e"},
		{"a: b\n...\n---\nc: d\n", []int{1, 4}, "d"},
	} {
		f := yamlpos.Parse([]byte(c.file))
		var lines []int
		for _, d := range f.Documents {
			lines = append(lines, d.Line)
		}
		last := ""
		each(f, func(n *yamlpos.Node) { last = n.Value })
		if !slices.Equal(lines, c.lines) || last != c.last {
			t.Errorf("%q: documents begin on lines %v, want %v; the last scalar is %q, want %q", c.file, lines, c.lines, last, c.last)
		}
	}
}

// What cannot be told is not told.
func TestWithinRefuses(t *testing.T) {
	f := yamlpos.Parse([]byte("a: \"x\\u00e9y\"\nb: [ä]\n"))
	_, a := f.Documents[0].Find(model.Path{"a"})
	_, b := f.Documents[0].Find(model.Path{"b"})
	_, c := f.Documents[0].Find(model.Path{"b", 0})
	for _, bad := range []struct {
		n        *yamlpos.Node
		from, to int
	}{{a, 0, 2}, {a, 2, 3}, {a, -1, 1}, {a, 2, 1}, {a, 0, 5}, {b, 0, 0}, {c, 0, 1}, {c, 1, 2}} {
		if s, ok := f.Within(bad.n, bad.from, bad.to); ok || s != (model.Span{}) {
			t.Errorf("bytes %d to %d of %+v are at %v", bad.from, bad.to, bad.n, s)
		}
	}
	for _, s := range []model.Span{{}, {Line: 1, Column: 9, EndLine: 1, EndColumn: 3}, {Line: 9, Column: 1, EndLine: 9, EndColumn: 2}, {Line: 1, Column: 1, EndLine: 1, EndColumn: 99}} {
		if text := f.Text(s); text != "" {
			t.Errorf("%v has %q", s, text)
		}
	}
}

func TestBadDocuments(t *testing.T) {
	f := yamlpos.Parse([]byte("a: [\n---\nb: 1\n---\n\n---\n# nothing\n"))
	if f.Documents[0].Err == nil || f.Documents[1].Root == nil || f.Documents[2].Root != nil {
		t.Errorf("%+v %+v", f.Documents[0], f.Documents[1])
	}
	for _, hostile := range []string{strings.Repeat("[", 100000), strings.Repeat("a: &a [*a]\n", 3), "\xff\xfe{\x00", "a: \x00", "\xef\xbb\xbfa: b\n", "%YAML 1.1\n---\na: b\n"} {
		invariants(t, []byte(hostile))
	}
	for _, wide := range []string{"\xff\xfea\x00:\x00 \x00b\x00", "\xfe\xff\x00a\x00:\x00 \x00b", "a: \xff", "a: \xc3", "a: \x00"} {
		if d := yamlpos.Parse([]byte(wide)).Documents[0]; d.Err == nil || d.Root != nil {
			t.Errorf("%q is read as %+v", wide, d.Root)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a: b\n", "a: |\n  x\n---\nb: 'c''d'\n", "{\"a\": [1, \"\\u00e9\"]}", "a: &x >-\n  y\n\n   z\nb: *x\n", "- - ? a\n    : b\n",
		"\ufeffa: \"\\x41\\\n  b\\t\"\r\n---\r\n\u2028? [c: d, {e, f: }]\r: !t &g\u0085  h\n", "a: |2-\n\n     b\n  \t\n\n  c\n", "- &a !b\n  - - c\n-\n"} {
		f.Add([]byte(s))
	}
	r := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		f.Add(variant(r, []byte("k:\n- "+source(r, 1)+"\n- {a: "+source(r, 0)+"}\n")))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) <= 4096 {
			invariants(t, data)
		}
	})
}

// BenchmarkParse reads the reference platform, with positions and as yaml.v3 alone does.
func BenchmarkParse(b *testing.B) {
	var files [][]byte
	size := 0
	yamlFiles(b, "../../reference", func(_ string, data []byte) {
		files = append(files, data)
		size += len(data)
	})
	b.Run("yamlpos", func(b *testing.B) {
		b.SetBytes(int64(size))
		b.ReportAllocs()
		for b.Loop() {
			for _, data := range files {
				yamlpos.Parse(data)
			}
		}
	})
	b.Run("yaml.v3", func(b *testing.B) {
		b.SetBytes(int64(size))
		b.ReportAllocs()
		for b.Loop() {
			for _, data := range files {
				for _, text := range strings.Split(string(data), "\n---\n") {
					var n yaml3.Node
					if err := yaml3.Unmarshal([]byte(text), &n); err != nil {
						b.Fatal(err)
					}
				}
			}
		}
	})
}
