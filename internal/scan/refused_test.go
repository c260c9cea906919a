package scan_test

import (
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/model"
)

// Kustomizations that the API server refuses fail, with its words, and the rest of the environment stands.
func TestRefusedKustomizations(t *testing.T) {
	env := one(t, options(t, tree(t, `
-- clusters/a/ks.yaml --
@ks fine | path: ./app
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: no-interval, namespace: flux-system}
spec: {prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: no-prune, namespace: flux-system}
spec: {interval: 1m, prune: null, sourceRef: {kind: GitRepository, name: flux-system}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: no-source, namespace: flux-system}
spec: {interval: 1m, prune: true}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: no-spec, namespace: flux-system}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: no-namespace}
spec: {interval: 1m, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
@ks number | path: ./app | postBuild: {substitute: {P: 8080}}
@ks kind | path: ./app | sourceRef: {kind: HelmRepository, name: x}
@ks from | path: ./app | postBuild: {substituteFrom: [{kind: Deployment, name: x}]}
@ks patch | path: ./app | patches: [{target: {kind: ConfigMap}}]
@ks Upper_Case | path: ./app
-- app/cm.yaml --
@cm x c a: b
`)))
	wantUnit(t, env, "flux-system/fine", model.StatusOK, "", "")
	for id, words := range map[string]string{
		"flux-system/no-interval": "the API server refuses it: spec.interval: Required value",
		"flux-system/no-prune":    "spec.prune: Required value",
		"flux-system/no-source":   "spec.sourceRef: Required value",
		"flux-system/no-spec":     "spec: Required value",
		"/no-namespace":           "namespace not specified",
		"flux-system/number":      "spec.postBuild.substitute.P: must be of type string, and is number",
		"flux-system/kind":        `spec.sourceRef.kind: Unsupported value: "HelmRepository"`,
		"flux-system/from":        "spec.postBuild.substituteFrom[0].kind",
		"flux-system/patch":       "spec.patches[0].patch: Required value",
		"flux-system/Upper_Case":  "metadata.name: Invalid value",
	} {
		if u := wantUnit(t, env, id, model.StatusFailed, model.CodeRefused, words); len(u.Objects) != 0 {
			t.Errorf("%s was rendered", id)
		}
	}
}

// A value that substitution turns into a number is refused like one that was written so.
func TestRefusedAfterSubstitution(t *testing.T) {
	env := one(t, options(t, tree(t, `
-- clusters/a/ks.yaml --
@ks mid | path: ./mid | postBuild: {substitute: {PORT: "8080", EVERY: 10 minutes}}
-- mid/ks.yaml --
@ks port | path: ./app | postBuild: {substitute: {P: "${PORT}"}}
@ks every | path: ./app | timeout: "${EVERY}"
@ks quoted | path: ./app | postBuild: {substitute: {P: "p${PORT}"}}
-- app/cm.yaml --
@cm x c a: b
`)))
	wantUnit(t, env, "flux-system/port", model.StatusFailed, model.CodeRefused, "substitute.P: must be of type string")
	wantUnit(t, env, "flux-system/every", model.StatusFailed, model.CodeRefused, "spec.timeout")
	wantUnit(t, env, "flux-system/quoted", model.StatusOK, "", "")
}

// A spec that depends on what is not known is unverified, and neither refused nor failed. Where the unknown is not in
// its path, source or target, the rest is rendered.
func TestUnknownInSpec(t *testing.T) {
	env := one(t, options(t, tree(t, `
-- clusters/a/ks.yaml --
@ks mid | path: ./mid | postBuild: {substituteFrom: [{kind: ConfigMap, name: gone}]}
-- mid/ks.yaml --
@ks path | path: "./app/${CLUSTER}"
@ks kind | path: ./app | sourceRef: {kind: "${KIND}", name: flux-system}
@ks target | path: ./app | targetNamespace: "${NS}"
@ks interval | path: ./app | retryInterval: "${EVERY}"
@ks value | path: ./app | postBuild: {substitute: {A: "${VALUE}", B: b}}
@ks "${NAME}" | path: ./app
-- app/cm.yaml --
@cm x c a: "${A:=none}"
`)))
	for _, id := range []string{"path", "kind", "target", "interval", "${NAME}"} {
		u := wantUnit(t, env, "flux-system/"+id, model.StatusUnverified, model.CodeParentUnknown, "depends on what is not known")
		if len(u.Objects) != 0 {
			t.Errorf("%s was rendered:\n%s", id, stream(u))
		}
	}
	value := wantUnit(t, env, "flux-system/value", model.StatusUnverified, model.CodeParentUnknown, "ConfigMap/flux-system/gone")
	if len(value.Objects) != 1 {
		t.Errorf("%d objects\n%s", len(value.Objects), strings.TrimSpace(outline(env)))
	}
}
