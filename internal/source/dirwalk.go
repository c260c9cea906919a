package source

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/tidegate/tidegate/internal/source/gitwork"
)

// enterWorkTree finds the work tree around the directory and what is in force inside the directory itself: the patterns, and whether git
// ignores it altogether.
func (w *walker) enterWorkTree() (scope *gitwork.Scope, ignored bool) {
	repo, err := gitwork.Find(w.dir.root)
	if err != nil {
		w.dir.warnf("%v; all files are listed, ignored ones too", err)
		return nil, false
	}
	if repo == nil {
		return nil, false
	}
	rel, err := filepath.Rel(repo.Root, w.dir.root)
	if err != nil {
		return nil, false
	}
	if rel != "." {
		w.prefix = filepath.ToSlash(rel)
	}
	w.repo, w.dir.workTree = repo, repo.Root
	var warnings []string
	w.config, warnings = repo.ReadConfig(os.LookupEnv)
	w.dir.warnings = append(w.dir.warnings, warnings...)
	if w.index, err = repo.ReadIndex(w.config); err != nil {
		w.dir.warnf("the git index is not read, so tracked files that match an ignore pattern are left out: %v", err)
	}
	scope, warnings = repo.StandardExcludes(w.config)
	w.dir.warnings = append(w.dir.warnings, warnings...)

	// The directories between the root of the work tree and the directory.
	for i := 0; i < len(w.prefix); i++ {
		if w.prefix[i] != '/' {
			continue
		}
		if scope, ignored = w.enterAbove(w.prefix[:i], scope); ignored {
			return scope, true
		}
	}
	if w.prefix != "" {
		scope, ignored = w.enterAbove(w.prefix, scope)
	}
	return scope, ignored
}

// enterAbove goes down into wt, the directory itself or one around it: it reads the .gitignore of the parent and judges wt by it.
func (w *walker) enterAbove(wt string, scope *gitwork.Scope) (*gitwork.Scope, bool) {
	parent := path.Dir(wt)
	if parent == "." {
		parent = ""
	}
	fi, err := os.Lstat(filepath.Join(w.repo.Root, filepath.FromSlash(parent), ".gitignore"))
	if err == nil && fi.Mode().IsRegular() {
		scope = w.withIgnoreFile(parent, scope)
	}
	ignored, rule := scope.Ignored(wt, true)
	if ignored {
		w.dir.warnf("git ignores %s (pattern %q in %s, line %d), so only tracked files are listed", wt, rule.Text, rule.File, rule.Line)
	}
	return scope, ignored
}

func (w *walker) withIgnoreFile(wt string, scope *gitwork.Scope) *gitwork.Scope {
	rules, err := w.repo.ReadIgnoreFile(wt, w.config.IgnoreCase)
	if err != nil {
		w.dir.warnf("an ignore file is not applied: %v", err)
		return scope
	}
	return scope.With(rules)
}

// walk lists rel, "" for the directory itself. If ignored, only tracked files count.
func (w *walker) walk(rel string, scope *gitwork.Scope, ignored bool) error {
	list, err := os.ReadDir(w.abs(rel))
	if err != nil {
		if rel == "" {
			return relabel("open", w.dir.label, err)
		}
		w.problem(rel, err)
	}
	if w.repo != nil && !ignored {
		for _, de := range list {
			if de.Name() == ".gitignore" && de.Type().IsRegular() {
				scope = w.withIgnoreFile(w.wt(rel), scope)
			}
		}
	}
	for _, de := range list {
		name := de.Name()
		if name == ".git" || w.config.IgnoreCase && strings.EqualFold(name, ".git") {
			continue
		}
		child := name
		if rel != "" {
			child = rel + "/" + name
		}
		if de.IsDir() {
			err = w.directory(child, scope, ignored)
		} else {
			err = w.file(child, de, scope, ignored)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// directory decides whether to go down into rel, as git's dir.c does in treat_directory.
func (w *walker) directory(rel string, scope *gitwork.Scope, ignored bool) error {
	if w.repo == nil {
		return w.walk(rel, scope, false)
	}
	wt := w.wt(rel)
	if w.index.IsSubmodule(wt) {
		w.dir.submodules = append(w.dir.submodules, rel)
		return nil
	}
	if !ignored {
		ignored, _ = scope.Ignored(wt, true)
	}
	if !w.index.HasDir(wt) && (ignored || gitwork.IsNested(w.abs(rel))) {
		return nil
	}
	return w.walk(rel, scope, ignored)
}

func (w *walker) file(rel string, de fs.DirEntry, scope *gitwork.Scope, ignored bool) error {
	if w.repo != nil {
		wt := w.wt(rel)
		if w.index.IsSubmodule(wt) {
			return nil // a file in the place of a submodule is not what git has there
		}
		if !w.index.Contains(wt) {
			if ignored {
				return nil
			}
			if out, _ := scope.Ignored(wt, false); out {
				return nil
			}
		}
	}
	e := Entry{Path: rel}
	switch {
	case de.Type().IsRegular():
		fi, err := de.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed while we looked
		}
		if err != nil {
			w.problem(rel, err) // and listed: reading it will fail by name
			break
		}
		e.Size = fi.Size()
	case de.Type()&fs.ModeSymlink != 0:
		e.Kind = Symlink
		target, err := os.Readlink(w.abs(rel))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			w.problem(rel, err)
		}
		e.Target = target
	default:
		e.Kind = Irregular
	}
	if len(w.entries) >= maxEntries {
		return &fs.PathError{Op: "open", Path: w.dir.label, Err: fmt.Errorf("holds more than %d files: name the repository's directory, or have git ignore what does not belong to it", maxEntries)}
	}
	w.entries = append(w.entries, e)
	return nil
}

func (w *walker) problem(rel string, err error) {
	w.dir.problems = append(w.dir.problems, Problem{Path: rel, Err: relabel("list", rel, err)})
}

func (w *walker) abs(rel string) string {
	if rel == "" {
		return w.dir.root
	}
	return w.dir.root + string(filepath.Separator) + filepath.FromSlash(rel)
}

func (w *walker) wt(rel string) string {
	switch {
	case w.prefix == "":
		return rel
	case rel == "":
		return w.prefix
	default:
		return w.prefix + "/" + rel
	}
}
