package bench

import (
	"fmt"
	"strings"
)

// chain is how many applications depend on each other in a row.
const chain = 10

// clusters writes the base of Flux Kustomizations and an overlay for each environment.
func (w *writer) clusters(o Options) {
	var base strings.Builder
	base.WriteString("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n")
	for n := range o.Units {
		name := appName(n)
		fmt.Fprintf(&base, "  - %s.yaml\n", name)
		w.file("clusters/base/"+name+".yaml", fluxKustomization(n))
	}
	w.file("clusters/base/kustomization.yaml", base.String())
	for n := range o.Environments {
		w.environment(n)
	}
}

func fluxKustomization(n int) string {
	var b strings.Builder
	name := appName(n)
	fmt.Fprintf(&b, `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: %s
  namespace: flux-system
  labels: {tier: "%d"}
spec:
  interval: 1h
  retryInterval: 2m
  timeout: 5m
  path: ./apps/%s
  prune: true
  wait: %t
  sourceRef:
    kind: GitRepository
    name: flux-system
`, name, n%3, name, n%chain != chain-1)
	if n%chain != 0 {
		fmt.Fprintf(&b, "  dependsOn:\n    - name: %s\n", appName(n-1))
	}
	if n%3 == 0 {
		fmt.Fprintf(&b, "  targetNamespace: %s\n", name)
	}
	if n%4 == 0 {
		b.WriteString("  components:\n    - ../../components/restricted\n")
	}
	if n%6 == 0 {
		b.WriteString(`  patches:
    - target: {kind: Deployment, name: worker}
      patch: |
        - op: replace
          path: /spec/replicas
          value: 2
`)
	}
	fmt.Fprintf(&b, `  postBuild:
    substitute:
      APP: %s
    substituteFrom:
      - kind: ConfigMap
        name: cluster-vars
`, name)
	return b.String()
}

func (w *writer) environment(n int) {
	name := EnvironmentName(n)
	dir := "clusters/" + name + "/"
	w.file(dir+"kustomization.yaml", `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
  - flux-system
  - ../base
  - cluster-vars.yaml
patches:
  # What every application of this cluster shares.
  - target:
      group: kustomize.toolkit.fluxcd.io
      kind: Kustomization
      labelSelector: tier
    patch: |
      apiVersion: kustomize.toolkit.fluxcd.io/v1
      kind: Kustomization
      metadata:
        name: any
      spec:
        commonMetadata:
          labels: {example.org/cluster: `+name+`}
`)
	w.file(dir+"flux-system/kustomization.yaml", `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
  - gotk-sync.yaml
`)
	w.file(dir+"flux-system/gotk-sync.yaml", `---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata:
  name: flux-system
  namespace: flux-system
spec:
  interval: 1m0s
  ref:
    branch: main
  url: https://git.example.org/shop/fleet.git
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: flux-system
  namespace: flux-system
spec:
  interval: 10m0s
  path: ./clusters/`+name+`
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
`)
	w.file(dir+"cluster-vars.yaml", fmt.Sprintf(`apiVersion: v1
kind: ConfigMap
metadata:
  name: cluster-vars
  namespace: flux-system
data:
  CLUSTER_NAME: %[1]s
  DOMAIN: %[1]s.example.org
  REGION: region-%[2]d
  TIMEZONE: Europe/Zurich
  STORAGE_CLASS: fast-%[1]s
  BACKUP_BUCKET: backups-%[1]s
  DATABASE_HOST: db.%[1]s.example.org
  DATABASE_CIDR: 10.%[2]d.0.0/24
  WEB_REPLICAS: "%[3]d"
  WEB_MEMORY: %[4]dMi
`, name, n+1, n%3+1, 256*(n%3+1)))
}

// component writes the kustomize component that some of the units name in spec.components.
func (w *writer) component() {
	w.file("components/restricted/kustomization.yaml", `apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
patches:
  - target: {kind: Deployment}
    patch: |
      apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: any
      spec:
        template:
          spec:
            automountServiceAccountToken: false
            priorityClassName: ${APP_PRIORITY:=standard}
`)
}
