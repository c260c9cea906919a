package yamlpos_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	yaml3 "go.yaml.in/yaml/v3"

	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/yamlpos"
)

// each visits all nodes of a file, keys too.
func each(f *yamlpos.File, visit func(*yamlpos.Node)) {
	var walk func(n *yamlpos.Node)
	walk = func(n *yamlpos.Node) {
		visit(n)
		for i, v := range n.Values {
			if n.Kind == yamlpos.Mapping {
				walk(n.Keys[i])
			}
			walk(v)
		}
	}
	for _, d := range f.Documents {
		if d.Root != nil {
			walk(d.Root)
		}
	}
}

// invariants are what holds for every input.
func invariants(t testing.TB, data []byte) (scalars, placed int) {
	t.Helper()
	f := yamlpos.Parse(data)
	each(f, func(n *yamlpos.Node) {
		if n.Start.Offset < 0 || n.End.Offset > len(data) || n.Start.Offset > n.End.Offset {
			t.Fatalf("%+v is no span of %d bytes", n, len(data))
		}
		for _, p := range []yamlpos.Pos{n.Start, n.End} {
			if at, ok := f.Offset(p.Line, p.Column); !ok || at != p.Offset {
				t.Fatalf("%+v: line %d, column %d is byte %d, %v", p, p.Line, p.Column, at, ok)
			}
		}
		if n.Kind != yamlpos.Scalar || n.Value == "" {
			return
		}
		scalars++
		whole, ok := f.Within(n, 0, len(n.Value))
		if !ok {
			return
		}
		placed++
		if whole.Line < n.Start.Line || whole.EndLine > n.End.Line {
			t.Fatalf("%q: all of it is %v, outside of %v to %v", n.Value, whole, n.Start, n.End)
		}
		// A part whose source is as long as itself is written as itself.
		for from := 0; from < len(n.Value) && from < 200; from += 1 + len(n.Value)/40 {
			for _, to := range []int{from + 1, from + 3, from + 10} {
				if to > len(n.Value) || !utf8.RuneStart(n.Value[from]) || to < len(n.Value) && !utf8.RuneStart(n.Value[to]) {
					continue
				}
				s, ok := f.Within(n, from, to)
				if !ok {
					continue
				}
				if text, part := f.Text(s), n.Value[from:to]; len(text) == len(part) && text != part && n.Style&yaml3.DoubleQuotedStyle == 0 &&
					!strings.ContainsAny(part, " \n") {
					t.Fatalf("bytes %d to %d of %q are %q, and the file has %q", from, to, n.Value, part, text)
				}
			}
		}
	})
	return scalars, placed
}

func TestFiles(t *testing.T) {
	scalars, placed := 0, 0
	for _, root := range []string{"../../reference", "../oracle/testdata"} {
		err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(p, ".yaml") && !strings.HasSuffix(p, ".txtar") {
				return err
			}
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			a, b := invariants(t, data)
			scalars, placed = scalars+a, placed+b
			f := yamlpos.Parse(data)
			each(f, func(n *yamlpos.Node) {
				for at := 0; n.Kind == yamlpos.Scalar; {
					i := strings.Index(n.Value[at:], "${")
					if i < 0 {
						break
					}
					at += i
					end := at + strings.IndexByte(n.Value[at:]+"}", '}')
					if end >= len(n.Value) {
						break
					}
					s, ok := f.Within(n, at, end+1)
					if part := n.Value[at : end+1]; !ok || f.Text(s) != part && !strings.Contains(part, "\n") {
						t.Errorf("%s: %q is %q, %v", p, part, f.Text(s), ok)
					}
					at = end
				}
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if scalars < 3000 || placed != scalars {
		t.Errorf("%d of %d scalars have a place", placed, scalars)
	}
}

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
	const file = "a: {b: [1, 2 ], c: {}}\nd:\n  - e: |\n      x\n\n  - 'f'\ng: &h\n  i: j\nk: *h\n"
	f := yamlpos.Parse([]byte(file))
	d := f.Documents[0]
	for _, c := range []struct {
		path       string
		key, value string
	}{
		{"a", "a", "{b: [1, 2 ], c: {}}"}, {"a.b", "b", "[1, 2 ]"}, {"a.c", "c", "{}"}, {"a.b[1]", "", "2"},
		{"d", "d", "- e: |\n      x\n\n  - 'f'"}, {"d[0].e", "e", "|\n      x"}, {"d[1]", "", "'f'"}, {"g", "g", "i: j"}, {"k", "k", "*h"}, {"k.i", "i", "j"},
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
		got := f.Text(f.Span(value))
		if c.path == "d" {
			got = strings.TrimLeft(file[:0]+got, " ")
		}
		if got != c.value {
			t.Errorf("%s is %q, want %q", c.path, got, c.value)
		}
		if key == nil && c.key != "" || key != nil && f.Text(f.Span(key)) != c.key {
			t.Errorf("the key of %s is %v", c.path, key)
		}
		if key != nil && c.path != "k.i" && f.KeyOf(value) != key {
			t.Errorf("the key of the value of %s is another", c.path)
		}
	}
	if _, v := d.Find(model.Path{"d", "x"}); v != nil {
		t.Error("a list has no keys")
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
	d.Find(model.Path{"l", 0, 0, 0, 0})
	if _, v := d.Find(model.Path{"m", "q"}); v != nil {
		t.Error("m.q is somewhere")
	}
}

// Random scalars in every style have a place, and it holds them.
func TestRandomScalars(t *testing.T) {
	alphabet := []string{"a", "b", "ä", "漢", " ", "  ", "\n", "\n\n", "\t", "'", "\"", "\\", "#", ": ", "- ", "${X}", "$", "{", "}", "|", ">", "\u00a0", "😀"}
	r := rand.New(rand.NewPCG(1, 2))
	styles := []yaml3.Style{0, yaml3.SingleQuotedStyle, yaml3.DoubleQuotedStyle, yaml3.LiteralStyle, yaml3.FoldedStyle}
	total, placed := 0, 0
	for i := 0; i < 4000; i++ {
		var b strings.Builder
		for n := r.IntN(14) + 1; n > 0; n-- {
			b.WriteString(alphabet[r.IntN(len(alphabet))])
		}
		doc := &yaml3.Node{Kind: yaml3.MappingNode, Content: []*yaml3.Node{
			{Kind: yaml3.ScalarNode, Value: "k"}, {Kind: yaml3.ScalarNode, Value: b.String(), Style: styles[r.IntN(len(styles))], Tag: "!!str"},
			{Kind: yaml3.ScalarNode, Value: "z"}, {Kind: yaml3.ScalarNode, Value: "end"}}}
		data, err := yaml3.Marshal(doc)
		if err != nil {
			continue
		}
		if r.IntN(4) == 0 {
			data = bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n"))
		}
		a, p := invariants(t, data)
		total, placed = total+a, placed+p
		f := yamlpos.Parse(data)
		each(f, func(n *yamlpos.Node) {
			i := strings.Index(n.Value, "${X}")
			if i < 0 || n.Kind != yamlpos.Scalar {
				return
			}
			if s, ok := f.Within(n, i, i+4); ok && f.Text(s) != "${X}" {
				t.Fatalf("%q: ${X} is said to be %q", data, f.Text(s))
			}
		})
	}
	if placed < total*99/100 {
		t.Errorf("%d of %d scalars have a place", placed, total)
	}
}

func TestAt(t *testing.T) {
	f := yamlpos.Parse([]byte("a: 1\n---\nb:\n  c: 2\n"))
	if n := f.At(4, 3); n == nil || n.Value != "c" {
		t.Errorf("line 4 has %v", n)
	}
	if n := f.At(4, 6); n == nil || n.Value != "2" {
		t.Errorf("line 4 has %v", n)
	}
	if f.At(9, 9) != nil {
		t.Error("line 9 has something")
	}
	if d := f.DocumentAt(4); d != f.Documents[1] || d.Line != 3 {
		t.Errorf("line 4 is of %+v", d)
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
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a: b\n", "a: |\n  x\n---\nb: 'c''d'\n", "{\"a\": [1, \"\\u00e9\"]}", "a: &x >-\n  y\n\n   z\nb: *x\n", "- - ? a\n    : b\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 1<<16 {
			invariants(t, data)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	data, err := os.ReadFile("../../reference/apps/vms/unifi/virtual-machine.yaml")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		yamlpos.Parse(data)
	}
}
