package scan_test

import (
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/flux"
	"github.com/tidegate/tidegate/internal/model"
)

// The spec of a child is what its rendered parent says: here the file says another namespace, another path, another
// kind of source, and no variables at all.
func TestChildrenAsRendered(t *testing.T) {
	env := judged(t, `
-- clusters/a/kustomization.yaml --
namespace: team
resources: [ks.yaml, meta.yaml]
patches:
  - target: {kind: Kustomization, name: app}
    patch: |
      - {op: add, path: /spec/postBuild, value: {substitute: {APP: web}}}
replacements:
  - source: {kind: ConfigMap, name: meta, fieldPath: data.provider}
    targets:
      - select: {kind: Kustomization, name: infra}
        fieldPaths: [spec.path]
        options: {delimiter: /, index: 1}
-- clusters/a/meta.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: meta
  annotations: {config.kubernetes.io/local-config: "true"}
data: {provider: metal}
-- clusters/a/ks.yaml --
@ks app | path: ./wrong-is-right | targetNamespace: front
@ks infra | path: providers/PROVIDER/apps
@ks middle | path: middle | postBuild: {substitute: {KIND: GitRepository, CLUSTER: a}}
-- wrong-is-right/cm.yaml --
@cm x conf a: "${APP}"
-- providers/metal/apps/cm.yaml --
@cm x metal a: b
-- middle/ks.yaml --
@ks leaf | path: "./leaves/${CLUSTER}" | sourceRef: {kind: "${KIND}", name: flux-system}
-- leaves/a/cm.yaml --
@cm x leaf a: b
`, 5)
	app := wantUnit(t, env, "team/app", model.StatusOK, "", "")
	if got := stream(app); !strings.Contains(got, "a: web") || !strings.Contains(got, "namespace: front") {
		t.Errorf("the parent's patch and the child's targetNamespace are not in it:\n%s", got)
	}
	if u := wantUnit(t, env, "team/infra", model.StatusOK, "", ""); u.Path != "providers/metal/apps" {
		t.Errorf("path %s", u.Path)
	}
	leaf := wantUnit(t, env, "flux-system/leaf", model.StatusOK, "", "")
	if leaf.Path != "leaves/a" || leaf.Source.Kind != "GitRepository" || leaf.Parent == nil || leaf.Parent.Name != "middle" {
		t.Errorf("leaf: %+v", leaf)
	}
}

// A cluster nobody bootstrapped is built as flux-system/flux-system, without a substitution of its own.
func TestEntryAlone(t *testing.T) {
	env := judged(t, `
-- clusters/a/ks.yaml --
@cm flux-system conf a: "${NOT_SUBSTITUTED}"
@ks app | path: ./app
-- app/cm.yaml --
@cm x app a: b
`, 2)
	u := wantUnit(t, env, "flux-system/flux-system", model.StatusOK, "", "")
	if !strings.Contains(stream(u), "${NOT_SUBSTITUTED}") || u.Parent != nil || env.Source.String() != "GitRepository/flux-system/flux-system" {
		t.Errorf("%s\n%s", outline(env), stream(u))
	}
}

// An entry that holds a Kustomization of its own path is that one: with its name, its variables, and the patches that
// it makes on itself.
func TestEntryIsItsOwnKustomization(t *testing.T) {
	env := judged(t, `
-- clusters/a/flux-system/gotk-sync.yaml --
@ks root | path: ./clusters/a | postBuild: {substitute: {NAME: from-root}} | patches: [{patch: "- {op: add, path: /spec/wait, value: true}", target: {kind: Kustomization, name: root}}]
-- clusters/a/flux-system/kustomization.yaml --
resources: [gotk-sync.yaml]
-- clusters/a/ks.yaml --
@ks app | path: ./app | postBuild: {substitute: {NAME: "${NAME}"}}
-- app/cm.yaml --
@cm x app a: "${NAME}"
`, 2)
	root := wantUnit(t, env, "flux-system/root", model.StatusOK, "", "")
	if len(env.Units) != 2 || !root.Spec.(*flux.Kustomization).Spec.Wait {
		t.Errorf("the patch on itself is not in its spec\n%s", outline(env))
	}
	if got := stream(wantUnit(t, env, "flux-system/app", model.StatusOK, "", "")); !strings.Contains(got, "a: from-root") {
		t.Errorf("%s", got)
	}
}

// An entry whose spec changes its own name goes by the name that it renders.
func TestEntryThatRenamesItself(t *testing.T) {
	env := one(t, options(t, tree(t, `
-- clusters/a/ks.yaml --
@ks root | path: ./clusters/a | nameSuffix: -x
`)))
	if len(env.Units) != 1 {
		t.Errorf("%s", outline(env))
	}
	wantUnit(t, env, "flux-system/root-x", model.StatusOK, "", "")
}

// Units are found in rounds, however deep, and know their parents.
func TestRounds(t *testing.T) {
	env := judged(t, `
-- clusters/a/ks.yaml --
@ks one | path: ./one
-- one/ks.yaml --
@ks two | path: ./two
-- two/ks.yaml --
@ks three | path: ./three | dependsOn: [{name: one}, {name: far, namespace: other}]
-- three/cm.yaml --
@cm x c a: b
`, 4)
	var chain []string
	for _, u := range env.Units {
		chain = append(chain, u.ID.Name)
	}
	if got := strings.Join(chain, " "); got != "flux-system one two three" {
		t.Errorf("order of discovery: %s", got)
	}
	three := wantUnit(t, env, "flux-system/three", model.StatusOK, "", "")
	want := []model.UnitID{{Kind: "Kustomization", Namespace: "flux-system", Name: "one"}, {Kind: "Kustomization", Namespace: "other", Name: "far"}}
	if len(three.DependsOn) != 2 || three.DependsOn[0] != want[0] || three.DependsOn[1] != want[1] {
		t.Errorf("dependsOn %v, want %v", three.DependsOn, want)
	}
}

// A Kustomization that renders itself again adds nothing.
func TestUnitThatRendersItself(t *testing.T) {
	env := judged(t, `
-- clusters/a/ks.yaml --
@ks app | path: ./app
-- app/ks.yaml --
@ks app | path: ./app
`, 2)
	if len(env.Units) != 2 || len(env.Reasons) != 0 {
		t.Errorf("%s", outline(env))
	}
}

// One unit that fails takes nothing else with it, and its own objects are none.
func TestOneFailureStopsNothing(t *testing.T) {
	env := one(t, options(t, tree(t, `
-- clusters/a/ks.yaml --
@ks broken | path: ./broken
@ks gone | path: ./gone
@ks strict | path: ./strict | postBuild: {substitute: {A: a}}
@ks fine | path: ./fine
-- broken/kustomization.yaml --
resources: [not-there.yaml]
-- strict/cm.yaml --
@cm x ok a: b
@cm x bad a: "${UNDEFINED}"
-- fine/cm.yaml --
@cm x c a: b
`)))
	for id, want := range map[string]struct {
		code  model.Code
		words string
	}{
		"flux-system/broken": {model.CodeBuild, "kustomize build failed"},
		"flux-system/gone":   {model.CodePath, "kustomization path not found"},
		"flux-system/strict": {model.CodeSubstitute, `variable not set (strict mode): "UNDEFINED"`},
	} {
		if u := wantUnit(t, env, id, model.StatusFailed, want.code, want.words); len(u.Objects) != 0 {
			t.Errorf("%s failed and has %d objects", id, len(u.Objects))
		}
	}
	wantUnit(t, env, "flux-system/fine", model.StatusOK, "", "")
}

// Suspended units are rendered: suspending stops Flux, and not the meaning of the files.
func TestSuspended(t *testing.T) {
	env := judged(t, `
-- clusters/a/ks.yaml --
@ks app | path: ./app | suspend: true
-- app/cm.yaml --
@cm x c a: b
`, 2)
	if u := wantUnit(t, env, "flux-system/app", model.StatusOK, "", ""); !u.Suspended || len(u.Objects) != 1 {
		t.Errorf("%+v", u)
	}
}

// What goes to another cluster by kubeConfig is rendered; Flux objects in it are another Flux's, and its ConfigMaps
// are no variables here.
func TestKubeConfig(t *testing.T) {
	env := one(t, options(t, tree(t, `
-- clusters/hub/ks.yaml --
@ks spoke | path: ./spoke | kubeConfig: {secretRef: {name: spoke-kubeconfig}}
@ks local | path: ./local | postBuild: {substituteFrom: [{kind: ConfigMap, name: vars}]}
-- spoke/objects.yaml --
@cm flux-system vars A: of-the-spoke
@ks inner | path: ./inner
-- inner/cm.yaml --
@cm x inner a: b
-- local/cm.yaml --
@cm x local a: "${A}"
`)))
	spoke := wantUnit(t, env, "flux-system/spoke", model.StatusUnverified, model.CodeRemoteCluster, "is not followed")
	if spoke.Remote != "Secret spoke-kubeconfig" || len(spoke.Objects) != 2 {
		t.Errorf("%+v", spoke)
	}
	local := wantUnit(t, env, "flux-system/local", model.StatusUnverified, model.CodeMissingVariable, "ConfigMap/flux-system/vars")
	if strings.Contains(stream(local), "of-the-spoke") {
		t.Errorf("another cluster's variable was used:\n%s", stream(local))
	}
	for _, u := range env.Units {
		if u.ID.Name == "inner" {
			t.Errorf("a Kustomization of another cluster was followed\n%s", outline(env))
		}
	}
}

// Of two units that render one Kustomization with different specs, whoever applies last wins: that is said.
func TestDuplicateKustomization(t *testing.T) {
	const files = `
-- clusters/a/ks.yaml --
@ks one | path: ./one
@ks two | path: ./two
-- one/ks.yaml --
@ks shared | path: ./x
-- two/ks.yaml --
@ks shared | path: ./y
-- x/cm.yaml --
@cm n x a: b
-- y/cm.yaml --
@cm n y a: b
`
	env := one(t, options(t, tree(t, files)))
	if len(env.Reasons) != 1 || env.Reasons[0].Code != model.CodeDuplicateOwn || env.Reasons[0].Subject != "Kustomization/flux-system/shared" {
		t.Errorf("%s", outline(env))
	}
	if u := wantUnit(t, env, "flux-system/shared", model.StatusOK, "", ""); u.Path != "x" {
		t.Errorf("path %s, want that of the first", u.Path)
	}
	same := one(t, options(t, tree(t, strings.ReplaceAll(files, "./y", "./x"))))
	if len(same.Reasons) != 0 {
		t.Errorf("equal specs are no conflict\n%s", outline(same))
	}
}

// Objects that make others are seen and not followed, and HelmReleases are units whose chart is not rendered.
func TestWhatIsNotFollowed(t *testing.T) {
	env := one(t, options(t, tree(t, `
-- clusters/a/objects.yaml --
apiVersion: fluxcd.controlplane.io/v1
kind: ResourceSet
metadata: {name: set, namespace: flux-system}
spec: {resourcesTemplate: "<< inputs.x >>"}
---
apiVersion: source.extensions.fluxcd.io/v1beta1
kind: ArtifactGenerator
metadata: {name: gen, namespace: flux-system}
spec: {sources: []}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: app, namespace: apps}
spec: {interval: 10m}
@ks app | path: ./app
-- app/cm.yaml --
@cm x c a: b
`)))
	var subjects []string
	for _, r := range env.Reasons {
		if r.Code == model.CodeTemplate {
			subjects = append(subjects, r.Subject)
		}
	}
	if got := strings.Join(subjects, " "); got != "ResourceSet/flux-system/set ArtifactGenerator/flux-system/gen" {
		t.Errorf("templates: %s", got)
	}
	wantUnit(t, env, "apps/app", model.StatusUnverified, model.CodeChart, "chart is not rendered")
}

// What a parent could not substitute is not what the child has in the cluster: the child is unverified for it, and not
// failed by it.
func TestChildOfUnknown(t *testing.T) {
	const files = `
-- clusters/a/ks.yaml --
@ks middle | path: middle | postBuild: {substituteFrom: [{kind: Secret, name: outside}]}
-- middle/ks.yaml --
@ks patched | path: leaf | postBuild: {substitute: {NAME: x}} | patches: [{patch: "- {op: add, path: /data/b, value: '${OUTSIDE}'}", target: {kind: ConfigMap}}]
@ks inline | path: leaf | postBuild: {substitute: {NAME: "${OUTSIDE}"}}
@ks lost | path: nowhere | postBuild: {substitute: {NAME: "${OUTSIDE}"}}
-- leaf/cm.yaml --
@cm x conf a: "${NAME}"
`
	env := one(t, options(t, tree(t, files)))
	wantUnit(t, env, "flux-system/patched", model.StatusUnverified, model.CodeParentUnknown, "OUTSIDE")
	inline := wantUnit(t, env, "flux-system/inline", model.StatusUnverified, model.CodeParentUnknown, "Secret/flux-system/outside")
	if len(inline.Objects) != 1 || !strings.Contains(inline.Objects[0].YAML, "${NAME}") || len(inline.Objects[0].Unverified) == 0 {
		t.Errorf("an unknown value is substituted: %+v", inline.Objects)
	}
	wantUnit(t, env, "flux-system/lost", model.StatusFailed, model.CodePath, "nowhere")
}
