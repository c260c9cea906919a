// Package bench writes a synthetic Flux repository of any size, to measure renderers on.
//
// The rules are:
//   - It is what people write: overlays of one base of Flux Kustomizations, which depend on each other in
//     chains and take variables from a ConfigMap of their cluster; applications with comments, anchors, quotes
//     and scripts; patches, images, labels, components and generators here and there.
//   - About half of the objects hold a variable, and every variable has a value: it builds in strict mode.
//   - Nothing in it needs a network, a key or a chart, so that tools which differ in these can be compared.
//   - The same options give the same bytes.
package bench

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Options say how large the repository is.
type Options struct {
	Units          int // applications, each a Flux Kustomization: 1 to 100,000
	ObjectsPerUnit int // objects that each renders, 2 to 1,000. 20 has one of every kind
	Environments   int // clusters, 1 to 100: dev, prod, then env-2 and on
}

func (o Options) check() error {
	if o.Units < 1 || o.Units > 100_000 || o.ObjectsPerUnit < 2 || o.ObjectsPerUnit > 1000 || o.Environments < 1 || o.Environments > 100 {
		return fmt.Errorf("bench: %+v is out of bounds: 1 to 100,000 units of 2 to 1,000 objects in 1 to 100 environments", o)
	}
	return nil
}

// ObjectsPerEnvironment is how many objects an environment renders: those of its units, a Flux Kustomization
// for each, and what its entry holds: GitRepository and Kustomization flux-system, ConfigMap cluster-vars.
func (o Options) ObjectsPerEnvironment() int {
	return o.Units*(o.ObjectsPerUnit+1) + 3
}

// EnvironmentName gives the name of the environment with that number, from 0. Its entry is clusters/<name>.
func EnvironmentName(n int) string {
	switch n {
	case 0:
		return "dev"
	case 1:
		return "prod"
	default:
		return "env-" + strconv.Itoa(n)
	}
}

//go:embed templates/*.yaml
var templates embed.FS

// Write writes the repository into dir, which it makes and which must hold nothing yet.
func Write(dir string, o Options) error {
	if err := o.check(); err != nil {
		return err
	}
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return fmt.Errorf("bench: %s is not empty: name a new directory", dir)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("bench: %w", err)
	}
	w := &writer{dir: dir}
	w.clusters(o)
	w.component()
	for n := range o.Units {
		w.app(n, o.ObjectsPerUnit)
	}
	return w.err
}

// writer writes files until one fails.
type writer struct {
	dir string
	err error
}

func (w *writer) file(name, text string) {
	if w.err != nil {
		return
	}
	path := filepath.Join(w.dir, filepath.FromSlash(name))
	if w.err = os.MkdirAll(filepath.Dir(path), 0o755); w.err == nil {
		w.err = os.WriteFile(path, []byte(text), 0o644)
	}
}

// documents gives the documents of a template.
func (w *writer) documents(name string) []string {
	text, err := templates.ReadFile("templates/" + name)
	if err != nil && w.err == nil {
		w.err = err
	}
	return strings.SplitAfter(strings.TrimSuffix(string(text), "\n")+"\n", "---\n")
}

func appName(n int) string { return fmt.Sprintf("app-%03d", n) }
