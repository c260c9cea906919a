package oracle

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/yaml"
)

func unit(t *testing.T, spec string) Unit {
	t.Helper()
	u := Unit{}
	doc := "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: app, namespace: flux-system}\nspec: " + spec
	if err := yaml.Unmarshal([]byte(doc), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
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

const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: \"${A}\"}\n"

func TestBuildErrors(t *testing.T) {
	dir := tree(t, map[string]string{"app/c.yaml": configMap, "sub/kustomization.yaml": "resources: [../../../outside.yaml]\n"})
	for _, tt := range []struct {
		name, spec string
		objects    Objects
		want       string
	}{
		{"no such path", `{path: ./nowhere}`, nil,
			`kustomization path not found: stat <artifact>/nowhere: no such file or directory`},
		{"a path out of the artifact stays inside", `{path: ../../etc}`, nil,
			`kustomization path not found: stat <artifact>/etc: no such file or directory`},
		{"absolute component", `{path: ./app, components: [/etc]}`, nil, `component path '/etc' must be local and relative`},
		{"a value that is no string", `{path: ./app, postBuild: {substitute: {A: 1}}}`, nil,
			`not a Kustomization that the API server would admit: `},
		{"key that is no name, unused", `{path: ./app, postBuild: {substituteFrom: [{kind: Secret, name: s}]}}`,
			Objects{"Secret/flux-system/s": {"my-key": "x"}},
			`post build failed for 'ConfigMap.v1.[noGrp]/c': envsubst error: 'my-key' var name is invalid, must match '^[_[:alpha:]][_[:alpha:][:digit:]]*$'`},
		{"source of another namespace", `{path: ./app, postBuild: {substituteFrom: [{kind: ConfigMap, name: v}]}}`,
			Objects{"ConfigMap/other/v": {"A": "x"}},
			`post build failed for 'ConfigMap.v1.[noGrp]/c': substitute from 'ConfigMap/v' error: configmaps "v" not found`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Build(context.Background(), dir, unit(t, tt.spec), tt.objects, Options{Strict: true})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
	_, err := Build(context.Background(), dir, unit(t, `{path: ./sub}`), nil, Options{})
	if err == nil || strings.Contains(err.Error(), os.TempDir()+"/oracle-") {
		t.Errorf("an error shows where the judge worked: %v", err)
	}
}

func TestArtifactIsRestored(t *testing.T) {
	files := map[string]string{
		"plain/c.yaml":           configMap,
		"kept/kustomization.yml": "# a comment that the generator loses\nresources: [c.yaml]\n",
		"kept/c.yaml":            configMap,
		"empty/readme":           "no manifests\n",
	}
	dir := tree(t, files)
	source := contents(t, dir)
	if err := os.Symlink("c.yaml", filepath.Join(dir, "plain", "link.yaml")); err != nil {
		t.Fatal(err)
	}
	a, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if diff := cmp.Diff(source, contents(t, a.root)); diff != "" {
		t.Errorf("the copy has regular files only (-want +got):\n%s", diff)
	}
	ctx := context.Background()
	var first []string
	for round := range 2 {
		for i, path := range []string{"./plain", "./kept", "./empty", "./nowhere"} {
			for _, spec := range []string{`{path: ` + path + `, namePrefix: x-}`, `{path: ` + path + `}`} {
				out, err := a.Build(ctx, unit(t, spec), nil, Options{Strict: true})
				got := spec + "\n" + text(out, err)
				if round == 0 {
					first = append(first, got)
				} else if want := first[0]; got != want {
					t.Errorf("path %d: a second build differs:\n%s\nwas:\n%s", i, got, want)
				}
				if round == 1 {
					first = first[1:]
				}
				if diff := cmp.Diff(source, contents(t, a.root)); diff != "" {
					t.Errorf("%s: the copy changed (-want +got):\n%s", spec, diff)
				}
			}
		}
	}
}

// The order of the controller: sources before the build, then each resource is decrypted before it is
// substituted, and only under spec.decryption.
func TestDecryptionOrder(t *testing.T) {
	dir := tree(t, map[string]string{
		"app/kustomization.yaml": "resources: [c.yaml, off.yaml]\nsecretGenerator: [{name: g, files: [f]}]\n",
		"app/f":                  "cipher",
		"app/c.yaml":             configMap,
		"app/off.yaml":           "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: off, annotations: {kustomize.toolkit.fluxcd.io/decrypt: Disabled}}\n",
	})
	source := contents(t, dir)
	var calls []string
	o := Options{
		Strict: true,
		Decrypt: func(root, dir string) error {
			if !strings.HasPrefix(dir, root) {
				t.Errorf("%s is not below %s", dir, root)
			}
			calls = append(calls, "sources")
			return os.WriteFile(filepath.Join(dir, "f"), []byte("plain"), 0o600)
		},
		DecryptResource: func(res *resource.Resource) (*resource.Resource, error) {
			calls = append(calls, res.GetName())
			if res.GetKind() != "ConfigMap" {
				return nil, nil
			}
			res.SetDataMap(map[string]string{"a": "decrypted ${A}"})
			return res, nil
		},
	}
	spec := `{path: ./app, decryption: {provider: sops}, postBuild: {substitute: {A: x}}}`
	out, err := Build(context.Background(), dir, unit(t, spec), nil, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"a: decrypted x\n", "f: cGxhaW4=\n"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if len(calls) != 3 || calls[0] != "sources" || calls[1] != "c" || !strings.HasPrefix(calls[2], "g-") {
		t.Errorf("calls: %v", calls)
	}
	if diff := cmp.Diff(source, contents(t, dir)); diff != "" {
		t.Errorf("the artifact changed (-want +got):\n%s", diff)
	}

	calls = nil
	if _, err := Build(context.Background(), dir, unit(t, `{path: ./app}`), nil, o); err != nil || calls != nil {
		t.Errorf("without spec.decryption: calls %v, error %v", calls, err)
	}

	failing := errors.New("no key")
	o.DecryptResource = func(*resource.Resource) (*resource.Resource, error) { return nil, failing }
	_, err = Build(context.Background(), dir, unit(t, spec), nil, o)
	if !errors.Is(err, failing) || err.Error() != "decryption failed for 'ConfigMap.v1.[noGrp]/c': no key" {
		t.Errorf("got %v", err)
	}
	o.Decrypt = func(root, dir string) error { return errors.New(dir + ": no key") }
	_, err = Build(context.Background(), dir, unit(t, spec), nil, o)
	if err == nil || err.Error() != "error decrypting sources: <artifact>/app: no key" {
		t.Errorf("got %v", err)
	}
}

func TestSubstituteStrategy(t *testing.T) {
	dir := tree(t, map[string]string{"app/c.yaml": strings.ReplaceAll(configMap, "${A}", "${A:=d}")})
	for strategy, want := range map[string]string{"Always": "a: d\n", "WithVariables": "a: ${A:=d}\n"} {
		spec := `{path: ./app, postBuild: {substituteStrategy: ` + strategy + `}}`
		out, err := Build(context.Background(), dir, unit(t, spec), nil, Options{Strict: true})
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %s, %v", strategy, out, err)
		}
	}
}
