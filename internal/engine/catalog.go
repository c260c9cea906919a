package engine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/tidegate/tidegate/internal/catalog"
	"github.com/tidegate/tidegate/internal/config"
	"github.com/tidegate/tidegate/internal/report"
	"github.com/tidegate/tidegate/internal/source"
)

// CatalogRequest is what a render of the catalog works on.
type CatalogRequest struct {
	Request
	// Cutover makes steps of a change of waves that is refused otherwise.
	Cutover bool
	// Undeployed: no cluster runs the repository yet, so that apps change their waves at once.
	Undeployed bool
	// GraphOnly: only the apps and their waves are asked for.
	GraphOnly bool
	// Write puts the result into the repository; without it the report says what would change.
	Write bool
}

// treeFiles is a tree as the catalog reads it.
type treeFiles struct {
	tree  source.Tree
	paths []string
}

// nothing is a tree without files.
type nothing struct{}

func (nothing) Label() string           { return "nothing" }
func (nothing) Entries() []source.Entry { return nil }
func (nothing) ReadFile(p string) ([]byte, error) {
	return nil, &fs.PathError{Op: "read", Path: p, Err: fs.ErrNotExist}
}

func filesOf(tree source.Tree) *treeFiles {
	f := &treeFiles{tree: tree}
	for _, e := range tree.Entries() {
		if e.Kind == source.Regular {
			f.paths = append(f.paths, e.Path)
		}
	}
	return f
}

func (f *treeFiles) Paths() []string                   { return f.paths }
func (f *treeFiles) ReadFile(p string) ([]byte, error) { return f.tree.ReadFile(p) }

// CatalogSettings fills in what tidegate.yaml leaves out.
func CatalogSettings(conf *config.Config) catalog.Settings {
	c := config.Catalog{}
	var knobs *config.Knobs
	if conf != nil {
		if conf.Catalog != nil {
			c = *conf.Catalog
		}
		knobs = conf.Knobs
	}
	s := catalog.Settings{
		Dir: cmp.Or(c.Dir, "catalog"), Apps: cmp.Or(c.Apps, "apps"), Clusters: cmp.Or(c.Clusters, "clusters/base"),
		Tiers: c.Tiers, After: cmp.Or(c.After, "platform-config"),
		Gateway: cmp.Or(c.Gateway, "gateway/shared/https"), StorageClass: cmp.Or(c.StorageClass, "longhorn-apps"), LAN: cmp.Or(c.LAN, "${LAN_CIDR}"),
		Issuer: c.Login.Issuer, LoginNeeds: cmp.Or(c.Login.Needs, "keycloak"),
		DatabaseImage: c.Database.Image, DatabaseInstances: cmp.Or(c.Database.Instances, "${REPLICAS_DATABASE}"),
		DatabaseRetention: cmp.Or(c.Database.Retention, "${RETENTION_DATABASE}"), DatabaseEndpoint: cmp.Or(c.Database.Endpoint, "${S3_BACKUP_ENDPOINT}"),
		DatabaseBucket: cmp.Or(c.Database.Bucket, "s3://databases/"),
	}
	if s.Tiers == nil {
		s.Tiers = []string{"platform", "platform-config"}
	}
	source := "ConfigMap flux-system/cluster-vars"
	if knobs != nil && knobs.Source != "" {
		source = knobs.Source
	}
	s.Knobs = objectName(source)
	return s
}

// Catalog renders the catalog of a repository: it says what would change, and with req.Write changes it. The report has
// problems instead when anything speaks against it; nothing is written then.
func Catalog(ctx context.Context, req CatalogRequest) (*report.Catalog, error) {
	tree, warnings, err := req.open()
	if err != nil {
		return nil, err
	}
	conf, err := loadConfig(tree)
	if err != nil {
		return nil, err
	}
	files := filesOf(tree)
	committed := catalog.Files(files)
	dir, isDir := tree.(*source.Dir)
	if req.Write && !isDir {
		return nil, usage("the reference platform within the program cannot be written: tidegate init DIR makes a repository of it")
	}
	if req.Undeployed || !req.Write && req.GraphOnly {
		committed = &treeFiles{tree: nothing{}}
	} else if isDir {
		head, err := source.OpenHead(dir.Root())
		if err != nil {
			return nil, err
		}
		if head != nil {
			committed = filesOf(head)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !isFluxRepository(tree) {
		return nil, usage("%s is no Flux repository: there is nothing that could apply what a catalog makes", tree.Label())
	}
	if req.Undeployed {
		if at := bootstrapped(files); at != "" {
			return nil, usage("--undeployed: %s is what flux bootstrap writes, so a cluster runs this repository: use --cutover", at)
		}
	}
	if isDir {
		if err := unlisted(dir, CatalogSettings(conf)); err != nil {
			return nil, err
		}
	}
	plan, problems, err := catalog.Render(files, committed, CatalogSettings(conf), req.Cutover)
	if err != nil {
		return nil, err
	}
	out := catalogReport(tree.Label(), plan, problems)
	out.Warnings = append(out.Warnings, warnings...)
	if len(problems) > 0 || !req.Write {
		return out, nil
	}
	if err := place(dir.Root(), plan.Changes); err != nil {
		return nil, err
	}
	out.Written = true
	return out, nil
}

// unlisted refuses a repository of whose catalog or output something is not listed, because it is a link, cannot be read, is ignored
// by git or is another repository: what is not seen would be taken for deleted, or written over.
func unlisted(dir *source.Dir, s catalog.Settings) error {
	within := func(p string) bool {
		for _, d := range []string{s.Dir, s.Apps, s.Clusters} {
			if p == d || strings.HasPrefix(p, d+"/") || strings.HasPrefix(d, p+"/") {
				return true
			}
		}
		return false
	}
	listed := map[string]bool{}
	for _, e := range dir.Entries() {
		listed[e.Path] = true
		if e.Kind != source.Regular && within(e.Path) {
			return usage("%s is a %s: the catalog works on files and folders that are in the repository themselves", e.Path, e.Kind)
		}
	}
	for _, p := range dir.Problems() {
		if within(p.Path) {
			return usage("%s could not be read (%v), so what the catalog makes is not known", p.Path, p.Err)
		}
	}
	root, err := os.OpenRoot(dir.Root())
	if err != nil {
		return err
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return usage("%s could not be read: %v", s.Dir, err)
	}
	for _, e := range entries {
		if p := s.Dir + "/" + e.Name(); strings.HasSuffix(p, ".yaml") && !e.IsDir() && !listed[p] {
			return usage("%s is ignored by git, so that other checkouts would not have the app", p)
		}
	}
	return nil
}

// bootstrapped finds the file that flux bootstrap leaves in an overlay; empty when there is none.
func bootstrapped(files *treeFiles) string {
	for _, p := range files.paths {
		if strings.HasSuffix(p, "flux-system/gotk-sync.yaml") || strings.HasSuffix(p, "flux-system/gotk-components.yaml") {
			return p
		}
	}
	return ""
}

func (r *Request) open() (source.Tree, []string, error) {
	if r.Tree != nil {
		return r.Tree, nil, nil
	}
	return Open(r.Repo, r.Dir)
}

func catalogReport(label string, plan *catalog.Plan, problems []catalog.Problem) *report.Catalog {
	out := report.NewCatalog(label)
	for _, p := range problems {
		out.Problems = append(out.Problems, report.CatalogProblem{File: p.Place.File, Line: p.Place.Line, Column: p.Place.Column, Message: p.Message, Fix: p.Fix})
	}
	if plan.Catalog != nil {
		out.Provided = append(out.Provided, plan.Catalog.Provided...)
		for _, a := range plan.Catalog.Apps {
			out.Apps = append(out.Apps, catalogApp(plan.Catalog, a))
		}
	}
	if plan.Output == nil {
		return out
	}
	for _, c := range plan.Changes {
		action := "change"
		switch {
		case c.Old == nil:
			action = "create"
		case c.New == nil:
			action = "delete"
		}
		text := string(diff.Diff(c.Path, c.Old, c.Path, c.New))
		out.Changes = append(out.Changes, report.CatalogChange{Path: c.Path, Action: action, Diff: text})
	}
	for _, m := range plan.Output.Missing {
		out.Missing = append(out.Missing, report.CatalogSecret{App: m.App, File: m.Path, Example: m.Example})
	}
	out.Left = append(out.Left, plan.Left...)
	out.Next = append(out.Next, plan.Next...)
	if plan.Moves != nil {
		out.Cutover = plan.Moves.Step
	}
	return out
}

func catalogApp(c *catalog.Catalog, a *catalog.App) report.CatalogApp {
	app := report.CatalogApp{Name: a.Name, File: a.File, Wave: a.Wave, Needs: append([]string{}, c.Needs(a)...), Database: a.Database != nil, Storage: []string{}}
	if a.Route != nil {
		app.Host = a.Route.Host
	}
	if a.L4 != nil {
		app.Address = a.L4.Address
	}
	for _, v := range a.Storage {
		if !v.Scratch {
			app.Storage = append(app.Storage, v.Name)
		}
	}
	return app
}

// place writes changes as one: everything is written beside the repository's files first, and then put into their places. When that
// fails, what was replaced is put back.
func place(dir string, changes []catalog.Change) (err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	const staging = ".tidegate-writing"
	if err := root.Mkdir(staging, 0o700); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%s is there: another tidegate writes here, or one was killed; remove it if none runs", staging)
		}
		return err
	}
	defer func() {
		if cerr := root.RemoveAll(staging); err == nil {
			err = cerr
		}
	}()
	for i, c := range changes {
		if c.New == nil {
			continue
		}
		if err := root.WriteFile(staged(staging, i), c.New, 0o644); err != nil {
			return err
		}
	}
	for i, c := range changes {
		if err := placeOne(root, staged(staging, i), c); err != nil {
			for _, done := range changes[:i] { // the one that failed is as it was
				undo(root, done)
			}
			return fmt.Errorf("nothing was changed: %w", err)
		}
	}
	return nil
}

func staged(dir string, i int) string { return fmt.Sprintf("%s/%d", dir, i) }

func placeOne(root *os.Root, from string, c catalog.Change) error {
	if err := plainFolders(root, c.Path); err != nil {
		return err
	}
	switch now, err := current(root, c.Path); {
	case err != nil:
		return err
	case c.Old == nil && now != nil:
		return fmt.Errorf("%s is there and was not seen: git ignores it, or it is in another repository; move it away", c.Path)
	case c.Old != nil && !bytes.Equal(now, c.Old):
		return fmt.Errorf("%s changed in the meantime", c.Path)
	}
	if c.New == nil {
		if err := root.Remove(c.Path); err != nil {
			return err
		}
		for d := path.Dir(c.Path); d != "."; d = path.Dir(d) {
			if root.Remove(d) != nil { // it is not empty
				break
			}
		}
		return nil
	}
	if d := path.Dir(c.Path); d != "." {
		if err := root.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	if fi, err := root.Lstat(c.Path); err == nil {
		if err := root.Chmod(from, fi.Mode().Perm()); err != nil {
			return err
		}
	}
	return root.Rename(from, c.Path)
}

// plainFolders refuses a path of which a folder is a link: what lies behind it is not the repository's.
func plainFolders(root *os.Root, p string) error {
	for d := path.Dir(p); d != "."; d = path.Dir(d) {
		if fi, err := root.Lstat(d); err == nil && !fi.IsDir() {
			return fmt.Errorf("%s is no folder of the repository itself", d)
		}
	}
	return nil
}

// current gives the bytes of a file, never nil for one that is there; nil for one that is not.
func current(root *os.Root, p string) ([]byte, error) {
	fi, err := root.Lstat(p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !fi.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file: remove it", p)
	}
	data, err := root.ReadFile(p)
	if data == nil {
		data = []byte{}
	}
	return data, err
}

func undo(root *os.Root, c catalog.Change) {
	if c.Old == nil {
		_ = root.Remove(c.Path)
		return
	}
	_ = root.MkdirAll(path.Dir(c.Path), 0o755)
	_ = root.WriteFile(c.Path, c.Old, 0o644)
}
