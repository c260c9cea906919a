package scan

import (
	"bytes"
	"fmt"
	"path"
	"sort"
	"strings"

	yaml3 "go.yaml.in/yaml/v3"

	"github.com/tidegate/tidegate/internal/flux"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/source"
)

// This file finds the environments of a repository that nobody named.
//
// The rules are:
//   - A bootstrapped gotk-sync.yaml, a FluxInstance with a sync path, and a HelmRelease of the flux-instance chart say
//     where a cluster starts. Each path is an environment.
//   - Besides, a folder that yields Flux Kustomizations is one when no other such folder includes it and no Flux
//     Kustomization has it, or a folder above it, for its path: clusters/prod, and not the base that it includes.
//     Where the first rule found some, only their neighbours count; else those below a folder called clusters or
//     the like, if there are any.

// Entry is where an environment starts.
type Entry struct {
	Name string
	Path string // directory or file, cleaned, relative to the repository
	// File is the content when the entry is a file of objects that somebody applies; nil for a directory.
	File []byte
	Root string // folder that is the artifact's root; empty when it is not known
	// How says how it was found, for a person.
	How string
	// Source, Unit and Version are what the repository says of the environment's own source, of its first
	// Kustomization and of its Flux version; zero when it says nothing.
	Source  model.SourceRef
	Unit    model.UnitID
	Version string
}

// listing is what discovery reads: paths and bytes.
type listing interface {
	Files() []string
	ReadFile(p string) ([]byte, error)
	Stat(p string) (isDir, ok bool)
}

// maxDiscoverySize bounds the files that discovery parses: what says where a cluster starts is small.
const maxDiscoverySize = 1 << 20

// Discover finds the environments of an artifact. warnings are for a person: what looked like one and is none.
func Discover(files listing) (entries []Entry, warnings []string) {
	d := &discovery{files: files, kustomizations: map[string]*kustomizationFile{}, fluxDocs: map[string][]string{}, fluxDirs: map[string]bool{}}
	for _, p := range files.Files() {
		d.file(p)
	}
	entries = d.declared
	entries = append(entries, d.folders()...)
	entries, more := d.known(unique(entries))
	name(entries)
	sort.SliceStable(entries, func(i, j int) bool { return entries[i].Name < entries[j].Name })
	return entries, append(d.warnings, more...)
}

type discovery struct {
	files          listing
	declared       []Entry
	kustomizations map[string]*kustomizationFile // by folder
	fluxDocs       map[string][]string           // file → spec.path of the Flux Kustomizations in it
	fluxDirs       map[string]bool               // folders of these files
	warnings       []string
}

type kustomizationFile struct {
	component bool
	includes  []string // resources, components and bases, cleaned
}

// file reads what one file says.
func (d *discovery) file(p string) {
	base := path.Base(p)
	isKustomization := base == "kustomization.yaml" || base == "kustomization.yml" || base == "Kustomization"
	if ext := path.Ext(p); ext != ".yaml" && ext != ".yml" && !isKustomization {
		return
	}
	data, err := d.files.ReadFile(p)
	if err != nil {
		d.warnings = append(d.warnings, fmt.Sprintf("%s is not looked at for environments: %v", p, err))
		return
	}
	if len(data) > maxDiscoverySize {
		if !isKustomization && bytes.Contains(data, []byte(flux.KustomizeGroup)) {
			d.warnings = append(d.warnings, fmt.Sprintf("%s is not looked at for environments: it has more than %d bytes", p, maxDiscoverySize))
		}
		return
	}
	if isKustomization {
		d.kustomization(p, data)
		return
	}
	if !bytes.Contains(data, []byte("toolkit.fluxcd.io")) && !bytes.Contains(data, []byte(flux.OperatorGroup)) {
		return
	}
	for _, doc := range documents(data) {
		d.document(p, doc)
	}
}

func (d *discovery) kustomization(p string, data []byte) {
	var k struct {
		Kind       string
		Resources  []string
		Components []string
		Bases      []string
	}
	if yaml3.Unmarshal(data, &k) != nil {
		return
	}
	dir := path.Dir(p)
	kf := &kustomizationFile{component: k.Kind == "Component"}
	for _, list := range [][]string{k.Resources, k.Components, k.Bases} {
		for _, r := range list {
			if !strings.Contains(r, "://") {
				kf.includes = append(kf.includes, path.Join(dir, r))
			}
		}
	}
	d.kustomizations[dir] = kf
}

// documents parses a stream leniently: what cannot be read is left out, since building it will say so.
func documents(data []byte) []map[string]any {
	var out []map[string]any
	dec := yaml3.NewDecoder(bytes.NewReader(data))
	for {
		var m map[string]any
		if err := dec.Decode(&m); err != nil {
			return out
		}
		if m != nil {
			out = append(out, m)
		}
	}
}

func (d *discovery) document(p string, doc map[string]any) {
	apiVersion, _ := doc["apiVersion"].(string)
	switch {
	case flux.IsGroup(apiVersion, flux.KustomizeGroup) && doc["kind"] == "Kustomization":
		dir := text(doc, "spec", "path")
		d.fluxDocs[p] = append(d.fluxDocs[p], dir)
		d.fluxDirs[path.Dir(p)] = true
		if path.Base(p) == "gotk-sync.yaml" {
			e := Entry{Path: source.JoinSecure(dir), How: "flux bootstrap: " + p, Source: sourceOf(doc)}
			e.Unit = model.UnitID{Kind: "Kustomization", Namespace: text(doc, "metadata", "namespace"), Name: text(doc, "metadata", "name")}
			d.declare(p, e)
		}
	case flux.IsGroup(apiVersion, flux.OperatorGroup) && doc["kind"] == "FluxInstance":
		sync, _ := dig(doc, "spec", "sync").(map[string]any)
		d.instance(p, "FluxInstance", sync, text(doc, "metadata", "namespace"), text(doc, "spec", "distribution", "version"))
	case flux.IsGroup(apiVersion, flux.HelmGroup) && doc["kind"] == "HelmRelease":
		values, _ := dig(doc, "spec", "values", "instance").(map[string]any)
		sync, _ := values["sync"].(map[string]any)
		d.instance(p, "flux-instance chart", sync, text(doc, "metadata", "namespace"), text(values, "distribution", "version"))
	}
}

// instance takes the sync stanza of a FluxInstance (fluxcd.controlplane.io/v1 FluxInstance spec.sync): the operator
// makes a source and a Kustomization of it, both called sync.name or, without it, like the namespace.
func (d *discovery) instance(p, what string, sync map[string]any, namespace, version string) {
	dir, _ := sync["path"].(string)
	if dir == "" {
		return
	}
	if namespace == "" {
		namespace = "flux-system"
	}
	name, _ := sync["name"].(string)
	if name == "" {
		name = namespace
	}
	kind, _ := sync["kind"].(string)
	if kind == "" {
		kind = "GitRepository"
	}
	d.declare(p, Entry{
		Path: source.JoinSecure(dir), How: what + ": " + p, Version: version,
		Source: model.SourceRef{Kind: kind, Namespace: namespace, Name: name},
		Unit:   model.UnitID{Kind: "Kustomization", Namespace: namespace, Name: name},
	})
}

func (d *discovery) declare(p string, e Entry) {
	if strings.Contains(e.Path, "${") {
		d.warnings = append(d.warnings, fmt.Sprintf("%s names the path %s, which is known only after substitution: name the environment with --entry", p, e.Path))
		return
	}
	d.declared = append(d.declared, e)
}

// clusterFolders are the names of folders that hold one folder for each environment.
var clusterFolders = []string{"clusters", "cluster", "environments", "envs"}

// folders applies the second rule.
func (d *discovery) folders() []Entry {
	roots := d.roots()
	var out, kin []Entry
	for _, r := range roots {
		e := Entry{Path: r, How: "a folder of Flux Kustomizations that no other includes"}
		if len(d.declared) > 0 {
			if d.neighbour(r) {
				out = append(out, e)
			}
			continue
		}
		out = append(out, e)
		if segmentAfterClusters(r) != "" {
			kin = append(kin, e)
		}
	}
	if len(kin) > 0 {
		return kin
	}
	return out
}

func (d *discovery) neighbour(dir string) bool {
	for _, e := range d.declared {
		if e.Path != dir && path.Dir(e.Path) == path.Dir(dir) && dir != "." {
			return true
		}
	}
	return false
}

// roots gives the folders that yield Flux Kustomizations, are not included, and are nobody's spec.path.
func (d *discovery) roots() []string {
	yields := map[string]bool{}
	included := map[string]bool{}
	inKustomization := map[string]bool{} // files that a kustomization lists
	for dir, k := range d.kustomizations {
		for _, inc := range k.includes {
			inKustomization[inc] = true
			if d.reaches(inc, map[string]bool{}) {
				yields[dir] = true
			}
		}
	}
	for dir := range yields {
		for _, inc := range d.kustomizations[dir].includes {
			if inc != dir {
				included[inc] = true
			}
		}
		if d.kustomizations[dir].component {
			included[dir] = true
		}
	}
	for file := range d.fluxDocs {
		dir := path.Dir(file)
		if d.kustomizations[dir] == nil && !inKustomization[file] {
			yields[d.topmost(dir)] = true
		}
	}
	covered := d.covered()
	var out []string
	for dir := range yields {
		if included[dir] || covered(dir) || d.belowPlainRoot(dir, yields) {
			continue
		}
		out = append(out, dir)
	}
	sort.Strings(out)
	return out
}

// reaches tells whether a file or folder leads to a Flux Kustomization through kustomizations alone.
func (d *discovery) reaches(p string, seen map[string]bool) bool {
	if len(d.fluxDocs[p]) > 0 {
		return true
	}
	k := d.kustomizations[p]
	if k == nil || seen[p] {
		return false
	}
	seen[p] = true
	for _, inc := range k.includes {
		if d.reaches(inc, seen) {
			return true
		}
	}
	return false
}

// topmost climbs from a folder without a kustomization to the highest one that holds Flux Kustomizations as plain
// files: Flux walks down from there.
func (d *discovery) topmost(dir string) string {
	top := dir
	for at := dir; at != "."; {
		at = path.Dir(at)
		if d.kustomizations[at] != nil {
			break
		}
		if d.fluxDirs[at] {
			top = at
		}
	}
	return top
}

// belowPlainRoot tells whether Flux would walk into dir from a folder above it that has no kustomization.
func (d *discovery) belowPlainRoot(dir string, yields map[string]bool) bool {
	for at := dir; at != "."; {
		at = path.Dir(at)
		if d.kustomizations[at] != nil {
			return false
		}
		if yields[at] {
			return true
		}
	}
	return false
}

// covered tells whether a Flux Kustomization elsewhere has dir, or a folder above it, for its path. An artifact's root
// may be a folder of the repository, so a path counts from any folder above the file that names it.
func (d *discovery) covered() func(dir string) bool {
	by := map[string][]string{} // folder → files that name it
	for file, paths := range d.fluxDocs {
		for _, p := range paths {
			clean := source.JoinSecure(p)
			if clean == "." || strings.Contains(p, "${") {
				continue
			}
			for root := path.Dir(file); ; root = path.Dir(root) {
				full := path.Join(root, clean)
				if isDir, ok := d.files.Stat(full); ok && isDir {
					by[full] = append(by[full], file)
				}
				if root == "." {
					break
				}
			}
		}
	}
	return func(dir string) bool {
		for at := dir; at != "."; at = path.Dir(at) {
			for _, file := range by[at] {
				// A Kustomization within the folder that names the folder is the folder's own.
				if file != dir && !strings.HasPrefix(file, dir+"/") {
					return true
				}
			}
		}
		return false
	}
}

// known drops entries whose folder is not there.
func (d *discovery) known(entries []Entry) (out []Entry, warnings []string) {
	for _, e := range entries {
		if isDir, ok := d.files.Stat(e.Path); ok && isDir {
			out = append(out, e)
			continue
		}
		warnings = append(warnings, fmt.Sprintf("%s names the path %s, which is no folder of the repository", e.How, e.Path))
	}
	return out, warnings
}

func unique(entries []Entry) []Entry {
	var out []Entry
	seen := map[string]bool{}
	for _, e := range entries {
		if !seen[e.Path] {
			seen[e.Path] = true
			out = append(out, e)
		}
	}
	return out
}

// name gives each entry a name of its own: the folder below `clusters`, else the last folder; longer where that is
// not enough, and numbered where two paths differ only in what a name cannot hold.
func name(entries []Entry) {
	used := map[string]int{}
	for i := range entries {
		n := segmentAfterClusters(entries[i].Path)
		if n == "" {
			n = path.Base(entries[i].Path)
		}
		entries[i].Name = folderName(n)
		used[entries[i].Name]++
	}
	taken := map[string]bool{}
	for i := range entries {
		e := &entries[i]
		if used[e.Name] > 1 {
			e.Name = folderName(strings.ReplaceAll(strings.Trim(e.Path, "./"), "/", "-"))
		}
		for base, n := e.Name, 2; taken[e.Name]; n++ {
			e.Name = fmt.Sprintf("%s-%d", base, n)
		}
		taken[e.Name] = true
	}
}

// folderName keeps a name usable as a folder.
func folderName(s string) string {
	out := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		}
		return '-'
	}, s)
	out = strings.Trim(out, "-.")
	if out == "" {
		return "cluster"
	}
	return out
}

func segmentAfterClusters(p string) string {
	segs := strings.Split(p, "/")
	for i, s := range segs[:len(segs)-1] {
		for _, c := range clusterFolders {
			if s == c {
				return segs[i+1]
			}
		}
	}
	return ""
}

func sourceOf(doc map[string]any) model.SourceRef {
	ns := text(doc, "spec", "sourceRef", "namespace")
	if ns == "" {
		ns = text(doc, "metadata", "namespace")
	}
	return model.SourceRef{Kind: text(doc, "spec", "sourceRef", "kind"), Namespace: ns, Name: text(doc, "spec", "sourceRef", "name")}
}

// dig follows keys into nested maps; nil when there is nothing.
func dig(v any, keys ...string) any {
	for _, k := range keys {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[k]
	}
	return v
}

func text(v any, keys ...string) string {
	s, _ := dig(v, keys...).(string)
	return s
}
