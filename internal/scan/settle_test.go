package scan_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/render"
	"github.com/tidegate/tidegate/internal/scan"
)

// A source that a sibling makes counts, wherever the sibling stands.
func TestVariablesFromSibling(t *testing.T) {
	env := judged(t, `
-- clusters/a/ks.yaml --
@ks app | path: ./app | postBuild: {substituteFrom: [{kind: ConfigMap, name: vars}, {kind: Secret, name: keys}]}
@ks vars | path: ./vars
-- app/cm.yaml --
@cm x c a: "${A}-${K}"
-- vars/objects.yaml --
@cm flux-system vars A: from-sibling
---
apiVersion: v1
kind: Secret
metadata: {name: keys, namespace: flux-system}
data: {K: dGhlLWtleQ==}
stringData: {L: l}
`, 3)
	if got := stream(wantUnit(t, env, "flux-system/app", model.StatusOK, "", "")); !strings.Contains(got, "a: from-sibling-the-key") {
		t.Errorf("%s", got)
	}
}

// A source that nothing makes: optional is as good as empty, and otherwise what needs it is unknown. The order of
// sources says what a missing one may override.
func TestMissingSources(t *testing.T) {
	env := one(t, options(t, tree(t, `
-- clusters/a/ks.yaml --
@cm flux-system known A: known
@ks optional | path: ./app | postBuild: {substitute: {B: b}, substituteFrom: [{kind: ConfigMap, name: gone, optional: true}, {kind: ConfigMap, name: known}]}
@ks missing | path: ./app | postBuild: {substituteFrom: [{kind: ConfigMap, name: gone}, {kind: ConfigMap, name: known}]}
@ks after | path: ./app | postBuild: {substitute: {B: b}, substituteFrom: [{kind: ConfigMap, name: known}, {kind: Secret, name: gone}]}
@ks unused | path: ./plain | postBuild: {substituteFrom: [{kind: Secret, name: gone}]}
-- app/cm.yaml --
@cm x c a: "${A}", b: "${B}"
-- plain/cm.yaml --
@cm x c a: b
`)))
	if got := stream(wantUnit(t, env, "flux-system/optional", model.StatusOK, "", "")); !strings.Contains(got, "a: known") || !strings.Contains(got, "b: b") {
		t.Errorf("optional:\n%s", got)
	}
	missing := wantUnit(t, env, "flux-system/missing", model.StatusUnverified, model.CodeMissingVariable, "ConfigMap/flux-system/gone is not made by anything")
	if got := stream(missing); !strings.Contains(got, "a: known") || !strings.Contains(got, "b: ${B}") {
		t.Errorf("missing: a later source is known, the rest stands as it is written:\n%s", got)
	}
	after := wantUnit(t, env, "flux-system/after", model.StatusUnverified, model.CodeMissingVariable, "Secret/flux-system/gone")
	if got := fmt.Sprint(after.Objects[0].Unverified); !strings.Contains(got, "${A} may be overridden") || strings.Contains(got, "${B}") {
		t.Errorf("after: %s", got)
	}
	wantUnit(t, env, "flux-system/unused", model.StatusUnverified, model.CodeMissingVariable, "Secret/flux-system/gone")
}

// A unit that makes a source later than another read an older one: those that read it are rendered again, with what
// hangs below them.
func TestSettledState(t *testing.T) {
	repo := tree(t, `
-- clusters/a/ks.yaml --
@ks app | path: ./app | postBuild: {substituteFrom: [{kind: ConfigMap, name: vars}]}
@ks deep | path: ./deep
-- app/ks.yaml --
@ks leaf | path: "./leaf-${A}"
-- deep/ks.yaml --
@ks deeper | path: ./deeper
-- deeper/cm.yaml --
@cm flux-system vars A: new
-- leaf-old/cm.yaml --
@cm x old a: b
-- leaf-new/cm.yaml --
@cm x new a: b
`)
	o := options(t, repo)
	o.Cluster = clusterObjects(t, configMap("flux-system", "vars", "A: old"))
	env := one(t, o)
	if u := wantUnit(t, env, "flux-system/leaf", model.StatusOK, "", ""); u.Path != "leaf-new" {
		t.Errorf("path %s: the object that Flux makes replaces what was there", u.Path)
	}
	if len(env.Units) != 5 || len(env.Reasons) != 0 {
		t.Errorf("%s", outline(env))
	}
}

// Two units each of which writes what the other reads never settle: that is said, and it ends.
func TestUnsettled(t *testing.T) {
	repo := tree(t, `
-- clusters/a/ks.yaml --
@ks one | path: ./one | postBuild: {substituteFrom: [{kind: ConfigMap, name: two}]}
@ks two | path: ./two | postBuild: {substituteFrom: [{kind: ConfigMap, name: one}]}
-- one/cm.yaml --
@cm flux-system one A: "x${B}"
-- two/cm.yaml --
@cm flux-system two B: "y${A}"
`)
	o := options(t, repo)
	o.Cluster = clusterObjects(t, stack(configMap("flux-system", "one", "A: a"), configMap("flux-system", "two", "B: b")))
	start := time.Now()
	env := one(t, o)
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %s", took)
	}
	found := false
	for _, r := range env.Reasons {
		found = found || r.Code == model.CodeUnsettled
	}
	if !found {
		t.Errorf("nothing says that they do not settle\n%s", outline(env))
	}
}

// Each waits for a source that only the other makes: no cluster comes to that from nothing. Neither is taken for good,
// it is said, and it ends.
func TestWaitingForEachOther(t *testing.T) {
	env := one(t, options(t, tree(t, `
-- clusters/a/ks.yaml --
@ks one | path: ./one | postBuild: {substituteFrom: [{kind: ConfigMap, name: two}]}
@ks two | path: ./two | postBuild: {substituteFrom: [{kind: ConfigMap, name: one}]}
@ks fine | path: ./fine
-- one/cm.yaml --
@cm flux-system one A: fixed, C: "${B}"
-- two/cm.yaml --
@cm flux-system two B: fixed, C: "${A}"
-- fine/cm.yaml --
@cm x fine a: b
`)))
	wantUnit(t, env, "flux-system/fine", model.StatusOK, "", "")
	wantUnit(t, env, "flux-system/one", model.StatusUnverified, model.CodeMissingVariable, "ConfigMap/flux-system/two")
	wantUnit(t, env, "flux-system/two", model.StatusUnverified, model.CodeMissingVariable, "ConfigMap/flux-system/one")
	if len(env.Reasons) != 1 || env.Reasons[0].Code != model.CodeUnsettled {
		t.Errorf("nothing says that they do not settle\n%s", outline(env))
	}
}

// Given values fill what is unknown. They override nothing that is known, and are not there where nothing is missing.
func TestGivenValues(t *testing.T) {
	repo := tree(t, `
-- clusters/a/ks.yaml --
@cm flux-system known A: known
@ks missing | path: ./app | postBuild: {substituteFrom: [{kind: ConfigMap, name: gone}, {kind: ConfigMap, name: known}]}
@ks whole | path: ./undefined | postBuild: {substituteFrom: [{kind: ConfigMap, name: known}]}
-- app/cm.yaml --
@cm x c a: "${A}", b: "${B}"
-- undefined/cm.yaml --
@cm x c b: "${B}"
`)
	o := options(t, repo)
	o.Given = map[string]map[string]render.Value{
		"a": {"A": {Text: "given"}, "B": {Text: "gi\nven"}}, "other": {"B": {Text: "of another environment"}},
	}
	env := one(t, o)
	if got := stream(wantUnit(t, env, "flux-system/missing", model.StatusOK, "", "")); !strings.Contains(got, "a: known") || !strings.Contains(got, "b: given") {
		t.Errorf("%s", got)
	}
	wantUnit(t, env, "flux-system/whole", model.StatusFailed, model.CodeSubstitute, `"B"`)
}

// Objects that the user says are there are sources; what the repository makes replaces them.
func TestClusterObjects(t *testing.T) {
	repo := tree(t, `
-- clusters/a/ks.yaml --
@ks app | path: ./app | postBuild: {substituteFrom: [{kind: ConfigMap, name: outside}, {kind: Secret, name: token}]}
-- app/cm.yaml --
@cm x c a: "${A}", t: "${T}"
`)
	o := options(t, repo)
	o.Cluster = clusterObjects(t, stack(configMap("flux-system", "outside", "A: from-outside"),
		"apiVersion: v1\nkind: Secret\nmetadata: {name: token, namespace: flux-system}\nstringData: {T: plain-token}\n"))
	o.Assumed = map[string][]scan.ClusterObject{"b": clusterObjects(t, configMap("flux-system", "outside", "A: of-another"))}
	env := one(t, o)
	app := wantUnit(t, env, "flux-system/app", model.StatusOK, "", "")
	if got := stream(app); !strings.Contains(got, "a: from-outside") || !strings.Contains(got, "t: plain-token") {
		t.Errorf("%s", got)
	}
	if shown := app.Objects[0].Display; strings.Contains(shown, "plain-token") || !strings.Contains(shown, "from-outside") {
		t.Errorf("a given Secret's value may not be shown:\n%s", shown)
	}
}

func TestParseObjects(t *testing.T) {
	got, err := scan.ParseObjects("f.yaml", []byte("\xef\xbb\xbf# first\n---\n"+configMap("a", "b", "x: y")+
		"---\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {name: s}}\n"))
	if err != nil || len(got) != 2 || got[1].Ref.String() != "Secret/s" || got[0].File != "f.yaml" {
		t.Errorf("%v %v", got, err)
	}
	for text, want := range map[string]string{
		"a: [": "f.yaml: document 1 is not YAML", "kind: ConfigMap\nmetadata: {name: a}": "f.yaml:1: document 1 has no apiVersion, kind or metadata.name",
		"a: b\n---\n- c": "f.yaml", "text": "no Kubernetes object", "apiVersion: v1\nkind: List\nitems: [1]": "has no apiVersion",
	} {
		if _, err := scan.ParseObjects("f.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// manyUnits is a repository with children of children, variables, failures and things unknown.
func manyUnits(t testing.TB) scan.Options {
	var root, mid strings.Builder
	for i := range 12 {
		fmt.Fprintf(&root, "@ks u%02d | path: ./app%d | postBuild: {substituteFrom: [{kind: ConfigMap, name: v%d}]}\n", i, i%3, i%4)
	}
	for i := range 3 {
		fmt.Fprintf(&mid, "@cm flux-system v%d A: a%d\n", i, i)
	}
	return options(t, tree(t, "-- clusters/a/ks.yaml --\n"+root.String()+"@ks vars | path: ./vars\n-- vars/cm.yaml --\n"+mid.String()+
		"-- app0/cm.yaml --\n@cm x c a: \"${A}\"\n-- app1/ks.yaml --\n@ks leaf | path: ./app0\n-- app2/cm.yaml --\n@cm x c a: \"${A}${UNDEFINED}\"\n"))
}

// The result does not depend on how many builds run at once, nor on luck.
func TestDeterminism(t *testing.T) {
	first := ""
	for i := range 20 {
		o := manyUnits(t)
		o.Workers = 1 + i%8
		data, err := json.Marshal(one(t, o))
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = string(data)
		}
		if string(data) != first {
			t.Fatalf("run %d with %d workers differs:\n%s\n%s", i, o.Workers, first, data)
		}
	}
	if !strings.Contains(first, "UNDEFINED") || !strings.Contains(first, "missing-source") {
		t.Error("the repository does not hold what it is to hold")
	}
}

// A context that ends, ends the scan.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	o := manyUnits(t)
	o.Workers = 1
	rendered := 0
	o.Progress = func(string, int) {
		if rendered++; rendered == 2 {
			cancel()
		}
	}
	if _, err := scan.Scan(ctx, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("%v, want the context's end", err)
	}
	if rendered > 4 {
		t.Errorf("%d units were rendered after all", rendered)
	}
}

// Progress counts each unit of each environment.
func TestProgress(t *testing.T) {
	o := manyUnits(t)
	o.Workers = 1
	last := 0
	o.Progress = func(env string, done int) {
		if env != "a" || done != last+1 {
			t.Errorf("%s %d after %d", env, done, last)
		}
		last = done
	}
	if env := one(t, o); last < len(env.Units) {
		t.Errorf("heard of %d of %d units", last, len(env.Units))
	}
}

func clusterObjects(t testing.TB, text string) []scan.ClusterObject {
	t.Helper()
	list, err := scan.ParseObjects("cluster.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return list
}
