package scan_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/scan"
	"github.com/tidegate/tidegate/internal/source"
)

// TestHostileYAML: files that would exhaust the stack or the memory of whoever follows their aliases are a failure of
// the unit that reads them, wherever they stand, and of no other.
func TestHostileYAML(t *testing.T) {
	laughs := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: l}\nx:\n- &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 30 {
		laughs += strings.NewReplacer("N", string(rune('a'+i%26))+string(rune('a'+i/26)), "P", prior(i)).Replace("- &N [*P, *P, *P, *P, *P, *P, *P, *P, *P, *P]\n")
	}
	for name, bad := range map[string]string{
		"itself":            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\nx: &x {y: *x}\n",
		"laughs":            laughs,
		"Flux object":       "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: evil, namespace: flux-system}\nspec: &x {path: ./good, interval: 1m, prune: true, sourceRef: {kind: GitRepository, name: flux-system}, y: *x}\n",
		"ten thousand deep": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\nx: " + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			unit := func(name string) string {
				return "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: " + name + ", namespace: flux-system}\nspec: {path: ./" + name + ", interval: 1m, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}\n"
			}
			for p, text := range map[string]string{
				"clusters/dev/flux-system/gotk-sync.yaml": strings.Replace(unit("flux-system"), "./flux-system", "./clusters/dev", 1), "clusters/dev/apps.yaml": unit("good") + "---\n" + unit("bad"),
				"good/cm.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: good, namespace: x}\n", "bad/cm.yaml": bad, "unused/kustomization.yaml": bad, "unused/flux-instance.yaml": bad,
			} {
				to := filepath.Join(dir, filepath.FromSlash(p))
				if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			tree, err := source.OpenDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			res := scanWith(t, scan.Options{Tree: tree, Entries: []scan.Entry{{Name: "dev", Path: "clusters/dev"}}}, "2.9")
			env := res.Environments[0]
			if u := unitNamed(t, env, "good"); u.Status != model.StatusOK || len(u.Objects) != 1 {
				t.Errorf("the good unit: %s %+v", u.Status, u.Reasons)
			}
			if u := unitNamed(t, env, "bad"); u.Status == model.StatusOK && name != "ten thousand deep" {
				t.Errorf("the bad unit: %s", u.Status)
			}
			// Discovery looks into every file.
			if _, warnings := scan.Discover(artifactOf(t, tree)); len(warnings) > 100 {
				t.Error("too many warnings")
			}
		})
	}
}

func prior(i int) string {
	if i == 0 {
		return "a0"
	}
	i--
	return string(rune('a'+i%26)) + string(rune('a'+i/26))
}

func artifactOf(t *testing.T, tree source.Tree) *source.Artifact {
	t.Helper()
	a, err := source.NewArtifact(tree, source.ArtifactOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return a
}
