package source

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	securejoin "github.com/cyphar/filepath-securejoin"
	"github.com/fluxcd/pkg/sourceignore"
	"github.com/fluxcd/pkg/sourceignore/gitignore"
	gogit "github.com/go-git/go-git/v5"
)

// fluxArchive is the oracle: what fluxcd/pkg's Storage.Archive puts into the archive of dir, and tar.Untar makes of that. Patterns and
// matching are Flux's own; the walk is the one of archive.go.
func fluxArchive(dir string, ignore *string) (files, dirs []string, err error) {
	domain := strings.Split(dir, string(filepath.Separator))
	ps, err := sourceignore.LoadIgnorePatterns(dir, domain)
	if err != nil {
		return nil, nil, err
	}
	if ignore != nil {
		ps = append(ps, sourceignore.ReadPatterns(strings.NewReader(*ignore), domain)...)
	}
	var matcher gitignore.Matcher
	if len(ps) > 0 {
		matcher = sourceignore.NewMatcher(append(sourceignore.VCSPatterns(domain), ps...))
	} else {
		matcher = sourceignore.NewDefaultMatcher(nil, domain)
	}
	seen := map[string]bool{}
	err = filepath.Walk(dir, func(p string, fi os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		if !fi.Mode().IsRegular() && !fi.IsDir() || matcher.Match(strings.Split(p, string(filepath.Separator)), fi.IsDir()) {
			return nil
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		if fi.Mode().IsRegular() {
			files = append(files, rel)
			rel = path.Dir(rel)
		}
		for ; !seen[rel]; rel = path.Dir(rel) {
			seen[rel] = true
			dirs = append(dirs, rel)
		}
		return nil
	})
	slices.Sort(files)
	slices.Sort(dirs)
	return files, dirs, err
}

// contents lists an artifact by walking it, and checks that its other questions have the same answers.
func contents(t testing.TB, a *Artifact) (files, dirs []string) {
	t.Helper()
	err := a.Walk(".", func(p string, isDir bool) error {
		if d, ok := a.Stat(p); !ok || d != isDir {
			t.Errorf("Stat(%q): %v, %v", p, d, ok)
		}
		if p != "." {
			names, ok := a.ReadDir(path.Dir(p))
			if !ok || !slices.Contains(names, path.Base(p)) || !slices.IsSorted(names) {
				t.Errorf("ReadDir(%q): %q, %v", path.Dir(p), names, ok)
			}
		}
		if reason, ok := a.Excluded(p); ok {
			t.Errorf("%q is in, and excluded: %s", p, reason)
		}
		if isDir {
			dirs = append(dirs, p)
		} else {
			files = append(files, p)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	slices.Sort(files)
	slices.Sort(dirs)
	if !slices.Equal(files, a.Files()) {
		t.Errorf("Files: %q, walked %q", a.Files(), files)
	}
	return files, dirs
}

var ignoreLines = []string{
	"a", "b/", "/a", "/*", "!/a", "!/a/b", "!b", "*", "!*.yaml", "*.yaml", "**/a", "a/**", "a/**/b", "**", "/**", "!**/keep", "*.md", "# x", "", "  ", " a", "a ", "a\\ ", `\#c`, "#c", "!#c", "a/b", "a/b/",
	"!a/b/c.yaml", "[a", "[a-c]", "[^a]", "!", "/", "//", "a//b", "./a", "../a", "x y", "a+b", "@app", ".git*", "!.gitignore", "!.git/", ".sops.yaml", "!*", "*/", "*/b", "a**", "?", "é", "a..b", "\ta", `a\`, "keep/*", "/keep/", ".sourceignore", "*.png",
}

// randomSource fills dir as a clone might be filled, without ".git".
func randomSource(t testing.TB, r *rand.Rand, dir string) {
	t.Helper()
	names := []string{"a", "b", "c.yaml", "keep", "x y", "a+b", "@app", "é", "#c", "a..b", ".gitignore", ".sops.yaml", "p.png", ".github", "r.md", "a ", "[a"}
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	dirs := []string{"."}
	for range 20 + r.IntN(30) {
		elems := make([]string, 1+r.IntN(4))
		for i := range elems {
			elems[i] = pick(names)
		}
		p := strings.Join(elems, "/")
		if os.MkdirAll(filepath.Join(dir, path.Dir(p)), 0o755) != nil || !isRealDir(dir, path.Dir(p)) {
			continue
		}
		if r.IntN(10) == 0 {
			_ = os.Symlink(pick([]string{".", "a", "..", "nowhere"}), filepath.Join(dir, p))
		} else if _, err := os.Lstat(filepath.Join(dir, p)); err != nil {
			write(t, filepath.Join(dir, p), p)
		}
		dirs = append(dirs, path.Dir(p))
	}
	for range r.IntN(4) {
		target := filepath.Join(dir, pick(dirs), ".sourceignore")
		switch r.IntN(12) {
		case 0:
			_ = os.Symlink(pick([]string{"c.yaml", "../a", "nowhere", "a/c.yaml", "../../c.yaml", "."}), target)
		case 1:
			_ = os.Mkdir(target, 0o755)
		default:
			if fi, err := os.Lstat(target); err != nil || fi.Mode().IsRegular() {
				_ = os.WriteFile(target, []byte(ignoreText(r)), 0o644)
			}
		}
	}
}

func ignoreText(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(5) {
		b.WriteString(ignoreLines[r.IntN(len(ignoreLines))])
		b.WriteString([]string{"\n", "\n", "\r\n"}[r.IntN(3)])
	}
	return b.String()
}

func TestArtifactAgainstFlux(t *testing.T) {
	n := 150
	if testing.Short() {
		n = 40
	}
	in, out := 0, 0
	for seed := range n {
		r := rand.New(rand.NewPCG(uint64(seed), 11))
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		randomSource(t, r, dir)
		var o ArtifactOptions
		if r.IntN(3) == 0 {
			text := ignoreText(r)
			o.Ignore = &text
		} else if r.IntN(4) == 0 {
			o.Ignore = new(string)
		}
		tree, err := OpenDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		wantFiles, wantDirs, wantErr := fluxArchive(dir, o.Ignore)
		a, err := NewArtifact(tree, o)
		if (err != nil) != (wantErr != nil) {
			t.Errorf("%d: error %v, Flux %v", seed, err, wantErr)
		}
		if err != nil || wantErr != nil {
			continue
		}
		// Git has no empty directories, and this is the only place where the tree and the disk may differ.
		wantDirs = slices.DeleteFunc(wantDirs, func(d string) bool { return !holdsFiles(tree, d) })
		files, dirs := contents(t, a)
		if !slices.Equal(files, wantFiles) || !slices.Equal(dirs, wantDirs) {
			t.Errorf("%d: files %q\nFlux %q\ndirs %q\nFlux %q\nspec.ignore %v", seed, files, wantFiles, dirs, wantDirs, o.Ignore)
			for _, e := range tree.Entries() {
				if path.Base(e.Path) == ".sourceignore" {
					data, _ := os.ReadFile(filepath.Join(dir, e.Path))
					t.Logf("%s -> %q: %q", e.Path, e.Target, data)
				}
			}
		}
		for _, e := range tree.Entries() {
			_, isIn := a.Stat(e.Path)
			reason, isOut := a.Excluded(e.Path)
			if isIn == isOut || isOut && reason == "" {
				t.Errorf("%d: %q in %v, excluded %v %q", seed, e.Path, isIn, isOut, reason)
			}
			if isOut {
				out++
			} else {
				in++
			}
		}
	}
	if in < 3*n || out < 3*n {
		t.Errorf("%d in, %d out: the generator has gone blunt", in, out)
	}
}

// TestLinkedIgnoreFileAgainstFlux gives .sourceignore as a symbolic link to everything that one can lead to.
func TestLinkedIgnoreFileAgainstFlux(t *testing.T) {
	refused := 0
	for _, target := range []string{
		"rules", "sub/rules", "./sub/../rules", "to-rules", "to-sub/rules", "to-sub/../rules", "sub", "nowhere", "sub/nowhere", "rules/x", "rules/", "rules/../rules", ".sourceignore", "loop", "sub/up/rules", "../nowhere", "/nowhere", "sub/nowhere/../rules",
	} {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, "rules"), "*.md\n")
		write(t, filepath.Join(dir, "sub/rules"), "*.txt\n")
		write(t, filepath.Join(dir, "sub/a.md"), "")
		write(t, filepath.Join(dir, "sub/a.txt"), "")
		for link, target := range map[string]string{"to-rules": "rules", "to-sub": "sub", "loop": "loop", "sub/up": "..", ".sourceignore": target} {
			if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
				t.Fatal(err)
			}
		}
		tree, err := OpenDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		want, _, wantErr := fluxArchive(dir, nil)
		a, err := NewArtifact(tree, ArtifactOptions{})
		if (err != nil) != (wantErr != nil) {
			t.Errorf("%s: error %v, Flux %v", target, err, wantErr)
		}
		if err != nil {
			refused++
			continue
		}
		if !slices.Equal(a.Files(), want) {
			t.Errorf("%s: %q, Flux %q", target, a.Files(), want)
		}
	}
	if refused == 0 {
		t.Error("Flux refuses none of them: the oracle has changed")
	}
}

func holdsFiles(t Tree, dir string) bool {
	return dir == "." || slices.ContainsFunc(t.Entries(), func(e Entry) bool { return strings.HasPrefix(e.Path, dir+"/") })
}

// FuzzSourcePattern compares one pattern and one path with Flux's matching.
func FuzzSourcePattern(f *testing.F) {
	for i, line := range ignoreLines {
		f.Add(line, []string{"a/b/c.yaml", "a", "keep/x", "x/a..b"}[i%4], i%2 == 0)
	}
	f.Add("*a*a*a*a*b", strings.Repeat("a", 100), false)
	f.Fuzz(func(t *testing.T, line, file string, isDir bool) {
		elems := strings.Split(file, "/")
		for depth := range min(len(elems), 3) {
			want := gitignore.ParsePattern(line, elems[:depth]).Match(elems, isDir) != gitignore.NoMatch
			p := parseSourcePattern(line, "test", 1)
			l := newLevel([]*sourcePattern{p}, depth)
			for _, name := range elems[depth : len(elems)-1] {
				l = l.in(name)
			}
			if got := l.judge(elems, isDir) != nil; got != want {
				t.Errorf("%q on %q below %q, directory %v: %v, Flux %v", line, file, elems[:depth], isDir, got, want)
			}
			if inclusion := gitignore.ParsePattern(line, elems[:depth]).Match(elems, isDir) == gitignore.Include; want && inclusion != p.inclusion {
				t.Errorf("%q: inclusion %v, Flux %v", line, p.inclusion, inclusion)
			}
		}
	})
}

// TestSparseCheckoutAgainstGoGit makes real sparse clones with go-git, and then Flux's archive of them.
func TestSparseCheckoutAgainstGoGit(t *testing.T) {
	requireGit(t)
	dir := t.TempDir()
	for p, content := range map[string]string{
		".sourceignore": "*.md\n", ".hidden": "x", "README.md": "x", "app": "x", "apps/a.yaml": "x", "apps/x.png": "x", "apps/base/b.yaml": "x", "apps/base/.sourceignore": "*.txt\n", "apps/base/n.txt": "x", "apps-old/c.yaml": "x", "infra/d.yaml": "x", "infra/x y/e.yaml": "x",
	} {
		write(t, filepath.Join(dir, p), content)
	}
	for link, target := range map[string]string{"link": "apps", "infra/up": "..", "loop": "loop"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	git(t, dir, "init", "-q", "-b", "main")
	git(t, dir, "add", "-A")
	git(t, dir, "-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-qm", "x")
	tree, err := OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, sparse := range [][]string{
		nil, {}, {"apps"}, {"./apps"}, {"apps/"}, {"/apps"}, {"app"}, {"apps/base"}, {"apps/base", "infra"}, {"."}, {""}, {"./"}, {"nope"}, {"apps", "nope"}, {"infra/x y"}, {"apps/../infra"}, {"link"}, {"link", "apps"}, {"apps/a.yaml"}, {"infra/up"}, {"infra", "infra/up/apps"}, {"loop"}, {"../../apps"}, {"apps", "../apps"},
	} {
		t.Run(fmt.Sprintf("%q", sparse), func(t *testing.T) {
			clone, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			wantErr := sparseClone(dir, clone, sparse)
			a, err := NewArtifact(tree, ArtifactOptions{SparseCheckout: sparse})
			if (err != nil) != (wantErr != nil) {
				t.Fatalf("error %v, source-controller %v", err, wantErr)
			}
			if err != nil {
				return
			}
			wantFiles, wantDirs, err := fluxArchive(clone, nil)
			if err != nil {
				t.Fatal(err)
			}
			files, dirs := contents(t, a)
			if !slices.Equal(files, wantFiles) || !slices.Equal(dirs, wantDirs) {
				t.Errorf("files %q\nFlux %q\ndirs %q\nFlux %q", files, wantFiles, dirs, wantDirs)
			}
		})
	}
}

// sparseClone does what source-controller's gitCheckout and validateSparseCheckoutPaths do.
func sparseClone(url, dir string, sparse []string) error {
	prefixes := make([]string, len(sparse))
	for i, s := range sparse {
		prefixes[i] = strings.TrimPrefix(s, "./")
	}
	repo, err := gogit.PlainClone(dir, false, &gogit.CloneOptions{URL: url, NoCheckout: len(sparse) > 0})
	if err != nil {
		return err
	}
	if len(sparse) > 0 {
		w, err := repo.Worktree()
		if err != nil {
			return err
		}
		if err := w.Checkout(&gogit.CheckoutOptions{Branch: "refs/heads/main", SparseCheckoutDirectories: prefixes}); err != nil {
			return err
		}
	}
	for _, s := range sparse {
		full, err := securejoin.SecureJoin(dir, s)
		if err != nil {
			return err
		}
		if _, err := os.Lstat(full); err != nil {
			return err
		}
	}
	return nil
}

func FuzzJoinSecure(f *testing.F) {
	for _, p := range []string{"", ".", "/", "./", "./apps", "/apps/", "../..", "a/../../b", "a//b/./c", "..a/b..", "a b+@", `\`, "./..", "..."} {
		f.Add(p)
	}
	root, err := filepath.EvalSymlinks(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, p string) {
		full, err := securejoin.SecureJoin(root, p)
		if err != nil {
			return // NUL bytes and names that the system refuses
		}
		want, err := filepath.Rel(root, full)
		if err != nil {
			t.Fatal(err)
		}
		got := JoinSecure(p)
		if got != want || !fs.ValidPath(got) && strings.ToValidUTF8(got, "") == got {
			t.Errorf("%q: %q, filepath-securejoin %q", p, got, want)
		}
	})
}
