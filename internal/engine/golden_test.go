package engine_test

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate/internal/engine"
	"github.com/tidegate/tidegate/internal/report"
	"github.com/tidegate/tidegate/reference"
)

var update = flag.Bool("update", false, "write the golden files of the reference platform's render")

const golden = "testdata/golden"

// unitsFile lists the units of every environment, beside the files that WriteOut writes.
const unitsFile = "units.txt"

// TestReferenceGolden holds every byte of the reference platform's render, with its key and masked: a change of the
// renderer or of the platform shows in a review as the objects that it changes. `make golden` writes the files.
func TestReferenceGolden(t *testing.T) {
	req := engine.Request{Dir: t.TempDir(), Getenv: func(name string) string {
		if name == "SOPS_AGE_KEY" {
			return strings.TrimSpace(lastLine(reference.TestAgeKey()))
		}
		return ""
	}}
	r, err := engine.Render(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	dir := golden
	if !*update {
		dir = t.TempDir()
	}
	if dir, err = filepath.Abs(dir); err != nil {
		t.Fatal(err)
	}
	if err := engine.WriteOut(req, dir, r); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, unitsFile), []byte(units(r)), 0o644); err != nil {
		t.Fatal(err)
	}
	want, got := files(t, golden), files(t, dir)
	if len(want) < 10 {
		t.Fatalf("only %d golden files", len(want))
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s is rendered, and has no golden file", name)
		}
	}
	for name, text := range want {
		if diff := cmp.Diff(text, got[name]); diff != "" {
			t.Errorf("%s (-golden +rendered); if it is meant, make golden:\n%s", name, diff)
		}
	}
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// units describes what became of each unit, without the objects.
func units(r *report.Render) string {
	var b strings.Builder
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", w)
	}
	for _, e := range r.Environments {
		fmt.Fprintf(&b, "%s: %s, Flux %s, source %s\n", e.Name, e.Entry, e.FluxVersion, e.Source)
		reasons(&b, e.Reasons)
		for _, u := range e.Units {
			fmt.Fprintf(&b, "  %s %s/%s: %s, %d objects from %d files", u.Kind, u.Namespace, u.Name, u.Status, len(u.Objects), len(u.Files))
			if len(u.DependsOn) > 0 {
				fmt.Fprintf(&b, ", after %s", strings.Join(u.DependsOn, ", "))
			}
			b.WriteByte('\n')
			reasons(&b, u.Reasons)
		}
	}
	return b.String()
}

func reasons(b *strings.Builder, list []report.Reason) {
	for _, r := range list {
		fmt.Fprintf(b, "    %s: %s\n", r.Code, r.Message)
	}
}

// files gives the content of every file below a directory, by path.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		out[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The golden files hold every object of the render: none is left out by the way they are written.
func TestGoldenHoldsEveryObject(t *testing.T) {
	objects := 0
	for name, text := range files(t, golden) {
		if path.Ext(name) == ".yaml" {
			objects += strings.Count("\n"+text, "\napiVersion: ")
		}
	}
	r, err := engine.Render(context.Background(), engine.Request{})
	if err != nil {
		t.Fatal(err)
	}
	if objects != r.Summary.Objects {
		t.Errorf("the golden files hold %d objects, the render %d", objects, r.Summary.Objects)
	}
}
