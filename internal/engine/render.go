// Package engine does a verb's work as one call: repository and options in, report out. It prints nothing and knows no
// flags.
package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidegate/tidegate/internal/config"
	"github.com/tidegate/tidegate/internal/flux"
	"github.com/tidegate/tidegate/internal/render"
	"github.com/tidegate/tidegate/internal/report"
	"github.com/tidegate/tidegate/internal/scan"
	"github.com/tidegate/tidegate/internal/sops"
	"github.com/tidegate/tidegate/internal/source"
	"github.com/tidegate/tidegate/internal/spell"
	"github.com/tidegate/tidegate/reference"
)

// Request is what a render works on. The zero value renders the embedded reference platform.
type Request struct {
	// Repo is a directory. Empty: the Flux repository around Dir, else the embedded reference platform.
	Repo string
	// Tree is taken instead of a directory when it is set.
	Tree source.Tree
	Dir  string // the working directory; relative paths of files count from it

	Entries        []string // NAME=PATH
	Environments   []string // names; empty renders all
	ClusterObjects []string // files of objects that the cluster holds before Flux
	Vars           []string // ENV=FILE
	AgeKeyFile     string
	FluxVersion    string // empty: flux.DefaultVersion, unless tidegate.yaml says otherwise
	Applied        bool
	ShowSecrets    bool
	Workers        int
	Origins        bool // the report says where each value comes from

	Getenv   func(string) string // the environment variables that name keys
	Progress func(environment string, units int)
}

// UsageError is a mistake in the request itself.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

func usage(format string, args ...any) error { return &UsageError{fmt.Errorf(format, args...)} }

// Render renders a repository. The error is a *UsageError when the request is wrong, a *scan.NoEnvironmentError when
// there is nothing to render, and otherwise says why it could not run. What fails in a unit is in the report.
func Render(ctx context.Context, req Request) (*report.Render, error) {
	start := time.Now()
	r, err := scanned(ctx, req, req.Origins)
	if err != nil {
		return nil, err
	}
	if req.Applied {
		for _, env := range r.Environments {
			scan.Apply(env, req.ShowSecrets)
		}
	}
	return report.NewRender(r.tree.Label(), r.Environments, r.Warnings, req.Applied, req.ShowSecrets, time.Since(start)), nil
}

// repository is a repository with its environments rendered.
type repository struct {
	*scan.Result
	tree     source.Tree
	conf     *config.Config // nil without tidegate.yaml
	embedded bool           // it is the reference platform within the program
}

// scanned renders the environments of a request. traced keeps where values come from.
func scanned(ctx context.Context, req Request, traced bool) (*repository, error) {
	if req.Getenv == nil {
		req.Getenv = func(string) string { return "" }
	}
	version := req.FluxVersion
	if version == "" {
		version = flux.DefaultVersion
	}
	behaviour, err := flux.For(version)
	if err != nil {
		return nil, &UsageError{err}
	}
	tree, warnings := req.Tree, []string(nil)
	if tree == nil {
		if tree, warnings, err = Open(req.Repo, req.Dir); err != nil {
			return nil, err
		}
	}
	conf, err := loadConfig(tree)
	if err != nil {
		return nil, err
	}
	keys, err := req.keys(ctx)
	if err != nil {
		return nil, err
	}
	o := scan.Options{
		Tree: tree, Config: conf, Only: req.Environments, FluxGiven: req.FluxVersion != "",
		Builder: &render.Builder{Flux: behaviour, Keys: keys, Trace: traced}, ShowSecrets: req.ShowSecrets, Workers: req.Workers, Progress: req.Progress,
	}
	if o.Entries, err = req.entries(ctx, tree); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, err
	}
	if err := req.assume(ctx, &o, tree, conf); err != nil {
		return nil, err
	}
	res, err := scan.Scan(ctx, o)
	if err != nil {
		var none *scan.NoEnvironmentError
		if errors.As(err, &none) && res != nil {
			// What was not read may be why.
			for _, w := range append(warnings, res.Warnings...) {
				err = fmt.Errorf("%w\n  %s", err, w)
			}
		}
		if none != nil && none.Asked != "" {
			err = &UsageError{err}
		}
		return nil, err
	}
	strange, err := req.strangers(conf, res.Names)
	if err != nil {
		return nil, err
	}
	res.Warnings = slices.Concat(warnings, strange, res.Warnings)
	_, isDir := tree.(*source.Dir)
	return &repository{res, tree, conf, req.Tree == nil && !isDir}, nil
}

// strangers finds what is said of environments that there are not: in tidegate.yaml it is a warning, in a flag a mistake.
func (r *Request) strangers(conf *config.Config, names []string) (warnings []string, err error) {
	there := fmt.Sprintf("there are %s", strings.Join(names, ", "))
	if len(names) == 1 {
		there = "there is " + names[0]
	}
	for _, arg := range r.Vars {
		if env, _, _ := strings.Cut(arg, "="); !slices.Contains(names, env) {
			return nil, usage("--vars %s: there is no environment %s: %s", arg, env, there)
		}
	}
	if conf == nil || len(r.Entries) > 0 {
		return nil, nil
	}
	for _, name := range conf.Names() {
		if !slices.Contains(names, name) {
			w := fmt.Sprintf("%s speaks of an environment %s, and has no path for it: %s", config.FileName, name, there)
			if near := spell.Nearest(name, names, 2); near != "" {
				w += "; did you mean " + near + "?"
			}
			warnings = append(warnings, w)
		}
	}
	return warnings, nil
}

// Open gives the tree of a repository, and warnings about what of it could not be read.
func Open(repo, dir string) (source.Tree, []string, error) {
	if repo != "" {
		if !filepath.IsAbs(repo) && dir != "" {
			repo = filepath.Join(dir, repo)
		}
		return open(repo)
	}
	if dir != "" {
		for _, at := range []string{gitRoot(dir), dir} {
			if at == "" {
				continue
			}
			tree, warnings, err := open(at)
			if err != nil {
				continue
			}
			if isFluxRepository(tree) {
				return tree, warnings, nil
			}
		}
	}
	tree, err := source.FromFS("the embedded reference platform", reference.FS)
	return tree, nil, err
}

func open(dir string) (source.Tree, []string, error) {
	fi, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, usage("%s does not exist", dir)
	case err != nil:
		return nil, nil, err
	case !fi.IsDir():
		return nil, nil, usage("%s is not a directory: name the repository's directory, and a file of Flux objects with --entry NAME=FILE", dir)
	}
	tree, err := source.OpenDir(dir)
	if err != nil {
		return nil, nil, err
	}
	warnings := slices.Clone(tree.Warnings())
	for _, p := range tree.Problems() {
		warnings = append(warnings, fmt.Sprintf("%s could not be read and is left out: %v", p.Path, p.Err))
	}
	return tree, warnings, nil
}

// gitRoot is the top of the work tree around dir; empty when there is none.
func gitRoot(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
}

func isFluxRepository(tree source.Tree) bool {
	for _, e := range tree.Entries() {
		if e.Path == config.FileName {
			return true
		}
	}
	a, err := source.NewArtifact(tree, source.ArtifactOptions{})
	if err != nil {
		return false
	}
	found, _ := scan.Discover(a)
	return len(found) > 0
}

func loadConfig(tree source.Tree) (*config.Config, error) {
	for _, e := range tree.Entries() {
		if e.Path != config.FileName {
			continue
		}
		data, err := tree.ReadFile(e.Path)
		if err != nil {
			return nil, err
		}
		conf, err := config.Parse(config.FileName, data)
		if err != nil {
			return nil, &UsageError{err}
		}
		return conf, nil
	}
	return nil, nil
}

func (r *Request) keys(ctx context.Context) (*sops.Keys, error) {
	keys, _, err := sops.LoadKeys(r.path(r.AgeKeyFile), r.Getenv, func(name string) ([]byte, error) { return readFile(ctx, name) })
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, &UsageError{err}
	}
	return keys, nil
}

// path gives a path of the command line as the process can open it.
func (r *Request) path(p string) string {
	if p == "" || filepath.IsAbs(p) || r.Dir == "" {
		return p
	}
	return filepath.Join(r.Dir, p)
}

// entries reads NAME=PATH. PATH is a folder or file of the repository, or else a file of this machine.
func (r *Request) entries(ctx context.Context, tree source.Tree) ([]scan.Entry, error) {
	var out []scan.Entry
	seen := map[string]bool{}
	for _, arg := range r.Entries {
		name, p, ok := strings.Cut(arg, "=")
		if !ok || name == "" || p == "" {
			return nil, usage("--entry %q: write it as NAME=PATH", arg)
		}
		if !config.ValidName(name) {
			return nil, usage("--entry %q: a name is made of letters, digits, '-', '_' and '.'", arg)
		}
		if seen[name] {
			return nil, usage("--entry: two environments are called %q", name)
		}
		seen[name] = true
		e := scan.Entry{Name: name, How: "--entry"}
		if e.Path, e.File = r.entryPath(ctx, tree, p); e.Path == "" {
			return nil, usage("--entry %q: there is no folder or file %s in %s", arg, p, tree.Label())
		}
		out = append(out, e)
	}
	return out, nil
}

func (r *Request) entryPath(ctx context.Context, tree source.Tree, p string) (inRepo string, file []byte) {
	candidates := []string{path.Clean(filepath.ToSlash(p))}
	if dir, ok := tree.(*source.Dir); ok {
		if root, err := filepath.Abs(r.path(dir.Label())); err == nil {
			if abs, err := filepath.Abs(r.path(p)); err == nil {
				if in, err := filepath.Rel(root, abs); err == nil {
					candidates = append(candidates, filepath.ToSlash(in))
				}
			}
		}
	}
	for _, c := range candidates {
		if path.IsAbs(c) || c == ".." || strings.HasPrefix(c, "../") {
			continue
		}
		if data, err := tree.ReadFile(c); err == nil {
			return c, data
		}
		for _, e := range tree.Entries() {
			if c == "." || strings.HasPrefix(e.Path, c+"/") {
				return c, nil
			}
		}
	}
	if data, err := readFile(ctx, r.path(p)); err == nil {
		return p, data
	}
	return "", nil
}

// assume reads what the cluster holds and which values the user gives.
func (r *Request) assume(ctx context.Context, o *scan.Options, tree source.Tree, conf *config.Config) error {
	for _, f := range r.ClusterObjects {
		data, err := readFile(ctx, r.path(f))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return usage("--cluster-objects: %v", err)
		}
		objects, err := scan.ParseObjects(f, data)
		if err != nil {
			return usage("--cluster-objects: %v", err)
		}
		o.Cluster = append(o.Cluster, objects...)
		for _, c := range objects {
			if (c.Ref.Kind == "ConfigMap" || c.Ref.Kind == "Secret") && c.Ref.Namespace == "" {
				return usage("--cluster-objects %s: %s %s has no metadata.namespace, so no Kustomization would read it: add one", f, c.Ref.Kind, c.Ref.Name)
			}
		}
	}
	o.Given = map[string]map[string]render.Value{}
	o.Assumed = map[string][]scan.ClusterObject{}
	if conf != nil {
		for _, name := range conf.Names() {
			for k, v := range conf.Environments[name].Vars {
				give(o.Given, name, k, v, config.FileName+", environments."+name+".vars")
			}
			if err := readAssumed(o, tree, name, append(append([]string{}, conf.Assumes...), conf.Environments[name].Assumes...)); err != nil {
				return err
			}
		}
		if len(conf.Environments) == 0 {
			if err := readAssumed(o, tree, "", conf.Assumes); err != nil {
				return err
			}
		}
	}
	for _, arg := range r.Vars {
		if err := r.vars(ctx, o, arg); err != nil {
			return err
		}
	}
	return nil
}

func readAssumed(o *scan.Options, tree source.Tree, env string, files []string) error {
	for _, f := range files {
		data, err := tree.ReadFile(path.Clean(f))
		if err != nil {
			return usage("%s: assumes %s: %v", config.FileName, f, err)
		}
		objects, err := scan.ParseObjects(f, data)
		if err != nil {
			return usage("%s: assumes: %v", config.FileName, err)
		}
		o.Assumed[env] = append(o.Assumed[env], objects...)
	}
	return nil
}

// give adds a value that a user gives, and where it is from.
func give(m map[string]map[string]render.Value, env, k, v, from string) {
	if m[env] == nil {
		m[env] = map[string]render.Value{}
	}
	m[env][k] = render.Value{Text: v, Source: from}
}
