package source

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"sort"
	"strings"
	"sync"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// OpenHead returns the Tree of a directory as it is in the last commit; nil when it is in no git work tree, or nothing was committed
// yet. dir may be below the top of the work tree: paths are relative to it.
func OpenHead(dir string) (Tree, error) {
	repo, err := gogit.PlainOpenWithOptions(dir, &gogit.PlainOpenOptions{DetectDotGit: true, EnableDotGitCommonDir: true})
	if errors.Is(err, gogit.ErrRepositoryNotExists) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the git repository of %s: %w", dir, err)
	}
	head, err := repo.Head()
	if errors.Is(err, plumbing.ErrReferenceNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("HEAD of %s: %w", dir, err)
	}
	commit, err := repo.CommitObject(head.Hash())
	if err != nil {
		return nil, fmt.Errorf("commit %s of %s: %w", head.Hash(), dir, err)
	}
	tree, err := commit.Tree()
	if err != nil {
		return nil, fmt.Errorf("the tree of commit %s: %w", head.Hash(), err)
	}
	work, err := repo.Worktree()
	if err != nil {
		return nil, fmt.Errorf("the work tree of %s: %w", dir, err)
	}
	if tree, err = below(tree, work.Filesystem.Root(), dir); err != nil {
		return nil, err
	}
	t := &commitTree{label: head.Hash().String()[:12], files: map[string]*object.File{}}
	if tree == nil {
		return t, nil
	}
	err = tree.Files().ForEach(func(f *object.File) error {
		e := Entry{Path: f.Name, Size: f.Size}
		if f.Mode == filemode.Symlink {
			e.Kind, e.Size = Symlink, 0
			if e.Target, err = f.Contents(); err != nil {
				return err
			}
		}
		t.entries = append(t.entries, e)
		t.files[f.Name] = f
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("the tree of commit %s: %w", head.Hash(), err)
	}
	sort.Slice(t.entries, func(i, j int) bool { return t.entries[i].Path < t.entries[j].Path })
	return t, nil
}

// below gives the part of a tree that a directory of the work tree is.
func below(tree *object.Tree, top, dir string) (*object.Tree, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if abs, err = filepath.EvalSymlinks(abs); err != nil {
		return nil, err
	}
	if top, err = filepath.EvalSymlinks(top); err != nil {
		return nil, err
	}
	rel, err := filepath.Rel(top, abs)
	if err != nil || rel == "." || rel == ".." || strings.HasPrefix(rel, "../") {
		return tree, err
	}
	sub, err := tree.Tree(filepath.ToSlash(rel))
	if errors.Is(err, object.ErrDirectoryNotFound) {
		return nil, nil // nothing of it was committed
	}
	return sub, err
}

// commitTree is the Tree of a commit.
type commitTree struct {
	label   string
	entries []Entry
	mu      sync.Mutex // go-git's storage is not safe for concurrent use
	files   map[string]*object.File
}

func (t *commitTree) Label() string    { return t.label }
func (t *commitTree) Entries() []Entry { return t.entries }

func (t *commitTree) ReadFile(p string) ([]byte, error) {
	fail := func(err error) ([]byte, error) { return nil, &fs.PathError{Op: "read", Path: p, Err: err} }
	e, ok := find(t.entries, p)
	switch {
	case !ok:
		return fail(fs.ErrNotExist)
	case e.Kind != Regular:
		return fail(fs.ErrInvalid)
	case e.Size > MaxFileSize:
		return fail(ErrTooLarge)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	r, err := t.files[p].Reader()
	if err != nil {
		return fail(err)
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		return fail(err)
	}
	return data, nil
}
