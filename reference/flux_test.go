package reference_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/fluxcd/pkg/kustomize"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/tidegate/tidegate/reference"
)

var environments = []string{"dev", "prod"}

// unit is one Flux Kustomization of an environment and what it renders.
type unit struct {
	name    string
	spec    map[string]any
	depends []string
	raw     []*unstructured.Unstructured // as built
	objects []*unstructured.Unstructured // as applied: built and substituted
}

// environment is everything that one overlay renders, from its entry on.
type environment struct {
	name  string
	vars  map[string]string
	entry []*unstructured.Unstructured
	units []*unit // in the order in which the entry renders them
}

func (e *environment) unit(t *testing.T, name string) *unit {
	t.Helper()
	for _, u := range e.units {
		if u.name == name {
			return u
		}
	}
	t.Fatalf("%s: no Kustomization %q", e.name, name)
	return nil
}

// find returns the one object of that kind and name, wherever it is rendered.
func (e *environment) find(t *testing.T, kind, name string) *unstructured.Unstructured {
	t.Helper()
	var found *unstructured.Unstructured
	for _, u := range e.units {
		for _, o := range u.objects {
			if o.GetKind() == kind && o.GetName() == name {
				if found != nil {
					t.Fatalf("%s: %s %s is rendered twice", e.name, kind, name)
				}
				found = o
			}
		}
	}
	if found == nil {
		t.Fatalf("%s: no %s %s", e.name, kind, name)
	}
	return found
}

// id names an object as Flux's inventory does.
func id(o *unstructured.Unstructured) string {
	gk := o.GroupVersionKind().GroupKind()
	return fmt.Sprintf("%s/%s/%s/%s", gk.Group, gk.Kind, o.GetNamespace(), o.GetName())
}

// vars serves the ConfigMaps of one environment to Flux's substitution; every other call on it is
// a nil dereference, so that a test which needs more says so.
type vars struct {
	client.Client
	maps map[string]map[string]string
}

func (v vars) Get(_ context.Context, key client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	cm, ok := obj.(*corev1.ConfigMap)
	data, known := v.maps[key.String()]
	if !ok || !known {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, key.Name)
	}
	cm.Name, cm.Namespace, cm.Data = key.Name, key.Namespace, data
	return nil
}

// build runs Flux's own steps for one Kustomization: generate, secure build, substitute strictly.
func build(dir string, ks unstructured.Unstructured, c client.Client) (raw, out []*unstructured.Unstructured, err error) {
	path, _, _ := unstructured.NestedString(ks.Object, "spec", "path")
	at := filepath.Join(dir, path)
	if _, err := kustomize.NewGenerator(dir, ks).WriteFile(at); err != nil {
		return nil, nil, fmt.Errorf("generate: %w", err)
	}
	rm, err := kustomize.SecureBuild(dir, at, false)
	if err != nil {
		return nil, nil, fmt.Errorf("build: %w", err)
	}
	_, substitutes := ks.Object["spec"].(map[string]any)["postBuild"]
	for _, res := range rm.Resources() {
		text, err := res.AsYAML()
		if err != nil {
			return nil, nil, err
		}
		r := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(text, &r.Object); err != nil {
			return nil, nil, err
		}
		raw = append(raw, r)
		if substitutes {
			sub, err := kustomize.SubstituteVariables(context.Background(), c, ks, res, kustomize.SubstituteWithStrict(true))
			if err != nil {
				return nil, nil, fmt.Errorf("substitute in %s: %w", res.CurId(), err)
			}
			if sub != nil {
				if text, err = sub.AsYAML(); err != nil {
					return nil, nil, err
				}
			}
		}
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(text, &o.Object); err != nil {
			return nil, nil, err
		}
		out = append(out, o)
	}
	return raw, out, nil
}

// render returns an environment, built once for all tests: treat it as read-only.
func render(t *testing.T, env string) *environment {
	t.Helper()
	e, err := renders[env]()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

var renders = map[string]func() (*environment, error){
	"dev":  sync.OnceValues(func() (*environment, error) { return renderEnvironment("dev") }),
	"prod": sync.OnceValues(func() (*environment, error) { return renderEnvironment("prod") }),
}

// renderEnvironment builds an environment from its entry on: the entry, then every Kustomization
// that is found in what was rendered, read as its parent rendered it and never from its file.
func renderEnvironment(env string) (*environment, error) {
	dir, err := os.MkdirTemp("", "reference-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	// A copy, because Flux's generator rewrites kustomization.yaml files in place.
	if err := os.CopyFS(dir, reference.FS); err != nil {
		return nil, err
	}
	root := unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
		"metadata": map[string]any{"name": "flux-system", "namespace": "flux-system"},
		"spec":     map[string]any{"path": "./clusters/" + env, "prune": true},
	}}
	_, entry, err := build(dir, root, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: entry: %w", env, err)
	}
	e := &environment{name: env, entry: entry}
	c := vars{maps: map[string]map[string]string{}}
	for _, o := range entry {
		if o.GetKind() == "ConfigMap" {
			data, _, err := unstructured.NestedStringMap(o.Object, "data")
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", env, id(o), err)
			}
			c.maps[o.GetNamespace()+"/"+o.GetName()] = data
		}
	}
	e.vars = c.maps["flux-system/cluster-vars"]
	for _, o := range entry {
		if o.GetKind() != "Kustomization" {
			continue
		}
		u := &unit{name: o.GetName(), spec: o.Object["spec"].(map[string]any)}
		deps, _, _ := unstructured.NestedSlice(o.Object, "spec", "dependsOn")
		for _, d := range deps {
			u.depends = append(u.depends, d.(map[string]any)["name"].(string))
		}
		if u.raw, u.objects, err = build(dir, *o, c); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", env, u.name, err)
		}
		if len(u.objects) == 0 {
			return nil, fmt.Errorf("%s: %s renders nothing, and would prune everything", env, u.name)
		}
		for _, o := range u.objects {
			if o.GetKind() == "Kustomization" {
				return nil, fmt.Errorf("%s: %s renders a further Kustomization, which these tests do not follow", env, u.name)
			}
		}
		e.units = append(e.units, u)
	}
	return e, nil
}

// repositoryFiles returns every file of the embedded repository, sorted.
func repositoryFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	err := fs.WalkDir(reference.FS, ".", func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	sort.Strings(files)
	return files
}

func read(t *testing.T, p string) string {
	t.Helper()
	b, err := fs.ReadFile(reference.FS, p)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// readYAML decodes a file of the repository into out, refusing unknown and repeated keys.
func readYAML(t *testing.T, p string, out any) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(read(t, p)), out); err != nil {
		t.Fatalf("%s: %v", p, err)
	}
}

// leaves calls fn for every scalar of a decoded object with its path.
func leaves(path string, v any, fn func(path string, v any)) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			leaves(path+"."+k, x, fn)
		}
	case []any:
		for i, x := range v {
			leaves(fmt.Sprintf("%s[%d]", path, i), x, fn)
		}
	default:
		fn(strings.TrimPrefix(path, "."), v)
	}
}
