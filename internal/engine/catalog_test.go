package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/tidegate/tidegate/internal/engine"
	"github.com/tidegate/tidegate/internal/report"
)

// The committed apps of the reference platform are those that its catalog makes: the golden gate, on ourselves.
func TestReferenceCatalog(t *testing.T) {
	r, err := engine.Catalog(context.Background(), engine.CatalogRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Problems {
		t.Errorf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
	}
	for _, c := range r.Changes {
		t.Errorf("%s is not what the catalog makes: go run ./cmd/tidegate catalog render reference\n%s", c.Path, c.Diff)
	}
	waves := map[int]bool{}
	for _, a := range r.Apps {
		waves[a.Wave] = true
	}
	if len(waves) < 3 || len(r.Missing)+len(r.Left) > 0 {
		t.Errorf("%d waves, missing %v, left %v", len(waves), r.Missing, r.Left)
	}
	if _, err := engine.Catalog(context.Background(), engine.CatalogRequest{Write: true}); err == nil {
		t.Error("the embedded platform is written")
	}
}

// started is a new repository in a directory of its own, committed to git.
func started(t *testing.T) (dir string, commit func(string)) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "platform")
	if _, err := engine.Init(engine.Request{}, dir, engine.StartValues{Domain: "casa.example.org", DevLAN: "10.0.4.0/22"}); err != nil {
		t.Fatal(err)
	}
	repo, err := gogit.PlainInit(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	commit = func(message string) {
		t.Helper()
		w, err := repo.Worktree()
		if err != nil {
			t.Fatal(err)
		}
		if err := w.AddWithOptions(&gogit.AddOptions{All: true}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Commit(message, &gogit.CommitOptions{Author: &object.Signature{Name: "a", Email: "a@example.net", When: time.Unix(0, 0)}}); err != nil {
			t.Fatal(err)
		}
	}
	commit("The platform")
	return dir, commit
}

func edit(t *testing.T, file, from, to string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(data), from) {
		t.Fatalf("%s has no %q: %v", file, from, err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(data), from, to, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, dir string, cutover bool) *report.Catalog {
	t.Helper()
	r, err := engine.Catalog(context.Background(), engine.CatalogRequest{Request: engine.Request{Repo: dir}, Cutover: cutover, Write: true})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A new repository is what its catalog makes, has the one finding that is meant, and passes once that is decided; an app moves
// its wave against what is committed, also when the repository lies deep within a git one, and what is not committed is not
// passed over.
func TestNewRepository(t *testing.T) {
	dir, commit := started(t)
	if r := write(t, dir, false); len(r.Problems)+len(r.Changes) > 0 {
		t.Errorf("a new repository is not what its catalog makes: %+v %+v", r.Problems, r.Changes)
	}
	check := func(want int) {
		t.Helper()
		r, err := engine.Check(context.Background(), engine.CheckRequest{Request: engine.Request{Repo: dir}})
		if err != nil || len(r.Findings) != want {
			t.Fatalf("%d findings, %v", len(r.Findings), err)
		}
	}
	check(1)
	edit(t, filepath.Join(dir, "clusters/prod/kustomization.yaml"), "TBD-PROD-S3-ENDPOINT", "http://192.168.2.5:9000")
	check(0)
	commit("Decided")

	edit(t, filepath.Join(dir, "catalog/plex.yaml"), "backup:", "needs: [gitea]\nbackup:")
	if r := write(t, dir, false); len(r.Problems) != 1 || r.Written || !strings.Contains(r.Problems[0].Message, "plex would move from wave 0 to wave 1") {
		t.Fatalf("%+v", r.Problems)
	}
	for step, want := range []int{1, 2, 0} {
		r := write(t, dir, true)
		if len(r.Problems) > 0 || !r.Written || r.Cutover != want {
			t.Fatalf("step %d: %+v, cutover %d", step+1, r.Problems, r.Cutover)
		}
		if again := write(t, dir, want == 1); len(again.Changes) > 0 {
			t.Errorf("step %d: uncommitted, and rendered again it changes %s", step+1, again.Changes[0].Path)
		}
		check(0)
		commit(fmt.Sprint("Step ", step+1))
	}
	if _, err := os.Stat(filepath.Join(dir, "apps/wave-1/plex/deployment.yaml")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "apps/wave-0/plex")); err == nil {
		t.Error("apps/wave-0/plex is still there")
	}
}

// When a file cannot be put into its place, the repository is as it was, also where others were in their places already: here one is
// there that git ignores, so that nobody saw it before.
func TestNothingHalfWritten(t *testing.T) {
	dir, _ := started(t)
	edit(t, filepath.Join(dir, "catalog/gitea.yaml"), "gitea/gitea:1.25.5", "gitea/gitea:1.25.6")
	edit(t, filepath.Join(dir, "catalog/status.yaml"), "user: 1000", "user: 1001\nstorage: {data: {mount: /data, size: 1Gi}}")
	edit(t, filepath.Join(dir, ".gitignore"), "*.agekey", "*.agekey\napps/wave-2/status/storage.yaml")
	hand := filepath.Join(dir, "apps/wave-2/status/storage.yaml")
	if err := os.WriteFile(hand, []byte("by hand"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := contents(t, dir)
	_, err := engine.Catalog(context.Background(), engine.CatalogRequest{Request: engine.Request{Repo: dir}, Write: true})
	if err == nil || !strings.Contains(err.Error(), "apps/wave-2/status/storage.yaml is there and was not seen") {
		t.Fatalf("%v", err)
	}
	after := contents(t, dir)
	for p, data := range before {
		if after[p] != data {
			t.Errorf("%s was changed", p)
		}
		delete(after, p)
	}
	for p := range after {
		t.Errorf("%s was left", p)
	}
	if fi, err := os.Stat(hand); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", fi, err)
	}
}

// What the catalog works on is in the repository itself, and seen: a link is not followed or replaced, and what is hidden is not taken
// for deleted.
func TestCatalogOfWhatIsNotSeen(t *testing.T) {
	link := func(from, to string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			from, to := filepath.Join(dir, from), filepath.Join(dir, to)
			if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(from, to); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(to, from); err != nil {
				t.Skip("no symbolic links here")
			}
		}
	}
	for name, c := range map[string]struct {
		spoil func(*testing.T, string)
		want  string
	}{
		"a file":      {link("apps/wave-2/status/deployment.yaml", "hand/d.yaml"), "apps/wave-2/status/deployment.yaml is a symlink"},
		"a folder":    {link("apps/wave-0/plex", "hand/plex"), "apps/wave-0/plex is a symlink"},
		"the catalog": {link("catalog", "hand/catalog"), "catalog is a symlink"},
		"an app":      {link("catalog/plex.yaml", "hand/plex.yaml"), "catalog/plex.yaml is a symlink"},
		"above":       {link("clusters", "hand/clusters"), ""},
		"ignored": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, ".gitignore"), "*.agekey", "*.agekey\ncatalog/more.yaml")
			if err := os.WriteFile(filepath.Join(dir, "catalog/more.yaml"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}, "catalog/more.yaml is ignored by git"},
		"a mistyped folder": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, "tidegate.yaml"), "catalog:\n", "catalog:\n  dir: catalgo\n")
		}, "all of them would be deleted"},
		"another output": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, "tidegate.yaml"), "catalog:\n", "catalog:\n  apps: workloads\n")
		}, "every app would change its owner"},
		"git's folder": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, "tidegate.yaml"), "catalog:\n", "catalog:\n  apps: .git\n")
		}, "is no folder of the repository"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, _ := started(t)
			c.spoil(t, dir)
			before := contents(t, dir)
			r, err := engine.Catalog(context.Background(), engine.CatalogRequest{Request: engine.Request{Repo: dir}, Write: true})
			said := fmt.Sprint(err)
			if r != nil {
				for _, p := range r.Problems {
					said += p.Message
				}
			}
			if err == nil && (len(r.Problems) == 0 || r.Written) || !strings.Contains(said, c.want) {
				t.Errorf("%s", said)
			}
			if fmt.Sprint(contents(t, dir)) != fmt.Sprint(before) {
				t.Error("the repository was changed")
			}
		})
	}
}

func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() && d.Name() == ".git" {
			if err == nil {
				err = filepath.SkipDir
			}
			return err
		}
		if d.Type().IsRegular() {
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			rel, _ := filepath.Rel(dir, p)
			out[filepath.ToSlash(rel)] = string(data)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A directory that holds anything is not written into, and a fresh git repository is nothing.
func TestInitRefuses(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Init(engine.Request{}, dir, engine.StartValues{}); err == nil || !strings.Contains(err.Error(), "is not empty (it holds x)") {
		t.Errorf("%v", err)
	}
	absent := filepath.Join(t.TempDir(), "a/b")
	if _, err := engine.Init(engine.Request{}, absent, engine.StartValues{Domain: "x"}); err == nil {
		t.Error("a domain that is none is taken")
	}
	if _, err := os.Stat(absent); err == nil {
		t.Error("the directory was made all the same")
	}
	fresh := t.TempDir()
	if _, err := gogit.PlainInit(fresh, false); err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Init(engine.Request{}, fresh, engine.StartValues{}); err != nil {
		t.Error(err)
	}
}
