package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const page = "../../docs/architecture.md"

func document(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// section gives the text below a heading, up to the next one of the same rank or a higher one.
func section(t *testing.T, doc, heading string) string {
	t.Helper()
	_, after, ok := strings.Cut(doc, "\n"+heading+"\n")
	if !ok {
		t.Fatalf("docs/architecture.md has no section %q", heading)
	}
	rank := strings.Index(heading, " ")
	if at := regexp.MustCompile(`(?m)^#{1,` + strconv.Itoa(rank) + `} `).FindStringIndex(after); at != nil {
		after = after[:at[0]]
	}
	return after
}

// declared gives what a walk over the files of a package finds.
func declared(t *testing.T, dir string, find func(ast.Node) []string) map[string]bool {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), dir+"/"+e.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			for _, s := range find(n) {
				found[s] = true
			}
			return true
		})
	}
	if len(found) == 0 {
		t.Fatalf("nothing found in %s", dir)
	}
	return found
}

// tagged finds the names of fields by a struct tag.
func tagged(key string) func(ast.Node) []string {
	return func(n ast.Node) []string {
		f, ok := n.(*ast.Field)
		if !ok || f.Tag == nil {
			return nil
		}
		raw, err := strconv.Unquote(f.Tag.Value)
		if err != nil {
			return nil
		}
		name, _, _ := strings.Cut(reflect.StructTag(raw).Get(key), ",")
		if name == "" || name == "-" {
			return nil
		}
		return []string{name}
	}
}

// codes finds the constants of type Code.
func codes(n ast.Node) []string {
	v, ok := n.(*ast.ValueSpec)
	if !ok {
		return nil
	}
	if id, ok := v.Type.(*ast.Ident); !ok || id.Name != "Code" {
		return nil
	}
	var out []string
	for _, value := range v.Values {
		if lit, ok := value.(*ast.BasicLit); ok {
			s, _ := strconv.Unquote(lit.Value)
			out = append(out, s)
		}
	}
	return out
}

// The page has a row for each code of a reason, and for no other.
func TestCodesAreDocumented(t *testing.T) {
	inCode := declared(t, "../model", codes)
	inPage := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|").FindAllStringSubmatch(section(t, document(t), "### Reasons"), -1) {
		if inPage[m[1]] {
			t.Errorf("%s is documented twice", m[1])
		}
		inPage[m[1]] = true
	}
	if len(inCode) < 20 {
		t.Errorf("only %d codes found in internal/model", len(inCode))
	}
	for c := range inCode {
		if !inPage[c] {
			t.Errorf("the code %q has no row under Reasons", c)
		}
	}
	for c := range inPage {
		if !inCode[c] {
			t.Errorf("Reasons has a row for %q, which is no code", c)
		}
	}
}

// Every field of the JSON and of tidegate.yaml stands in its section.
func TestFieldsAreDocumented(t *testing.T) {
	for _, c := range []struct{ dir, tag, heading string }{
		{"../report", "json", "### JSON"},
		{"../config", "yaml", "## tidegate.yaml"},
	} {
		text := section(t, document(t), c.heading)
		for name := range declared(t, c.dir, tagged(c.tag)) {
			if !regexp.MustCompile("`(?:[A-Za-z.]+\\.)?" + regexp.QuoteMeta(name) + "`").MatchString(text) {
				t.Errorf("%q does not stand under %q", name, c.heading)
			}
		}
	}
}

// Every room of the drawing stands on the page, and no room that is gone.
func TestRoomsAreDocumented(t *testing.T) {
	text := section(t, document(t), "## Rooms")
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("`((?:internal|cmd|reference)[a-z/]*)`").FindAllStringSubmatch(text, -1) {
		named[m[1]] = true
		if fi, err := os.Stat("../../" + m[1]); err != nil || !fi.IsDir() {
			t.Errorf("the page names %s, which is no folder", m[1])
		}
	}
	for r := range drawing {
		if !named[r] {
			t.Errorf("the room %s does not stand on the page", r)
		}
	}
}
