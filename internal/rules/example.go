package rules

import "golang.org/x/tools/txtar"

// twoEnvironments is the smallest platform that does right what the rules about environments ask: one base, two
// overlays that set its only knob, and an app that takes its address from it.
const twoEnvironments = `-- tidegate.yaml --
environments:
  dev:
    path: clusters/dev
    lan: 192.168.1.0/24
  prod:
    path: clusters/prod
    lan: 192.168.2.0/24
knobs:
  source: ConfigMap flux-system/cluster-vars
  lan: [GATEWAY_VIP]
-- clusters/base/kustomization.yaml --
resources:
  - app.yaml
  - cluster-vars.yaml
-- clusters/base/cluster-vars.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: cluster-vars
  namespace: flux-system
data:
  GATEWAY_VIP: 192.168.1.53
-- clusters/base/app.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: app
  namespace: flux-system
spec:
  interval: 10m
  path: ./app
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
  postBuild:
    substituteFrom:
      - kind: ConfigMap
        name: cluster-vars
-- clusters/dev/kustomization.yaml --
resources:
  - ../base
patches:
  - patch: |
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: cluster-vars
        namespace: flux-system
      data:
        GATEWAY_VIP: 192.168.1.53
-- clusters/prod/kustomization.yaml --
resources:
  - ../base
patches:
  - patch: |
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: cluster-vars
        namespace: flux-system
      data:
        GATEWAY_VIP: 192.168.2.20
-- app/service.yaml --
apiVersion: v1
kind: Service
metadata:
  name: app
  namespace: default
  annotations:
    lbipam.cilium.io/ips: ${GATEWAY_VIP}
spec:
  type: LoadBalancer
  ports:
    - port: 80
`

// within is an example that differs from another in the files of changes only, in the order of the other.
func within(example, changes string) string {
	have, with := txtar.Parse([]byte(example)), txtar.Parse([]byte(changes))
	for _, c := range with.Files {
		at := -1
		for i, f := range have.Files {
			if f.Name == c.Name {
				at = i
			}
		}
		if at < 0 {
			have.Files = append(have.Files, c)
			continue
		}
		have.Files[at] = c
	}
	return string(txtar.Format(have))
}
