package source

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// ArtifactOptions are the fields of a source object that decide what is in its artifact.
type ArtifactOptions struct {
	Ignore         *string  // spec.ignore; nil when it is not set
	SparseCheckout []string // spec.sparseCheckout of a GitRepository
}

// An Artifact is the content of the archive that source-controller makes of a Tree, unpacked as kustomize-controller does. Paths are
// slash-separated and relative to the artifact's root, which is ".". They are cleaned; one that leads outside names nothing.
type Artifact struct {
	tree     Tree
	id       string
	files    []string
	dirs     map[string]*artifactDir
	excluded map[string]exclusion
}

type artifactDir struct {
	names []string // sorted
	isDir []bool
}

// ID returns an opaque string that is equal for artifacts of one Tree with equal options, and different otherwise. It is a key for caches
// within a process, not for output: trees of a directory get a new one whenever they are opened.
func (a *Artifact) ID() string { return a.id }

// Label names the tree that the artifact is made of.
func (a *Artifact) Label() string { return a.tree.Label() }

// Files returns the paths of all files, sorted bytewise. The slice must not be modified.
func (a *Artifact) Files() []string { return a.files }

// Stat reports whether p is in the artifact, and whether it is a directory.
func (a *Artifact) Stat(p string) (isDir bool, ok bool) {
	p, ok = cleanRel(p)
	if !ok {
		return false, false
	}
	if _, ok := a.dirs[p]; ok {
		return true, true
	}
	return false, a.hasFile(p)
}

func (a *Artifact) hasFile(p string) bool {
	_, ok := slices.BinarySearch(a.files, p)
	return ok
}

// ReadFile returns the bytes of a file. Its error is an *fs.PathError with the path as it was asked for. It wraps fs.ErrNotExist if p is
// not in the artifact, and says why if the tree has it; and fs.ErrInvalid if p is a directory.
func (a *Artifact) ReadFile(p string) ([]byte, error) {
	clean, ok := cleanRel(p)
	if !ok || !a.hasFile(clean) {
		err := fs.ErrNotExist
		if isDir, _ := a.Stat(p); isDir {
			err = fmt.Errorf("is a directory: %w", fs.ErrInvalid)
		} else if reason, ok := a.Excluded(p); ok {
			err = fmt.Errorf("not in the artifact (%s): %w", reason, fs.ErrNotExist)
		}
		return nil, &fs.PathError{Op: "read", Path: p, Err: err}
	}
	return a.tree.ReadFile(clean)
}

// ReadDir returns the sorted names of the files and directories in the directory p. The slice must not be modified. ok is false if p is
// not a directory of the artifact.
func (a *Artifact) ReadDir(p string) (names []string, ok bool) {
	p, ok = cleanRel(p)
	if !ok {
		return nil, false
	}
	d, ok := a.dirs[p]
	if !ok {
		return nil, false
	}
	return slices.Clip(d.names), true
}

// Walk calls fn for p and everything below it, in the order of filepath.Walk: a directory before its content, names in lexical order. The
// paths given to fn are clean. fs.SkipDir from a directory passes over its content, from a file over the rest of its directory;
// fs.SkipAll ends the walk; every other error ends it and is returned. A p that is not in the artifact is an error that wraps
// fs.ErrNotExist.
func (a *Artifact) Walk(p string, fn func(p string, isDir bool) error) error {
	isDir, ok := a.Stat(p)
	if !ok {
		return &fs.PathError{Op: "walk", Path: p, Err: fs.ErrNotExist}
	}
	clean, _ := cleanRel(p)
	err := a.walk(clean, isDir, fn)
	if err == fs.SkipDir || err == fs.SkipAll {
		return nil
	}
	return err
}

func (a *Artifact) walk(p string, isDir bool, fn func(p string, isDir bool) error) error {
	if err := fn(p, isDir); err != nil || !isDir {
		return err
	}
	d := a.dirs[p]
	for i, name := range d.names {
		err := a.walk(joinRel(p, name), d.isDir[i], fn)
		if err == nil || err == fs.SkipDir && d.isDir[i] {
			continue
		}
		return err
	}
	return nil
}

// Excluded says why a file or directory of the tree is not in the artifact: "symlink …", the pattern with its file and line, and so on. ok
// is false if p is in the artifact, and if the tree does not have it either.
func (a *Artifact) Excluded(p string) (reason string, ok bool) {
	p, ok = cleanRel(p)
	if !ok {
		return "", false
	}
	x, ok := a.excluded[p]
	if !ok {
		return "", false
	}
	return x.reason(), true
}

// ExtractError returns why kustomize-controller cannot unpack the artifact, although source-controller made it, or nil. Nothing that uses
// such an artifact reconciles. fluxcd/pkg/tar refuses names with a backslash or with "../", which a directory named "a.." gives.
func (a *Artifact) ExtractError() error {
	bad := ""
	note := func(p string) {
		if (strings.Contains(p, `\`) || strings.Contains(p, "../")) && (bad == "" || p < bad) {
			bad = p
		}
	}
	for _, p := range a.files {
		note(p)
	}
	for p := range a.dirs {
		note(p)
	}
	if bad == "" {
		return nil
	}
	return &fs.PathError{Op: "unpack", Path: bad, Err: errUnpackable}
}

var errUnpackable = errors.New(`a name with \ or ../ in it makes kustomize-controller refuse the whole artifact: rename the file, or exclude it in .sourceignore`)

// An exclusion is why an entry is out: a pattern, or else a fixed sentence.
type exclusion struct {
	pattern *sourcePattern
	text    string
}

func (x exclusion) reason() string {
	if x.pattern != nil {
		return x.pattern.reason()
	}
	return x.text
}

const (
	outSymlink   = "symlink: source-controller archives regular files only"
	outIrregular = "neither a regular file nor a directory: git does not hold it"
	outSparse    = "not below a directory of spec.sparseCheckout"
)
