package schematest

import (
	"strings"
	"testing"
)

// good are objects without a fault, and how each is broken: one text is replaced by another, which makes a fault at one path.
var good = []struct {
	name, text string
	broken     []broken
}{
	{"Deployment", deployment, []broken{
		{"unknown field", "replicas: 1", "replica: 1", "spec.replica", "is no field"},
		{"unknown field in a list", "imagePullPolicy:", "pullPolicy:", "spec.template.spec.containers[0].pullPolicy", "is no field"},
		{"unknown field of metadata", "namespace: a,", "namespaces: a,", "metadata.namespaces", "is no field"},
		{"wrong type", "replicas: 1", "replicas: one", "spec.replicas", "must be of type integer"},
		{"wrong type of a label", "labels: {a: b}, annotations", "labels: {a: 1}, annotations", "metadata.labels.a", "must be of type string"},
		{"wrong type of a port", "port: http,", "port: [http],", "spec.template.spec.containers[0].readinessProbe.httpGet.port", "must validate one and only one schema"},
		{"missing field", "  selector: {matchLabels: {a: b}}\n", "", "spec.selector", "is required"},
		{"missing field in a list", "- name: a\n", "- command: [a]\n", "spec.template.spec.containers[0].name", "is required"},
		{"bad enum", "IfNotPresent", "Sometimes", "spec.template.spec.containers[0].imagePullPolicy", "should be one of"},
		{"bad enum of a strategy", "type: Recreate", "type: Replace", "spec.strategy.type", "should be one of"},
	}},
	{"HTTPRoute", route, []broken{
		{"unknown field", "hostnames", "hostname", "spec.hostname", "is no field"},
		{"unknown field of metadata", "namespace: a", "nameSpace: a", "metadata.nameSpace", "is no field"},
		{"wrong type", "port: 80", `port: "80"`, "spec.rules[0].backendRefs[0].port", "must be of type integer"},
		{"missing field", "{name: a, port: 80}", "{port: 80}", "spec.rules[0].backendRefs[0].name", "is required"},
		{"bad enum", "PathPrefix", "Path", "spec.rules[0].matches[0].path.type", "should be one of"},
	}},
	{"Cluster", cluster, []broken{
		{"unknown field", "size: 1Gi", "sized: 1Gi", "spec.storage.sized", "is no field"},
		{"wrong type", "instances: 1", `instances: "1"`, "spec.instances", "must be of type integer"},
		{"missing field", "- name: barman-cloud.cloudnative-pg.io\n", "- enabled: true\n", "spec.plugins[0].name", "is required"},
		{"bad enum", "unsupervised", "unattended", "spec.primaryUpdateStrategy", "should be one of"},
		{"wrong type where two are right", "cpu: 1", "cpu: [1]", "spec.resources.requests.cpu", "must be an integer or a string"},
	}},
	{"VirtualMachine", machine, []broken{
		{"unknown field", "masquerade", "masqerade", "spec.template.spec.domain.devices.interfaces[0].masqerade", "is no field"},
	}},
	{"HelmRelease", release, []broken{
		{"unknown field beside free values", "values:", "value:", "spec.value", "is no field"},
	}},
	{"CustomResourceDefinition", crd, []broken{
		{"unknown field of a schema in a schema", "pattern: a", "patern: a",
			"spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.list.items.additionalProperties.patern", "is no field"},
		{"wrong type", "served: true", `served: "true"`, "spec.versions[0].served", "must be of type boolean"},
	}},
	{"PersistentVolumeClaim", claim, []broken{
		{"bad enum in a list", "ReadWriteOnce", "ReadWriteTwice", "spec.accessModes[0]", "should be one of"},
	}},
}

type broken struct{ name, old, new, path, reason string }

// What is wrong is found where it is, and nothing else is.
func TestFaultsAreFound(t *testing.T) {
	wanted := map[kind]bool{}
	for _, g := range good {
		wanted[kindOf(must(t, g.text))] = true
	}
	s := load(t, wanted)
	for _, g := range good {
		t.Run(g.name, func(t *testing.T) {
			if faults, source := s.validate(must(t, g.text)); source == "" || len(faults) > 0 {
				t.Fatalf("the good one: schema from %q, faults %v", source, faults)
			}
			for _, b := range g.broken {
				if strings.Count(g.text, b.old) != 1 {
					t.Fatalf("%s: %q is not once in the text", b.name, b.old)
				}
				faults, _ := s.validate(must(t, strings.Replace(g.text, b.old, b.new, 1)))
				if !found(faults, b.path, b.reason) {
					t.Errorf("%s: got %v, want %s: %s, and at no other path", b.name, faults, b.path, b.reason)
				}
			}
		})
	}
}

// found says whether a fault begins with the reason, and none is elsewhere.
func found(faults []fault, path, reason string) (ok bool) {
	for _, f := range faults {
		if f.path != path {
			return false
		}
		ok = ok || strings.HasPrefix(f.reason, reason)
	}
	return ok
}

func must(t *testing.T, text string) map[string]any {
	t.Helper()
	o, err := decoded(text)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: a, namespace: a, labels: {a: b}, annotations: {a: b}}
spec:
  replicas: 1
  strategy: {type: Recreate}
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec:
      containers:
        - name: a
          image: a
          imagePullPolicy: IfNotPresent
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
  primaryUpdateStrategy: unsupervised
  storage: {size: 1Gi}
  resources: {requests: {cpu: 1, memory: 1Gi}}
  plugins:
    - name: barman-cloud.cloudnative-pg.io
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

const release = `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: a, namespace: a}
spec:
  interval: 1h
  chart: {spec: {chart: a, sourceRef: {kind: HelmRepository, name: a}}}
  values: {any: {thing: [1, {at: all}]}}
`

const crd = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: as.example.net}
spec:
  group: example.net
  names: {kind: A, plural: as}
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
                list:
                  type: array
                  default: []
                  items: {type: object, additionalProperties: {type: string, pattern: a}}
`

const claim = `apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: a, namespace: a}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
`
