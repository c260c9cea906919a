package engine_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/engine"
	"github.com/tidegate/tidegate/internal/report"
	"github.com/tidegate/tidegate/internal/sops"
	"github.com/tidegate/tidegate/internal/sops/sopstest"
	"github.com/tidegate/tidegate/internal/view"
)

// The plaintexts of this file: one that may be a name, one that breaks YAML, one that is no name of a variable.
const (
	plainName = "zq7xkvw0pjh3ytq"
	plainYAML = `wvjx: "kqzhpu`
	plainKey  = "xjq-wkz9-hvv"
)

// guises gives what of the plaintexts may stand nowhere: every six bytes of them, in the cases that expressions make,
// backwards, in base64 and in hex; and what the expressions of these repositories cut out and count.
func guises() []string {
	out := []string{"cut-" + plainName[:3], fmt.Sprintf("len-%d", len(plainName))}
	for _, p := range []string{plainName, plainYAML, plainKey} {
		back := []byte(p)
		slices.Reverse(back)
		forms := []string{p, strings.ToUpper(p), string(back), hex.EncodeToString([]byte(p))}
		for pad := range 3 {
			// In base64 a text has three forms, by where it begins; those letters that its neighbours change are left out.
			enc := base64.RawStdEncoding.EncodeToString(append(bytes.Repeat([]byte("x"), pad), p...))
			forms = append(forms, enc[pad+1:len(enc)-2])
		}
		for _, f := range forms {
			for i := 0; i+6 <= len(f); i++ {
				out = append(out, f[i:i+6])
			}
		}
	}
	return out
}

func flux(name, spec string) string {
	return "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: " + name +
		"\n  namespace: flux-system\nspec:\n  interval: 10m\n  prune: true\n  sourceRef:\n    kind: GitRepository\n    name: flux-system\n" + indent(spec)
}

func indent(s string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n  ") + "\n"
}

func configMap(name, namespace, data string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name + "\n  namespace: " + namespace + "\ndata:\n" + indent(data)
}

const fromSecret = "path: ./app\npostBuild:\n  substituteFrom:\n  - kind: Secret\n    name: vars\n"

// leaky are repositories in which a Secret's plaintext flows through variables to a place where a careless renderer
// tells it. Each adds files to the folder app, which is rendered with the Secret's values.
var leaky = map[string]map[string]string{
	"values":           {"a.yaml": configMap("a", "default", "a: ${NAME}\nb: cut-${NAME:0:3}\nc: len-${#NAME}\nd: ${NAME^^}\ne: x${NAME}y${NAME}\nf: ${NONE:=${NAME}}")},
	"data of a Secret": {"a.yaml": "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\n  namespace: default\nstringData:\n  a: x${NAME}\n"},
	"name":             {"a.yaml": configMap("a-${NAME}", "default", "a: b")},
	"namespace":        {"a.yaml": configMap("a", "${NAME}", "a: b")},
	"kind":             {"a.yaml": strings.Replace(configMap("a", "default", "a: b"), "kind: ConfigMap", "kind: ${NAME}", 1)},
	"group":            {"a.yaml": strings.Replace(configMap("a", "default", "a: b"), "apiVersion: v1", "apiVersion: ${NAME}/v1", 1)},
	"label":            {"a.yaml": strings.Replace(configMap("a", "default", "a: b"), "metadata:", "metadata:\n  labels:\n    ${NAME}: ${NAME}", 1)},
	"key":              {"a.yaml": configMap("a", "default", "${NAME}: b")},
	"chain": {
		"a.yaml":      configMap("chained", "flux-system", "OTHER: x${NAME}"),
		"b.yaml":      flux("b", "path: ./b\npostBuild:\n  substituteFrom:\n  - kind: ConfigMap\n    name: chained\n"),
		"../b/a.yaml": configMap("b-$${OTHER}", "default", "a: $${OTHER}\nb: ${OTHER}"),
	},
	"broken YAML":       {"a.yaml": configMap("a", "default", "a: ${BREAK}")},
	"broken YAML named": {"a.yaml": configMap("a-${NAME}", "default", "a: ${BREAK}")},
	"same name twice":   {"a.yaml": configMap("${NAME}", "default", "a: b") + "---\n" + configMap(plainPrefix+"${REST}", "default", "a: b")},
	"no such variable":  {"a.yaml": configMap("a-${NAME}", "default", "a: ${NONE}")},
	"variable's name": {
		"a.yaml":      configMap("chained", "flux-system", "${KEY}: a"),
		"b.yaml":      flux("b", "path: ./b\npostBuild:\n  substituteFrom:\n  - kind: ConfigMap\n    name: chained\n"),
		"../b/a.yaml": configMap("b", "default", "a: b"),
	},
	"no string": {
		"a.yaml":      configMap("chained-${NAME}", "flux-system", "${NAME}: ${NUMBER}"),
		"b.yaml":      flux("b", "path: ./b\npostBuild:\n  substituteFrom:\n  - kind: ConfigMap\n    name: chained-${NAME}\n"),
		"../b/a.yaml": configMap("b", "default", "a: $${X}"),
	},
	"expression in plaintext": {"a.yaml": sealed("a", "default", "p: ${"+strings.ReplaceAll(plainName, "-", "_")+"}")},
	"child's name":            {"b.yaml": flux("b-${NAME}", "path: ./b"), "../b/a.yaml": configMap("b", "default", "a: b")},
	"child's namespace":       {"b.yaml": strings.Replace(flux("b", "path: ./b"), "namespace: flux-system", "namespace: ${NAME}", 1), "../b/a.yaml": configMap("b", "default", "a: b")},
	"child's path":            {"b.yaml": flux("b", "path: ./${NAME}")},
	"child's path there":      {"b.yaml": flux("b", "path: ./${FOLDER}"), "../b/a.yaml": configMap("b", "default", "a: b")},
	"child's source":          {"b.yaml": strings.Replace(flux("b", "path: ./b"), "name: flux-system\n  path", "name: ${NAME}\n  path", 1)},
	"source's URL": {
		"s.yaml": "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata:\n  name: other\n  namespace: flux-system\nspec:\n  interval: 1m\n  url: https://user:${NAME}@git.example.org/${NAME}\n",
		"b.yaml": strings.Replace(flux("b", "path: ./b"), "name: flux-system\n  path", "name: other\n  path", 1),
	},
	"source's checkout":       {"s.yaml": "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata:\n  name: flux-system\n  namespace: flux-system\nspec:\n  interval: 1m\n  url: https://git.example.org/x\n  sparseCheckout:\n  - ${NAME}\n"},
	"child's variables":       {"b.yaml": flux("b", "path: ./b\npostBuild:\n  substitute:\n    P: ${NAME}\n    ${KEY}: a"), "../b/a.yaml": configMap("b-$${P}", "default", "a: $${P}")},
	"child's variable source": {"b.yaml": flux("b", "path: ./b\npostBuild:\n  substituteFrom:\n  - kind: ConfigMap\n    name: ${NAME}"), "../b/a.yaml": configMap("b", "default", "a: ${P}")},
	"child's prefix":          {"b.yaml": flux("b", "path: ./b\nnamePrefix: ${NAME}-\ntargetNamespace: ${NAME}"), "../b/a.yaml": configMap("b", "default", "a: b")},
	"child's metadata":        {"b.yaml": flux("b", "path: ./b\ncommonMetadata:\n  labels:\n    l: ${NAME}\n    ${NAME}: x\n  annotations:\n    a: ${NAME}"), "../b/a.yaml": configMap("b", "default", "a: b")},
	"child's patch":           {"b.yaml": flux("b", "path: ./b\npatches:\n- patch: |\n    - op: add\n      path: /data/x\n      value: ${NAME}\n  target:\n    kind: ConfigMap\n"), "../b/a.yaml": configMap("b", "default", "a: b")},
	"child's patch fails":     {"b.yaml": flux("b", "path: ./b\npatches:\n- patch: |\n    - op: replace\n      path: /data/${NAME}/x\n      value: a\n  target:\n    kind: ConfigMap\n"), "../b/a.yaml": configMap("b", "default", "a: b")},
	"child's patch renames":   {"b.yaml": flux("b", "path: ./b\npatches:\n- patch: |\n    - op: replace\n      path: /metadata/name\n      value: ${NAME}\n  target:\n    kind: ConfigMap\n"), "../b/a.yaml": configMap("b", "default", "a: b")},
	"child's component":       {"b.yaml": flux("b", "path: ./b\ncomponents:\n- https://example.org/${NAME}\n- user@${NAME}.example.org/a/b"), "../b/a.yaml": configMap("b", "default", "a: b")},
	"child's image":           {"b.yaml": flux("b", "path: ./b\nimages:\n- name: x\n  newName: ${NAME}\n"), "../b/a.yaml": "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  namespace: default\nspec:\n  containers:\n  - name: c\n    image: x\n"},
	"child refused":           {"b.yaml": strings.Replace(flux("b", "path: ./b\ntimeout: ${NAME}\nwait: ${NAME}"), "10m", "${NAME}", 1)},
	"child depends":           {"b.yaml": flux("b", "path: ./b\ndependsOn:\n- name: ${NAME}\nkubeConfig:\n  secretRef:\n    name: ${NAME}"), "../b/a.yaml": configMap("b", "default", "a: b")},
	"child's child":           {"b.yaml": flux("b", "path: ./b\npostBuild:\n  substitute:\n    P: ${NAME}"), "../b/a.yaml": flux("c-$${P}", "path: ./$${P}")},
	"HelmRelease":             {"a.yaml": "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata:\n  name: h-${NAME}\n  namespace: ${NAME}\nspec:\n  values:\n    a: ${NAME}\n"},
	"ResourceSet":             {"a.yaml": "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata:\n  name: h-${NAME}\n  namespace: default\nspec: {}\n"},
	"one unit of two": {
		"a.yaml": flux("twice", "path: ./b\nnamePrefix: ${NAME}"), "b.yaml": flux("again", "path: ./c"),
		"../b/a.yaml": configMap("b", "default", "a: b"), "../c/a.yaml": flux("twice", "path: ./b"),
	},
}

// plainPrefix and the variable REST together are plainName.
const plainPrefix = "zq7"

// sealed holds the text of a Secret to encrypt: hostileRepo does so, with a new key each time.
func sealed(name, namespace, data string) string {
	return "SEAL apiVersion: v1\nkind: Secret\nmetadata:\n  name: " + name + "\n  namespace: " + namespace + "\nstringData:\n" + indent(data)
}

func hostileRepo(t *testing.T, app map[string]string) string {
	t.Helper()
	files := map[string]string{
		"clusters/dev/secrets.yaml": flux("secrets", "path: ./secrets\ndecryption:\n  provider: sops\n"),
		"clusters/dev/app.yaml":     flux("app", fromSecret+"decryption:\n  provider: sops\n"),
		"secrets/vars.yaml": sealed("vars", "flux-system", "NAME: "+plainName+"\nREST: "+plainName[len(plainPrefix):]+
			"\nBREAK: '"+plainYAML+"'\nKEY: "+plainKey+"\nNUMBER: \"8080\"\nFOLDER: b"),
	}
	for p, text := range app {
		files[filepath.ToSlash(filepath.Join("app", p))] = text
	}
	for p, text := range files {
		if plain, ok := strings.CutPrefix(text, "SEAL "); ok {
			files[p] = string(sopstest.Encrypt(t, sops.YAML, []byte(plain), sopstest.Recipient, "^stringData$"))
		}
	}
	return repository(t, files)
}

// everything gives all that the program writes of a report, by stream.
func everything(t *testing.T, r *report.Render) map[string]string {
	t.Helper()
	var js, manifests, summary bytes.Buffer
	for _, err := range []error{view.JSON(&js, r), view.Manifests(&manifests, r), view.Summary(&summary, r, view.Style{})} {
		if err != nil {
			t.Fatal(err)
		}
	}
	out := map[string]string{"json": js.String(), "manifests": manifests.String(), "summary": summary.String()}
	dir := t.TempDir()
	if err := engine.WriteOut(engine.Request{}, dir, r); err != nil {
		t.Fatal(err)
	}
	for p, text := range files(t, dir) {
		out["file "+p] = p + "\n" + text
	}
	return out
}

// findingsAndReasons gives what a check and the question why write of a repository, about every object that a render names.
func findingsAndReasons(t *testing.T, req engine.Request, rendered *report.Render) map[string]string {
	t.Helper()
	req.Applied = false
	out := map[string]string{}
	write := func(name string, f func(*bytes.Buffer) error) {
		var b bytes.Buffer
		if err := f(&b); err != nil {
			t.Fatal(err)
		}
		out[name] = b.String()
	}
	checked, err := engine.Check(context.Background(), engine.CheckRequest{Request: req})
	if err != nil {
		t.Fatal(err)
	}
	write("check", func(b *bytes.Buffer) error { return view.Check(b, checked, view.Style{}, true) })
	write("check -o json", func(b *bytes.Buffer) error { return view.JSON(b, checked) })
	for _, u := range rendered.Environments[0].Units {
		for _, o := range u.Objects {
			ref := o.Kind + "/" + o.Name
			why, err := engine.Why(context.Background(), req, ref)
			if err != nil {
				out["why "+ref] = err.Error()
				continue
			}
			write("why "+ref, func(b *bytes.Buffer) error { return view.Why(b, why, view.Style{}) })
			write("why -o json "+ref, func(b *bytes.Buffer) error { return view.JSON(b, why) })
		}
	}
	return out
}

// Plaintext stands in nothing that is written, wherever it flows, until somebody asks for it.
func TestPlaintextFlowsNowhere(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte(sopstest.Identity), 0o600); err != nil {
		t.Fatal(err)
	}
	forbidden := guises()
	for name, app := range leaky {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repo := hostileRepo(t, app)
			for _, applied := range []bool{false, true} {
				req := engine.Request{Repo: repo, AgeKeyFile: key, Applied: applied, Workers: 1, Origins: true}
				r, err := engine.Render(context.Background(), req)
				if err != nil {
					t.Fatal(err)
				}
				told := everything(t, r)
				maps.Copy(told, findingsAndReasons(t, req, r))
				for where, text := range told {
					text = strings.ReplaceAll(text, repo, "")
					for _, g := range forbidden {
						if i := strings.Index(text, g); i >= 0 {
							t.Errorf("applied %t: %s holds %q: …%s…", applied, where, g, text[max(0, i-80):min(len(text), i+60)])
							break
						}
					}
				}
				req.ShowSecrets = true
				if r, err = engine.Render(context.Background(), req); err != nil {
					t.Fatal(err)
				}
				if shown := everything(t, r); !strings.Contains(shown["json"], plainName) &&
					!strings.Contains(shown["json"], base64.StdEncoding.EncodeToString([]byte(plainName))) {
					t.Error("--show-secrets shows no plaintext, so this test proves nothing")
				}
			}
		})
	}
}
