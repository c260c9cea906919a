package reference_test

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

// Every Kustomization says how it waits, retries and prunes, decrypts exactly when it holds
// something encrypted, and parses as the API's own type.
func TestKustomizationsAreDeliberate(t *testing.T) {
	e := render(t, "prod")
	for _, o := range e.entry {
		if o.GetKind() != "Kustomization" {
			continue
		}
		text, err := json.Marshal(o.Object)
		if err != nil {
			t.Fatal(err)
		}
		var k kustomizev1.Kustomization
		if err := yaml.UnmarshalStrict(text, &k); err != nil {
			t.Errorf("%s: %v", o.GetName(), err)
			continue
		}
		s := k.Spec
		if !s.Wait || !s.Prune || s.Timeout == nil || s.RetryInterval == nil || s.Interval.Duration == 0 {
			t.Errorf("%s: wait, prune, timeout, retryInterval and interval must all be set: %+v", k.Name, s)
		}
		encrypted := false
		for _, o := range e.unit(t, k.Name).objects {
			if _, ok := o.Object["sops"]; ok {
				encrypted = true
			}
		}
		if (s.Decryption != nil) != encrypted {
			t.Errorf("%s: decryption is set: %v, encrypted content: %v", k.Name, s.Decryption != nil, encrypted)
		}
		if s.Decryption != nil && (s.Decryption.Provider != "sops" || s.Decryption.SecretRef == nil || s.Decryption.SecretRef.Name != "sops-age") {
			t.Errorf("%s: decryption is %+v, want provider sops with Secret sops-age", k.Name, s.Decryption)
		}
		if s.PostBuild != nil && (len(s.PostBuild.SubstituteFrom) != 1 || s.PostBuild.SubstituteFrom[0].Kind != "ConfigMap" ||
			s.PostBuild.SubstituteFrom[0].Name != "cluster-vars" || s.PostBuild.SubstituteFrom[0].Optional) {
			t.Errorf("%s: postBuild is %+v", k.Name, s.PostBuild)
		}
		if s.SourceRef.Kind != "GitRepository" || s.SourceRef.Name != "flux-system" {
			t.Errorf("%s: source is %+v", k.Name, s.SourceRef)
		}
	}
	graph := map[string][]string{}
	for _, u := range e.units {
		graph[u.name] = u.depends
	}
	want := map[string][]string{
		"platform": nil, "platform-config": {"platform"}, "platform-config-cdi": {"platform-config"},
		"apps-wave-0": {"platform-config"}, "apps-wave-1": {"apps-wave-0"}, "apps-wave-2": {"apps-wave-1"},
		"apps-vms": {"platform-config", "platform-config-cdi"},
	}
	if d := cmp.Diff(want, graph); d != "" {
		t.Errorf("dependsOn, want (-) and got (+):\n%s", d)
	}
}

// R-GITOPS-03: when a unit is applied, each custom resource's kind exists because an earlier,
// health-gated unit made it, or because its CRD is a manifest of the same unit (first stage).
func TestCRDsComeFromAnEarlierTier(t *testing.T) {
	const bootstrap = "bootstrap"
	provider := map[string]string{
		"source.toolkit.fluxcd.io":       bootstrap,
		"helm.toolkit.fluxcd.io":         bootstrap,
		"gateway.networking.k8s.io":      bootstrap,
		"cilium.io":                      "platform", // Cilium's operator, at run time
		"cert-manager.io":                "platform", // chart
		"postgresql.cnpg.io":             "platform", // chart
		"barmancloud.cnpg.io":            "platform", // chart
		"kubevirt.io/KubeVirt":           "platform", // manifest
		"cdi.kubevirt.io/CDI":            "platform", // manifest
		"kubevirt.io/VirtualMachine":     "platform-config",
		"cdi.kubevirt.io/StorageProfile": "platform-config",
		"cdi.kubevirt.io/DataVolume":     "platform-config",
	}
	e := render(t, "dev")
	depends := map[string][]string{}
	for _, u := range e.units {
		depends[u.name] = u.depends
	}
	var after func(name, other string) bool
	after = func(name, other string) bool {
		return slices.ContainsFunc(depends[name], func(d string) bool { return d == other || after(d, other) })
	}
	for _, u := range e.units {
		for _, o := range u.objects {
			gvk := o.GroupVersionKind()
			if scheme.Scheme.Recognizes(gvk) || gvk.Kind == "CustomResourceDefinition" {
				continue
			}
			from, ok := provider[gvk.Group+"/"+gvk.Kind]
			if !ok {
				from, ok = provider[gvk.Group]
			}
			if !ok {
				t.Errorf("%s: nothing is known to bring %s", u.name, gvk)
			} else if from != bootstrap && !after(u.name, from) {
				t.Errorf("%s uses %s, which comes with %s, and does not depend on it", u.name, gvk, from)
			}
		}
	}
	crds := 0
	for _, o := range e.unit(t, "platform").objects {
		if o.GetKind() == "CustomResourceDefinition" {
			crds++
		}
	}
	if crds != 2 {
		t.Errorf("platform registers %d CRDs by manifest, want kubevirts and cdis", crds)
	}
}

// Every manifest of the repository is listed by the kustomization.yaml beside it, so that none is
// forgotten and none is picked up by accident.
func TestEveryManifestIsListed(t *testing.T) {
	notManifests := []string{".sops.yaml", "tidegate.yaml", "platform/cilium/bootstrap-values.yaml"}
	for _, f := range repositoryFiles(t) {
		if strings.HasPrefix(f, "catalog/") {
			continue // what the manifests below apps are made of
		}
		if ext := path.Ext(f); ext != ".yaml" || slices.Contains(notManifests, f) || path.Base(f) == "kustomization.yaml" {
			if ext == ".yml" {
				t.Errorf("%s: manifests end in .yaml here", f)
			}
			continue
		}
		var k kustomizationFile
		readYAML(t, path.Join(path.Dir(f), "kustomization.yaml"), &k)
		if !slices.Contains(k.Resources, path.Base(f)) {
			t.Errorf("%s is not listed in the kustomization.yaml beside it", f)
		}
	}
}

// Cilium runs before Flux does: what bootstrap installs and what Flux adopts are the same.
func TestBootstrapValuesMirrorTheHelmRelease(t *testing.T) {
	var s settings
	readYAML(t, "tidegate.yaml", &s)
	var file, release map[string]any
	readYAML(t, s.Bootstrap.Cilium.Values, &file)
	for _, o := range render(t, "dev").unit(t, "platform").raw {
		if fmt.Sprintf("%s %s/%s", o.GetKind(), o.GetNamespace(), o.GetName()) == s.Bootstrap.Cilium.Mirrors {
			release, _, _ = unstructured.NestedMap(o.Object, "spec", "values")
		}
	}
	if d := cmp.Diff(release, file); d != "" {
		t.Errorf("values of the HelmRelease (-) and of the bootstrap file (+) differ:\n%s", d)
	}
}
