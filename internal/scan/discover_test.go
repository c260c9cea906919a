package scan_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tidegate/tidegate/internal/scan"
	"github.com/tidegate/tidegate/internal/source"
)

// TestDiscover holds what is found in each small repository of testdata/discover against its section "want".
func TestDiscover(t *testing.T) {
	names, err := filepath.Glob("testdata/discover/*.txtar")
	if err != nil || len(names) < 20 {
		t.Fatal(len(names), err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files := filesOf(archive)
			want, ok := files["want"]
			if !ok {
				t.Fatal("no section want")
			}
			delete(files, "want")
			if got := discovered(t, source.FromMap("repo", files)); got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

// discovered writes what is found a line each.
func discovered(t *testing.T, tree source.Tree) string {
	t.Helper()
	artifact, err := source.NewArtifact(tree, source.ArtifactOptions{})
	if err != nil {
		t.Fatal(err)
	}
	entries, warnings := scan.Discover(artifact)
	var b strings.Builder
	for _, e := range entries {
		src, unit, version := "-", "-", "-"
		if e.Source.Name != "" {
			src = e.Source.String()
		}
		if e.Unit.Name != "" {
			unit = e.Unit.String()
		}
		if e.Version != "" {
			version = e.Version
		}
		fmt.Fprintf(&b, "%s: %s source %s unit %s flux %s by %s\n", e.Name, e.Path, src, unit, version, e.How)
	}
	for _, w := range warnings {
		fmt.Fprintf(&b, "warning: %s\n", w)
	}
	return b.String()
}

func filesOf(archive *txtar.Archive) map[string]string {
	files := map[string]string{}
	for _, f := range archive.Files {
		files[f.Name] = string(f.Data)
	}
	return files
}

// TestNoEnvironment: a repository without one, and one without the one that was asked for, are errors that say so.
func TestNoEnvironment(t *testing.T) {
	empty := source.FromMap("somewhere", map[string]string{"a.yaml": "a: b\n"})
	var none *scan.NoEnvironmentError
	_, err := scan.Scan(context.Background(), options(t, empty))
	if !errors.As(err, &none) || !strings.Contains(err.Error(), "somewhere holds no Flux environment") || !strings.Contains(err.Error(), "--entry NAME=PATH") {
		t.Errorf("none: %v", err)
	}
	two := source.FromMap("somewhere", map[string]string{
		"clusters/dev/ks.yaml": kustomization("apps", "path: ./apps"), "clusters/prod/ks.yaml": kustomization("apps", "path: ./apps"),
	})
	o := options(t, two)
	o.Only = []string{"prod", "qa"}
	_, err = scan.Scan(context.Background(), o)
	if !errors.As(err, &none) || none.Asked != "qa" || err.Error() != `no environment "qa" in somewhere: there are dev, prod` {
		t.Errorf("asked: %v", err)
	}
	o.Only = []string{"prod", "dev"}
	res, err := scan.Scan(context.Background(), o)
	if err != nil || len(res.Environments) != 2 || res.Environments[0].Name != "dev" {
		t.Errorf("both: %v %v", res, err)
	}
	o.Only = []string{"prod"}
	if res, err = scan.Scan(context.Background(), o); err != nil || len(res.Environments) != 1 || res.Environments[0].Name != "prod" {
		t.Errorf("one: %v %v", res, err)
	}
}

// TestDiscoverIsDeterministic: maps are walked on the way, and the order of what is found never shows it.
func TestDiscoverIsDeterministic(t *testing.T) {
	files := map[string]string{}
	for i := range 12 {
		files[fmt.Sprintf("teams/%d/clusters/prod/ks.yaml", i)] = kustomization("apps", "path: ./apps")
		files[fmt.Sprintf("clusters/c%d/kustomization.yaml", i)] = "resources: [../base]\n"
	}
	files["clusters/base/kustomization.yaml"] = "resources: [ks.yaml]\n"
	files["clusters/base/ks.yaml"] = kustomization("apps", "path: ./apps")
	first := discovered(t, source.FromMap("repo", files))
	if strings.Count(first, "\n") != 24 {
		t.Fatalf("want 24 environments:\n%s", first)
	}
	for range 20 {
		if again := discovered(t, source.FromMap("repo", files)); again != first {
			t.Fatalf("%s\nand then\n%s", first, again)
		}
	}
}

// FuzzDiscover: whatever a file holds, the search ends, names are usable as folders, and no two are equal.
func FuzzDiscover(f *testing.F) {
	f.Add("clusters/a/gotk-sync.yaml", kustomization("flux-system", "path: ./clusters/a"))
	f.Add("clusters/a/flux.yaml", "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nspec: {sync: {path: '${X}'}}")
	f.Add("clusters/../kustomization.yaml", "resources: [., .., a]")
	f.Add("clusters/\x1b[31m/gotk-sync.yaml", "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nspec: {path: [1]}")
	f.Fuzz(func(t *testing.T, name, data string) {
		if len(data) > 1<<12 || len(name) > 256 {
			return
		}
		tree := source.FromMap("repo", map[string]string{name: data, "clusters/a/ks.yaml": kustomization("x", "path: ./x"), "clusters/b/ks.yaml": kustomization("y", "path: ./y")})
		artifact, err := source.NewArtifact(tree, source.ArtifactOptions{})
		if err != nil {
			return
		}
		entries, _ := scan.Discover(artifact)
		seen := map[string]bool{}
		for _, e := range entries {
			if seen[e.Name] || e.Name == "" || strings.ContainsAny(e.Name, "/\\ \x1b\n") || strings.Trim(e.Name, ".") == "" {
				t.Fatalf("name %q of %q", e.Name, e.Path)
			}
			seen[e.Name] = true
		}
	})
}
