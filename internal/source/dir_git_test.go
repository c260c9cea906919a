package source

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// requireGit skips without git, and cuts git and us off from the configuration of the machine. It returns a home directory.
func requireGit(t testing.TB) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	for _, key := range []string{"XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"} {
		t.Setenv(key, "")
		os.Unsetenv(key)
	}
	return home
}

func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, errs.String())
	}
	return out.String()
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func paths(entries []Entry) []string {
	list := []string{}
	for _, e := range entries {
		list = append(list, e.Path)
	}
	return list
}

// lsFiles is what OpenDir must list: "git ls-files -co --exclude-standard", less submodules and nested repositories, and less what is
// tracked but not there any more, itself or behind a symbolic link.
func lsFiles(t testing.TB, dir string) []string {
	t.Helper()
	list := []string{}
	for _, p := range strings.Split(git(t, dir, "ls-files", "-co", "--exclude-standard", "-z"), "\x00") {
		if p == "" || strings.HasSuffix(p, "/") || !isThere(dir, p) {
			continue
		}
		list = append(list, p)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func isThere(dir, p string) bool {
	for i := range len(p) {
		if p[i] == '/' {
			if fi, err := os.Lstat(filepath.Join(dir, p[:i])); err != nil || !fi.IsDir() {
				return false
			}
		}
	}
	fi, err := os.Lstat(filepath.Join(dir, p))
	return err == nil && !fi.IsDir()
}

// isRealDir reports whether p is a directory that no symbolic link leads to.
func isRealDir(dir, p string) bool {
	fi, err := os.Lstat(filepath.Join(dir, p))
	return err == nil && fi.IsDir() && (p == "." || isRealDir(dir, filepath.Dir(p)))
}

func compareWithGit(t *testing.T, dir string) *Dir {
	t.Helper()
	d, err := OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	got, want := paths(d.Entries()), lsFiles(t, dir)
	for _, p := range want {
		if !slices.Contains(got, p) {
			t.Errorf("%s: %q is missing", dir, p)
		}
	}
	for _, p := range got {
		if !slices.Contains(want, p) {
			t.Errorf("%s: %q is listed, but not by git", dir, p)
		}
	}
	if t.Failed() {
		out, _ := exec.Command("sh", "-c", `cd "$1" && find . -name .gitignore -print -exec cat -A {} +`, "sh", dir).CombinedOutput()
		t.Logf("ignore files:\n%s", out)
	}
	return d
}

// randomRepo fills dir with files, ignore files, an index, nested repositories and symbolic links.
func randomRepo(t *testing.T, r *rand.Rand, dir string) {
	t.Helper()
	git(t, dir, "init", "-q")
	names := []string{"a", "b", "c.yaml", "build", "x y", "a+b", "@app", "é", "nl\nx", "#c", "keep", "a..b", "t ", "!n", "*"}
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	var all []string
	seen := map[string]bool{}
	for range 40 + r.IntN(40) {
		elems := make([]string, 1+r.IntN(4))
		for i := range elems {
			elems[i] = pick(names)
		}
		p := strings.Join(elems, "/")
		full := filepath.Join(dir, p)
		if seen[p] || os.MkdirAll(filepath.Dir(full), 0o755) != nil || !isRealDir(dir, filepath.Dir(p)) {
			continue // through what is a link by now
		}
		if _, err := os.Lstat(full); err == nil {
			continue
		}
		seen[p] = true
		if r.IntN(12) == 0 {
			if os.Symlink(pick([]string{".", "a", "..", "nowhere", "/etc/hostname"}), full) != nil {
				continue
			}
		} else if os.WriteFile(full, []byte(p), 0o644) != nil {
			continue
		}
		all = append(all, p)
	}
	pattern := func() string {
		return pick([]string{
			pick(names), "*", "/*", "!*", "/" + pick(names), pick(names) + "/", "!" + pick(names), "!" + pick(names) + "/", "**/" + pick(names), pick(names) + "/**",
			pick(names) + "/*", "/" + pick(names) + "/**/" + pick(names), "!/" + pick(names) + "/" + pick(names), `\#c`, `\!n`, "t\\ ", "t ", "t   ", "# " + pick(names), "",
			"*.yaml", "?", "[a-b]", "[!a]", `x\ y`, "a..b", "!**/", "**", "a*", "/a/../b", "nl?x", `\*`, `b\`, "[", "*/" + pick(names), "!*/", "/**", "é", "??",
		})
	}
	ignoreFile := func() string {
		var b strings.Builder
		for range 1 + r.IntN(4) {
			b.WriteString(pattern() + pick([]string{"\n", "\n", "\r\n"}))
		}
		return b.String()
	}
	dirs := []string{"."}
	for _, p := range all {
		if d := filepath.Dir(p); r.IntN(3) == 0 {
			dirs = append(dirs, d)
		}
	}
	for range 1 + r.IntN(4) {
		target := filepath.Join(dir, pick(dirs), ".gitignore")
		if r.IntN(15) == 0 {
			_ = os.Symlink("other", target) // git does not follow it
			continue
		}
		_ = os.WriteFile(target, []byte(ignoreFile()), 0o644)
	}
	if r.IntN(3) == 0 {
		write(t, filepath.Join(dir, ".git", "info", "exclude"), ignoreFile())
	}
	if r.IntN(3) == 0 {
		write(t, filepath.Join(os.Getenv("HOME"), ".config", "git", "ignore"), ignoreFile())
	} else {
		_ = os.Remove(filepath.Join(os.Getenv("HOME"), ".config", "git", "ignore"))
	}
	if len(all) > 0 {
		args := []string{"--literal-pathspecs", "add", "-f", "--"}
		for range r.IntN(8) {
			args = append(args, pick(all))
		}
		if len(args) > 4 {
			git(t, dir, args...)
		}
		for range r.IntN(4) {
			p := filepath.Join(dir, pick(all))
			switch r.IntN(3) {
			case 0:
				_ = os.Remove(p)
			case 1:
				_ = os.Remove(p)
				_ = os.MkdirAll(filepath.Join(p, "was-file"), 0o755)
				_ = os.WriteFile(filepath.Join(p, "was-file", "a"), nil, 0o644)
			case 2: // a directory becomes a link
				if d := filepath.Dir(p); d != dir {
					_ = os.RemoveAll(d)
					_ = os.Symlink(".", d)
				}
			}
		}
	}
	for range r.IntN(3) {
		nested := filepath.Join(dir, pick(dirs), "repo")
		if os.MkdirAll(nested, 0o755) == nil {
			if r.IntN(4) > 0 {
				git(t, nested, "init", "-q")
			} else {
				_ = os.MkdirAll(filepath.Join(nested, ".git"), 0o755) // no repository
			}
			_ = os.WriteFile(filepath.Join(nested, "inner"), nil, 0o644)
		}
	}
}

func TestOpenDirAgainstGit(t *testing.T) {
	requireGit(t)
	n := 25
	if testing.Short() {
		n = 10
	}
	listed := 0
	for seed := range n {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			dir := t.TempDir()
			r := rand.New(rand.NewPCG(uint64(seed), 7))
			randomRepo(t, r, dir)
			d := compareWithGit(t, dir)
			listed += len(d.Entries())
			// From inside, with the patterns and the index of the whole.
			inside := 0
			_ = filepath.WalkDir(dir, func(p string, de os.DirEntry, err error) error {
				if err != nil || de.Name() == ".git" || de.Name() == "repo" {
					return filepath.SkipDir
				}
				if de.IsDir() && p != dir && r.IntN(4) == 0 && inside < 3 {
					inside++
					compareWithGit(t, p)
				}
				return nil
			})
		})
	}
	if listed < 10*n {
		t.Errorf("only %d files in %d repositories: the generator has gone blunt", listed, n)
	}
}

func TestTrackedButIgnored(t *testing.T) {
	requireGit(t)
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	write(t, filepath.Join(dir, "out/keep.yaml"), "x")
	git(t, dir, "add", "-A")
	write(t, filepath.Join(dir, "out/drop.yaml"), "x")
	write(t, filepath.Join(dir, "out/deep/drop.yaml"), "x")
	write(t, filepath.Join(dir, ".gitignore"), "out/\n")
	d := compareWithGit(t, dir)
	if got := paths(d.Entries()); !slices.Equal(got, []string{".gitignore", "out/keep.yaml"}) {
		t.Errorf("%q", got)
	}
	sub := compareWithGit(t, filepath.Join(dir, "out"))
	if got := paths(sub.Entries()); !slices.Equal(got, []string{"keep.yaml"}) || len(sub.Warnings()) != 1 || !strings.Contains(sub.Warnings()[0], `pattern "out/" in .gitignore, line 1`) {
		t.Errorf("%q, %q", got, sub.Warnings())
	}

	// Without the index, patterns alone decide, and that is said.
	write(t, filepath.Join(dir, ".git/index"), "garbage, and long enough to be looked at more closely than that")
	d, err := OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := paths(d.Entries()); !slices.Equal(got, []string{".gitignore"}) || len(d.Warnings()) != 1 || !strings.Contains(d.Warnings()[0], "not a git index") {
		t.Errorf("%q, %q", got, d.Warnings())
	}
}

func TestNestedRepositoriesAndSubmodules(t *testing.T) {
	requireGit(t)
	base := t.TempDir()
	lib := filepath.Join(base, "lib")
	write(t, filepath.Join(lib, "f"), "x")
	git(t, lib, "init", "-q")
	git(t, lib, "add", "-A")
	git(t, lib, "-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-qm", "x")
	dir := filepath.Join(base, "main")
	write(t, filepath.Join(dir, "apps/a.yaml"), "x")
	git(t, dir, "init", "-q")
	git(t, dir, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib, "apps/lib")
	git(t, dir, "add", "-A")
	git(t, base, "clone", "-q", lib, filepath.Join(dir, "nested"))
	d := compareWithGit(t, dir)
	if got := paths(d.Entries()); !slices.Equal(got, []string{".gitmodules", "apps/a.yaml"}) {
		t.Errorf("%q", got)
	}
	if !slices.Equal(d.Submodules(), []string{"apps/lib"}) {
		t.Errorf("submodules %q", d.Submodules())
	}
	sub := compareWithGit(t, filepath.Join(dir, "apps"))
	if !slices.Equal(sub.Submodules(), []string{"lib"}) || sub.WorkTree() == "" {
		t.Errorf("submodules %q of %q", sub.Submodules(), sub.WorkTree())
	}
	// Inside the submodule its own repository counts.
	if got := paths(compareWithGit(t, filepath.Join(dir, "apps/lib")).Entries()); !slices.Equal(got, []string{"f"}) {
		t.Errorf("%q", got)
	}
	// The artifact has an empty directory in its place.
	a, err := NewArtifact(d, ArtifactOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if names, ok := a.ReadDir("apps/lib"); !ok || len(names) != 0 {
		t.Errorf("apps/lib: %q, %v", names, ok)
	}
}

func TestLinkedWorkTree(t *testing.T) {
	requireGit(t)
	base := t.TempDir()
	dir := filepath.Join(base, "main")
	write(t, filepath.Join(dir, "a"), "x")
	git(t, dir, "init", "-q")
	git(t, dir, "add", "-A")
	git(t, dir, "-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-qm", "x")
	linked := filepath.Join(base, "linked")
	git(t, dir, "worktree", "add", "-q", linked)
	write(t, filepath.Join(dir, ".git/info/exclude"), "b\n")
	write(t, filepath.Join(linked, "b"), "x")
	write(t, filepath.Join(linked, "c"), "x")
	if got := paths(compareWithGit(t, linked).Entries()); !slices.Equal(got, []string{"a", "c"}) {
		t.Errorf("%q", got)
	}
}
