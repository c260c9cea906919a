package source

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

func mustArtifact(t testing.TB, tree Tree, o ArtifactOptions) *Artifact {
	t.Helper()
	a, err := NewArtifact(tree, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func ptr(s string) *string { return &s }

func TestArtifactReasons(t *testing.T) {
	files := map[string]string{
		".sourceignore": "# comment\n\n*.md\n", "README.md": "", "apps/.sourceignore": "/secret/*\r\n!/secret/keep.yaml\n", "apps/secret/drop.yaml": "", "apps/secret/keep.yaml": "", "apps/d.txt": "", ".gitignore": "", ".sops.yaml": "", "docs/a/x.md": "", "docs/b.txt": "",
	}
	a := mustArtifact(t, FromMap("m", files), ArtifactOptions{Ignore: ptr("\n*.txt\n/docs/a/\n")})
	if want := []string{".sops.yaml", ".sourceignore", "apps/.sourceignore", "apps/secret/keep.yaml"}; !slices.Equal(a.Files(), want) {
		t.Errorf("%q, want %q", a.Files(), want)
	}
	for p, want := range map[string]string{
		"README.md":             `pattern "*.md" in .sourceignore, line 3`,
		"docs/a":                `pattern "/docs/a/" in spec.ignore, line 3`,
		"apps/secret/drop.yaml": `pattern "/secret/*" in apps/.sourceignore, line 1`,
		"./apps/d.txt":          `pattern "*.txt" in spec.ignore, line 2`,
		".gitignore":            `version control exclude ".gitignore"`,
	} {
		if got, ok := a.Excluded(p); !ok || got != want {
			t.Errorf("%s: %q, %v, want %q", p, got, ok, want)
		}
	}
	if _, ok := a.Excluded("docs"); ok { // stays, as a directory without files
		t.Error("docs is excluded")
	}
	if names, ok := a.ReadDir("docs"); !ok || len(names) != 0 {
		t.Errorf("docs: %q, %v", names, ok)
	}
	if got, ok := a.Excluded("nope"); ok {
		t.Errorf("nope: %q", got)
	}
	_, err := a.ReadFile("apps/d.txt")
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), `spec.ignore, line 2`) {
		t.Errorf("error %v", err)
	}

	// The default excludes last until there is a pattern, and no longer.
	tree := FromMap("m", map[string]string{"a.png": "", ".github/x.yaml": "", ".sops.yaml": "", "x/.sops.yaml": "", "x/a.yaml": "", ".git-stuff": ""})
	a = mustArtifact(t, tree, ArtifactOptions{Ignore: ptr("# only a comment\n")})
	if want := []string{".git-stuff", "x/a.yaml"}; !slices.Equal(a.Files(), want) {
		t.Errorf("%q, want %q", a.Files(), want)
	}
	if got, _ := a.Excluded("x/.sops.yaml"); got != `default exclude "**/.sops.yaml"` {
		t.Errorf("%q", got)
	}
	a = mustArtifact(t, tree, ArtifactOptions{Ignore: ptr("nothing-like-it")})
	if len(a.Files()) != len(tree.Entries()) {
		t.Errorf("%q", a.Files())
	}
}

func TestArtifactLinks(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a/real.yaml"), "x")
	write(t, filepath.Join(dir, "only-links/x"), "x")
	for link, target := range map[string]string{"a/link.yaml": "real.yaml", "linked": "a", "only-links/l": "../a"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(dir, "only-links/x")); err != nil {
		t.Fatal(err)
	}
	d, err := OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	a := mustArtifact(t, d, ArtifactOptions{})
	files, dirs := contents(t, a)
	if !slices.Equal(files, []string{"a/real.yaml"}) || !slices.Equal(dirs, []string{".", "a", "only-links"}) {
		t.Errorf("%q, %q", files, dirs)
	}
	if _, ok := a.Stat("linked/real.yaml"); ok {
		t.Error("follows a link")
	}
	if got, _ := a.Excluded("linked"); !strings.HasPrefix(got, "symlink") {
		t.Errorf("%q", got)
	}

	// An ignore file that Flux cannot open ends in no artifact; one that leads nowhere is none.
	if err := os.Symlink(".sourceignore", filepath.Join(dir, ".sourceignore")); err != nil {
		t.Fatal(err)
	}
	d, _ = OpenDir(dir)
	if _, err := NewArtifact(d, ArtifactOptions{}); err == nil || !strings.Contains(err.Error(), "read .sourceignore of "+dir) {
		t.Errorf("error %v", err)
	}
	if err := errors.Join(os.Remove(filepath.Join(dir, ".sourceignore")), os.Symlink("/etc/hostname", filepath.Join(dir, ".sourceignore"))); err != nil {
		t.Fatal(err)
	}
	d, _ = OpenDir(dir)
	mustArtifact(t, d, ArtifactOptions{})
}

func TestArtifactPaths(t *testing.T) {
	a := mustArtifact(t, FromMap("m", map[string]string{"a/b c+@/x..y": "1", "a.yaml": "2", "é\n/z": "3"}), ArtifactOptions{})
	for p, want := range map[string]string{"a/b c+@/x..y": "1", "./a/../a.yaml": "2", "é\n//z": "3"} {
		if data, err := a.ReadFile(p); err != nil || string(data) != want {
			t.Errorf("%q: %q, %v", p, data, err)
		}
	}
	for _, p := range []string{"", "/", "..", "../a.yaml", "/a.yaml", "a.yaml/x", "a/../../a.yaml", "a/b"} {
		if isDir, ok := a.Stat(p); ok {
			t.Errorf("Stat(%q): %v, %v", p, isDir, ok)
		}
		if _, ok := a.ReadDir(p); ok {
			t.Errorf("ReadDir(%q)", p)
		}
		wantPathError(t, p, fs.ErrNotExist, func() error { _, err := a.ReadFile(p); return err })
		if err := a.Walk(p, func(string, bool) error { return nil }); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Walk(%q): %v", p, err)
		}
	}
	wantPathError(t, "a/", fs.ErrInvalid, func() error { _, err := a.ReadFile("a/"); return err })
	if _, ok := a.ReadDir("a.yaml"); ok {
		t.Error("a file has names in it")
	}
	names, _ := a.ReadDir(".")
	if !slices.Equal(names, []string{"a", "a.yaml", "é\n"}) {
		t.Errorf("%q", names)
	}
	if _ = append(names, "mine"); len(names) != 3 {
		t.Error("grew")
	}
	empty := mustArtifact(t, FromMap("nothing", nil), ArtifactOptions{})
	if isDir, ok := empty.Stat("."); !isDir || !ok {
		t.Error("the root of an empty artifact is not there")
	}
}

// TestWalkIsFilepathWalk compares order, SkipDir and SkipAll with filepath.Walk on the same files.
func TestWalkIsFilepathWalk(t *testing.T) {
	dir := t.TempDir()
	for _, p := range []string{"a/x", "a/y/z", "a.b", "a-b/c", "b", "c/d/e/f", "c/d/g", "c/h", "z"} {
		write(t, filepath.Join(dir, p), "")
	}
	d, err := OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	a := mustArtifact(t, d, ArtifactOptions{})
	stop := errors.New("stop")
	for _, from := range []string{".", "c", "a.b", "c/d/"} {
		for _, at := range append([]string{"", "."}, append(a.Files(), "a", "c", "c/d", "c/d/e", "a-b")...) {
			for _, with := range []error{fs.SkipDir, fs.SkipAll, stop} {
				var got, want []string
				gotErr := a.Walk(from, func(p string, isDir bool) error {
					got = append(got, fmt.Sprint(p, isDir))
					if p == at {
						return with
					}
					return nil
				})
				wantErr := filepath.Walk(filepath.Join(dir, from), func(p string, fi os.FileInfo, err error) error {
					p, _ = filepath.Rel(dir, p)
					want = append(want, fmt.Sprint(p, fi.IsDir()))
					if p == at {
						return with
					}
					return err
				})
				if !slices.Equal(got, want) || gotErr != wantErr {
					t.Errorf("from %q, %v at %q: %q, %v\nfilepath.Walk: %q, %v", from, with, at, got, gotErr, want, wantErr)
				}
			}
		}
	}
}

// A bareTree has nothing that the interface does not ask for.
type bareTree struct{ Tree }

func (b bareTree) Label() string                     { return b.Tree.Label() }
func (b bareTree) Entries() []Entry                  { return b.Tree.Entries() }
func (b bareTree) ReadFile(p string) ([]byte, error) { return b.Tree.ReadFile(p) }

func TestArtifactID(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a"), "x")
	d1, err := OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	d2, err := OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	m := func(content string) Tree { return FromMap("m", map[string]string{"a": content}) }
	ids := map[string]string{}
	for _, tt := range []struct {
		name string
		tree Tree
		o    ArtifactOptions
	}{
		{"d1", d1, ArtifactOptions{}},
		{"d1", d1, ArtifactOptions{SparseCheckout: []string{}}},
		{"d2", d2, ArtifactOptions{}},
		{"empty ignore", d1, ArtifactOptions{Ignore: ptr("")}},
		{"ignore", d1, ArtifactOptions{Ignore: ptr("b")}},
		{"ignore", d1, ArtifactOptions{Ignore: ptr("b")}},
		{"sparse", d1, ArtifactOptions{SparseCheckout: []string{"a"}}},
		{"sparse twice", d1, ArtifactOptions{SparseCheckout: []string{"a", "a"}}},
		{"map", m("x"), ArtifactOptions{}},
		{"map", m("x"), ArtifactOptions{}},
		{"map, content", m("y"), ArtifactOptions{}},
		{"bare", bareTree{m("x")}, ArtifactOptions{}},
		{"bare", bareTree{m("x")}, ArtifactOptions{}},
		{"bare, content", bareTree{m("y")}, ArtifactOptions{}},
	} {
		id := mustArtifact(t, tt.tree, tt.o).ID()
		if other, ok := ids[id]; ok && other != tt.name || id == "" {
			t.Errorf("%s and %s are both %q", tt.name, other, id)
		}
		ids[id] = tt.name
	}
	if len(ids) != 10 {
		t.Errorf("%d IDs: %v", len(ids), ids)
	}
}

type contradiction struct{ Tree }

func (contradiction) Label() string                   { return "the impossible" }
func (contradiction) Entries() []Entry                { return []Entry{{Path: "a"}, {Path: "a/b"}} }
func (contradiction) ReadFile(string) ([]byte, error) { return nil, nil }

func TestArtifactRefusesContradiction(t *testing.T) {
	if _, err := NewArtifact(contradiction{}, ArtifactOptions{}); err == nil || !strings.Contains(err.Error(), "the impossible lists a twice") {
		t.Errorf("error %v", err)
	}
}

func TestExtractError(t *testing.T) {
	for p, bad := range map[string]bool{"a..b/c": false, "..a/b": false, "a../b": true, `x/dev\x2d.swap`: true, "x/y": false} {
		a := mustArtifact(t, FromMap("m", map[string]string{p: "", "z": ""}), ArtifactOptions{})
		err := a.ExtractError()
		if (err != nil) != bad || bad && !strings.Contains(err.Error(), p) {
			t.Errorf("%q: %v", p, err)
		}
		if a := mustArtifact(t, FromMap("m", map[string]string{p: "", "z": ""}), ArtifactOptions{Ignore: ptr("/*\n!/z\n")}); a.ExtractError() != nil {
			t.Errorf("%q excluded: %v", p, a.ExtractError())
		}
	}
}

func TestArtifactIsSafeForConcurrentUse(t *testing.T) {
	files := map[string]string{".sourceignore": "*.md\n"}
	for i := range 100 {
		files[fmt.Sprintf("d%d/f%d.yaml", i%7, i)] = "x"
	}
	a := mustArtifact(t, FromMap("m", files), ArtifactOptions{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			n := 0
			_ = a.Walk(".", func(p string, isDir bool) error {
				if !isDir {
					if data, err := a.ReadFile(p); err == nil && len(data) > 0 {
						n++
					}
				}
				return nil
			})
			if n != 101 {
				t.Errorf("%d files", n)
			}
		})
	}
	wg.Wait()
}

func BenchmarkNewArtifact(b *testing.B) {
	files := map[string]string{".sourceignore": "/*\n!/clusters\n*.md\n**/tests/**\n"}
	for i := range 100_000 {
		files[fmt.Sprintf("clusters/c%d/apps/app-%d/manifest-%d.yaml", i%20, i/1000, i)] = ""
	}
	tree := FromMap("m", files)
	delete(files, ".sourceignore")
	plain := FromMap("m", files)
	for name, tree := range map[string]Tree{"sourceignore": tree, "defaults": plain} {
		b.Run("100000-files/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if a := mustArtifact(b, tree, ArtifactOptions{}); len(a.Files()) < 100_000 {
					b.Fatal(len(a.Files()))
				}
			}
		})
	}
}
