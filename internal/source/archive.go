package source

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/sourceignore"
)

const sourceIgnoreFile = sourceignore.IgnoreFile

// NewArtifact returns what source-controller archives of t. It fails where source-controller would make no artifact: a directory of
// o.SparseCheckout that is not there, a .sourceignore that cannot be read; and if t contradicts itself.
//
// The rules are (fluxcd/pkg artifact/storage/archive.go, sourceignore/sourceignore.go; source-controller
// internal/controller/gitrepository_controller.go):
//   - First spec.sparseCheckout: see newCheckout. Ignore files outside of it do not exist.
//   - Every .sourceignore file counts, also one in an excluded directory or reached by a symbolic link, for what is below its directory.
//     spec.ignore counts for the whole and comes last. Of all patterns that match a path the last one decides: spec.ignore, the deepest
//     .sourceignore, those above it, the built-in ones.
//   - Built in are the version control files always, and the default excludes (images, archives, CI files, .sops.yaml) only as long as
//     there is not one pattern anywhere.
//   - Every file and directory is judged by itself. A file re-included below an excluded directory is in, and takes its directories with it.
//     A directory that is not excluded is in, even if nothing in it is.
//   - Symbolic links are dropped, after they had their say as .sourceignore.
//
// This is what becomes of a GitRepository, and of an OCIRepository whose layer is unpacked. spec.include and spec.recurseSubmodules bring
// files that the tree does not hold. A Bucket follows other rules.
func NewArtifact(t Tree, o ArtifactOptions) (*Artifact, error) {
	id, err := artifactID(t, o)
	if err != nil {
		return nil, fmt.Errorf("identify %s: %w", t.Label(), err)
	}
	b := &archiver{
		artifact: &Artifact{tree: t, id: id, dirs: make(map[string]*artifactDir), excluded: make(map[string]exclusion)},
		ignore:   make(map[string][]*sourcePattern),
	}
	b.checkout, err = newCheckout(t, o.SparseCheckout, func(path, why string) { b.artifact.excluded[path] = exclusion{text: why} })
	if err != nil {
		return nil, err
	}
	if err := b.readIgnoreFiles(); err != nil {
		return nil, err
	}
	if o.Ignore != nil {
		b.spec.patterns = parseSourceIgnore([]byte(*o.Ignore), "spec.ignore")
	}
	b.archive()
	return b.artifact, nil
}

// An archiver goes through the checkout once and judges each entry.
type archiver struct {
	checkout *checkout
	ignore   map[string][]*sourcePattern // by directory
	spec     level                       // spec.ignore
	artifact *Artifact
	elems    []string // of the directory being judged
}

func (b *archiver) readIgnoreFiles() error {
	for _, dir := range slices.Sorted(maps.Keys(b.checkout.dirs)) {
		d := b.checkout.dirs[dir]
		if d.ignore < 0 {
			continue
		}
		p := joinRel(dir, sourceIgnoreFile)
		data, err := b.checkout.readThroughLinks(p)
		if errors.Is(err, fs.ErrNotExist) && d.children[d.ignore].kind == Symlink {
			continue // leads nowhere: as if there were none
		}
		if err != nil {
			return fmt.Errorf("read %s of %s: source-controller makes no artifact without it: %w", p, b.artifact.tree.Label(), causeOf(err))
		}
		if list := parseSourceIgnore(data, p); len(list) > 0 {
			b.ignore[dir] = list
		}
	}
	return nil
}

// A level is the patterns of one ignore file, with what those without a slash made of the current directory's path.
type level struct {
	patterns []*sourcePattern
	states   []nameState // parallel to patterns
	depth    int         // how many path elements the file's directory has
}

// in returns the level for the directory name inside the current one.
func (l level) in(name string) level {
	states := make([]nameState, len(l.patterns))
	for i, p := range l.patterns {
		if !p.anchored {
			states[i] = p.step(l.states[i], name)
		}
	}
	return level{patterns: l.patterns, states: states, depth: l.depth}
}

// judge returns the last pattern that matches an entry of the current directory. elems is the entry's path.
func (l level) judge(elems []string, isDir bool) *sourcePattern {
	for i := len(l.patterns) - 1; i >= 0; i-- {
		p := l.patterns[i]
		if p.anchored && p.matchPath(elems[l.depth:], isDir) || !p.anchored && p.matchName(l.states[i], elems[len(elems)-1], isDir) {
			return p
		}
	}
	return nil
}

func (b *archiver) archive() {
	base := builtin(sourceignore.ExcludeVCS, "version control exclude")
	if len(b.ignore) == 0 && len(b.spec.patterns) == 0 {
		for _, list := range []string{sourceignore.ExcludeExt, sourceignore.ExcludeCI, sourceignore.ExcludeExtra} {
			base = append(base, builtin(list, "default exclude")...)
		}
	}
	levels := []level{newLevel(base, 0)}
	if list := b.ignore["."]; list != nil {
		levels = append(levels, newLevel(list, 0))
	}
	b.spec = newLevel(b.spec.patterns, 0)
	b.directory(".", levels, b.spec)
	slices.Sort(b.artifact.files)
}

func builtin(list, where string) []*sourcePattern {
	var ps []*sourcePattern
	for _, text := range strings.Split(list, ",") {
		ps = append(ps, parseSourcePattern(text, where, 0))
	}
	return ps
}

func newLevel(patterns []*sourcePattern, depth int) level {
	return level{patterns: patterns, states: make([]nameState, len(patterns)), depth: depth}
}

// directory adds what is in dir to the artifact and records dir in it. levels are in ascending order of importance; spec is above all.
func (b *archiver) directory(dir string, levels []level, spec level) *artifactDir {
	d := b.checkout.dirs[dir]
	out := &artifactDir{}
	depth := len(b.elems)
	for _, ch := range d.children {
		p := joinRel(dir, ch.name)
		if !ch.isDir && ch.kind == Symlink {
			b.artifact.excluded[p] = exclusion{text: outSymlink}
			continue
		}
		b.elems = append(b.elems[:depth], ch.name)
		pattern := spec.judge(b.elems, ch.isDir)
		for i := len(levels) - 1; i >= 0 && pattern == nil; i-- {
			pattern = levels[i].judge(b.elems, ch.isDir)
		}
		excluded := pattern != nil && !pattern.inclusion
		if ch.isDir {
			inside := make([]level, len(levels), len(levels)+1)
			for i, l := range levels {
				inside[i] = l.in(ch.name)
			}
			if list := b.ignore[p]; list != nil {
				inside = append(inside, newLevel(list, depth+1))
			}
			sub := b.directory(p, inside, spec.in(ch.name))
			if excluded && len(sub.names) == 0 {
				delete(b.artifact.dirs, p)
			} else {
				excluded = false
			}
		}
		if excluded {
			b.artifact.excluded[p] = exclusion{pattern: pattern}
			continue
		}
		out.names = append(out.names, ch.name)
		out.isDir = append(out.isDir, ch.isDir)
		if !ch.isDir {
			b.artifact.files = append(b.artifact.files, p)
		}
	}
	b.elems = b.elems[:depth]
	b.artifact.dirs[dir] = out
	return out
}

// causeOf strips the path from an error of ReadFile, for messages that name the file themselves.
func causeOf(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
