package flux

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	sigsyaml "sigs.k8s.io/yaml"
)

// manifest is a Kustomization whose spec has the given lines besides the required ones; a line replaces the required
// one that begins alike.
func manifest(t *testing.T, lines ...string) map[string]any {
	t.Helper()
	required := []string{"interval: 10m", "prune: true", "sourceRef: {kind: GitRepository, name: flux-system}"}
	var spec []string
	for _, r := range required {
		field, _, _ := strings.Cut(r, ":")
		replaced := false
		for _, l := range lines {
			replaced = replaced || strings.HasPrefix(l, field+":") || l == "-"+field
		}
		if !replaced {
			spec = append(spec, r)
		}
	}
	for _, l := range lines {
		if !strings.HasPrefix(l, "-") {
			spec = append(spec, l)
		}
	}
	text := "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: app, namespace: team}\nspec:\n"
	if len(spec) == 0 {
		text += "  {}\n"
	}
	for _, l := range spec {
		text += "  " + l + "\n"
	}
	var obj map[string]any
	if err := sigsyaml.Unmarshal([]byte(text), &obj); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return obj
}

// TestRefused holds what kustomize-controller's CRD refuses, field by field.
func TestRefused(t *testing.T) {
	for _, c := range []struct{ line, field, why string }{
		{"-interval", "spec.interval", "Required value"},
		{"-prune", "spec.prune", "Required value"},
		{"-sourceRef", "spec.sourceRef", "Required value"},
		{"interval: null", "spec.interval", "Required value"},
		{"prune: ~", "spec.prune", "Required value"},
		{"interval: 10", "spec.interval", "must be of type string, and is number"},
		{"interval: 10 m", "spec.interval", "must match"},
		{"interval: 1d", "spec.interval", "must match"},
		{"interval: -1m", "spec.interval", "must match"},
		{"retryInterval: soon", "spec.retryInterval", "must match"},
		{"timeout: ''", "spec.timeout", "must match"},
		{"prune: 'true'", "spec.prune", "must be of type boolean, and is string"},
		{"sourceRef: flux-system", "spec.sourceRef", "must be of type object, and is string"},
		{"sourceRef: {kind: GitRepository}", "spec.sourceRef.name", "Required value"},
		{"sourceRef: {name: x}", "spec.sourceRef.kind", "Required value"},
		{"sourceRef: {kind: HelmRepository, name: x}", "spec.sourceRef.kind", `Unsupported value: "HelmRepository"`},
		{"sourceRef: {kind: gitrepository, name: x}", "spec.sourceRef.kind", "Unsupported value"},
		{"sourceRef: {kind: GitRepository, name: 7}", "spec.sourceRef.name", "must be of type string, and is number"},
		{"path: [a]", "spec.path", "must be of type string, and is array"},
		{"components: a", "spec.components", "must be of type array, and is string"},
		{"components: [a, null]", "spec.components[1]", "must be of type string, and is null"},
		{"targetNamespace: ''", "spec.targetNamespace", "must not be empty"},
		{"targetNamespace: " + strings.Repeat("n", 64), "spec.targetNamespace", "Too long: may not be more than 63"},
		{"namePrefix: ''", "spec.namePrefix", "must not be empty"},
		{"nameSuffix: " + strings.Repeat("n", 201), "spec.nameSuffix", "Too long"},
		{"postBuild: {substitute: {P: 8080}}", "spec.postBuild.substitute.P", "must be of type string, and is number"},
		{"postBuild: {substitute: {P: true}}", "spec.postBuild.substitute.P", "must be of type string, and is boolean"},
		{"postBuild: {substitute: {P: {a: b}}}", "spec.postBuild.substitute.P", "must be of type string, and is object"},
		{"postBuild: {substitute: [P]}", "spec.postBuild.substitute", "must be of type object, and is array"},
		{"postBuild: {substituteFrom: [{kind: ConfigMap}]}", "spec.postBuild.substituteFrom[0].name", "Required value"},
		{"postBuild: {substituteFrom: [{kind: ConfigMap, name: ''}]}", "spec.postBuild.substituteFrom[0].name", "must not be empty"},
		{"postBuild: {substituteFrom: [{kind: ConfigMap, name: a}, {kind: Pod, name: a}]}", "spec.postBuild.substituteFrom[1].kind", `"Pod"`},
		{"postBuild: {substituteFrom: [{kind: Secret, name: a, optional: 'yes'}]}", "spec.postBuild.substituteFrom[0].optional", "boolean"},
		{"postBuild: {substituteStrategy: Never}", "spec.postBuild.substituteStrategy", "WithVariables, Always"},
		{"decryption: {}", "spec.decryption.provider", "Required value"},
		{"decryption: {provider: vault}", "spec.decryption.provider", `Unsupported value: "vault"`},
		{"decryption: {provider: sops, secretRef: {}}", "spec.decryption.secretRef.name", "Required value"},
		{"deletionPolicy: Keep", "spec.deletionPolicy", "MirrorPrune, Delete"},
		{"buildMetadata: [managedByLabel]", "spec.buildMetadata[0]", "originAnnotations"},
		{"patches: [{target: {kind: Deployment}}]", "spec.patches[0].patch", "Required value"},
		{"patches: [{patch: {a: b}}]", "spec.patches[0].patch", "must be of type string, and is object"},
		{"patches: [{patch: x, target: {kind: 1}}]", "spec.patches[0].target.kind", "must be of type string"},
		{"images: [{newTag: v1}]", "spec.images[0].name", "Required value"},
		{"images: [{name: app, newTag: 1.10}]", "spec.images[0].newTag", "must be of type string, and is number"},
		{"dependsOn: [{namespace: a}]", "spec.dependsOn[0].name", "Required value"},
		{"dependsOn: [app]", "spec.dependsOn[0]", "must be of type object, and is string"},
		{"healthChecks: [{kind: Deployment}]", "spec.healthChecks[0].name", "Required value"},
		{"healthCheckExprs: [{apiVersion: v1}]", "spec.healthCheckExprs[0].current", "Required value"},
		{"kubeConfig: {}", "spec.kubeConfig", "exactly one"},
		{"kubeConfig: {secretRef: {name: a}, configMapRef: {name: b}}", "spec.kubeConfig", "exactly one"},
		{"kubeConfig: {secretRef: {key: a}}", "spec.kubeConfig.secretRef.name", "Required value"},
		{"commonMetadata: {labels: {a: 1}}", "spec.commonMetadata.labels.a", "must be of type string"},
		{"ignore: [{target: {kind: Deployment}}]", "spec.ignore[0].paths", "Required value"},
	} {
		obj := manifest(t, c.line)
		_, err := DecodeKustomization(obj, version(t, "2.9"))
		var refused *RefusedError
		if !errors.As(err, &refused) {
			t.Errorf("%s: %v, want a refusal", c.line, err)
			continue
		}
		if refused.Field != c.field || !strings.Contains(refused.Why, c.why) {
			t.Errorf("%s: %v, want %s: …%s…", c.line, err, c.field, c.why)
		}
	}
}

func TestRefusedIdentity(t *testing.T) {
	for _, c := range []struct {
		metadata any
		field    string
	}{
		{nil, "metadata.name"},
		{map[string]any{"namespace": "team"}, "metadata.name"},
		{map[string]any{"name": "My_App", "namespace": "team"}, "metadata.name"},
		{map[string]any{"name": "${APP}", "namespace": "team"}, "metadata.name"},
		{map[string]any{"name": int64(7), "namespace": "team"}, "metadata.name"},
		{map[string]any{"name": "app", "namespace": "my.team"}, "metadata.namespace"},
		{map[string]any{"name": "app", "namespace": int64(7)}, "metadata.namespace"},
	} {
		obj := manifest(t)
		obj["metadata"] = c.metadata
		_, err := DecodeKustomization(obj, version(t, "2.9"))
		var refused *RefusedError
		if !errors.As(err, &refused) || refused.Field != c.field {
			t.Errorf("%v: %v, want a refusal of %s", c.metadata, err, c.field)
		}
	}
	for _, spec := range []any{nil, "text", []any{}} {
		obj := manifest(t)
		obj["spec"] = spec
		if _, err := DecodeKustomization(obj, version(t, "2.9")); err == nil || !strings.HasPrefix(err.Error(), "spec: ") {
			t.Errorf("spec %v: %v", spec, err)
		}
	}
}

// TestAdmitted: what looks wrong and is not.
func TestAdmitted(t *testing.T) {
	for _, line := range []string{
		"interval: 1h30m", "interval: 1.5h", "interval: 100ms", "path: ''", "path: null", "sourceRef: {kind: Bucket, name: ''}",
		"sourceRef: {kind: ExternalArtifact, name: a}", "postBuild: {}", "postBuild: {substitute: null, substituteFrom: []}",
		"postBuild: {substitute: {A: '', B: '8080', lower-case: x}}", "postBuild: {substituteFrom: [{kind: Secret, name: a, optional: null}]}",
		"kubeConfig: {secretRef: {name: a}, configMapRef: null}", "decryption: {provider: sops}", "targetNamespace: ÄÖÜ",
		"patches: [{patch: ''}]", "prune: false", "unknown: {deep: [1, 2]}", "Path: 7",
	} {
		if _, err := DecodeKustomization(manifest(t, line), version(t, "2.9")); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// A null entry of a map is dropped before it could be a value that is no string; it defines no variable.
func TestNullIsDropped(t *testing.T) {
	obj := manifest(t, "postBuild: {substitute: {A: null, B: b}}", "commonMetadata: {labels: {x: null}}")
	before, _ := json.Marshal(obj)
	ks, err := DecodeKustomization(obj, version(t, "2.9"))
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]string{"B": "b"}; !reflect.DeepEqual(ks.Spec.PostBuild.Substitute, want) {
		t.Errorf("substitute %v, want %v", ks.Spec.PostBuild.Substitute, want)
	}
	if len(ks.Spec.CommonMetadata.Labels) != 0 {
		t.Errorf("labels %v", ks.Spec.CommonMetadata.Labels)
	}
	if after, _ := json.Marshal(obj); string(after) != string(before) {
		t.Errorf("the manifest was changed: %s", after)
	}
}

// The API server matches field names by case and drops those it does not know; encoding/json would take them.
func TestUnknownFieldsAreDropped(t *testing.T) {
	ks, err := DecodeKustomization(manifest(t, "Path: ./wrong", "targetnamespace: wrong", "postbuild: {substitute: {P: 8080}}",
		"postBuild: {Substitute: {A: a}, vars: {B: b}}", "images: [{name: app, NewTag: v2}]"), version(t, "2.9"))
	if err != nil {
		t.Fatal(err)
	}
	s := ks.Spec
	if s.Path != "" || s.TargetNamespace != "" || s.PostBuild == nil || s.PostBuild.Substitute != nil || s.Images[0].NewTag != "" {
		t.Errorf("a field of another case was read: %+v", s)
	}
}

// TestFieldsByVersion: a field that a version does not have is dropped unread, whatever is in it.
func TestFieldsByVersion(t *testing.T) {
	for _, c := range []struct {
		line, before, since string
		set                 func(*Kustomization) bool
	}{
		{"namePrefix: p-", "2.2", "2.3", func(k *Kustomization) bool { return k.Spec.NamePrefix != "" }},
		{"nameSuffix: -s", "2.2", "2.3", func(k *Kustomization) bool { return k.Spec.NameSuffix != "" }},
		{"ignoreMissingComponents: true", "2.6", "2.7", func(k *Kustomization) bool { return k.Spec.IgnoreMissingComponents }},
		{"buildMetadata: [originAnnotations]", "2.8", "2.9", func(k *Kustomization) bool { return len(k.Spec.BuildMetadata) > 0 }},
		{"postBuild: {substituteStrategy: Always}", "2.8", "2.9", func(k *Kustomization) bool { return k.Spec.PostBuild.SubstituteStrategy != "" }},
	} {
		for v, want := range map[string]bool{c.before: false, c.since: true} {
			ks, err := DecodeKustomization(manifest(t, c.line), version(t, v))
			if err != nil {
				t.Errorf("%s in %s: %v", c.line, v, err)
			} else if c.set(ks) != want {
				t.Errorf("%s in %s: set %t, want %t", c.line, v, !want, want)
			}
		}
	}
	if _, err := DecodeKustomization(manifest(t, "buildMetadata: nonsense"), version(t, "2.8")); err != nil {
		t.Errorf("2.8 refuses what is in a field that it does not have: %v", err)
	}
	external := manifest(t, "sourceRef: {kind: ExternalArtifact, name: a}")
	if _, err := DecodeKustomization(external, version(t, "2.6")); err == nil {
		t.Error("2.6 takes an ExternalArtifact")
	}
}

// Labels that are no strings never reach the controller's type, and the error of a value never depends on map order.
func TestDecodeIsDeterministic(t *testing.T) {
	obj := manifest(t, "postBuild: {substitute: {A: 1, B: 2, C: 3}}", "wait: maybe", "force: 1")
	obj["metadata"].(map[string]any)["labels"] = map[string]any{"n": int64(1)}
	first := ""
	for i := 0; i < 50; i++ {
		_, err := DecodeKustomization(obj, version(t, "2.9"))
		if err == nil {
			t.Fatal("admitted")
		}
		if first == "" {
			first = err.Error()
		}
		if err.Error() != first {
			t.Fatalf("%q, and then %q", first, err)
		}
	}
}

// FuzzDecode: any manifest is decoded or refused, in bounded time, without a panic, and the same way twice.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		"metadata: {name: a}\nspec: {interval: 1m, prune: true, sourceRef: {kind: GitRepository, name: a}}",
		"metadata: {name: a}\nspec: {interval: 1m, prune: true, sourceRef: {kind: Bucket, name: a}, patches: [{patch: x}, null]}",
		"metadata: []\nspec: {postBuild: {substitute: {A: 1}}}", "spec: 1", "- a",
	} {
		f.Add(s)
	}
	b, err := For("2.9")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var obj map[string]any
		if len(text) > 1<<12 || sigsyaml.Unmarshal([]byte(text), &obj) != nil {
			return
		}
		one, err1 := DecodeKustomization(obj, b)
		two, err2 := DecodeKustomization(obj, b)
		if (err1 == nil) != (err2 == nil) || err1 == nil && !reflect.DeepEqual(one, two) {
			t.Fatalf("%v %v, then %v %v", one, err1, two, err2)
		}
		if err1 == nil && one.Spec.SourceRef.Kind == "" {
			t.Fatal("admitted without a source")
		}
	})
}
