package render

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/tidegate/tidegate/internal/trace"
)

// Files is what a build may read: the artifact that source-controller would make. source.Artifact is one.
// Paths are slash-separated and relative to the artifact's root, which is ".".
type Files interface {
	// ID is equal for artifacts that hold the same bytes.
	ID() string
	ReadFile(p string) ([]byte, error)
	Stat(p string) (isDir, ok bool)
	ReadDir(p string) (names []string, ok bool)
	// Walk visits p and what is below it in lexical order, as filepath.Walk does; fs.SkipDir skips a directory.
	Walk(p string, fn func(p string, isDir bool) error) error
}

// artifactRoot is where a build believes the artifact to be unpacked. It is no path of any machine: the file system
// below serves it from Files. It is stripped from every message.
const artifactRoot = "/tidegate-artifact"

// buildFS is the file system of one build. It serves the artifact read-only, with files that this build replaced
// (the generated kustomization.yaml, decrypted sources) laid over it, and writes down all that was asked of it, since
// that is what the build depends on.
//
// It is also where kustomize is kept from fetching: kustomize starts HTTP and `git` by itself when a kustomization
// file names a URL, which no file system can stop. So a kustomization file is inspected when it is read, before
// kustomize sees it, and refused when it names anything remote. The same inspection finds `openapi:`, which a build
// may only use when it is alone (see builder.go).
type buildFS struct {
	files     Files
	overlay   map[string][]byte
	trace     map[string]traced
	exclusive bool // the build is alone and may change kustomize's schema
	needAlone bool // openapi: was met in a build that is not alone
	remotes   []Remote
	refused   error // a file would take the process down; kustomize passes over some errors of reading
	limit     error // the build is beyond tidegate's limits (limits.go), which says nothing about Flux
	readBytes int
	reads     int
	objects   int

	record        *trace.Recorder // nil unless the build is traced
	secretSources bool            // plaintext was laid over encrypted files
	opaqueSources []opaqueSource  // masks were
}

// traced is one answer that the artifact gave.
type traced struct {
	kind byte // 'f' a file's bytes, 'd' a directory's names, 'n' nothing there
	sum  [32]byte
}

var (
	errReadOnly  = errors.New("a build cannot write")
	errNeedAlone = errors.New("openapi: needs a build of its own")
)

func newBuildFS(files Files) *buildFS {
	return &buildFS{files: files, overlay: map[string][]byte{}, trace: map[string]traced{}}
}

// rel turns a path as kustomize sees it into one of the artifact. ok is false outside of the artifact's root.
func rel(name string) (string, bool) {
	if !path.IsAbs(name) {
		name = path.Join(artifactRoot, name)
	}
	name = path.Clean(name)
	if name == artifactRoot {
		return ".", true
	}
	return strings.CutPrefix(name, artifactRoot+"/")
}

// abs is the inverse of rel.
func abs(p string) string { return path.Join(artifactRoot, p) }

// outside is the error of fluxcd/pkg kustomize/filesys/fs_secure.go for a path that leaves the artifact.
func outside(op, name string) error {
	return fmt.Errorf("fs-security-constraint %s %s: path '%s' is not in or below '%s'", op, name, name, artifactRoot)
}

func (b *buildFS) stat(name string) (isDir, ok bool) {
	p, in := rel(name)
	if !in {
		return false, false
	}
	if _, ok := b.overlay[p]; ok {
		return false, true
	}
	isDir, ok = b.files.Stat(p)
	if !ok {
		b.note(p, traced{kind: 'n'})
	}
	return isDir, ok
}

func (b *buildFS) note(p string, t traced) {
	if old, ok := b.trace[p]; !ok || old.kind == 'n' {
		b.trace[p] = t
	}
}

// ReadFile implements filesys.FileSystem.
func (b *buildFS) ReadFile(name string) ([]byte, error) {
	p, in := rel(name)
	if !in {
		return nil, outside("read", name)
	}
	data, err := b.read(p)
	if err != nil {
		return nil, err
	}
	kust := isKustomizationFile(p)
	if kust {
		err = b.inspect(p, inspectKustomization(data))
	} else {
		in := inspection{aliases: checkAliases(data)}
		if mayBePlugin(data) {
			in.plugin(data)
		}
		err = b.inspect(p, in)
	}
	if err != nil {
		return nil, err
	}
	switch {
	case b.record == nil:
		return data, nil
	case kust:
		return b.recordKustomization(p, data), nil
	}
	return b.record.File(p, data), nil
}

// recordKustomization tells the recorder of a kustomization file, whose patches in line are then moved to lines of their
// own. generate did that for the file that it wrote.
func (b *buildFS) recordKustomization(p string, data []byte) []byte {
	if _, laid := b.overlay[p]; laid {
		return data
	}
	var k types.Kustomization
	if sigsyaml.Unmarshal(data, &k) != nil {
		return data // kustomize says why
	}
	return b.record.KustomizationFile(p, &k, data)
}

// read gives a file of the artifact or its replacement, without inspecting it.
func (b *buildFS) read(p string) ([]byte, error) {
	if data, ok := b.overlay[p]; ok {
		return data, nil
	}
	isDir, ok := b.files.Stat(p)
	switch {
	case !ok:
		b.note(p, traced{kind: 'n'})
		return nil, &fs.PathError{Op: "open", Path: abs(p), Err: fs.ErrNotExist}
	case isDir:
		return nil, &fs.PathError{Op: "read", Path: abs(p), Err: errors.New("is a directory")}
	}
	data, err := b.files.ReadFile(p)
	if err != nil {
		return nil, err
	}
	b.note(p, traced{'f', digest(data)})
	if err := b.within(p, data); err != nil {
		return data, err
	}
	if isKustomizationFile(p) {
		return data, b.inspect(p, inspection{aliases: checkExpansion(data)})
	}
	return data, nil
}

// inspect refuses a file that this build must not act upon.
func (b *buildFS) inspect(p string, found inspection) error {
	if found.aliases != nil {
		b.refused = fmt.Errorf("%s: %w", p, found.aliases)
		return b.refused
	}
	// A file of the artifact may have a name that reads like a repository, such as app@v1/sub/x.yaml. It is refused all
	// the same: kustomize clones when it cannot take the file, and an object that is there twice is enough for that.
	for _, url := range found.remotes {
		_, laid := b.overlay[p]
		b.remotes = append(b.remotes, Remote{File: p, URL: url, decrypted: laid && b.secretSources && !isKustomizationFile(p)})
	}
	if len(b.remotes) > 0 {
		return fmt.Errorf("%s names %s, which would have to be fetched", p, b.remotes[len(b.remotes)-1].URL)
	}
	if found.openapi && !b.exclusive {
		b.needAlone = true
		return errNeedAlone
	}
	return nil
}

// CleanedAbs implements filesys.FileSystem. There are no symlinks in an artifact, so cleaning is all it takes.
func (b *buildFS) CleanedAbs(name string) (filesys.ConfirmedDir, string, error) {
	p, in := rel(name)
	if !in {
		return "", "", outside("abs", name)
	}
	isDir, ok := b.stat(abs(p))
	switch {
	case !ok:
		return "", "", fmt.Errorf("evalsymlink failure on '%s' : %w", name,
			&fs.PathError{Op: "lstat", Path: abs(p), Err: fs.ErrNotExist})
	case isDir:
		return filesys.ConfirmedDir(abs(p)), "", nil
	}
	return filesys.ConfirmedDir(path.Dir(abs(p))), path.Base(p), nil
}

// Exists implements filesys.FileSystem.
func (b *buildFS) Exists(name string) bool {
	_, ok := b.stat(name)
	return ok
}

// IsDir implements filesys.FileSystem.
func (b *buildFS) IsDir(name string) bool {
	isDir, ok := b.stat(name)
	return ok && isDir
}

// ReadDir implements filesys.FileSystem.
func (b *buildFS) ReadDir(name string) ([]string, error) {
	p, in := rel(name)
	if !in {
		return nil, outside("open", name)
	}
	names, ok := b.files.ReadDir(p)
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: abs(p), Err: fs.ErrNotExist}
	}
	b.noteDir(p, names)
	for o := range b.overlay {
		if path.Dir(o) == p {
			names = append(names[:len(names):len(names)], path.Base(o))
		}
	}
	sort.Strings(names)
	return compact(names), nil
}

func (b *buildFS) noteDir(p string, names []string) {
	b.trace[p] = traced{'d', digest([]byte(strings.Join(names, "\x00")))}
}

// Walk implements filesys.FileSystem.
func (b *buildFS) Walk(name string, fn filepath.WalkFunc) error {
	p, in := rel(name)
	if !in {
		return outside("walk", name)
	}
	return b.files.Walk(p, func(p string, isDir bool) error {
		if isDir {
			if names, ok := b.files.ReadDir(p); ok {
				b.noteDir(p, names)
			}
		}
		return fn(abs(p), info{path.Base(p), isDir}, nil)
	})
}

// Glob implements filesys.FileSystem. Nothing in a build uses it since kustomize dropped globbing.
func (b *buildFS) Glob(string) ([]string, error) {
	return nil, errors.New("globs are not supported in a build")
}

// WriteFile lays data over the artifact, for this build alone.
func (b *buildFS) WriteFile(name string, data []byte) error {
	p, in := rel(name)
	if !in {
		return outside("write", name)
	}
	b.overlay[p] = data
	return nil
}

// Create, Mkdir, MkdirAll, RemoveAll and Open complete filesys.FileSystem; a build with plugins disabled uses none.
func (b *buildFS) Create(string) (filesys.File, error) { return nil, errReadOnly }

// Mkdir refuses.
func (b *buildFS) Mkdir(string) error { return errReadOnly }

// MkdirAll refuses.
func (b *buildFS) MkdirAll(string) error { return errReadOnly }

// RemoveAll refuses.
func (b *buildFS) RemoveAll(string) error { return errReadOnly }

// Open refuses.
func (b *buildFS) Open(string) (filesys.File, error) { return nil, errReadOnly }

// filesRead gives the artifact's files that were read, in order, for the unit's record of what it was built from.
func (b *buildFS) filesRead() []string {
	var out []string
	for p, t := range b.trace {
		if t.kind == 'f' {
			out = append(out, p)
		}
	}
	sort.Strings(out)
	return out
}

// info is the FileInfo that Walk hands out.
type info struct {
	name string
	dir  bool
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return 0 }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.dir }
func (i info) Sys() any           { return nil }
func (i info) Mode() os.FileMode {
	if i.dir {
		return os.ModeDir | 0o755
	}
	return 0o644
}

// compact drops neighbours that are equal.
func compact(sorted []string) []string {
	out := sorted[:0:0]
	for i, s := range sorted {
		if i == 0 || s != sorted[i-1] {
			out = append(out, s)
		}
	}
	return out
}
