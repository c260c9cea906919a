package catalog_test

import (
	"fmt"
	"path"
	"sort"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/tidegate/tidegate/internal/catalog"
)

// cluster is what kustomize-controller makes of waves, as far as pruning goes (internal/controller/kustomization_controller.go:
// apply, then prune what the last inventory had and this build has not, unless the live object says prune: disabled or
// bears another owner's labels).
type cluster struct {
	live      map[string]object
	inventory map[string]map[string]bool // by wave
	deleted   []string
}

type object struct {
	owner string
	keep  bool
}

func newCluster() *cluster {
	return &cluster{live: map[string]object{}, inventory: map[string]map[string]bool{}}
}

// apply reconciles a commit: the waves in their order, and then those that are gone.
func (c *cluster) apply(t *testing.T, files tree) {
	t.Helper()
	var waves []string
	for p := range files {
		if dir := path.Dir(p); path.Dir(dir) == "apps" && path.Base(p) == "kustomization.yaml" {
			waves = append(waves, dir)
		}
	}
	sort.Strings(waves)
	for _, w := range waves {
		now := map[string]bool{}
		for id, keep := range build(t, files, w) {
			now[id] = true
			c.live[id] = object{w, keep}
		}
		c.prune(w, now)
	}
	for w := range c.inventory {
		if _, ok := files[w+"/kustomization.yaml"]; !ok {
			c.prune(w, map[string]bool{})
			delete(c.inventory, w)
		}
	}
}

func (c *cluster) prune(wave string, now map[string]bool) {
	for id := range c.inventory[wave] {
		o, ok := c.live[id]
		if now[id] || !ok || o.keep || o.owner != wave {
			continue
		}
		delete(c.live, id)
		c.deleted = append(c.deleted, id)
	}
	c.inventory[wave] = now
}

// build gives the objects of a wave, and whether each says that it is not to be pruned.
func build(t *testing.T, files tree, wave string) map[string]bool {
	t.Helper()
	fs := filesys.MakeFsInMemory()
	for p, s := range files {
		if err := fs.WriteFile("/"+p, []byte(s)); err != nil {
			t.Fatal(err)
		}
	}
	m, err := krusty.MakeKustomizer(&krusty.Options{LoadRestrictions: types.LoadRestrictionsNone, PluginConfig: types.DisabledPluginConfig()}).Run(fs, "/"+wave)
	if err != nil {
		t.Fatalf("%s: %v", wave, err)
	}
	out := map[string]bool{}
	for _, r := range m.Resources() {
		out[r.CurId().String()] = r.GetAnnotations()["kustomize.toolkit.fluxcd.io/prune"] == "disabled"
	}
	return out
}

const sealed = `apiVersion: v1
kind: Secret
metadata: {name: NAME, namespace: APP}
data: {a: "ENC[x]"}
sops: {mac: "ENC[x]"}
`

// shop is a repository in which b needs nothing, and keeps a database, a volume and a Secret.
func shop() tree {
	b := app("b", `storage: {data: {mount: /data, size: "${SIZE}"}}`, `database: {size: 1Gi}`, `backup: {database: "0 30 3 * * *"}`, "secrets: {b-admin: {keys: {a: text}}}",
		"manifests: [job.yaml]", "route: {host: b.example.net, port: http}")
	files := start.over("-- catalog/a.yaml --\n" + app("a") + "-- catalog/b.yaml --\n" + b + "-- catalog/c.yaml --\n" + app("c", "needs: [a]") +
		"-- catalog/b/job.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: job, namespace: b}\n")
	for _, s := range []string{"b-admin", "b-db-s3"} {
		files["catalog/b/"+s+".sops.yaml"] = strings.NewReplacer("NAME", s, "APP", "b").Replace(sealed)
	}
	return files
}

func needs(files tree, app string, what string) tree {
	out := files.with(nil)
	out["catalog/"+app+".yaml"] += "needs: [" + what + "]\n"
	return out
}

// A move is refused; as a cutover it takes two commits, and Flux deletes nothing in any of them, whichever way the app goes. Done at
// once it deletes.
func TestCutover(t *testing.T) {
	first := shop()
	first = first.with(render(t, first, tree{}, false).Changes)
	for name, changed := range map[string]tree{"later": needs(first, "b", "c"), "later by one": needs(first, "b", "a")} {
		t.Run(name, func(t *testing.T) {
			plan, problems, err := catalog.Render(changed, first, settings, false)
			if err != nil || len(problems) != 1 || len(plan.Changes) > 0 || !strings.Contains(problems[0].Message, "its volumes and its database") || !strings.Contains(problems[0].Fix, "--cutover") {
				t.Fatalf("%+v, %v", problems, err)
			}

			// What would happen.
			wrong := newCluster()
			wrong.apply(t, first)
			wrong.apply(t, changed.with(render(t, changed, tree{}, false).Changes))
			if len(wrong.deleted) == 0 {
				t.Error("moving at once deletes nothing: the model of pruning is wrong, or cutovers are needless")
			}

			live := newCluster()
			live.apply(t, first)
			count := len(live.live)
			committed, work := first, changed
			for step, want := range []string{"Step 1 of 2", "Step 2 of 2", "over"} {
				plan := render(t, work, committed, true)
				if len(plan.Changes) == 0 || !strings.Contains(strings.Join(plan.Next, " "), want) {
					t.Fatalf("step %d: %d changes, %q", step+1, len(plan.Changes), plan.Next)
				}
				work = work.with(plan.Changes)
				if again := render(t, work, committed, step == 0); step < 2 && len(again.Changes) > 0 {
					t.Errorf("step %d: before it is committed, rendering again changes %s", step+1, again.Changes[0].Path)
				}
				if step == 0 {
					for _, c := range plan.Changes {
						if c.Path != "apps/wave-0/b/kustomization.yaml" && c.Path != "catalog/moves.yaml" && path.Base(c.Path) != "network-policy.yaml" {
							t.Errorf("step 1 changes %s", c.Path)
						}
					}
					for id, keep := range build(t, work, "apps/wave-0/b") {
						if !keep {
							t.Errorf("step 1 leaves %s to be pruned", id)
						}
					}
				}
				committed = work
				if check := render(t, work, committed, false); len(check.Changes) > 0 {
					t.Errorf("step %d: what was committed is not what is rendered: %s", step+1, check.Changes[0].Path)
				}
				live.apply(t, committed)
				if len(live.deleted) > 0 {
					t.Fatalf("step %d: Flux deletes %v", step+1, live.deleted)
				}
				if len(live.live) != count {
					t.Errorf("step %d: %d objects, want %d", step+1, len(live.live), count)
				}
			}
			// It is as if it had always been there.
			fresh := changed.with(nil)
			for p := range fresh {
				if strings.HasPrefix(p, "apps/") {
					delete(fresh, p)
				}
			}
			fresh = fresh.with(render(t, fresh, tree{}, false).Changes)
			if got, want := fmt.Sprint(committed), fmt.Sprint(fresh); got != want {
				t.Errorf("after the cutover the tree is another than a fresh one:\n%s\n%s", got, want)
			}
			live.apply(t, committed)
			for id, o := range live.live {
				if strings.Contains(id, ".b") && o.owner == "apps/wave-0" {
					t.Errorf("%s still belongs to %s", id, o.owner)
				}
			}
		})
	}
}

// Back to an earlier wave, too.
func TestCutoverBack(t *testing.T) {
	before := needs(shop(), "b", "c")
	before = before.with(render(t, before, tree{}, false).Changes)
	work := before.with(nil)
	work["catalog/b.yaml"] = strings.Replace(work["catalog/b.yaml"], "needs: [c]\n", "", 1)
	live, committed := newCluster(), before
	live.apply(t, before)
	for range 3 {
		work = work.with(render(t, work, committed, true).Changes)
		committed = work
		live.apply(t, committed)
	}
	if len(live.deleted) > 0 {
		t.Errorf("Flux deletes %v", live.deleted)
	}
	if _, ok := work["apps/wave-0/b/deployment.yaml"]; !ok {
		t.Errorf("b is not in wave 0: %v", work.Paths())
	}
}

// In the midst of a cutover needs do not change, its file does not vanish, and a step that was not committed is not passed.
func TestCutoverIsHeld(t *testing.T) {
	first := shop()
	first = first.with(render(t, first, tree{}, false).Changes)
	one := needs(first, "b", "a")
	one = one.with(render(t, one, first, true).Changes)
	refused := func(name string, work, committed tree, want string) {
		t.Helper()
		for _, cutover := range []bool{false, true} {
			p, problems, err := catalog.Render(work, committed, settings, cutover)
			if err != nil || len(problems) == 0 || len(p.Changes) > 0 || !strings.Contains(problems[0].Message, want) {
				t.Errorf("%s, cutover %t: %+v %v", name, cutover, problems, err)
			}
		}
	}
	other := one.with(nil)
	other["catalog/b.yaml"] = strings.Replace(other["catalog/b.yaml"], "needs: [a]", "needs: [c]", 1)
	refused("other needs", other, one, "is on its way from wave 0 to 1, and its needs now put it into wave 2")
	gone := one.with(nil)
	delete(gone, "catalog/moves.yaml")
	refused("the file is gone", gone, one, "a cutover is under way in git")
	left := one.with(nil)
	delete(left, "catalog/b.yaml")
	refused("the app is gone", left, one, "b is on its way from wave 0 to 1, and its file is gone")
	broken := one.with(nil)
	broken["catalog/moves.yaml"] = "step: 7\n"
	refused("the file is broken", broken, one, "it is in step 7")
	more := needs(one, "a", "cnpg")
	more["catalog/c.yaml"] = app("c")
	refused("another app moves", more, one, "c would move from wave 1 to 0 while other apps are on their way")

	// Not committed: the first step again.
	plan := render(t, one, first, true)
	if plan.Moves == nil || plan.Moves.Step != catalog.LetGo || len(plan.Changes) > 0 {
		t.Errorf("an uncommitted step is passed: %+v", plan.Moves)
	}
}

// What moves.yaml says is not believed: an app leaves a wave only if what is committed has it marked there.
func TestCutoverIsNotSkipped(t *testing.T) {
	first := shop()
	first = first.with(render(t, first, tree{}, false).Changes)
	one := needs(first, "b", "a")
	one = one.with(render(t, one, first, true).Changes)
	two := one.with(render(t, one, one, true).Changes)
	refused := func(name string, work, committed tree) {
		t.Helper()
		for _, cutover := range []bool{false, true} {
			p, problems, err := catalog.Render(work, committed, settings, cutover)
			if err != nil || len(problems) == 0 || len(p.Changes) > 0 {
				t.Errorf("%s, cutover %t: %d problems, %d changes, %v", name, cutover, len(problems), len(p.Changes), err)
			}
		}
	}
	edited := one.with(nil)
	edited["catalog/moves.yaml"] = strings.Replace(edited["catalog/moves.yaml"], "step: 1", "step: 2", 1)
	refused("the step is edited before it is committed", edited, first)
	refused("another branch's catalog", two.over("-- apps/wave-0/b/kustomization.yaml --\n"+first["apps/wave-0/b/kustomization.yaml"]), first)
	merged := needs(one, "a", "")
	merged["catalog/a.yaml"] = app("a", "needs: [d]")
	merged["catalog/d.yaml"] = app("d")
	merged["catalog/moves.yaml"] += "  - app: a\n    from: 0\n    to: 1\n"
	refused("a move that a merge added", merged, one)
	from := one.with(nil)
	from["catalog/moves.yaml"] = strings.Replace(from["catalog/moves.yaml"], "from: 0", "from: 7", 1)
	refused("a wave that it was never in", from, one)

	// Step 1 that is not wanted any more is taken back whole.
	undone := one.with(nil)
	undone["catalog/b.yaml"] = first["catalog/b.yaml"]
	for _, cutover := range []bool{false, true} {
		back := undone.with(render(t, undone, first, cutover).Changes)
		if fmt.Sprint(back) != fmt.Sprint(first) {
			t.Errorf("cutover %t: undone, the tree is another than before", cutover)
		}
	}
}

// What Flux makes once and never touches again cannot be marked, so that a cutover of it is refused.
func TestCutoverOfCreatedOnce(t *testing.T) {
	first := shop()
	first["catalog/b/job.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: job\n  namespace: b\n  annotations:\n    kustomize.toolkit.fluxcd.io/ssa: ifnotpresent\n"
	first = first.with(render(t, first, tree{}, false).Changes)
	work := needs(first, "b", "a")
	_, problems, err := catalog.Render(work, first, settings, true)
	if err != nil || len(problems) != 1 || !strings.Contains(problems[0].Message, "ssa: IfNotPresent") || problems[0].Place.File != "catalog/b.yaml" {
		t.Errorf("%+v, %v", problems, err)
	}
}
