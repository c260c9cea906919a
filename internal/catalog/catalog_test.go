package catalog_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/tidegate/tidegate/internal/catalog"
)

// The output depends on what the files say, and neither on the order in which needs are listed nor on the names of apps
// that are not concerned; rendering the result changes nothing.
func TestStable(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 60 {
		n := 2 + r.IntN(8)
		var all [][]string
		for i := range n {
			var needs []string
			for j := range i {
				if r.IntN(3) == 0 {
					needs = append(needs, fmt.Sprintf("app-%d", j))
				}
			}
			if r.IntN(3) == 0 {
				needs = append(needs, "keycloak")
			}
			all = append(all, needs)
		}
		write := func(shuffle bool) tree {
			files := start.with(nil)
			for i, needs := range all {
				needs = append([]string(nil), needs...)
				if shuffle {
					r.Shuffle(len(needs), func(a, b int) { needs[a], needs[b] = needs[b], needs[a] })
				}
				name := fmt.Sprintf("app-%d", i)
				files["catalog/"+name+".yaml"] = app(name, "needs: ["+strings.Join(needs, ", ")+"]")
			}
			return files
		}
		one := write(false)
		plan := render(t, one, tree{}, false)
		out := one.with(plan.Changes)
		if again := render(t, out, out, false); len(again.Changes) > 0 {
			t.Fatalf("round %d: rendering again changes %s", round, again.Changes[0].Path)
		}
		for _, a := range plan.Catalog.Apps {
			want := 0
			for _, need := range a.Needs {
				if o := plan.Catalog.App(need); o != nil {
					want = max(want, o.Wave+1)
				}
			}
			if a.Wave != want {
				t.Fatalf("round %d: %s is in wave %d, want %d", round, a.Name, a.Wave, want)
			}
		}
		other := render(t, write(true), tree{}, false)
		for p, data := range plan.Output.Files {
			// Lists of needs show in network policies in their order; nothing else may differ.
			if !strings.HasSuffix(p, "network-policy.yaml") && string(other.Output.Files[p]) != string(data) {
				t.Fatalf("round %d: %s differs with the order of needs", round, p)
			}
		}
	}
}

// Waves depend on each other in a row, and each lists its apps.
func TestWaves(t *testing.T) {
	files := start.over("-- catalog/a.yaml --\n" + app("a", "login: {client: a}") + "-- catalog/b.yaml --\n" + app("b", "needs: [a, cnpg]"))
	plan := render(t, files, tree{}, false)
	out := files.with(plan.Changes)
	for p, want := range map[string][]string{
		"clusters/base/apps-wave-0.yaml":    {"- name: platform\n", "path: ./apps/wave-0", "decryption:", "wait: true", "prune: true"},
		"clusters/base/apps-wave-1.yaml":    {"- name: apps-wave-0\n", "path: ./apps/wave-1"},
		"apps/wave-0/kustomization.yaml":    {"resources:\n  - a\n"},
		"clusters/base/kustomization.yaml":  {"  # catalog: begin\n  - apps-wave-0.yaml\n  - apps-wave-1.yaml\n  # catalog: end\n  - vms.yaml\n"},
		"apps/wave-0/a/kustomization.yaml":  {"a-oidc.sops.yaml"},
		"apps/wave-0/a/network-policy.yaml": {"k8s:io.kubernetes.pod.namespace: b"},
	} {
		for _, w := range want {
			if !strings.Contains(out[p], w) {
				t.Errorf("%s has no %q:\n%s", p, w, out[p])
			}
		}
	}
	if strings.Contains(out["clusters/base/apps-wave-1.yaml"], "decryption") || strings.Contains(out["clusters/base/apps-wave-1.yaml"], "postBuild") {
		t.Errorf("wave 1 holds nothing encrypted and no token:\n%s", out["clusters/base/apps-wave-1.yaml"])
	}
	if len(plan.Output.Missing) != 1 || plan.Output.Missing[0].Path != "catalog/a/a-oidc.sops.yaml" {
		t.Errorf("missing: %+v", plan.Output.Missing)
	}
}

// A file that nobody generated is not written over, is not removed, and is told of.
func TestHandsOff(t *testing.T) {
	files := start.over("-- catalog/a.yaml --\n" + app("a") + "-- apps/wave-0/a/service.yaml --\nmine: true\n")
	p, problems, err := catalog.Render(files, files, settings, false)
	if err != nil || len(problems) != 1 || problems[0].Place.File != "apps/wave-0/a/service.yaml" {
		t.Errorf("%+v %v", problems, err)
	}
	_ = p
	delete(files, "apps/wave-0/a/service.yaml")
	files["apps/wave-0/a/notes.md"] = "mine"
	out := files.with(render(t, files, tree{}, false).Changes)
	// The app goes: what was generated goes with it, and the rest stays.
	delete(out, "catalog/a.yaml")
	out["catalog/b.yaml"] = app("b")
	out["catalog/a/a.sops.yaml"] = "kept"
	plan := render(t, out, out, false)
	after := out.with(plan.Changes)
	if after["apps/wave-0/a/notes.md"] != "mine" || after["catalog/a/a.sops.yaml"] != "kept" || len(plan.Left) != 1 {
		t.Errorf("left: %v, files %v", plan.Left, after.Paths())
	}
	if _, ok := after["apps/wave-0/a/deployment.yaml"]; ok {
		t.Error("a's Deployment is still there")
	}
	// Without marks, nothing of the list is written, and what it lacks is said.
	bare := start.over("-- catalog/a.yaml --\n" + app("a") + "-- clusters/base/kustomization.yaml --\nresources: [platform.yaml]\n")
	_, problems, _ = catalog.Render(bare, bare, settings, false)
	if len(problems) != 1 || !strings.Contains(problems[0].Message, "does not list apps-wave-0.yaml") {
		t.Errorf("%+v", problems)
	}
}

// Encrypted files are copied as they are, and one that is not encrypted, or another's, is refused.
func TestEncrypted(t *testing.T) {
	files := shop()
	out := files.with(render(t, files, tree{}, false).Changes)
	if out["apps/wave-0/b/b-admin.sops.yaml"] != files["catalog/b/b-admin.sops.yaml"] {
		t.Error("the copy differs")
	}
	for want, text := range map[string]string{
		"it is not encrypted":                            "apiVersion: v1\nkind: Secret\nmetadata: {name: b-admin, namespace: b}\ndata: {a: eA==}\n",
		`its namespace is "c", and the app's is b`:       "apiVersion: v1\nkind: Secret\nmetadata: {name: b-admin, namespace: c}\nsops: {mac: \"ENC[x]\"}\n",
		`it is "Secret" "other", and not Secret b-admin`: "apiVersion: v1\nkind: Secret\nmetadata: {name: other, namespace: b}\nsops: {mac: \"ENC[x]\"}\n",
		"it is not encrypted, and git":                   "apiVersion: v1\nkind: Secret\nmetadata: {name: b-admin, namespace: b}\ndata: {a: eA==}\nsops: {}\n",
		"it holds more than one document":                "apiVersion: v1\nkind: Secret\nmetadata: {name: b-admin, namespace: b}\nsops: {mac: \"ENC[x]\"}\n---\ndata: {a: eA==}\n",
		"it is no YAML":                                  "{",
	} {
		files["catalog/b/b-admin.sops.yaml"] = text
		_, problems, err := catalog.Render(files, tree{}, settings, false)
		if err != nil || len(problems) != 1 || !strings.Contains(problems[0].Message, want) {
			t.Errorf("want %q: %+v %v", want, problems, err)
		}
	}
	gone := out.with(nil)
	delete(gone, "catalog/b/b-admin.sops.yaml")
	p, problems, err := catalog.Render(gone, gone, settings, false)
	if err != nil || len(p.Changes) > 0 || len(problems) != 1 || !strings.Contains(problems[0].Message, "apps/wave-0/b/b-admin.sops.yaml is a copy of it") {
		t.Errorf("the source is gone: %+v %v", problems, err)
	}
	example := out["catalog/b/b-admin.sops.yaml.example"]
	if !strings.Contains(example, "name: b-admin\n  namespace: b\n") || !strings.Contains(example, "  # text\n  a: cmVwbGFjZS1tZQ==\n") {
		t.Errorf("the example:\n%s", example)
	}
}

// Tokens stay as they are written, and what is no token is checked; all of it is YAML.
func TestTokens(t *testing.T) {
	files := start.over("-- catalog/a.yaml --\n" + app("a", `replicas: "${REPLICAS:-2}"`, "env: {URL: 'http://${HOST//./-}:80/$(X)', N: \"5432\", Y: \"yes\"}") +
		"-- catalog/b.yaml --\n" + app("b", `storage: {data: {mount: /d, size: "${SIZE}"}}`, `l4: {address: "${VIP}", ports: [http]}`))
	out := files.with(render(t, files, tree{}, false).Changes)
	for p, want := range map[string]string{
		"apps/wave-0/a/deployment.yaml": "replicas: ${REPLICAS:-2}",
		"apps/wave-0/b/storage.yaml":    "storage: ${SIZE}",
		"apps/wave-0/b/service.yaml":    "lbipam.cilium.io/ips: ${VIP}",
	} {
		if !strings.Contains(out[p], want) {
			t.Errorf("%s has no %q:\n%s", p, want, out[p])
		}
	}
	for _, want := range []string{"value: http://${HOST//./-}:80/$(X)\n", `value: "5432"`, `value: "yes"`} {
		if !strings.Contains(out["apps/wave-0/a/deployment.yaml"], want) {
			t.Errorf("the environment has no %q:\n%s", want, out["apps/wave-0/a/deployment.yaml"])
		}
	}
	for p, text := range out {
		for _, doc := range strings.Split(text, "\n---\n") {
			var v any
			if strings.HasSuffix(p, ".yaml") && yaml.Unmarshal([]byte(doc), &v) != nil {
				t.Errorf("%s is no YAML:\n%s", p, doc)
			}
		}
	}
}

// What add writes is an app as it stands, and names that cannot be are refused.
func TestScaffold(t *testing.T) {
	data, err := catalog.Scaffold("paperless-ngx", "example.net")
	if err != nil {
		t.Fatal(err)
	}
	files := start.over("")
	files["catalog/paperless-ngx.yaml"] = string(data)
	render(t, files, tree{}, false)
	// So it is with all that stands in comments.
	lines := strings.Split(string(data), "\n")
	for i, l := range lines {
		if rest, ok := strings.CutPrefix(l, "# "); ok && (strings.Contains(rest, ": ") && !strings.HasSuffix(rest, ".") || strings.HasSuffix(rest, ":")) && rest[0] != 'T' {
			lines[i] = rest
		}
	}
	files["catalog/paperless-ngx.yaml"] = strings.Join(lines, "\n")
	plan := render(t, files, tree{}, false)
	if a := plan.Catalog.Apps[0]; a.Database == nil || a.L4 == nil || a.Login == nil || len(a.Secrets) != 1 || len(a.Storage) != 1 || a.User != 1000 {
		t.Errorf("not all of it was read: %+v", a)
	}
	for _, name := range []string{"", "A", "a_b", "../x", strings.Repeat("a", 41)} {
		if _, err := catalog.Scaffold(name, "example.net"); err == nil {
			t.Errorf("%q is taken", name)
		}
	}
}
