package oracle

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

//go:embed testdata/cases/*.txtar
var caseFiles embed.FS

// Case is something that has bitten people, as a small repository with what Flux makes of it. The archives
// are in testdata/cases. The rules are:
//   - ks.yaml holds the Flux Kustomizations that someone applied by hand. spec.path is relative to the
//     case's root, which is the artifact.
//   - cluster.yaml, where there is one, holds what the cluster has already.
//   - age.key, where there is one, holds the identity for spec.decryption. It was made for this test.
//   - The wants, see [Case.Want], are not part of the artifact; neither is age.key.
type Case struct {
	Name    string // NN-slug
	Comment string // what the case shows, and where it departs from the report it stems from
	Files   []txtar.File
	wants   map[string]string
}

// Cases gives every case, in the order of their numbers.
func Cases(tb testing.TB) []Case {
	tb.Helper()
	entries, err := caseFiles.ReadDir("testdata/cases")
	if err != nil {
		tb.Fatal(err)
	}
	var cases []Case
	for _, entry := range entries {
		data, err := caseFiles.ReadFile(path.Join("testdata/cases", entry.Name()))
		if err != nil {
			tb.Fatal(err)
		}
		cases = append(cases, parseCase(strings.TrimSuffix(entry.Name(), ".txtar"), data))
	}
	return cases
}

func parseCase(name string, data []byte) Case {
	archive := txtar.Parse(data)
	c := Case{Name: name, Comment: strings.TrimSpace(string(archive.Comment)), wants: map[string]string{}}
	for _, f := range archive.Files {
		if kind, ok := strings.CutPrefix(f.Name, "want-"); ok {
			c.wants[kind] = string(f.Data)
		} else {
			c.Files = append(c.Files, f)
		}
	}
	return c
}

// Want gives what Flux makes of the unit of that name. kind is
//   - "strict" or "lax": the result of [Build], or "ERR ", the error and a line break. Without a want of its
//     own, lax is as strict;
//   - "final": [Applied] on the strict result, or on the lax one where strict is an error. Absent when both
//     are errors;
//   - "guard": the error of [Guard] on final, with a line break. Absent when there is none;
//   - "stages": [Stages] on final. Only where the order is what the case is about.
func (c Case) Want(kind, unit string) (string, bool) {
	if kind == "lax" {
		if want, ok := c.wants["lax/"+unit]; ok {
			return want, true
		}
		kind = "strict"
	}
	want, ok := c.wants[kind+"/"+unit]
	return want, ok
}

// Dir writes the artifact to a directory that is removed with the test, and returns it.
func (c Case) Dir(tb testing.TB) string {
	tb.Helper()
	dir := tb.TempDir()
	for _, f := range c.Files {
		if f.Name == "age.key" {
			continue
		}
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}

// File gives the content of a file of the archive.
func (c Case) File(name string) ([]byte, bool) {
	for _, f := range c.Files {
		if f.Name == name {
			return f.Data, true
		}
	}
	return nil, false
}

// Units gives the Kustomizations of ks.yaml, in their order there.
func (c Case) Units(tb testing.TB) []Unit {
	tb.Helper()
	data, ok := c.File("ks.yaml")
	if !ok {
		tb.Fatalf("%s: no ks.yaml", c.Name)
	}
	var units []Unit
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	for {
		u := unstructured.Unstructured{}
		if err := decoder.Decode(&u); err != nil {
			if errors.Is(err, io.EOF) {
				break
			}
			tb.Fatalf("%s: ks.yaml: %v", c.Name, err)
		}
		if u.GetKind() == "Kustomization" {
			units = append(units, Unit{Object: u.Object})
		}
	}
	return units
}

// Name gives the unit's metadata.name.
func (u Unit) Name() string {
	return (&unstructured.Unstructured{Object: u.Object}).GetName()
}

// Cluster gives what the cluster holds already.
func (c Case) Cluster(tb testing.TB) Objects {
	tb.Helper()
	data, _ := c.File("cluster.yaml")
	objects, err := ObjectsFromYAML(data)
	if err != nil {
		tb.Fatal(fmt.Errorf("%s: %w", c.Name, err))
	}
	return objects
}

// Options gives the options for this case: with the hooks of age.key, where there is one.
func (c Case) Options(tb testing.TB, strict bool) Options {
	tb.Helper()
	o := Options{Strict: strict}
	if text, ok := c.File("age.key"); ok {
		keys, err := ParseAgeKeys(string(text))
		if err != nil {
			tb.Fatal(fmt.Errorf("%s: %w", c.Name, err))
		}
		o = keys.Hooks(o)
	}
	return o
}
