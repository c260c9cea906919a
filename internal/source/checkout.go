package source

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// A checkout is the directory that source-controller clones a Tree into: what spec.sparseCheckout leaves of it, as directories.
type checkout struct {
	tree Tree
	dirs map[string]*checkoutDir // by clean path, "." for the root
}

type checkoutDir struct {
	children []checkoutChild // sorted by name
	ignore   int             // position of .sourceignore in children, -1 for none
}

type checkoutChild struct {
	name  string
	kind  Kind
	isDir bool
	entry int // position in Tree.Entries, of what is no directory
}

// newCheckout builds the directories. What is left out goes to out.
//
// The rules of spec.sparseCheckout are those of go-git's SkipUnless, and are not directories at all: after "./" is removed in front, a file
// is checked out if its path begins with one of the strings. So "app" takes "apps/x" too, "." takes only what begins with a dot, and "/app"
// takes nothing.
func newCheckout(t Tree, sparse []string, out func(path, why string)) (*checkout, error) {
	prefixes := make([]string, len(sparse))
	for i, s := range sparse {
		prefixes[i] = strings.TrimPrefix(s, "./")
	}
	kept := func(p string) bool {
		if len(prefixes) == 0 || slices.ContainsFunc(prefixes, func(s string) bool { return strings.HasPrefix(p, s) }) {
			return true
		}
		out(p, outSparse)
		return false
	}
	c := &checkout{tree: t, dirs: map[string]*checkoutDir{".": {ignore: -1}}}
	last, lastDir := ".", c.dirs["."]
	for i, e := range t.Entries() {
		if e.Kind == Irregular {
			out(e.Path, outIrregular)
			continue
		}
		if !kept(e.Path) {
			continue
		}
		if parent := parentDir(e.Path); parent != last {
			last, lastDir = parent, c.makeDir(parent)
		}
		lastDir.children = append(lastDir.children, checkoutChild{name: path.Base(e.Path), kind: e.Kind, entry: i})
	}
	// go-git makes a directory for every submodule, and without spec.recurseSubmodules leaves it empty (checkoutChangeSubmodule).
	if s, ok := t.(interface{ Submodules() []string }); ok {
		for _, p := range s.Submodules() {
			if kept(p) {
				c.makeDir(p)
			}
		}
	}
	for p, d := range c.dirs {
		if err := d.finish(); err != nil {
			return nil, fmt.Errorf("%s lists %s twice, as a file and as a file or directory", t.Label(), joinRel(p, err.Error()))
		}
	}
	return c, c.checkSparse(sparse)
}

// makeDir returns the directory p, and makes it and those around it if need be.
func (c *checkout) makeDir(p string) *checkoutDir {
	if d, ok := c.dirs[p]; ok {
		return d
	}
	d := &checkoutDir{ignore: -1}
	c.dirs[p] = d
	parent := c.makeDir(parentDir(p))
	parent.children = append(parent.children, checkoutChild{name: path.Base(p), isDir: true})
	return d
}

// finish sorts the children. Its error is the name that is there twice.
func (d *checkoutDir) finish() error {
	byName := func(a, b checkoutChild) int { return strings.Compare(a.name, b.name) }
	if !slices.IsSortedFunc(d.children, byName) {
		slices.SortFunc(d.children, byName)
	}
	for i, ch := range d.children {
		if i > 0 && ch.name == d.children[i-1].name {
			return errors.New(ch.name)
		}
		if ch.name == sourceIgnoreFile && !ch.isDir {
			d.ignore = i
		}
	}
	return nil
}

func (d *checkoutDir) child(name string) (checkoutChild, bool) {
	i, ok := slices.BinarySearchFunc(d.children, name, func(c checkoutChild, n string) int { return strings.Compare(c.name, n) })
	if !ok {
		return checkoutChild{}, false
	}
	return d.children[i], true
}

// checkSparse is source-controller's validateSparseCheckoutPaths: every directory of the list must be there after the checkout.
func (c *checkout) checkSparse(sparse []string) error {
	for _, s := range sparse {
		if !c.existsInRoot(s) {
			return fmt.Errorf("spec.sparseCheckout names %q, which %s does not have: source-controller makes no artifact until it is removed or corrected", s, c.tree.Label())
		}
	}
	return nil
}

// How many symbolic links one path may lead through, for Linux and for filepath-securejoin.
const (
	maxLinksOpen = 40
	maxLinksJoin = 255
)

// existsInRoot reports whether filepath-securejoin, with the checkout as its root, resolves p to something that is there. What is missing on
// the way is passed over lexically, and links cannot lead out.
func (c *checkout) existsInRoot(p string) bool {
	cur := "."
	rest := strings.Split(p, "/")
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			cur = parentDir(cur)
			continue
		}
		next := joinRel(cur, name)
		ch, ok := c.lookup(next)
		if !ok || ch.isDir || ch.kind != Symlink {
			cur = next
			continue
		}
		if links++; links > maxLinksJoin {
			return false
		}
		target := c.target(ch)
		if strings.HasPrefix(target, "/") {
			cur = "."
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	_, ok := c.lookup(cur)
	return ok
}

// lookup returns what is at the clean path p, without following links. The root is a directory.
func (c *checkout) lookup(p string) (checkoutChild, bool) {
	if p == "." {
		return checkoutChild{name: ".", isDir: true}, true
	}
	d, ok := c.dirs[parentDir(p)]
	if !ok {
		return checkoutChild{}, false
	}
	return d.child(path.Base(p))
}

func (c *checkout) target(ch checkoutChild) string { return c.tree.Entries()[ch.entry].Target }

var (
	errTooManyLinks = errors.New("too many levels of symbolic links")
	errNotDirectory = errors.New("not a directory")
)

// readThroughLinks reads the file at the clean path p as os.Open does, following symbolic links. The error wraps fs.ErrNotExist for what is
// not there, and for what lies outside of the checkout: there source-controller would look into its own file system. A directory reads as
// empty, because Flux's scanner ends at the error that reading one gives.
func (c *checkout) readThroughLinks(p string) ([]byte, error) {
	cur := "."
	rest := strings.Split(p, "/")
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		if d, _ := c.lookup(cur); !d.isDir {
			return nil, errNotDirectory
		}
		switch name {
		case "", ".":
			continue
		case "..":
			if cur == "." {
				return nil, fs.ErrNotExist
			}
			cur = parentDir(cur)
			continue
		}
		next := joinRel(cur, name)
		ch, ok := c.lookup(next)
		if !ok {
			return nil, fs.ErrNotExist
		}
		if ch.isDir || ch.kind != Symlink {
			cur = next
			continue
		}
		if links++; links > maxLinksOpen {
			return nil, errTooManyLinks
		}
		target := c.target(ch)
		if strings.HasPrefix(target, "/") {
			return nil, fs.ErrNotExist
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	if ch, _ := c.lookup(cur); ch.isDir {
		return nil, nil
	}
	return c.tree.ReadFile(cur)
}
