package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/tidegate/tidegate/internal/catalog"
	"github.com/tidegate/tidegate/internal/config"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/report"
	"github.com/tidegate/tidegate/internal/source"
	"github.com/tidegate/tidegate/internal/starter"
	"github.com/tidegate/tidegate/reference"
)

// StartValues are a person's own names and addresses.
type StartValues = starter.Values

// Init writes the reference platform, with a person's values, into a directory that is empty or does not exist; it may
// hold a fresh git repository. A value that cannot be is a *UsageError, and then nothing is written.
func Init(req Request, dir string, v StartValues) (*report.Start, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(reference.FS, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files[p], err = reference.FS.ReadFile(p)
		return err
	})
	if err != nil {
		return nil, err
	}
	made, err := starter.New(files, v)
	if err != nil {
		return nil, &UsageError{err}
	}
	if err := rerender(made); err != nil {
		return nil, err
	}
	at := req.path(dir)
	entries, err := os.ReadDir(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, usage("%s: %v", dir, err)
	}
	for _, e := range entries {
		if e.Name() != ".git" {
			return nil, usage("%s is not empty (it holds %s): name a directory that is, or that does not exist", dir, e.Name())
		}
	}
	fresh := len(entries) == 0 && err != nil
	if err := os.MkdirAll(at, 0o755); err != nil {
		return nil, err
	}
	if err := place(at, creations(made)); err != nil {
		if fresh {
			_ = os.Remove(at)
		}
		return nil, err
	}
	out := &report.Start{Directory: dir, Files: len(made)}
	for p := range made {
		if strings.HasSuffix(p, ".sops.yaml") && !strings.HasPrefix(p, "apps/wave-") && p != ".sops.yaml" {
			out.Encrypted = append(out.Encrypted, p)
		}
	}
	sort.Strings(out.Encrypted)
	return out, nil
}

// memory is a tree of files in memory.
type memory map[string][]byte

func (m memory) Paths() []string { return slices.Sorted(maps.Keys(m)) }

func (m memory) ReadFile(p string) ([]byte, error) {
	if data, ok := m[p]; ok {
		return data, nil
	}
	return nil, &fs.PathError{Op: "read", Path: p, Err: fs.ErrNotExist}
}

// rerender makes the catalog's output of files whose names and addresses were replaced: checksums in it follow.
func rerender(files map[string][]byte) error {
	conf, err := config.Parse(config.FileName, files[config.FileName])
	if err != nil {
		return err
	}
	plan, problems, err := catalog.Render(memory(files), memory{}, CatalogSettings(conf), false)
	if err != nil {
		return err
	}
	if len(problems) > 0 {
		return fmt.Errorf("the new repository's catalog: %s:%d: %s", problems[0].Place.File, problems[0].Place.Line, problems[0].Message)
	}
	for _, c := range plan.Changes {
		if delete(files, c.Path); c.New != nil {
			files[c.Path] = c.New
		}
	}
	return nil
}

func (r *repository) environment(name string) *model.Environment {
	for _, e := range r.Environments {
		if e.Name == name {
			return e
		}
	}
	return nil
}

func creations(files map[string][]byte) (out []catalog.Change) {
	for p, data := range files {
		out = append(out, catalog.Change{Path: p, New: data})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Path < out[j].Path })
	return out
}

// AddEnvironment writes a further environment into a repository, made like one that there is.
func AddEnvironment(ctx context.Context, req Request, name, like, lan string) (*report.Start, error) {
	r, err := scanned(ctx, req, false)
	if err != nil {
		return nil, err
	}
	dir, ok := r.tree.(*source.Dir)
	if !ok {
		return nil, usage("the reference platform within the program cannot be written: tidegate init DIR makes a repository of it")
	}
	l := starter.Like{Name: like}
	for _, e := range r.Environments {
		if e.Name == like {
			l.Entry = e.Entry
		}
		if e.Name == name {
			return nil, usage("there is an environment %s already, in %s", name, e.Entry)
		}
	}
	if l.Entry == "" {
		return nil, usage("there is no environment %s to be like: there are %s", like, strings.Join(r.Names, ", "))
	}
	if r.conf != nil {
		if k := r.conf.Knobs; k != nil {
			l.Knobs = k.LAN
		}
		l.Values = (&bootstrap{repository: r, env: r.environment(like)}).knobs(r.conf)
		c := r.conf.Environments[like]
		l.LAN = c.LAN
		for _, n := range c.Nodes {
			l.Nodes = append(l.Nodes, n.Name)
		}
	}
	files := map[string][]byte{}
	for _, e := range r.tree.Entries() {
		if e.Kind == source.Regular && (strings.HasPrefix(e.Path, l.Entry+"/") || e.Path == config.FileName || strings.HasPrefix(e.Path, filepath.ToSlash(filepath.Dir(l.Entry))+"/"+name+"/")) {
			if files[e.Path], err = r.tree.ReadFile(e.Path); err != nil {
				return nil, err
			}
		}
	}
	made, undecided, err := starter.AddEnvironment(files, l, name, lan)
	if err != nil {
		return nil, &UsageError{err}
	}
	changes := creations(made)
	for i := range changes {
		changes[i].Old = files[changes[i].Path]
	}
	if err := place(dir.Root(), changes); err != nil {
		return nil, err
	}
	out := &report.Start{Directory: r.tree.Label(), Files: len(made), Undecided: undecided, Environment: name}
	for _, c := range changes {
		out.Written = append(out.Written, c.Path)
	}
	return out, nil
}

// Bootstrap says what must be done, once, for an environment's cluster before Flux has it. It does none of it.
func Bootstrap(ctx context.Context, req Request, name string) (*report.Bootstrap, error) {
	req.Environments = []string{name}
	r, err := scanned(ctx, req, false)
	if err != nil {
		return nil, err
	}
	b := &bootstrap{repository: r, env: r.Environments[0]}
	return b.report()
}
