package source

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// FromFS returns the Tree of all files in fsys, but for ".git". Symbolic links are listed as such if fsys is an fs.ReadLinkFS. Unlike
// OpenDir it fails on the first directory that cannot be read. fsys must not change while the Tree is in use, and must be safe for
// concurrent use, as embed.FS and os.DirFS are.
func FromFS(label string, fsys fs.FS) (Tree, error) {
	t := &fsTree{label: label, fsys: fsys, identity: "fs:" + rand.Text()}
	err := fs.WalkDir(fsys, ".", func(p string, de fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if de.Name() == ".git" {
			if de.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if de.IsDir() {
			return nil
		}
		e := Entry{Path: p}
		switch mode := de.Type(); {
		case mode.IsRegular():
			fi, err := de.Info()
			if err != nil {
				return err
			}
			e.Size = fi.Size()
		case mode&fs.ModeSymlink != 0:
			e.Kind = Symlink
			if e.Target, err = fs.ReadLink(fsys, p); err != nil && !errors.Is(err, fs.ErrInvalid) {
				return err
			}
		default:
			e.Kind = Irregular
		}
		if len(t.entries) >= maxEntries {
			return fmt.Errorf("more than %d files", maxEntries)
		}
		t.entries = append(t.entries, e)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", label, err)
	}
	sortEntries(t.entries)
	return t, nil
}

type fsTree struct {
	label    string
	identity string
	fsys     fs.FS
	entries  []Entry
}

func (t *fsTree) Label() string    { return t.label }
func (t *fsTree) Entries() []Entry { return t.entries }
func (t *fsTree) Identity() string { return t.identity }

func (t *fsTree) ReadFile(p string) ([]byte, error) {
	e, err := regular(t.entries, p)
	if err != nil {
		return nil, err
	}
	f, err := t.fsys.Open(p)
	if err != nil {
		return nil, relabel("open", p, err)
	}
	defer f.Close()
	return readOpen(f, p, e.Size)
}

// FromMap returns the Tree of regular files with the given contents by path. Paths are cleaned as JoinSecure does; one that leads to the
// root is left out. Two that clean to the same path are one file, and of their contents that of the path last in order counts.
func FromMap(label string, files map[string]string) Tree {
	t := &mapTree{label: label, files: make(map[string]string, len(files))}
	given := make([]string, 0, len(files))
	for p := range files {
		given = append(given, p)
	}
	slices.Sort(given)
	for _, p := range given {
		if clean := JoinSecure(p); clean != "." {
			t.files[clean] = files[p]
		}
	}
	for p, content := range t.files {
		t.entries = append(t.entries, Entry{Path: p, Size: int64(len(content))})
	}
	sortEntries(t.entries)
	h := sha256.New()
	hashStrings(h, label)
	for _, e := range t.entries {
		hashStrings(h, e.Path, t.files[e.Path])
	}
	t.identity = "map:" + hex.EncodeToString(h.Sum(nil))
	return t
}

type mapTree struct {
	label    string
	identity string
	files    map[string]string
	entries  []Entry
}

func (t *mapTree) Label() string    { return t.label }
func (t *mapTree) Entries() []Entry { return t.entries }
func (t *mapTree) Identity() string { return t.identity }

func (t *mapTree) ReadFile(p string) ([]byte, error) {
	if _, err := regular(t.entries, p); err != nil {
		return nil, err
	}
	return []byte(t.files[p]), nil
}
