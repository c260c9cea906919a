package bench

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate/internal/oracle"
	"sigs.k8s.io/yaml"
)

// Flux itself must build all of it, strictly, to the promised number of objects: the entry first, then each
// unit as the entry renders it.
func TestFluxBuildsIt(t *testing.T) {
	for _, o := range []Options{
		{Units: 13, ObjectsPerUnit: 20, Environments: 3},
		{Units: 9, ObjectsPerUnit: 2, Environments: 1},
		{Units: 4, ObjectsPerUnit: 9, Environments: 1},
		{Units: 4, ObjectsPerUnit: 33, Environments: 1},
	} {
		dir := filepath.Join(t.TempDir(), "fleet")
		if err := Write(dir, o); err != nil {
			t.Fatal(err)
		}
		artifact, err := oracle.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		for n := range o.Environments {
			env := EnvironmentName(n)
			vars, err := os.ReadFile(filepath.Join(dir, "clusters", env, "cluster-vars.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			cluster, err := oracle.ObjectsFromYAML(vars)
			if err != nil {
				t.Fatal(err)
			}
			entry := oracle.Unit{Object: map[string]any{
				"metadata": map[string]any{"name": "flux-system", "namespace": "flux-system"},
				"spec":     map[string]any{"path": "./clusters/" + env},
			}}
			built, err := artifact.Build(context.Background(), entry, nil, oracle.Options{Strict: true})
			if err != nil {
				t.Fatal(err)
			}
			docs := documents(t, built)
			count, units, tokens := len(docs), 0, 0
			for _, doc := range docs {
				if doc["kind"] != "Kustomization" || oracle.Unit.Name(oracle.Unit{Object: doc}) == "flux-system" {
					continue
				}
				units++
				out, err := artifact.Build(context.Background(), oracle.Unit{Object: doc}, cluster, oracle.Options{Strict: true})
				if err != nil {
					t.Fatalf("%+v %s: %v", o, oracle.Unit.Name(oracle.Unit{Object: doc}), err)
				}
				count += len(documents(t, out))
				delete(doc["spec"].(map[string]any), "postBuild")
				raw, err := artifact.Build(context.Background(), oracle.Unit{Object: doc}, nil, oracle.Options{})
				if err != nil {
					t.Fatal(err)
				}
				for _, text := range bytes.Split(raw, []byte("\n---\n")) {
					if bytes.Contains(text, []byte("${")) {
						tokens++
					}
				}
			}
			if units != o.Units || count != o.ObjectsPerEnvironment() {
				t.Errorf("%+v %s: %d units and %d objects, want %d", o, env, units, count, o.ObjectsPerEnvironment())
			}
			if all := o.Units * o.ObjectsPerUnit; o.ObjectsPerUnit == 20 && (tokens < all*4/10 || tokens > all*6/10) {
				t.Errorf("%d of %d objects hold a variable, want about half", tokens, all)
			}
		}
		if err := artifact.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func documents(t *testing.T, stream []byte) []map[string]any {
	t.Helper()
	var docs []map[string]any
	for _, text := range bytes.Split(stream, []byte("\n---\n")) {
		var doc map[string]any
		if err := yaml.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		docs = append(docs, doc)
	}
	return docs
}

func TestWriteIsDeterministic(t *testing.T) {
	read := func() map[string]string {
		dir := filepath.Join(t.TempDir(), "fleet")
		if err := Write(dir, Options{Units: 12, ObjectsPerUnit: 20, Environments: 2}); err != nil {
			t.Fatal(err)
		}
		all := map[string]string{}
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			all[strings.TrimPrefix(path, dir)] = string(data)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	first := read()
	if diff := cmp.Diff(first, read()); diff != "" {
		t.Error(diff)
	}
	for name, text := range first {
		if strings.Contains(text, "@APP@") || strings.Contains(text, "@SHARD@") {
			t.Errorf("%s: a placeholder is left", name)
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, o := range []Options{{}, {Units: 1, ObjectsPerUnit: 1, Environments: 1}, {Units: 1, ObjectsPerUnit: 20}, {Units: 1 << 30, ObjectsPerUnit: 20, Environments: 1}} {
		if err := Write(dir, o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "mine"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Write(dir, Options{Units: 1, ObjectsPerUnit: 20, Environments: 1}); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("got %v", err)
	}
}

func BenchmarkWrite(b *testing.B) {
	for b.Loop() {
		if err := Write(filepath.Join(b.TempDir(), "fleet"), Options{Units: 30, ObjectsPerUnit: 20, Environments: 2}); err != nil {
			b.Fatal(err)
		}
	}
}
