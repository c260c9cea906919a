package source

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
)

func TestOpenDirOutsideGit(t *testing.T) {
	dir := t.TempDir()
	for _, p := range []string{"a.b/x", "a/y", "a-", ".gitignore", ".git/config", "sub/.git/HEAD", "sub/f", "name with space+@"} {
		write(t, filepath.Join(dir, p), "*\n"+p)
	}
	if err := os.Symlink("..", filepath.Join(dir, "a/loop")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	d, err := OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{".gitignore", "a-", "a.b/x", "a/loop", "a/y", "name with space+@", "pipe", "sub/f"}
	if got := paths(d.Entries()); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if e, _ := find(d.Entries(), "a/loop"); e.Kind != Symlink || e.Target != ".." {
		t.Errorf("%+v", e)
	}
	if e, _ := find(d.Entries(), "pipe"); e.Kind != Irregular {
		t.Errorf("%+v", e)
	}
	if e, _ := find(d.Entries(), "a/y"); e.Size != 5 {
		t.Errorf("%+v", e)
	}
	if d.WorkTree() != "" || d.Label() != dir || len(d.Problems())+len(d.Warnings())+len(d.Submodules()) > 0 {
		t.Errorf("%q %q %v %v %v", d.WorkTree(), d.Label(), d.Problems(), d.Warnings(), d.Submodules())
	}
	if data, err := d.ReadFile("a/y"); err != nil || string(data) != "*\na/y" {
		t.Errorf("%q, %v", data, err)
	}
	for p, want := range map[string]error{"a": fs.ErrNotExist, "nope": fs.ErrNotExist, "a/loop/a/y": fs.ErrNotExist, "../x": fs.ErrNotExist, ".git/config": fs.ErrNotExist, "pipe": fs.ErrInvalid, "a/loop": fs.ErrInvalid} {
		wantPathError(t, p, want, func() error { _, err := d.ReadFile(p); return err })
	}
	// Replaced after it was listed.
	for _, replace := range []func(string) error{
		func(p string) error { return os.Symlink("../a-", p) },
		func(p string) error { return syscall.Mkfifo(p, 0o644) },
		func(p string) error { return os.Mkdir(p, 0o755) },
		func(string) error { return nil },
	} {
		full := filepath.Join(dir, "a/y")
		if err := errors.Join(os.Remove(full), replace(full)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		wantPathError(t, "a/y", nil, func() error { _, err := d.ReadFile("a/y"); return err })
	}
}

// wantPathError checks that an error is an *fs.PathError about p, that wraps want, and that it does not show where the directory is.
func wantPathError(t *testing.T, p string, want error, fn func() error) {
	t.Helper()
	err := fn()
	var pe *fs.PathError
	if !errors.As(err, &pe) || pe.Path != p || want != nil && !errors.Is(err, want) || strings.Contains(err.Error(), os.TempDir()) {
		t.Errorf("%s: error %v", p, err)
	}
}

func TestOpenDirErrors(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "f"), "")
	for _, p := range []string{filepath.Join(dir, "nope"), filepath.Join(dir, "f")} {
		_, err := OpenDir(p)
		var pe *fs.PathError
		if !errors.As(err, &pe) || pe.Path != p {
			t.Errorf("%s: %v", p, err)
		}
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	d, err := OpenDir(link)
	if err != nil || d.Label() != link || len(d.Entries()) != 2 {
		t.Errorf("%v, %v", d, err)
	}
}

func TestBrokenGitFile(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, ".git"), "gitdir: /nowhere/at/all\n")
	write(t, filepath.Join(dir, ".gitignore"), "a\n")
	write(t, filepath.Join(dir, "a"), "")
	d, err := OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := paths(d.Entries()); !slices.Equal(got, []string{".gitignore", "a"}) || len(d.Warnings()) != 1 || !strings.Contains(d.Warnings()[0], "worktree repair") {
		t.Errorf("%q, %q", got, d.Warnings())
	}
}

func TestProblems(t *testing.T) {
	if os.Geteuid() == 0 {
		// root reads everything; a name too long for the system is refused to root too.
		testTooDeep(t)
		return
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "locked/f"), "")
	write(t, filepath.Join(dir, "secret"), "")
	if err := errors.Join(os.Chmod(filepath.Join(dir, "locked"), 0), os.Chmod(filepath.Join(dir, "secret"), 0)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "locked"), 0o755) })
	d, err := OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if p := d.Problems(); len(p) != 1 || p[0].Path != "locked" || !errors.Is(p[0].Err, fs.ErrPermission) || strings.Contains(p[0].String(), dir) {
		t.Errorf("%v", p)
	}
	wantPathError(t, "secret", fs.ErrPermission, func() error { _, err := d.ReadFile("secret"); return err })
}

// testTooDeep builds a directory whose absolute path is longer than the system opens.
func testTooDeep(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	name := strings.Repeat("d", 250)
	for range 17 {
		if err := errors.Join(os.Mkdir(name, 0o755), os.Chdir(name)); err != nil {
			t.Fatal(err)
		}
	}
	d, err := OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if p := d.Problems(); len(p) != 1 || !strings.HasPrefix(p[0].Path, name) || !errors.Is(p[0].Err, syscall.ENAMETOOLONG) || strings.Contains(p[0].String(), dir) {
		t.Errorf("%v", p)
	}
}

func TestTooLarge(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "big"), "")
	write(t, filepath.Join(dir, "grows"), "")
	if err := os.Truncate(filepath.Join(dir, "big"), MaxFileSize+1); err != nil {
		t.Fatal(err)
	}
	d, err := OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, "grows"), MaxFileSize+1); err != nil {
		t.Fatal(err)
	}
	f, err := FromFS("fs", os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, tree := range []Tree{d, f} {
		for _, p := range []string{"big", "grows"} {
			wantPathError(t, p, ErrTooLarge, func() error { _, err := tree.ReadFile(p); return err })
		}
	}
	if _, err := readOpen(strings.NewReader(strings.Repeat("x", 100)), "p", 3); err != nil {
		t.Error(err)
	}
}

func TestFromFS(t *testing.T) {
	fsys := fstest.MapFS{
		"a/b.yaml":  {Data: []byte("b")},
		"a.yaml":    {Data: []byte("a")},
		"link":      {Data: []byte("a"), Mode: fs.ModeSymlink},
		"pipe":      {Mode: fs.ModeNamedPipe},
		".git/HEAD": {Data: []byte("x")},
		"sub/.git":  {Data: []byte("x")},
	}
	tree, err := FromFS("the platform", fsys)
	if err != nil {
		t.Fatal(err)
	}
	want := []Entry{{Path: "a.yaml", Size: 1}, {Path: "a/b.yaml", Size: 1}, {Path: "link", Kind: Symlink, Target: "a"}, {Path: "pipe", Kind: Irregular}}
	if !slices.Equal(tree.Entries(), want) || tree.Label() != "the platform" {
		t.Errorf("%+v", tree.Entries())
	}
	if data, err := tree.ReadFile("a/b.yaml"); err != nil || string(data) != "b" {
		t.Errorf("%q, %v", data, err)
	}
	wantPathError(t, "link", fs.ErrInvalid, func() error { _, err := tree.ReadFile("link"); return err })
	wantPathError(t, "a", fs.ErrNotExist, func() error { _, err := tree.ReadFile("a"); return err })
	if _, err := FromFS("gone", os.DirFS(filepath.Join(t.TempDir(), "gone"))); err == nil || !strings.Contains(err.Error(), "gone") {
		t.Errorf("%v", err)
	}
}

func TestFromMap(t *testing.T) {
	tree := FromMap("m", map[string]string{"./a/../b": "1", "/c/d": "2", "": "3", "..": "4", "e": ""})
	if want := []Entry{{Path: "b", Size: 1}, {Path: "c/d", Size: 1}, {Path: "e"}}; !slices.Equal(tree.Entries(), want) {
		t.Errorf("%+v", tree.Entries())
	}
	data, err := tree.ReadFile("c/d")
	if err != nil || string(data) != "2" {
		t.Errorf("%q, %v", data, err)
	}
	data[0] = 'x' // a copy
	if data, _ := tree.ReadFile("c/d"); string(data) != "2" {
		t.Errorf("%q", data)
	}
	wantPathError(t, "c", fs.ErrNotExist, func() error { _, err := tree.ReadFile("c"); return err })
}

// manyFiles makes a directory of n files, as a repository with everything tracked but one directory.
func manyFiles(b *testing.B, n int, track bool) string {
	b.Helper()
	requireGit(b)
	dir := b.TempDir()
	for i := range n {
		p := filepath.Join(dir, fmt.Sprintf("clusters/c%d/apps/app-%d", i%20, i/1000), fmt.Sprintf("manifest-%d.yaml", i))
		if i%1000 < 20 {
			if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
				b.Fatal(err)
			}
		}
		if err := os.WriteFile(p, nil, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	write(b, filepath.Join(dir, ".gitignore"), "*.log\n/out/\n**/charts/*.tgz\n.DS_Store\nnode_modules/\n")
	git(b, dir, "init", "-q")
	if track {
		git(b, dir, "add", "-A")
	}
	return dir
}

func BenchmarkOpenDir(b *testing.B) {
	for _, track := range []bool{true, false} {
		b.Run(fmt.Sprintf("100000-files/tracked=%v", track), func(b *testing.B) {
			dir := manyFiles(b, 100_000, track)
			b.ReportAllocs()
			for b.Loop() {
				d, err := OpenDir(dir)
				if err != nil || len(d.Entries()) != 100_001 {
					b.Fatal(len(d.Entries()), err)
				}
			}
		})
	}
}
