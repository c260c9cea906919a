package yamlpos_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	yaml3 "go.yaml.in/yaml/v3"

	"github.com/tidegate/tidegate/internal/yamlpos"
)

// yamlFiles reads all YAML below a folder, and in archives there.
func yamlFiles(t testing.TB, root string, visit func(name string, data []byte)) {
	t.Helper()
	isYAML := func(p string) bool { return strings.HasSuffix(p, ".yaml") || strings.HasSuffix(p, ".yml") }
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !isYAML(p) && !strings.HasSuffix(p, ".txtar") {
			return err
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		if isYAML(p) {
			visit(p, data)
			return nil
		}
		for _, file := range txtar.Parse(data).Files {
			if isYAML(file.Name) {
				visit(p+"/"+file.Name, file.Data)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Every scalar and every expression in the repository's YAML, and in that of the repositories in TIDEGATE_REPOS.
func TestFiles(t *testing.T) {
	roots := append([]string{"../../reference", "../oracle/testdata", "../rules/testdata"}, filepath.SplitList(os.Getenv("TIDEGATE_REPOS"))...)
	files, scalars, uses := 0, 0, 0
	for _, root := range roots {
		yamlFiles(t, root, func(name string, data []byte) {
			defer func() {
				if t.Failed() {
					t.Log(name)
				}
			}()
			files++
			scalars += invariants(t, data)
			f := yamlpos.Parse(data)
			each(f, func(n *yamlpos.Node) {
				if n.Kind == yamlpos.Scalar {
					uses += expressions(t, f, n)
				}
			})
		})
	}
	t.Logf("%d files, %d scalars, %d expressions", files, scalars, uses)
	if files < 200 || scalars < 5000 || uses < 200 {
		t.Errorf("%d files, %d scalars, %d expressions", files, scalars, uses)
	}
}

// expressions holds that every ${…} of a scalar stands in the file as it is, and where it says.
func expressions(t testing.TB, f *yamlpos.File, n *yamlpos.Node) (count int) {
	t.Helper()
	for at := 0; ; {
		i := strings.Index(n.Value[at:], "${")
		if i < 0 {
			return count
		}
		at += i
		length := strings.IndexByte(n.Value[at:], '}') + 1
		if length == 0 {
			return count
		}
		count++
		use := n.Value[at : at+length]
		s, ok := f.Within(n, at, at+length)
		text := f.Text(s)
		if n.Style&yaml3.DoubleQuotedStyle != 0 && ok {
			text = unquote(t, `"`+text+`"`)
		}
		if !ok || text != use && !strings.Contains(text, "\n") {
			t.Errorf("%q is %q, %v", use, text, ok)
		}
		at += length
	}
}
