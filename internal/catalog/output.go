package catalog

import (
	"bytes"
	"fmt"
	"path"
	"sort"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/tidegate/tidegate/internal/model"
)

// Output is the tree that a catalog makes.
type Output struct {
	Files map[string][]byte // by path
	// Missing are encrypted Secrets that the output names and that nobody has made yet, with the apps that want them.
	Missing []MissingSecret
	Waves   []Wave
}

// MissingSecret is an encrypted file that is not there.
type MissingSecret struct{ App, Path, Example string }

// Wave is a Kustomization of apps.
type Wave struct {
	Number int
	Apps   []*App
}

// fluxNamespace is where the Kustomizations of the graph and their source are.
const fluxNamespace = "flux-system"

// make renders the catalog with apps where moves say.
func (c *Catalog) make(moves *Moves) (*Output, []Problem) {
	out := &Output{Files: map[string][]byte{}}
	var problems []Problem
	highest := -1
	for _, a := range c.Apps {
		highest = max(highest, moves.wave(a))
	}
	for n := 0; n <= highest; n++ {
		w := Wave{Number: n, Apps: c.inWave(n, moves.wave)}
		if len(w.Apps) > 0 { // a wave may be empty in the midst of a cutover
			out.Waves = append(out.Waves, w)
		}
	}
	for i, w := range out.Waves {
		for _, a := range w.Apps {
			m := &maker{c: c, a: a, held: moves.holds(a)}
			problems = append(problems, m.app(out, path.Join(c.waveDir(w.Number), a.Name))...)
		}
		c.wave(out, i)
	}
	if moves != nil {
		out.Files[c.movesPath()] = moves.encode()
	}
	problems = append(problems, c.regions(out)...)
	sort.Slice(out.Missing, func(i, j int) bool { return out.Missing[i].Path < out.Missing[j].Path })
	return out, problems
}

func (c *Catalog) waveDir(n int) string { return fmt.Sprintf("%s/wave-%d", c.Settings.Apps, n) }

func waveName(apps string, n int) string { return fmt.Sprintf("%s-wave-%d", path.Base(apps), n) }

func (c *Catalog) waveFile(n int) string {
	return path.Join(c.Settings.Clusters, waveName(c.Settings.Apps, n)+".yaml")
}

// app writes the files of one app.
func (m *maker) app(out *Output, dir string) (problems []Problem) {
	var resources []string
	put := func(name string, objects ...object) {
		if len(objects) > 0 {
			out.Files[path.Join(dir, name)] = encode(m.a.File, objects...)
			resources = append(resources, name)
		}
	}
	put("namespace.yaml", m.namespace())
	for _, s := range m.encrypted() {
		file := s.Name + ".sops.yaml"
		resources = append(resources, file)
		out.Files[path.Join(m.c.Settings.Dir, m.a.Name, file+".example")] = m.example(s)
		data, at, err := m.c.own(m.a, file)
		switch {
		case missing(err) && m.c.copied(path.Join(dir, file)):
			problems = append(problems, Problem{Place: model.Place{File: at, Line: 1, Column: 1}, Message: fmt.Sprintf("it is gone, and %s is a copy of it", path.Join(dir, file)),
				Fix: fmt.Sprintf("cp %s %s, or take the Secret out of %s", path.Join(dir, file), at, m.a.File)})
		case missing(err):
			out.Missing = append(out.Missing, MissingSecret{App: m.a.Name, Path: at, Example: at + ".example"})
		case err != nil:
			problems = append(problems, Problem{Place: model.Place{File: at, Line: 1, Column: 1}, Message: err.Error()})
		default:
			problems = append(problems, m.secretFile(s, at, data)...)
			out.Files[path.Join(dir, file)] = data
		}
	}
	if m.a.Database != nil {
		put("database.yaml", m.databases()...)
	}
	put("storage.yaml", m.storage()...)
	if len(m.a.Files) > 0 {
		put("config.yaml", m.files())
	}
	put("deployment.yaml", m.deployment())
	put("service.yaml", m.services()...)
	if m.a.Route != nil {
		put("http-route.yaml", m.route())
	}
	put("network-policy.yaml", m.policies()...)
	for _, name := range m.a.Manifests {
		data, at, err := m.c.own(m.a, name)
		if err != nil {
			continue // said by validate
		}
		text := fmt.Sprintf("%s%s: change that, and render again.\n", header, at)
		out.Files[path.Join(dir, name)] = append([]byte(text), data...)
		resources = append(resources, name)
	}
	out.Files[path.Join(dir, "kustomization.yaml")] = encode(m.a.File, m.kustomization(resources))
	return problems
}

// heldComment says in an app's kustomization file that everything in it is marked.
const heldComment = "A change of waves is under way: the patch keeps everything here from being pruned by who owned it."

// kustomization lists an app's files. While the app changes its wave a patch gives everything in it the annotation that keeps
// it, also what was copied. Its manifests stay the same bytes, and its pods are not restarted.
func (m *maker) kustomization(resources []string) object {
	k := kustomizationFile{TypeMeta: kind("kustomize.config.k8s.io/v1beta1", "Kustomization"), Resources: resources}
	if !m.held {
		return object{value: k}
	}
	k.Patches = []targetPatch{{Target: map[string]string{"name": ".*"}, Patch: "apiVersion: any\nkind: Any\nmetadata:\n  name: any\n  annotations:\n    " + pruneAnnotation + ": disabled\n"}}
	return object{value: k, comment: heldComment}
}

// copied tells whether an encrypted file of the output is there.
func (c *Catalog) copied(at string) bool {
	_, err := c.files.ReadFile(at)
	return err == nil
}

// secretFile refuses an encrypted file that is not encrypted, or another's.
func (m *maker) secretFile(s Secret, at string, data []byte) (out []Problem) {
	bad := func(message, fix string) {
		out = append(out, Problem{Place: model.Place{File: at, Line: 1, Column: 1}, Message: message, Fix: fix})
	}
	var o struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`
		Data, StringData  map[string]any
		SOPS              struct{ MAC string }
	}
	if err := safely(func() error { return yaml.Unmarshal(data, &o) }); err != nil {
		bad("it is no YAML", "make it anew from the .example beside it")
		return out
	}
	switch {
	case bytes.Contains(data, []byte("\n---")) || bytes.Contains(data, []byte("\n...")):
		bad("it holds more than one document", "one Secret, one file")
	case !strings.HasPrefix(o.SOPS.MAC, "ENC[") || !sealed(o.Data) || !sealed(o.StringData):
		bad("it is not encrypted, and git would keep what it holds for good", "sops --encrypt --in-place "+at)
	case o.Kind != "Secret" || o.Name != s.Name:
		bad(fmt.Sprintf("it is %s %s, and not Secret %s", quote(o.Kind), quote(o.Name), s.Name), "make it anew from the .example beside it")
	case o.Namespace != m.a.Name:
		bad(fmt.Sprintf("its namespace is %s, and the app's is %s", quote(o.Namespace), m.a.Name), "correct metadata.namespace, which is not encrypted")
	}
	return out
}

// sealed tells whether all values are encrypted.
func sealed(values map[string]any) bool {
	for _, v := range values {
		if s, ok := v.(string); !ok || s != "" && !strings.HasPrefix(s, "ENC[") { // sops leaves an empty text as it is
			return false
		}
	}
	return true
}

// wave writes a wave's own files: the list of its apps, and its Kustomization in the graph.
func (c *Catalog) wave(out *Output, i int) {
	w, s := out.Waves[i], c.Settings
	list := kustomizationFile{TypeMeta: kind("kustomize.config.k8s.io/v1beta1", "Kustomization")}
	databases, secrets, tokens := false, false, false
	for _, a := range w.Apps {
		list.Resources = append(list.Resources, a.Name)
		databases = databases || a.Database != nil
		secrets = secrets || len((&maker{c: c, a: a}).encrypted()) > 0
	}
	dir := c.waveDir(w.Number)
	for p, data := range out.Files {
		tokens = tokens || strings.HasPrefix(p, dir+"/") && bytes.Contains(data, []byte("${"))
	}
	out.Files[path.Join(dir, "kustomization.yaml")] = encode(s.Dir, object{value: list})

	k := &fluxKustomization{TypeMeta: kind("kustomize.toolkit.fluxcd.io/v1", "Kustomization"),
		ObjectMeta: metav1.ObjectMeta{Name: waveName(s.Apps, w.Number), Namespace: fluxNamespace}}
	k.Spec = fluxSpec{Interval: "1h", RetryInterval: "2m", Timeout: "20m", Prune: true, Wait: true, Path: "./" + dir, SourceRef: kindRef{"GitRepository", fluxNamespace}}
	comment := "The first wave of apps. "
	switch {
	case i > 0:
		comment = fmt.Sprintf("Wave %d of the apps: after wave %d is healthy. ", w.Number, out.Waves[i-1].Number)
		k.Spec.DependsOn = []nameRef{{waveName(s.Apps, out.Waves[i-1].Number)}}
	case s.After != "":
		k.Spec.DependsOn = []nameRef{{s.After}}
	}
	comment += "wait gates on this wave's own objects: a crash loop in a\nlater wave neither stalls this one nor blocks a new revision of it."
	if databases {
		comment += "\nA database Cluster that its operator has not seen yet has no status, and an object without status counts as\ncurrent: only a Ready condition says that it is there."
		k.Spec.HealthCheckExprs = []healthExpr{{"postgresql.cnpg.io/v1", "Cluster", "has(status.conditions) && status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')"}}
	}
	if secrets {
		k.Spec.Decryption = &decryption{Provider: "sops", SecretRef: nameRef{"sops-age"}}
	}
	if tokens && s.Knobs.Name != "" {
		k.Spec.PostBuild = &postBuild{SubstituteFrom: []kindRef{{s.Knobs.Kind, s.Knobs.Name}}}
	}
	out.Files[c.waveFile(w.Number)] = encode(s.Dir, object{value: k, comment: comment})
}
