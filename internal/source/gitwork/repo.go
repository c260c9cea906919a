package gitwork

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A Repo says where the parts of a repository with a work tree are. All paths are absolute.
type Repo struct {
	Root      string // the work tree's top directory
	GitDir    string // holds HEAD and index: one for each work tree
	CommonDir string // holds config, objects, info/exclude: one for all linked work trees
}

// Find returns the repository whose work tree dir lies in, or nil when there is none. dir must be absolute and free of symbolic links. An
// error means that a ".git" file stands in the way that leads nowhere; git refuses to work there.
func Find(dir string) (*Repo, error) {
	for {
		r, err := at(dir)
		if r != nil || err != nil {
			return r, err
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return nil, nil
		}
		dir = parent
	}
}

// IsNested reports whether dir has a repository of its own, as git decides it when it meets dir while walking an outer work tree.
func IsNested(dir string) bool {
	r, err := at(dir)
	return r != nil || errors.Is(err, fs.ErrPermission)
}

func at(dir string) (*Repo, error) {
	dot := filepath.Join(dir, ".git")
	fi, err := os.Stat(dot)
	if err != nil {
		return nil, nil
	}
	if fi.IsDir() {
		if common, ok := gitDirectory(dot); ok {
			return &Repo{Root: dir, GitDir: dot, CommonDir: common}, nil
		}
		return nil, nil
	}
	if !fi.Mode().IsRegular() {
		return nil, nil
	}
	text, err := readSmall(dot)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", dot, cause(err))
	}
	target, ok := strings.CutPrefix(strings.TrimRight(text, "\r\n"), "gitdir: ")
	if !ok || target == "" {
		return nil, fmt.Errorf(`%s is a file without a "gitdir:" line: remove it, or recreate the work tree with git`, dot)
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(dir, target)
	}
	common, ok := gitDirectory(target)
	if !ok {
		return nil, fmt.Errorf("%s leads to %s, which is not a repository: run git worktree repair, or git submodule update", dot, target)
	}
	return &Repo{Root: dir, GitDir: filepath.Clean(target), CommonDir: common}, nil
}

// gitDirectory reports whether dir is the inside of a repository, by the signs that git's setup.c asks for, and where its common part is.
func gitDirectory(dir string) (common string, ok bool) {
	common = filepath.Clean(dir)
	if text, err := readSmall(filepath.Join(dir, "commondir")); err == nil {
		common = strings.TrimRight(text, "\r\n")
		if !filepath.IsAbs(common) {
			common = filepath.Join(dir, common)
		}
	}
	for _, sub := range []string{"objects", "refs"} {
		if fi, err := os.Stat(filepath.Join(common, sub)); err != nil || !fi.IsDir() {
			return "", false
		}
	}
	head := filepath.Join(dir, "HEAD")
	if target, err := os.Readlink(head); err == nil {
		return common, strings.HasPrefix(target, "refs/")
	}
	text, err := readSmall(head)
	if err != nil {
		return "", false
	}
	if ref, ok := strings.CutPrefix(text, "ref:"); ok {
		return common, strings.HasPrefix(strings.TrimLeft(ref, " \t\r\n"), "refs/")
	}
	id := strings.TrimRight(text, "\r\n")
	return common, len(id) >= 40 && strings.Trim(id[:40], "0123456789abcdefABCDEF") == ""
}

const (
	maxSmallFile  = 64 << 10 // .git, commondir, HEAD
	maxIgnoreFile = 4 << 20
	maxConfigFile = 4 << 20
	maxIndexFile  = 512 << 20
)

func readSmall(path string) (string, error) {
	data, err := readRegular(path, maxSmallFile)
	return string(data), err
}

// readRegular reads a regular file of at most limit bytes, following symbolic links. It never waits on a pipe.
func readRegular(path string, limit int64) ([]byte, error) {
	fi, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errNotRegular}
	}
	if fi.Size() > limit {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("%d bytes, more than the %d that are read", fi.Size(), limit)}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := make([]byte, 0, fi.Size()+1)
	for int64(len(data)) <= limit {
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if err == io.EOF {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("grew beyond the %d bytes that are read", limit)}
}

var errNotRegular = errors.New("not a regular file")

// cause strips the path that the standard library puts into its errors, for messages that name the file themselves.
func cause(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// ReadIgnoreFile reads the .gitignore of one directory of the work tree. dir is relative to the work tree's root, "" for it. The caller
// knows that the file is there and is regular, as git does not follow a symbolic link here.
func (r *Repo) ReadIgnoreFile(dir string, fold bool) (*Rules, error) {
	name := ".gitignore"
	if dir != "" {
		name = dir + "/.gitignore"
	}
	data, err := readRegular(filepath.Join(r.Root, filepath.FromSlash(name)), maxIgnoreFile)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, cause(err))
	}
	return ParseRules(data, name, dir, fold), nil
}

// StandardExcludes returns what is in force in the whole work tree: core.excludesFile (by default git/ignore below XDG_CONFIG_HOME or
// ~/.config), and in front of it info/exclude. A file that is not there has no patterns; one that cannot be read becomes a warning.
func (r *Repo) StandardExcludes(c Config) (scope *Scope, warnings []string) {
	for _, f := range []struct{ label, path string }{
		{"core.excludesFile", c.ExcludesFile},
		{"info/exclude", filepath.Join(r.CommonDir, "info", "exclude")},
	} {
		if f.path == "" {
			continue
		}
		data, err := readRegular(f.path, maxIgnoreFile)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotRegular) {
			continue
		}
		if err != nil {
			warnings = append(warnings, fmt.Sprintf("%s (%s) is not applied: %v", f.label, f.path, cause(err)))
			continue
		}
		scope = scope.With(ParseRules(data, f.path, "", c.IgnoreCase))
	}
	return scope, warnings
}
