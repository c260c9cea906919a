package scan_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/resource"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/tidegate/tidegate/internal/flux"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/oracle"
	"github.com/tidegate/tidegate/internal/render"
	"github.com/tidegate/tidegate/internal/scan"
	"github.com/tidegate/tidegate/internal/sops"
	"github.com/tidegate/tidegate/internal/source"
)

// verdict is what came of holding one environment against Flux's own packages.
type verdict struct {
	equal, differ, failedAlike, notBuilt int
	differences                          []string
}

// judge builds each unit of an environment with Flux's own packages, from what its parent rendered, and compares the
// bytes. given stands in for values that the repository does not hold, on both sides.
func judge(t *testing.T, tree source.Tree, env *model.Environment, given map[string]string, strict bool) verdict {
	t.Helper()
	artifact, err := source.NewArtifact(tree, source.ArtifactOptions{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	writeArtifact(t, artifact, env.Root, dir)
	a, err := oracle.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()

	objects := clusterOf(t, env, given)
	specs := specsOf(t, env)
	var v verdict
	for _, u := range env.Units {
		if u.ID.Kind != "Kustomization" {
			continue
		}
		spec, ok := specs[u.ID.Short()]
		if !ok || u.Source != env.Source || has(u, model.CodeRemoteBase) || has(u, model.CodeParentUnknown) || has(u, model.CodeRefused) {
			v.notBuilt++
			continue
		}
		want, err := a.Build(context.Background(), oracle.Unit{Object: spec}, objects, oracle.Options{Strict: strict, DecryptResource: maskResource})
		got := stream(u)
		switch {
		case err != nil && u.Status == model.StatusFailed:
			v.failedAlike++
		case err != nil:
			v.differ++
			v.differences = append(v.differences, fmt.Sprintf("%s: Flux fails and we do not: %v", u.ID.Short(), err))
		case u.Status == model.StatusFailed:
			v.differ++
			v.differences = append(v.differences, fmt.Sprintf("%s: we fail and Flux does not: %s", u.ID.Short(), u.Reasons[0].Message))
		case got != string(want):
			v.differ++
			v.differences = append(v.differences, fmt.Sprintf("%s: bytes differ: %s", u.ID.Short(), firstDifference(got, string(want))))
		default:
			v.equal++
		}
	}
	return v
}

func has(u *model.Unit, code model.Code) bool {
	for _, r := range u.Reasons {
		if r.Code == code {
			return true
		}
	}
	return false
}

func stream(u *model.Unit) string {
	var texts []string
	for _, o := range u.Objects {
		texts = append(texts, o.YAML)
	}
	return strings.Join(texts, "---\n")
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := 0; i < len(g) || i < len(w); i++ {
		a, b := "<end>", "<end>"
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			return fmt.Sprintf("line %d: got %q, want %q", i+1, a, b)
		}
	}
	return "none"
}

func writeArtifact(t *testing.T, a *source.Artifact, root, dir string) {
	t.Helper()
	for _, p := range a.Files() {
		in := p
		if root != "." {
			var ok bool
			if in, ok = strings.CutPrefix(p, root+"/"); !ok {
				continue
			}
		}
		data, err := a.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, filepath.FromSlash(in))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// clusterOf is what Flux would find in the cluster when it reads variables.
func clusterOf(t *testing.T, env *model.Environment, given map[string]string) oracle.Objects {
	t.Helper()
	all := oracle.Objects{}
	add := func(o *model.Object) {
		if o.Ref.APIVersion != "v1" || o.Ref.Kind != "ConfigMap" && o.Ref.Kind != "Secret" {
			return
		}
		got, err := oracle.ObjectsFromYAML([]byte(o.YAML))
		if err != nil {
			return
		}
		for k, data := range got {
			for name, value := range data {
				if g, ok := given[name]; ok && (strings.Contains(value, sops.DefaultMask) || len(o.Unverified) > 0 && strings.Contains(value, "${")) {
					data[name] = g
				}
			}
			if _, ok := all[k]; !ok {
				all[k] = data
			}
		}
	}
	for _, o := range env.Applied {
		add(o)
	}
	for _, u := range env.Units {
		if u.Remote == "" {
			for _, o := range u.Objects {
				add(o)
			}
		}
	}
	for _, u := range env.Units {
		for _, r := range u.Reasons {
			if r.Code == model.CodeMissingVariable && all[r.Subject] == nil {
				all[r.Subject] = given
			}
		}
		for _, key := range required(u) {
			if _, ok := all[key]; !ok && len(given) > 0 {
				all[key] = given
			}
		}
	}
	return all
}

// required names the sources of variables that a unit cannot do without. One that nothing makes is told as a reason
// only as long as a value of it is unknown.
func required(u *model.Unit) (keys []string) {
	ks, ok := u.Spec.(*flux.Kustomization)
	if !ok || ks.Spec.PostBuild == nil {
		return nil
	}
	for _, f := range ks.Spec.PostBuild.SubstituteFrom {
		if !f.Optional {
			keys = append(keys, f.Kind+"/"+u.ID.Namespace+"/"+f.Name)
		}
	}
	return keys
}

// specsOf gives each unit's object as its parent rendered it, and the entry's as the render assumed it.
func specsOf(t *testing.T, env *model.Environment) map[string]map[string]any {
	t.Helper()
	out := map[string]map[string]any{}
	add := func(o *model.Object) {
		if o.Ref.Kind != "Kustomization" || !flux.IsGroup(o.Ref.APIVersion, flux.KustomizeGroup) {
			return
		}
		var obj map[string]any
		if err := sigsyaml.Unmarshal([]byte(o.YAML), &obj); err != nil {
			t.Fatal(err)
		}
		if key := o.Ref.Namespace + "/" + o.Ref.Name; out[key] == nil {
			out[key] = obj
		}
	}
	for _, o := range env.Applied {
		add(o)
	}
	for _, u := range env.Units {
		for _, o := range u.Objects {
			add(o)
		}
	}
	for _, u := range env.Units {
		if _, ok := out[u.ID.Short()]; ok || u.Spec == nil {
			continue
		}
		data, err := sigsyaml.Marshal(u.Spec)
		if err != nil {
			t.Fatal(err)
		}
		var obj map[string]any
		if err := sigsyaml.Unmarshal(data, &obj); err != nil {
			t.Fatal(err)
		}
		obj["apiVersion"], obj["kind"] = "kustomize.toolkit.fluxcd.io/v1", "Kustomization"
		out[u.ID.Short()] = obj
	}
	return out
}

// maskResource stands for decryption without a key, as the render does it.
func maskResource(res *resource.Resource) (*resource.Resource, error) {
	data, err := res.MarshalJSON()
	if err != nil {
		return nil, err
	}
	if sops.DecryptionDisabled(res.GetAnnotations()) {
		return nil, nil
	}
	out, changed, err := sops.MaskObject(data, sops.DefaultMask)
	if err != nil {
		return nil, err
	}
	if !changed {
		if res.GetKind() == "Secret" {
			res.SetDataMap(res.GetDataMap())
			return res, nil
		}
		return nil, nil
	}
	if err := res.UnmarshalJSON(out); err != nil {
		return nil, err
	}
	return res, nil
}

var unknownName = regexp.MustCompile(`^\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// standIns gives a value for every variable that an environment could not know.
func standIns(env *model.Environment) map[string]string {
	out := map[string]string{}
	for _, u := range env.Units {
		for _, o := range u.Objects {
			for _, r := range o.Unverified {
				if m := unknownName.FindStringSubmatch(r.Message); m != nil {
					out[m[1]] = "stand-in-" + strings.ToLower(strings.ReplaceAll(m[1], "_", "-"))
				}
			}
		}
	}
	return out
}

func scanWith(t *testing.T, o scan.Options, version string) *scan.Result {
	t.Helper()
	b, err := flux.For(version)
	if err != nil {
		t.Fatal(err)
	}
	o.Builder, o.FluxGiven = &render.Builder{Flux: b}, true
	res, err := scan.Scan(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// settle scans a repository, then again with values for what it could not know, until nothing new is unknown.
func settle(t *testing.T, o scan.Options, version string) (*scan.Result, map[string]map[string]string) {
	t.Helper()
	given := map[string]map[string]string{}
	for {
		o.Given = map[string]map[string]render.Value{}
		for env, values := range given {
			o.Given[env] = map[string]render.Value{}
			for k, v := range values {
				o.Given[env][k] = render.Value{Text: v}
			}
		}
		res := scanWith(t, o, version)
		grew := false
		for _, env := range res.Environments {
			if given[env.Name] == nil {
				given[env.Name] = map[string]string{}
			}
			for k, v := range standIns(env) {
				if _, ok := given[env.Name][k]; !ok {
					given[env.Name][k] = v
					grew = true
				}
			}
		}
		if !grew {
			return res, given
		}
	}
}
