package source

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/tidegate/tidegate/internal/source/gitwork"
)

// A Dir is the Tree of a working directory as it was when OpenDir listed it. Contents are read when they are asked for.
type Dir struct {
	label      string
	root       string // absolute, no symbolic links
	workTree   string
	identity   string
	entries    []Entry
	submodules []string
	problems   []Problem
	warnings   []string
}

// A Problem is a path below the directory that could not be listed. Path is relative to it.
type Problem struct {
	Path string
	Err  error
}

// String returns the path and what is wrong with it.
func (p Problem) String() string { return fmt.Sprintf("%s: %v", p.Path, p.Err) }

// OpenDir lists the files in dir and below. If dir lies in a git work tree, also deep inside, what git ignores is left out: untracked files
// that a pattern matches, and nested repositories. It is an error if dir is not a directory that can be read, or holds more than two
// million files. What cannot be read below it is in Problems, and what makes the listing less exact than git's is in Warnings.
func OpenDir(dir string) (*Dir, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, relabel("open", dir, err)
	}
	root, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return nil, relabel("open", dir, err)
	}
	if fi, err := os.Stat(root); err != nil {
		return nil, relabel("open", dir, err)
	} else if !fi.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: fmt.Errorf("not a directory: name the directory that holds the repository's files")}
	}
	d := &Dir{label: dir, root: root, identity: "dir:" + rand.Text()}
	w := &walker{dir: d}
	scope, ignored := w.enterWorkTree()
	if err := w.walk("", scope, ignored); err != nil {
		return nil, err
	}
	d.entries = w.entries
	sortEntries(d.entries)
	slices.Sort(d.submodules)
	slices.SortFunc(d.problems, func(a, b Problem) int { return cmp.Compare(a.Path, b.Path) })
	return d, nil
}

// Label returns the directory as it was given to OpenDir.
func (d *Dir) Label() string { return d.label }

// Root returns the directory's absolute path, without symbolic links.
func (d *Dir) Root() string { return d.root }

// Entries returns the files and symbolic links, sorted by path.
func (d *Dir) Entries() []Entry { return d.entries }

// Identity is different for every Dir.
func (d *Dir) Identity() string { return d.identity }

// WorkTree returns the absolute path of the root of the git work tree that the directory lies in, "" if it lies in none.
func (d *Dir) WorkTree() string { return d.workTree }

// Submodules returns the paths of the submodules that git tracks below the directory. Their files are not listed.
func (d *Dir) Submodules() []string { return d.submodules }

// Problems returns what could not be listed, sorted by path.
func (d *Dir) Problems() []Problem { return d.problems }

// Warnings returns, as sentences, where the listing may differ from git's and why.
func (d *Dir) Warnings() []string { return d.warnings }

// ReadFile reads a listed regular file. Should it have been replaced by a symbolic link or a pipe since, that is not followed.
func (d *Dir) ReadFile(path string) ([]byte, error) {
	e, err := regular(d.entries, path)
	if err != nil {
		return nil, err
	}
	f, err := openNoFollow(filepath.Join(d.root, filepath.FromSlash(path)))
	if err != nil {
		return nil, relabel("open", path, err)
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, relabel("open", path, err)
	}
	if !fi.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("is no longer a regular file: %w", fs.ErrInvalid)}
	}
	if fi.Size() > MaxFileSize {
		return nil, tooLarge(path, fi.Size())
	}
	return readOpen(f, path, max(e.Size, fi.Size()))
}

func (d *Dir) warnf(format string, args ...any) {
	d.warnings = append(d.warnings, fmt.Sprintf(format, args...))
}

var _ Tree = (*Dir)(nil)

// A walker lists a directory for OpenDir. Paths below the directory are "rel"; paths below the root of the work tree, which git's patterns
// and index speak about, are "wt".
type walker struct {
	dir     *Dir
	repo    *gitwork.Repo // nil outside a work tree
	config  gitwork.Config
	index   *gitwork.Index
	prefix  string // where the directory lies in the work tree, "" for its root
	entries []Entry
}
