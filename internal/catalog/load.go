package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"sort"
	"strings"

	yaml3 "go.yaml.in/yaml/v3"

	"github.com/tidegate/tidegate/internal/model"
)

// Files gives the files of a repository.
type Files interface {
	// Paths gives the paths of all regular files, sorted.
	Paths() []string
	ReadFile(path string) ([]byte, error)
}

// Settings says how the apps of a repository are made: the `catalog` of tidegate.yaml, with its defaults filled in.
type Settings struct {
	Dir      string   // of the catalog: catalog
	Apps     string   // of the output: apps
	Clusters string   // of the Flux Kustomizations of the waves: clusters/base
	Tiers    []string // folders of what is there before the apps; their subfolders' names may be needed
	After    string   // the Kustomization that wave 0 depends on

	Knobs        model.Ref // the object that Flux takes ${TOKEN}s from; none when its Name is empty
	Gateway      string    // NAMESPACE/NAME/LISTENER
	StorageClass string
	LAN          string // the network that l4 addresses are reached from
	Issuer       string // of single sign-on
	LoginNeeds   string // what provides it

	DatabaseImage     string
	DatabaseInstances string
	DatabaseRetention string
	DatabaseEndpoint  string // of the S3 that backups go to
	DatabaseBucket    string // s3://…
}

// Catalog is what the files say.
type Catalog struct {
	Settings Settings
	Apps     []*App   // by name
	Provided []string // what the tiers provide, sorted
	files    Files
	// namespaces are those that other files of the repository make, with the file.
	namespaces map[string]string
}

// Load reads the catalog of a repository, and says all that is wrong with it. The error is one of reading.
func Load(files Files, s Settings) (*Catalog, []Problem, error) {
	c := &Catalog{Settings: s, files: files, Provided: provided(files, s.Tiers)}
	var problems []Problem
	for _, p := range files.Paths() {
		dir, name := path.Split(p)
		if path.Clean(dir) != s.Dir || name == movesFile || strings.HasPrefix(name, ".") {
			continue
		}
		if ext := path.Ext(name); ext != ".yaml" {
			if ext == ".yml" {
				problems = append(problems, Problem{Place: model.Place{File: p, Line: 1, Column: 1}, Message: "it ends in .yml and is not read", Fix: "call it " + strings.TrimSuffix(name, ext) + ".yaml"})
			}
			continue
		}
		data, err := files.ReadFile(p)
		if err != nil {
			return nil, nil, fmt.Errorf("reading %s: %w", p, err)
		}
		a, wrong := decode(p, data)
		problems = append(problems, wrong...)
		if a != nil {
			c.Apps = append(c.Apps, a)
		}
	}
	sort.Slice(c.Apps, func(i, j int) bool { return c.Apps[i].File < c.Apps[j].File })
	c.namespaces = namespaces(files, s)
	broken := len(problems) > 0
	for _, a := range c.Apps {
		problems = append(problems, c.validate(a)...)
	}
	problems = append(problems, c.unique()...)
	problems = append(problems, c.waves(broken)...)
	sortProblems(problems)
	return c, problems, nil
}

// provided gives the names of the folders within the tiers.
func provided(files Files, tiers []string) []string {
	seen := map[string]bool{}
	for _, p := range files.Paths() {
		for _, t := range tiers {
			rest, ok := strings.CutPrefix(p, t+"/")
			if name, _, below := strings.Cut(rest, "/"); ok && below {
				seen[name] = true
			}
		}
	}
	var out []string
	for n := range seen {
		out = append(out, n)
	}
	sort.Strings(out)
	return out
}

// namespaces finds the Namespaces that hand-written manifests make: an app of such a name would be a second owner of one, and
// take it along when it goes.
func namespaces(files Files, s Settings) map[string]string {
	out := map[string]string{}
	for _, p := range files.Paths() {
		if path.Ext(p) != ".yaml" && path.Ext(p) != ".yml" || strings.HasPrefix(p, s.Apps+"/wave-") || strings.HasPrefix(p, s.Dir+"/") {
			continue
		}
		data, err := files.ReadFile(p)
		if err != nil || len(data) > maxFile || Generated(p, data) || !bytes.Contains(data, []byte("kind: Namespace")) {
			continue
		}
		for _, doc := range bytes.Split(data, []byte("\n---")) {
			var o struct {
				Kind     string
				Metadata struct{ Name string }
			}
			if safely(func() error { return yaml3.Unmarshal(doc, &o) }) == nil && o.Kind == "Namespace" && o.Metadata.Name != "" {
				out[o.Metadata.Name] = p
			}
		}
	}
	return out
}

func sortProblems(list []Problem) {
	sort.SliceStable(list, func(i, j int) bool {
		a, b := list[i].Place, list[j].Place
		if a.File != b.File {
			return a.File < b.File
		}
		if a.Line != b.Line {
			return a.Line < b.Line
		}
		return a.Column < b.Column
	})
}

// own reads a file of an app's own folder.
func (c *Catalog) own(a *App, name string) (data []byte, p string, err error) {
	p = path.Join(c.Settings.Dir, a.Name, name)
	data, err = c.files.ReadFile(p)
	return data, p, err
}

// missing tells an error of a file that is not there from others.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// App gives an app by its name; nil when there is none.
func (c *Catalog) App(name string) *App {
	for _, a := range c.Apps {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// Domain is the domain that most apps' hosts are in; empty when no app has a host.
func (c *Catalog) Domain() string {
	n, best := map[string]int{}, ""
	for _, a := range c.Apps {
		if a.Route == nil {
			continue
		}
		_, domain, ok := strings.Cut(a.Route.Host, ".")
		if !ok {
			continue
		}
		n[domain]++
		if n[domain] > n[best] || n[domain] == n[best] && domain < best {
			best = domain
		}
	}
	return best
}

// Taken says why a name cannot be that of a new app; empty when it can.
func (c *Catalog) Taken(name string) string {
	k := &check{c: c, a: &App{Name: name, File: name + ".yaml"}}
	k.identity()
	if len(k.out) == 0 {
		return ""
	}
	return k.out[0].Message
}
