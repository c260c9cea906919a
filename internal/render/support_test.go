package render

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/tidegate/tidegate/internal/flux"
)

// mapFiles is an artifact in memory: paths to contents. A path that ends in a slash is an empty directory.
type mapFiles map[string]string

func (m mapFiles) ID() string {
	h := sha256.New()
	for _, p := range sortedKeys(m) {
		fmt.Fprintf(h, "%q=%q;", p, m[p])
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

func (m mapFiles) ReadFile(p string) ([]byte, error) {
	text, ok := m[p]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: p, Err: fs.ErrNotExist}
	}
	return []byte(text), nil
}

func (m mapFiles) Stat(p string) (isDir, ok bool) {
	if _, ok := m[p]; ok && !strings.HasSuffix(p, "/") {
		return false, true
	}
	_, ok = m.ReadDir(p)
	return ok, ok
}

func (m mapFiles) ReadDir(p string) ([]string, bool) {
	prefix := p + "/"
	if p == "." {
		prefix = ""
	}
	seen := map[string]bool{}
	found := p == "."
	for f := range m {
		rest, ok := strings.CutPrefix(f, prefix)
		if !ok {
			continue
		}
		found = true
		if name, _, _ := strings.Cut(rest, "/"); name != "" {
			seen[name] = true
		}
	}
	return sortedKeys(seen), found
}

func (m mapFiles) Walk(p string, fn func(p string, isDir bool) error) error {
	isDir, ok := m.Stat(p)
	if !ok {
		return &fs.PathError{Op: "lstat", Path: p, Err: fs.ErrNotExist}
	}
	err := fn(p, isDir)
	if isDir && errors.Is(err, fs.SkipDir) {
		return nil
	}
	if err != nil || !isDir {
		return err
	}
	names, _ := m.ReadDir(p)
	for _, name := range names {
		if err := m.Walk(path.Join(p, name), fn); err != nil {
			return err
		}
	}
	return nil
}

// with gives a copy with some files changed or, where the text is absent ("-"), left out.
func (m mapFiles) with(changes ...string) mapFiles {
	out := mapFiles{}
	for p, text := range m {
		out[p] = text
	}
	for i := 0; i+1 < len(changes); i += 2 {
		if changes[i+1] == absent {
			delete(out, changes[i])
		} else {
			out[changes[i]] = changes[i+1]
		}
	}
	return out
}

const absent = "-"

// write unpacks the files to a directory of their own.
func (m mapFiles) write(tb testing.TB) string {
	tb.Helper()
	root, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	paths := sortedKeys(m)
	sort.Strings(paths)
	for _, p := range paths {
		to := filepath.Join(root, filepath.FromSlash(p))
		if strings.HasSuffix(p, "/") {
			if err := os.MkdirAll(to, 0o755); err != nil {
				tb.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(to, []byte(m[p]), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	return root
}

func behaviour(tb testing.TB, version string) flux.Behaviour {
	tb.Helper()
	b, err := flux.For(version)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// unitOf gives the Kustomization app with a spec, which is YAML in flow or block style without indentation.
func unitOf(tb testing.TB, spec string) *flux.Kustomization {
	tb.Helper()
	ks, err := decodeUnit(spec, behaviour(tb, "2.9"))
	if err != nil {
		tb.Fatalf("%v\nof %s", err, spec)
	}
	return ks
}

func decodeUnit(spec string, b flux.Behaviour) (*flux.Kustomization, error) {
	var s map[string]any
	if err := sigsyaml.Unmarshal([]byte(spec), &s); err != nil {
		return nil, err
	}
	if s == nil {
		s = map[string]any{}
	}
	for k, v := range map[string]any{
		"interval": "10m", "prune": true, "path": "./app",
		"sourceRef": map[string]any{"kind": "GitRepository", "name": "flux-system"},
	} {
		if _, ok := s[k]; !ok {
			s[k] = v
		}
	}
	return flux.DecodeKustomization(map[string]any{
		"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
		"metadata": map[string]any{"name": "app", "namespace": "flux-system"}, "spec": s,
	}, b)
}

// untyped gives a Kustomization in the form in which kustomize-controller hands it to its packages.
func untyped(tb testing.TB, ks *flux.Kustomization) unstructured.Unstructured {
	tb.Helper()
	obj, err := runtime.DefaultUnstructuredConverter.ToUnstructured(ks)
	if err != nil {
		tb.Fatal(err)
	}
	return unstructured.Unstructured{Object: obj}
}
