package scan_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/config"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/scan"
)

// spec.ignore of the GitRepository that the entry renders decides what every unit finds.
func TestIgnoreOfTheRenderedSource(t *testing.T) {
	env := one(t, options(t, tree(t, `
-- clusters/a/source.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, url: https://example.com/fleet, ignore: "/app/draft.yaml\n"}
@ks app | path: ./app
-- app/cm.yaml --
@cm x kept a: b
-- app/draft.yaml --
@cm x draft a: b
`)))
	app := wantUnit(t, env, "flux-system/app", model.StatusOK, "", "")
	if len(app.Objects) != 1 || app.Objects[0].Ref.Name != "kept" {
		t.Errorf("the ignored file was built:\n%s", stream(app))
	}
}

// An ignore rule that leaves out the very object that it stands in does not settle, which is said.
func TestIgnoreOfItself(t *testing.T) {
	env := one(t, options(t, tree(t, `
-- clusters/a/source.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, url: https://example.com/fleet, ignore: source.yaml}
-- clusters/a/ks.yaml --
@ks app | path: ./app
-- app/cm.yaml --
@cm x c a: b
`)))
	if !slices.ContainsFunc(env.Reasons, func(r model.Reason) bool { return r.Code == model.CodeUnsettled }) {
		t.Errorf("%s", outline(env))
	}
}

// A second source of the same repository and revision, with an ignore list of its own, is this repository too; one of
// another revision is not.
func TestSecondSourceOfTheSameRepository(t *testing.T) {
	env := one(t, options(t, tree(t, `
-- clusters/a/sources.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, url: https://example.com/fleet, ref: {branch: main}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: apps, namespace: flux-system}
spec: {interval: 1m, url: https://example.com/fleet, ref: {branch: main}, ignore: "draft.yaml"}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: stable, namespace: flux-system}
spec: {interval: 1m, url: https://example.com/fleet, ref: {tag: v1}}
@ks all | path: ./app
@ks some | path: ./app | sourceRef: {kind: GitRepository, name: apps}
@ks old | path: ./app | sourceRef: {kind: GitRepository, name: stable}
-- app/cm.yaml --
@cm x kept a: b
-- app/draft.yaml --
@cm x draft a: b
`)))
	if u := wantUnit(t, env, "flux-system/all", model.StatusOK, "", ""); len(u.Objects) != 2 {
		t.Errorf("all: %d objects", len(u.Objects))
	}
	if u := wantUnit(t, env, "flux-system/some", model.StatusOK, "", ""); len(u.Objects) != 1 {
		t.Errorf("some: %d objects", len(u.Objects))
	}
	if u := wantUnit(t, env, "flux-system/old", model.StatusUnverified, model.CodeForeignSource, "https://example.com/fleet"); len(u.Objects) != 0 {
		t.Errorf("old: %d objects", len(u.Objects))
	}
}

// The source object may come from a sibling, after the unit that names it was met; so may one of another repository.
func TestSourceFromSibling(t *testing.T) {
	env := one(t, options(t, tree(t, `
-- clusters/a/ks.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, url: https://example.com/fleet}
@ks sources | path: ./sources
@ks some | path: ./app | sourceRef: {kind: GitRepository, name: apps}
@ks other | path: ./app | sourceRef: {kind: GitRepository, name: other}
-- sources/sources.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: apps, namespace: flux-system}
spec: {interval: 1m, url: https://example.com/fleet, ignore: "draft.yaml"}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: other, namespace: flux-system}
spec: {interval: 1m, url: https://example.com/other}
-- app/ks.yaml --
@ks leaf | path: ./leaf
-- app/draft.yaml --
@cm x draft a: b
-- leaf/cm.yaml --
@cm x leaf a: b
`)))
	if u := wantUnit(t, env, "flux-system/some", model.StatusOK, "", ""); len(u.Objects) != 1 {
		t.Errorf("%d objects", len(u.Objects))
	}
	wantUnit(t, env, "flux-system/leaf", model.StatusOK, "", "")
	wantUnit(t, env, "flux-system/other", model.StatusUnverified, model.CodeForeignSource, "https://example.com/other")
	if len(env.Reasons) != 0 {
		t.Errorf("%s", outline(env))
	}
}

// Files of other repositories are unknown, and the reason says where they are.
func TestForeignSources(t *testing.T) {
	env := one(t, options(t, tree(t, `
-- clusters/a/sources.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: other, namespace: flux-system}
spec: {interval: 1m, url: https://example.com/other}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: oci, namespace: flux-system}
spec: {interval: 1m, url: oci://example.com/other}
@ks own | path: ./app
@ks git | path: ./app | sourceRef: {kind: GitRepository, name: other}
@ks oci | path: ./app | sourceRef: {kind: OCIRepository, name: oci}
@ks bucket | path: ./app | sourceRef: {kind: Bucket, name: gone}
@ks made | path: ./app | sourceRef: {kind: ExternalArtifact, name: made}
@ks elsewhere | path: ./app | sourceRef: {kind: GitRepository, name: flux-system, namespace: other}
-- app/cm.yaml --
@cm x c a: b
`)))
	wantUnit(t, env, "flux-system/own", model.StatusOK, "", "")
	for name, words := range map[string]string{
		"git": "GitRepository/flux-system/other (https://example.com/other), which is not this repository", "oci": "(oci://example.com/other)",
		"bucket": "nothing rendered makes that source", "made": "which another controller makes", "elsewhere": "GitRepository/other/flux-system",
	} {
		if u := wantUnit(t, env, "flux-system/"+name, model.StatusUnverified, model.CodeForeignSource, words); len(u.Objects) != 0 {
			t.Errorf("%s: objects of another repository were built from this one", name)
		}
	}
}

// Files that spec.include would bring are not here: what is built is so without them.
func TestInclude(t *testing.T) {
	env := one(t, options(t, tree(t, `
-- clusters/a/source.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, url: https://example.com/fleet, include: [{repository: {name: other}}]}
@ks app | path: ./app
-- app/cm.yaml --
@cm x c a: b
`)))
	if u := wantUnit(t, env, "flux-system/app", model.StatusUnverified, model.CodeSourceDetail, "includes the files of other repositories"); len(u.Objects) != 1 {
		t.Errorf("%d objects", len(u.Objects))
	}
}

const belowRoot = `
-- k8s/clusters/local/ks.yaml --
@ks app | path: apps/web
@ks bad | path: apps/bad | postBuild: {substitute: {A: a}}
@ks gone | path: apps/gone
-- k8s/apps/web/cm.yaml --
@cm x c a: b
-- k8s/apps/bad/cm.yaml --
@cm x c a: "${UNDEFINED}"
`

// An artifact that is pushed from a folder: its paths count from there, and places and files from the repository.
func TestInferredRoot(t *testing.T) {
	res, err := scan.Scan(context.Background(), options(t, tree(t, belowRoot)))
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], "environments.local.root") {
		t.Errorf("warnings %q", res.Warnings)
	}
	holdBelowRoot(t, res.Environments[0])
}

// tidegate.yaml says the root: nothing is guessed, and nothing is warned of.
func TestConfiguredRoot(t *testing.T) {
	conf, err := config.Parse(config.FileName, []byte("environments: {local: {path: k8s/clusters/local, root: k8s}}"))
	if err != nil {
		t.Fatal(err)
	}
	o := options(t, tree(t, belowRoot))
	o.Config = conf
	res, err := scan.Scan(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Warnings) != 0 || res.Environments[0].Found != config.FileName {
		t.Errorf("warnings %q, found by %s", res.Warnings, res.Environments[0].Found)
	}
	holdBelowRoot(t, res.Environments[0])
}

func holdBelowRoot(t *testing.T, env *model.Environment) {
	t.Helper()
	if env.Root != "k8s" {
		t.Fatalf("root %s\n%s", env.Root, outline(env))
	}
	if u := wantUnit(t, env, "flux-system/app", model.StatusOK, "", ""); !slices.Contains(u.Files, "k8s/apps/web/cm.yaml") || u.Path != "apps/web" {
		t.Errorf("path %s, files %v", u.Path, u.Files)
	}
	bad := wantUnit(t, env, "flux-system/bad", model.StatusFailed, model.CodeSubstitute, "UNDEFINED")
	if len(bad.Reasons[0].Places) == 0 || bad.Reasons[0].Places[0].File != "k8s/apps/bad/cm.yaml" || bad.Reasons[0].Places[0].Line == 0 {
		t.Errorf("places %+v", bad.Reasons[0].Places)
	}
	wantUnit(t, env, "flux-system/gone", model.StatusFailed, model.CodePath, "apps/gone")
}

// What the repository says of its Flux version is a warning where it changes the result, and tidegate.yaml decides.
func TestVersionOfEnvironment(t *testing.T) {
	files := `
-- clusters/a/flux.yaml --
apiVersion: fluxcd.controlplane.io/v1
kind: FluxInstance
metadata: {name: flux, namespace: flux-system}
spec: {distribution: {version: 2.8.x}, sync: {kind: GitRepository, url: https://example.com/fleet, path: clusters/a}}
@ks app | path: ./app | postBuild: {substitute: {A: a}}
-- app/cm.yaml --
@cm x c a: "[${UNDEFINED}]"
`
	res, err := scan.Scan(context.Background(), options(t, tree(t, files)))
	if err != nil || len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], "--flux-version 2.8.x") || !res.Environments[0].Strict {
		t.Fatalf("%v %+v", err, res)
	}
	wantUnit(t, res.Environments[0], "flux-system/app", model.StatusFailed, model.CodeSubstitute, "UNDEFINED")

	o := options(t, tree(t, files))
	if o.Config, err = config.Parse(config.FileName, []byte("environments: {a: {path: clusters/a, fluxVersion: '2.8'}}")); err != nil {
		t.Fatal(err)
	}
	env := one(t, o)
	if env.Strict || env.FluxVersion != "2.8" {
		t.Errorf("strict %t in %s", env.Strict, env.FluxVersion)
	}
	wantUnit(t, env, "flux-system/app", model.StatusOK, "", "")
	o.FluxGiven = true
	if env := one(t, o); !env.Strict {
		t.Error("the command line does not win over tidegate.yaml")
	}
}

// An entry that is no folder fails, and says what to correct.
func TestEntryNotThere(t *testing.T) {
	o := options(t, tree(t, "-- a.yaml --\n@cm x c a: b\n"))
	o.Entries = []scan.Entry{{Name: "prod", Path: "clusters/prod"}}
	env := one(t, o)
	if u := wantUnit(t, env, "flux-system/flux-system", model.StatusFailed, model.CodeEntry, "clusters/prod is not in the repository"); u.Reasons[0].Fix == "" {
		t.Error("no word on what to do")
	}
}
