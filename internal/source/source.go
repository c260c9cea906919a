// Package source is where bytes come from: the files of a repository as they would be committed, and the artifact that Flux's
// source-controller would make of them, which is all that a cluster ever sees.
//
// The rules are:
//   - A Tree lists files and symbolic links by slash-separated paths relative to its root. It lists no directories, and nothing named
//     ".git". Links are never followed.
//   - The Tree of a working directory holds what "git add --all" would leave tracked: tracked files, and untracked ones that git does not
//     ignore (package gitwork). Outside a git work tree nothing is ignored.
//   - Bytes are those of the working directory. What git filters change on the way to a commit (LFS, git-crypt, line endings) is not undone.
//   - An Artifact is what is left of a Tree after spec.sparseCheckout, the dropping of symbolic links, every .sourceignore file, and
//     spec.ignore. NewArtifact says how they combine.
//   - Names may hold every byte but "/" and NUL.
//
// Trees and Artifacts are immutable after construction and safe for concurrent use.
package source

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
)

// MaxFileSize is the largest file that is read, in bytes.
const MaxFileSize = 64 << 20

// maxEntries bounds a listing, so that naming the wrong directory ends in a message and not in swapping.
const maxEntries = 2_000_000

// ErrTooLarge is wrapped by the error of ReadFile for a file of more than MaxFileSize bytes.
var ErrTooLarge = errors.New("file is too large")

// Kind says what an Entry is.
type Kind uint8

const (
	Regular   Kind = iota // a regular file
	Symlink               // a symbolic link, whatever it leads to
	Irregular             // a socket, pipe or device: listed so that it can be reported; git cannot hold it
)

// String returns "file", "symlink" or "irregular file".
func (k Kind) String() string {
	switch k {
	case Regular:
		return "file"
	case Symlink:
		return "symlink"
	default:
		return "irregular file"
	}
}

// An Entry is one file of a Tree.
type Entry struct {
	Path   string // relative, slash-separated, clean
	Kind   Kind
	Size   int64  // bytes; of a Regular file only
	Target string // the text of a Symlink
}

// A Tree is an immutable listing of a repository's files.
type Tree interface {
	// Label names the tree in messages: the directory as the user gave it, a revision.
	Label() string
	// Entries returns all entries, sorted bytewise by Path. The slice must not be modified.
	Entries() []Entry
	// ReadFile returns the bytes of the Regular entry at the path. Its error is an *fs.PathError with the path as it was asked for; it
	// wraps fs.ErrNotExist when there is no such entry, fs.ErrInvalid when the entry is not Regular, and ErrTooLarge.
	ReadFile(path string) ([]byte, error)
}

// find returns the entry at path.
func find(entries []Entry, path string) (Entry, bool) {
	i, ok := slices.BinarySearchFunc(entries, path, func(e Entry, p string) int { return strings.Compare(e.Path, p) })
	if !ok {
		return Entry{}, false
	}
	return entries[i], true
}

// regular returns the entry at path if its bytes may be read, and else the error that says why not.
func regular(entries []Entry, path string) (Entry, error) {
	e, ok := find(entries, path)
	switch {
	case !ok:
		return e, &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist}
	case e.Kind != Regular:
		return e, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("is a %s: %w", e.Kind, fs.ErrInvalid)}
	case e.Size > MaxFileSize:
		return e, tooLarge(path, e.Size)
	}
	return e, nil
}

func tooLarge(path string, size int64) error {
	return &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("%w: %d bytes, more than the %d that are read", ErrTooLarge, size, int64(MaxFileSize))}
}

// readOpen reads an open file of about size bytes, and no more than MaxFileSize, also if it grew since it was listed.
func readOpen(r io.Reader, path string, size int64) ([]byte, error) {
	data := make([]byte, 0, min(max(size, 0), MaxFileSize)+1)
	for {
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if len(data) > MaxFileSize {
			return nil, tooLarge(path, int64(len(data)))
		}
		if err == io.EOF {
			return data, nil
		}
		if err != nil {
			return nil, relabel("read", path, err)
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
}

// relabel gives an error of the file system the path that the user knows the file by.
func relabel(op, path string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}

func sortEntries(entries []Entry) {
	byPath := func(a, b Entry) int { return cmp.Compare(a.Path, b.Path) }
	if !slices.IsSortedFunc(entries, byPath) {
		slices.SortFunc(entries, byPath)
	}
}
