package reference_test

import (
	"io/fs"
	"os"
	"reflect"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

type kustomizationFile struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Resources  []string `json:"resources"`
	Patches    []struct {
		Patch string `json:"patch"`
	} `json:"patches,omitempty"`
}

// lanKnobs is the LAN block, with the values that the design fixes for dev and prod.
var lanKnobs = map[string][2]string{
	"LAN_CIDR":             {"192.168.1.0/24", "192.168.2.0/24"},
	"K3S_API_HOST":         {"192.168.1.10", "192.168.2.9"},
	"CILIUM_LB_POOL_START": {"192.168.1.53", "192.168.2.20"},
	"CILIUM_LB_POOL_STOP":  {"192.168.1.60", "192.168.2.30"},
	"GATEWAY_VIP":          {"192.168.1.53", "192.168.2.20"},
	"UNIFI_L4_VIP":         {"192.168.1.54", "192.168.2.21"},
	"CRAFTY_L4_VIP":        {"192.168.1.55", "192.168.2.22"},
	"PLEX_L4_VIP":          {"192.168.1.56", "192.168.2.24"},
	"S3_BACKUP_ENDPOINT":   {"http://192.168.1.5:9000", "TBD-PROD-S3-ENDPOINT"},
}

type overlayPatch struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Data map[string]string `json:"data"`
}

func overlay(t *testing.T, env string) (kustomizationFile, overlayPatch) {
	t.Helper()
	var k kustomizationFile
	readYAML(t, "clusters/"+env+"/kustomization.yaml", &k)
	if len(k.Patches) != 1 {
		t.Fatalf("%s: want one patch, got %d", env, len(k.Patches))
	}
	var p overlayPatch
	if err := yaml.UnmarshalStrict([]byte(k.Patches[0].Patch), &p); err != nil {
		t.Fatalf("%s: the patch holds something besides ConfigMap data: %v", env, err)
	}
	return k, p
}

func TestEmbedsEveryFile(t *testing.T) {
	var onDisk []string
	err := fs.WalkDir(os.DirFS("."), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if p == "testdata" {
			return fs.SkipDir
		}
		if !d.IsDir() && !strings.HasSuffix(p, ".go") {
			onDisk = append(onDisk, p)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	sort.Strings(onDisk)
	if d := cmp.Diff(onDisk, repositoryFiles(t)); d != "" {
		t.Errorf("files on disk (-) and in FS (+) differ:\n%s", d)
	}
}

// Both overlays render from the entry on, and every unit renders the same objects in both.
func TestSameObjectsInBothEnvironments(t *testing.T) {
	dev, prod := render(t, "dev"), render(t, "prod")
	if len(dev.units) != 7 {
		t.Errorf("want 7 Kustomizations, got %d", len(dev.units))
	}
	for i, u := range dev.units {
		v := prod.units[i]
		ids := func(objects []*unstructured.Unstructured) (s []string) {
			for _, o := range objects {
				s = append(s, id(o))
			}
			return s
		}
		if u.name != v.name || !reflect.DeepEqual(u.spec, v.spec) {
			t.Errorf("Kustomization %s of dev is %s of prod, or its spec differs", u.name, v.name)
		}
		if d := cmp.Diff(ids(u.objects), ids(v.objects)); d != "" {
			t.Errorf("%s: objects of dev (-) and prod (+) differ:\n%s", u.name, d)
		}
		// What is built before substitution is the same bytes: only knobs differ.
		if d := cmp.Diff(u.raw, v.raw); d != "" {
			t.Errorf("%s: builds of dev (-) and prod (+) differ before substitution:\n%s", u.name, d)
		}
	}
	// No object has two owners.
	for _, e := range []*environment{dev, prod} {
		owner := map[string]string{}
		for _, u := range e.units {
			for _, o := range u.objects {
				if other, ok := owner[id(o)]; ok {
					t.Errorf("%s: %s is rendered by %s and by %s", e.name, id(o), other, u.name)
				}
				owner[id(o)] = u.name
			}
		}
	}
}

// R-ENV-02: the overlays differ only in the values that they patch into cluster-vars.
func TestOverlaysOnlySetKnobs(t *testing.T) {
	var base overlayPatch
	if err := yaml.Unmarshal([]byte(read(t, "clusters/base/cluster-vars.yaml")), &base); err != nil {
		t.Fatal(err)
	}
	for i, env := range environments {
		k, p := overlay(t, env)
		if !slices.Equal(k.Resources, []string{"../base"}) {
			t.Errorf("%s: resources are %v, want ../base alone", env, k.Resources)
		}
		if p.Kind != "ConfigMap" || p.Metadata.Name != "cluster-vars" || p.Metadata.Namespace != "flux-system" {
			t.Errorf("%s patches %s %s/%s", env, p.Kind, p.Metadata.Namespace, p.Metadata.Name)
		}
		for knob := range p.Data {
			if _, ok := base.Data[knob]; !ok {
				t.Errorf("%s sets %s, which the base does not declare", env, knob)
			}
		}
		for knob, want := range lanKnobs {
			if got, ok := p.Data[knob]; !ok || got != want[i] {
				t.Errorf("%s: %s is %q (set: %v), want %q set explicitly", env, knob, got, ok, want[i])
			}
			if base.Data[knob] != want[0] {
				t.Errorf("base default of %s is %q, want dev's %q", knob, base.Data[knob], want[0])
			}
		}
		var files []string
		for _, f := range repositoryFiles(t) {
			if strings.HasPrefix(f, "clusters/"+env+"/") {
				files = append(files, f)
			}
		}
		if len(files) != 1 {
			t.Errorf("%s holds more than its kustomization.yaml: %v", env, files)
		}
	}
	// And what the entries render is equal but for that map's data.
	entries := map[string][]*unstructured.Unstructured{}
	for _, env := range environments {
		for _, o := range render(t, env).entry {
			o = o.DeepCopy()
			if o.GetKind() == "ConfigMap" {
				if o.GetLabels()["reconcile.fluxcd.io/watch"] != "Enabled" {
					t.Errorf("%s: cluster-vars is not watched", env)
				}
				delete(o.Object, "data")
			}
			entries[env] = append(entries[env], o)
		}
	}
	if d := cmp.Diff(entries["dev"], entries["prod"]); d != "" {
		t.Errorf("entries of dev (-) and prod (+) differ in more than cluster-vars:\n%s", d)
	}
}

func TestOnlyProdsS3EndpointIsUndecided(t *testing.T) {
	want := map[string][]string{"dev": nil, "prod": {"S3_BACKUP_ENDPOINT"}}
	for _, env := range environments {
		var undecided []string
		for knob, v := range render(t, env).vars {
			if strings.HasPrefix(v, "TBD-") {
				undecided = append(undecided, knob)
			}
		}
		if !slices.Equal(undecided, want[env]) {
			t.Errorf("%s: undecided are %v, want %v", env, undecided, want[env])
		}
	}
}

// Every ${X} is a knob, and every knob is used by something.
func TestTokensAndKnobsMatch(t *testing.T) {
	token := regexp.MustCompile(`\$+\{([A-Za-z_0-9]+)`)
	e := render(t, "dev")
	used := map[string]bool{}
	for _, u := range e.units {
		_, substitutes := u.spec["postBuild"]
		tokens := 0
		for _, o := range u.raw {
			leaves(id(o), o.Object, func(p string, v any) {
				s, _ := v.(string)
				for _, m := range token.FindAllStringSubmatch(s, -1) {
					if strings.HasPrefix(m[0], "$$") {
						continue // a shell variable, escaped
					}
					tokens++
					used[m[1]] = true
					if _, ok := e.vars[m[1]]; !ok {
						t.Errorf("%s: %s is no knob", p, m[0])
					}
				}
			})
		}
		if substitutes != (tokens > 0) {
			t.Errorf("%s: postBuild is set: %v, but it has %d tokens", u.name, substitutes, tokens)
		}
		for _, o := range u.objects {
			leaves(id(o), o.Object, func(p string, v any) {
				s, _ := v.(string)
				if strings.Contains(s, "${") && !strings.HasSuffix(p, ".userData") {
					t.Errorf("%s still holds a token: %q", p, s)
				}
			})
		}
	}
	for knob := range e.vars {
		if !used[knob] {
			t.Errorf("knob %s is used by nothing", knob)
		}
	}
}

// After substitution the text is parsed again, and a value may have become another type: built-in
// objects must decode strictly into their Go types, and metadata must consist of strings.
func TestTypesAfterSubstitution(t *testing.T) {
	strict := serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()
	for _, env := range environments {
		e := render(t, env)
		for _, u := range e.units {
			for _, o := range u.objects {
				for _, field := range []string{"labels", "annotations"} {
					m, _, err := unstructured.NestedMap(o.Object, "metadata", field)
					if err != nil {
						t.Errorf("%s: %s: %v", env, id(o), err)
					}
					for k, v := range m {
						if _, ok := v.(string); !ok {
							t.Errorf("%s: %s: %s %s is %T", env, id(o), field, k, v)
						}
					}
				}
				if !scheme.Scheme.Recognizes(o.GroupVersionKind()) {
					continue
				}
				c := o.DeepCopy()
				if _, ok := c.Object["sops"]; ok {
					delete(c.Object, "sops") // encrypted: the values are not base64 yet
					delete(c.Object, "data")
				}
				text, err := c.MarshalJSON()
				if err != nil {
					t.Fatal(err)
				}
				if _, _, err := strict.Decode(text, nil, nil); err != nil {
					t.Errorf("%s: %s: %v", env, id(o), err)
				}
			}
		}
		instances := map[string]any{}
		for _, name := range []string{"keycloak-db", "semaphore-db", "nextcloud-db"} {
			instances[name], _, _ = unstructured.NestedFieldNoCopy(e.find(t, "Cluster", name).Object, "spec", "instances")
		}
		for name, v := range instances {
			if _, ok := v.(int64); !ok {
				if f, ok := v.(float64); !ok || f != float64(int(f)) {
					t.Errorf("%s: instances of %s is %T %v, want a number", env, name, v, v)
				}
			}
		}
		for _, class := range []string{"longhorn-apps", "longhorn-vm"} {
			n, _, err := unstructured.NestedString(e.find(t, "StorageClass", class).Object, "parameters", "numberOfReplicas")
			if want := strings.Trim(e.vars["STORAGE_REPLICAS"], `"`); err != nil || n != want {
				t.Errorf("%s: numberOfReplicas of %s is %q (%v), want the string %q", env, class, n, err, want)
			}
		}
	}
}
