package engine_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tidegate/tidegate/internal/engine"
	"github.com/tidegate/tidegate/internal/scan"
)

const app = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: app, namespace: flux-system}
spec:
  interval: 10m
  path: ./app
  prune: true
  sourceRef: {kind: GitRepository, name: flux-system}
`

const appConfig = `apiVersion: v1
kind: ConfigMap
metadata: {name: app, namespace: default}
`

// repository writes files into a new directory.
func repository(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The zero request renders the embedded reference platform, needs no environment variable and hears of every unit.
func TestZeroRequest(t *testing.T) {
	var heard atomic.Int64
	r, err := engine.Render(context.Background(), engine.Request{Progress: func(env string, n int) {
		if env == "" || n < 1 {
			t.Errorf("progress of %q: %d", env, n)
		}
		heard.Add(1)
	}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Repository != "the embedded reference platform" || r.Failed() || r.Summary.Environments != 2 {
		t.Errorf("%s: %+v", r.Repository, r.Summary)
	}
	if heard.Load() < int64(r.Summary.Units) {
		t.Errorf("progress heard of %d units of %d", heard.Load(), r.Summary.Units)
	}
	if s := r.Summary; s.OK+s.Failed+s.Unverified != s.Units {
		t.Errorf("%d ok, %d failed and %d unverified are not %d units", s.OK, s.Failed, s.Unverified, s.Units)
	}
}

// One worker and many give one report.
func TestWorkers(t *testing.T) {
	var first string
	for _, n := range []int{1, 2, 16} {
		r, err := engine.Render(context.Background(), engine.Request{Workers: n})
		if err != nil {
			t.Fatal(err)
		}
		if got := units(r); first == "" {
			first = got
		} else if got != first {
			t.Errorf("%d workers give another report than one", n)
		}
	}
}

// A mistake of the user is told apart from what could not run.
func TestErrors(t *testing.T) {
	repo := repository(t, map[string]string{"clusters/dev/app.yaml": app, "app/config.yaml": appConfig})
	for _, c := range []struct {
		name  string
		req   engine.Request
		usage bool
		part  string
	}{
		{"no such directory", engine.Request{Repo: filepath.Join(repo, "nope")}, true, "does not exist"},
		{"a file", engine.Request{Repo: filepath.Join(repo, "clusters/dev/app.yaml")}, true, "is not a directory"},
		{"version", engine.Request{FluxVersion: "two"}, true, "is not a Flux version"},
		{"entry", engine.Request{Repo: repo, Entries: []string{"dev"}}, true, "write it as NAME=PATH"},
		{"vars", engine.Request{Repo: repo, Vars: []string{"dev"}}, true, "write it as ENV=FILE"},
		{"relative to Dir", engine.Request{Repo: "nope", Dir: repo}, true, filepath.Join(repo, "nope")},
		{"no environment", engine.Request{Repo: filepath.Join(repo, "app")}, false, "holds no Flux environment"},
		{"not that environment", engine.Request{Repo: repo, Environments: []string{"prod"}}, true, `no environment "prod"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := engine.Render(context.Background(), c.req)
			var usage *engine.UsageError
			var none *scan.NoEnvironmentError
			if err == nil || r != nil || !strings.Contains(err.Error(), c.part) {
				t.Fatalf("report %v, error %v; want an error with %q", r, err, c.part)
			}
			if errors.As(err, &usage) != c.usage || !c.usage && !errors.As(err, &none) {
				t.Errorf("%T", err)
			}
		})
	}
}

// A context that ends stops a render, and nothing is reported in part.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	req := engine.Request{Progress: func(string, int) { cancel() }}
	if r, err := engine.Render(ctx, req); !errors.Is(err, context.Canceled) || r != nil {
		t.Errorf("report %v, error %v", r, err)
	}
}

// What of a repository could not be read as git would is said, not passed over.
func TestWarnings(t *testing.T) {
	repo := repository(t, map[string]string{
		"clusters/dev/app.yaml": app, "app/config.yaml": appConfig,
		".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[core]\n\trepositoryformatversion = 0\n", ".git/index": "broken",
		".git/objects/info/x": "", ".git/refs/heads/x": "",
	})
	r, err := engine.Render(context.Background(), engine.Request{Repo: repo})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "the git index is not read") {
		t.Errorf("warnings %q", r.Warnings)
	}
}

// A repository that cannot be listed in part is rendered without that part, with a warning.
func TestUnreadable(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may read everything")
	}
	repo := repository(t, map[string]string{"clusters/dev/app.yaml": app, "app/config.yaml": appConfig, "closed/x.yaml": ""})
	if err := os.Chmod(filepath.Join(repo, "closed"), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(repo, "closed"), 0o755) })
	r, err := engine.Render(context.Background(), engine.Request{Repo: repo})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "closed") {
		t.Errorf("warnings %q", r.Warnings)
	}
}
