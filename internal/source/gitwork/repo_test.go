package gitwork

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	requireGit(t)
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	main := filepath.Join(base, "main")
	write(t, filepath.Join(main, "a", "b", "f"), "x")
	git(t, main, "", "init", "-q")
	git(t, main, "", "add", "-A")
	git(t, main, "", "-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-qm", "x")
	linked := filepath.Join(base, "linked")
	git(t, main, "", "worktree", "add", "-q", linked)
	git(t, base, "", "clone", "-q", main, "outer")
	outer := filepath.Join(base, "outer")
	git(t, outer, "", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", main, "sub")

	dot := filepath.Join(main, ".git")
	for _, tt := range []struct{ in, root, gitDir, common string }{
		{main, main, dot, dot},
		{filepath.Join(main, "a", "b"), main, dot, dot},
		{filepath.Join(linked, "a"), linked, filepath.Join(dot, "worktrees", "linked"), dot},
		{filepath.Join(outer, "sub", "a"), filepath.Join(outer, "sub"), filepath.Join(outer, ".git", "modules", "sub"), filepath.Join(outer, ".git", "modules", "sub")},
	} {
		r, err := Find(tt.in)
		if err != nil || r == nil {
			t.Errorf("%s: %v, %v", tt.in, r, err)
			continue
		}
		if want := (Repo{tt.root, tt.gitDir, tt.common}); *r != want {
			t.Errorf("%s: %v, want %v", tt.in, *r, want)
		}
		for _, q := range []struct{ flag, got string }{{"--show-toplevel", r.Root}, {"--absolute-git-dir", r.GitDir}} {
			if want := strings.TrimSpace(git(t, tt.in, "", "rev-parse", q.flag)); q.got != want {
				t.Errorf("%s: %s, git %s", tt.in, q.got, want)
			}
		}
	}

	// Not repositories: an empty .git directory; and broken: a .git file that leads nowhere.
	empty := filepath.Join(base, "empty")
	if err := os.MkdirAll(filepath.Join(empty, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	if IsNested(empty) {
		t.Error("an empty .git makes a repository")
	}
	for text, want := range map[string]string{"gitdir: ../nowhere\n": "leads to", "hello": "gitdir:", "": "gitdir:"} {
		broken := filepath.Join(base, "broken")
		write(t, filepath.Join(broken, ".git"), text)
		if _, err := Find(broken); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf(".git of %q: error %v", text, err)
		}
		if IsNested(broken) {
			t.Errorf(".git of %q makes a repository", text)
		}
	}
}

func TestReadRegularRefuses(t *testing.T) {
	dir := t.TempDir()
	if _, err := readRegular(dir, 10); err == nil {
		t.Error("reads a directory")
	}
	write(t, filepath.Join(dir, "f"), "12345")
	if data, err := readRegular(filepath.Join(dir, "f"), 5); err != nil || string(data) != "12345" {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := readRegular(filepath.Join(dir, "f"), 4); err == nil {
		t.Error("reads more than the limit")
	}
}
