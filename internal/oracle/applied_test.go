package oracle

import (
	"strings"
	"testing"
)

func TestApplied(t *testing.T) {
	built := `apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: c, labels: {a: b}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec:
  replica: 3
  selector: {}
  template: {spec: {containers: [{name: a, resources: {limits: {cpu: 0.5}}}]}}
`
	final, err := Applied([]byte(built), unit(t, `{commonMetadata: {labels: {a: common}, annotations: {by: us}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for want, count := range map[string]int{
		"a: common":                             2, // over the object's own
		"by: us":                                2,
		"kustomize.toolkit.fluxcd.io/name: app": 2,
		"kustomize.toolkit.fluxcd.io/namespace: flux-system": 2,
		"cpu: 500m": 1,
		"replica:":  0, // unknown to the Go type
		"---\n":     2,
	} {
		if got := strings.Count(string(final), want); got != count {
			t.Errorf("%q: %d times, want %d, in\n%s", want, got, count, final)
		}
	}
	if _, err := Applied([]byte("a: [\n"), unit(t, `{}`)); err == nil {
		t.Error("no error for text that is no YAML")
	}
}

// The controller looks for .sops after it normalised the objects, and a Secret's Go type has no .sops: only
// a Secret that does not fit its type still has it.
func TestGuard(t *testing.T) {
	const secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: ns}\nsops: {mac: x}\n"
	for _, tt := range []struct{ name, built, want string }{
		{"data", secret + "data: {k: 'ENC[x]'}\n",
			"Secret/ns/s is SOPS encrypted, configuring decryption is required for this secret to be reconciled"},
		{"stringData", secret + "stringData: {k: 'ENC[x]'}\n", ""},
		{"switched off", strings.Replace(secret, "namespace: ns", "annotations: {kustomize.toolkit.fluxcd.io/decrypt: Disabled}", 1) + "data: {k: 'ENC[x]'}\n", ""},
		{"another kind", strings.Replace(secret, "Secret", "ConfigMap", 1) + "data: {k: 1}\n", ""},
	} {
		final, err := Applied([]byte(tt.built), unit(t, `{}`))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := Guard(final); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestObjectsFromYAML(t *testing.T) {
	objects, err := ObjectsFromYAML([]byte(`apiVersion: v1
kind: Secret
metadata: {name: s, namespace: ns}
data: {a: eA==, b: eA==}
stringData: {b: folded}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c, namespace: ns}
data: {a: b}
---
apiVersion: v1
kind: Namespace
metadata: {name: ns}
`))
	if err != nil {
		t.Fatal(err)
	}
	if len(objects) != 2 || objects["Secret/ns/s"]["a"] != "x" || objects["Secret/ns/s"]["b"] != "folded" || objects["ConfigMap/ns/c"]["a"] != "b" {
		t.Errorf("got %v", objects)
	}
	_, err = ObjectsFromYAML([]byte("apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: ns}\ndata: {a: hidden!}\n"))
	if err == nil || strings.Contains(err.Error(), "hidden") {
		t.Errorf("got %v", err)
	}
}
