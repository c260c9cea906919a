package schematest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/tidegate/tidegate/internal/engine"
	"github.com/tidegate/tidegate/reference"
)

// withoutSchema are kinds whose definitions are in no Go module that can be had, and why.
var withoutSchema = map[string]string{
	"helm.toolkit.fluxcd.io/v2 HelmRelease": "helm-controller's module is not served by the proxy that this was written with",
}

// objects gives every object of both environments, decrypted.
func objects(t *testing.T) map[string][]map[string]any {
	t.Helper()
	key := reference.TestAgeKey()
	r, err := engine.Render(context.Background(), engine.Request{ShowSecrets: true, Dir: t.TempDir(), Getenv: func(name string) string {
		if name == "SOPS_AGE_KEY" {
			return strings.TrimSpace(key[strings.LastIndex(strings.TrimSpace(key), "\n")+1:])
		}
		return ""
	}})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]map[string]any{}
	for _, e := range r.Environments {
		for _, u := range e.Units {
			for _, o := range u.Objects {
				out[e.Name] = append(out[e.Name], decoded(t, o.Manifest))
			}
		}
	}
	return out
}

// decoded reads an object as the API server does: whole numbers are integers.
func decoded(t *testing.T, text string) map[string]any {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// Every object of the reference platform is what the schema of its kind says.
func TestReference(t *testing.T) {
	all := objects(t)
	groups := map[string]bool{"v1": true}
	for _, list := range all {
		for _, o := range list {
			groups[o["apiVersion"].(string)] = true
		}
	}
	s := load(t, groups)
	validated, without := map[string]int{}, map[string]int{}
	for env, list := range all {
		for _, o := range list {
			name := o["apiVersion"].(string) + " " + o["kind"].(string)
			faults, ok := s.validate(o)
			if !ok {
				without[name]++
				continue
			}
			validated[name]++
			meta := o["metadata"].(map[string]any)
			for _, f := range faults {
				t.Errorf("%s: %s %v/%v: %s", env, name, meta["namespace"], meta["name"], f)
			}
		}
	}
	n := 0
	for _, name := range slices.Sorted(maps.Keys(validated)) {
		n += validated[name]
		if withoutSchema[name] != "" {
			t.Errorf("%s has a schema now: take it out of withoutSchema", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(without)) {
		if withoutSchema[name] == "" {
			t.Errorf("%d objects of %s have no schema", without[name], name)
		}
		t.Logf("not validated: %d objects of %s: %s", without[name], name, withoutSchema[name])
	}
	t.Logf("%d objects of %d kinds are validated", n, len(validated))
	if n < 200 || len(validated) < 25 {
		t.Errorf("only %d objects of %d kinds were validated", n, len(validated))
	}
}

// What is wrong is found: in a built-in kind, and in kinds of three definitions.
func TestFaultsAreFound(t *testing.T) {
	s := load(t, map[string]bool{"v1": true, "apps/v1": true})
	for name, c := range map[string]struct{ text, want string }{
		"good":            {deployment, ""},
		"unknown":         {strings.Replace(deployment, "replicas: 1", "replica: 1", 1), "spec.replica is no field"},
		"unknown deep":    {strings.Replace(deployment, "image: a", "imag: a", 1), "spec.template.spec.containers[0].imag is no field"},
		"type":            {strings.Replace(deployment, "replicas: 1", "replicas: one", 1), "spec.replicas"},
		"missing":         {strings.Replace(deployment, "  selector: {matchLabels: {a: b}}\n", "", 1), "spec.selector"},
		"label":           {strings.Replace(deployment, "labels: {a: b}", "labels: {a: 1}", 1), "metadata.labels"},
		"route":           {route, ""},
		"route's enum":    {strings.Replace(route, "PathPrefix", "Path", 1), "spec.rules[0].matches[0].path.type"},
		"route's field":   {strings.Replace(route, "hostnames", "hostname", 1), "spec.hostname is no field"},
		"cluster":         {cluster, ""},
		"cluster's type":  {strings.Replace(cluster, "instances: 1", "instances: \"1\"", 1), "spec.instances"},
		"cluster's field": {strings.Replace(cluster, "size: 1Gi", "sized: 1Gi", 1), "spec.storage.sized is no field"},
		"machine":         {machine, ""},
		"machine's field": {strings.Replace(machine, "masquerade", "masqerade", 1), "masqerade is no field"},
	} {
		o := decoded(t, c.text)
		faults, ok := s.validate(o)
		all := strings.Join(faults, "; ")
		if !ok || c.want == "" && len(faults) > 0 || !strings.Contains(all, c.want) {
			t.Errorf("%s: schema %t, got %q, want %q", name, ok, all, c.want)
		}
	}
}

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: a, namespace: a, labels: {a: b}}
spec:
  replicas: 1
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec:
      containers:
        - name: a
          image: a
          ports: [{containerPort: 80, name: http}]
          readinessProbe: {httpGet: {port: http, path: /}}
          resources: {requests: {cpu: 1, memory: 1Gi}}
`

const route = `apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: a, namespace: a}
spec:
  hostnames: [a.example.net]
  parentRefs: [{name: shared}]
  rules:
    - matches: [{path: {type: PathPrefix, value: /}}]
      backendRefs: [{name: a, port: 80}]
`

const cluster = `apiVersion: postgresql.cnpg.io/v1
kind: Cluster
metadata: {name: a, namespace: a}
spec:
  instances: 1
  storage: {size: 1Gi}
`

const machine = `apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: a, namespace: a}
spec:
  runStrategy: Always
  template:
    spec:
      domain: {devices: {interfaces: [{name: default, masquerade: {}}]}}
`
