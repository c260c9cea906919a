package render

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/tidegate/tidegate/internal/model"
)

// watch stands in for the network: a listener, and a git that writes down each call. Connections count, not requests,
// so that TLS is seen too.
type watch struct {
	url, host string
	conns     atomic.Int32
	calls     string
}

func startWatch(t *testing.T) *watch {
	t.Helper()
	w := &watch{calls: filepath.Join(t.TempDir(), "calls")}
	srv := httptest.NewUnstartedServer(http.NotFoundHandler())
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			w.conns.Add(1)
		}
	}
	srv.Start()
	t.Cleanup(srv.Close)
	w.url, w.host = srv.URL, strings.TrimPrefix(srv.URL, "http://")
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte("#!/bin/sh\necho \"$@\" >> '"+w.calls+"'\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	t.Setenv("TMPDIR", t.TempDir())
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	return w
}

func (w *watch) git(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(w.calls)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(data)
}

func (w *watch) happened(t *testing.T) bool { return w.conns.Load() > 0 || w.git(t) != "" }

// repositories are what kustomize clones, or asks for over HTTP first and then clones. HOST is the listener.
var repositories = []string{
	"http://HOST/o/r", "http://HOST/o/r?ref=v1", "HTTP://HOST/o/r", "https://HOST/o/r//deploy?ref=main", "http://HOST/x.yaml", "http://u:p@HOST/x.yaml", "http://HOST/a: b.yaml",
	"git::http://HOST/o/r", "GIT::https://HOST/o/r", "git::ssh://git@HOST/o/r", "git::git@HOST:o/r", "git::github.com/o/r",
	"ssh://git@HOST/o/r.git", "SSH://HOST/o/r", "git@HOST:o/r", "git@host.example:o/r.git", "git@host.example:r.git", "org-1@host.example:o/r", "user@host.example/o/r", "user@host.example/x/_git/r",
	"github.com/o/r", "GitHub.com/o/r?ref=v1", "github.com:o/r", "git@github.com:o/r", "file:///o/r", "FILE:///o/r", "ssh://host.example/o/r\n: x", "git@host.example:o/r\n", "user@/o/r",
}

var urls = []string{"http://HOST/x.yaml", "https://HOST/x.yaml", "HTTP://HOST/x", "http://HOST/x?a=b"}

// spots are where a name may stand: in the kustomization of ./app, or in files that it leads to. URL is the name, as
// YAML in flow style.
type spot struct {
	name  string
	files mapFiles
	names []string
}

func spots() []spot {
	thing := "resources: [cm.yaml]\n"
	var out []spot
	add := func(name string, names []string, files ...string) {
		out = append(out, spot{name, mapFiles{"app/cm.yaml": cmA}.with(files...), names})
	}
	for _, field := range []string{"resources", "bases", "components", "generators", "transformers", "validators", "Resources", "COMPONENTS", "re\u017fources"} {
		text := thing
		if strings.EqualFold(field, "resources") {
			text = ""
		}
		add(field, repositories, "app/kustomization.yaml", text+field+": [URL]\n")
	}
	for name, text := range map[string]string{
		"crds": "crds: [URL]\n", "configurations": "configurations: [URL]\n", "openapi": "openapi: {path: URL}\n", "OpenAPI": "OpenAPI: {path: URL}\n", "two openapis": "OPENAPI: {path: URL}\nopenapi: {}\n",
		"patch path": "patches: [{path: URL}]\n", "Patch Path": "Patches: [{PATH: URL}]\n", "patchesStrategicMerge": "patchesStrategicMerge: [URL]\n", "patchesJson6902": "patchesJson6902: [{target: {version: v1, kind: ConfigMap, name: a}, path: URL}]\n", "patchesJSON6902": "patchesJSON6902: [{target: {version: v1, kind: ConfigMap, name: a}, Path: URL}]\n",
		"replacements": "replacements: [{path: URL}]\n", "ConfigMap files": "configMapGenerator: [{name: g, files: [URL]}]\n", "ConfigMap Files": "configMapGenerator: [{name: g, Files: [URL]}]\n", "ConfigMap envs": "configMapGenerator: [{name: g, envs: [URL]}]\n", "ConfigMap env": "configMapGenerator: [{name: g, env: URL}]\n", "ConfigMap Env": "configmapgenerator: [{name: g, ENV: URL}]\n",
		"Secret files": "secretGenerator: [{name: g, files: [URL]}]\n", "Secret envs": "secretGenerator: [{name: g, envs: [URL]}]\n", "Secret env": "secretGenerator: [{name: g, env: URL}]\n",
	} {
		add(name, urls, "app/kustomization.yaml", thing+text)
		add(name+", nested", urls[:1], "app/kustomization.yaml", "resources: [../base]\n", "base/cm.yaml", cmA, "base/kustomization.yml", thing+text)
	}
	add("KEY=URL", []string{"k=http://HOST/x", "k=https://HOST/x"}, "app/kustomization.yaml", thing+"configMapGenerator: [{name: g, files: [URL]}]\n")
	add("generated kustomization", repositories[:1], "app/sub/kustomization.yaml", "resources: [URL]\n")
	add("component", repositories[:2], "app/kustomization.yaml", thing+"components: [../comp]\n", "comp/Kustomization", "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [URL]\n")
	for name, config := range map[string]string{
		"PatchTransformer": "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: x}\npath: URL\n", "Path": "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: x}\nPath: URL\n", "quoted": "apiVersion: builtin\n\"kind\": \"PatchTransformer\"\nmetadata: {name: x}\npath: URL\n", "JSON": "{\"apiVersion\": \"builtin\", \"kind\" : \"PatchTransformer\", \"metadata\": {\"name\": \"x\"}, \"path\": URL}\n",
		"number beside": "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: x}\npath: URL\n1: x\n", "tagged": "apiVersion: builtin\nkind: !!str PatchTransformer\nmetadata: {name: x}\npath: URL\n", "folded": "apiVersion: builtin\nkind: >-\n  PatchTransformer\nmetadata: {name: x}\npath: URL\n", "aliased": "apiVersion: builtin\nmetadata: {name: x, annotations: {a: &k PatchTransformer, b: &u URL}}\nkind: *k\npath: *u\n",
		"PatchStrategicMergeTransformer": "apiVersion: builtin\nkind: PatchStrategicMergeTransformer\nmetadata: {name: x}\npaths: [URL]\n", "PatchJson6902Transformer": "apiVersion: builtin\nkind: PatchJson6902Transformer\nmetadata: {name: x}\ntarget: {version: v1, kind: ConfigMap, name: a}\npath: URL\n", "ReplacementTransformer": "apiVersion: builtin\nkind: ReplacementTransformer\nmetadata: {name: x}\nreplacements: [{path: URL}]\n", "ValueAddTransformer": "apiVersion: builtin\nkind: ValueAddTransformer\nmetadata: {name: x}\nvalue: x\ntargetFilePath: URL\n",
		"in a List": "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: builtin, kind: PatchTransformer, metadata: {name: x}, path: URL}\n", "second document": "apiVersion: builtin\nkind: AnnotationsTransformer\nmetadata: {name: y}\nannotations: {a: b}\n---\napiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: x}\npath: URL\n",
	} {
		add("file: "+name, urls[:2], "app/kustomization.yaml", thing+"transformers: [t.yaml]\n", "app/t.yaml", config)
		add("folder: "+name, urls[:1], "app/kustomization.yaml", thing+"transformers: [../t]\n", "t/t.yaml", config, "t/kustomization.yaml", "resources: [t.yaml]\n")
		add("inline: "+name, urls[:2], "app/kustomization.yaml", thing+"transformers:\n- |\n  "+strings.ReplaceAll(strings.TrimSpace(config), "\n", "\n  ")+"\n")
	}
	for name, config := range map[string]string{
		"ConfigMapGenerator": "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: x}\nfiles: [URL]\n", "SecretGenerator": "apiVersion: builtin\nkind: SecretGenerator\nmetadata: {name: x}\nenvs: [URL]\n",
	} {
		add("file: "+name, urls[:1], "app/kustomization.yaml", thing+"generators: [g.yaml]\n", "app/g.yaml", config)
		add("inline: "+name, urls[:1], "app/kustomization.yaml", thing+"generators:\n- |\n  "+strings.ReplaceAll(strings.TrimSpace(config), "\n", "\n  ")+"\n")
	}
	return out
}

// filled puts a name into a spot's files, quoted as JSON quotes it.
func (s spot) filled(w *watch, name string) (mapFiles, string) {
	name = strings.ReplaceAll(name, "HOST", w.host)
	quoted := `"` + strings.NewReplacer("\n", `\n`, `"`, `\"`).Replace(name) + `"`
	out := mapFiles{}
	for p, text := range s.files {
		out[p] = strings.ReplaceAll(text, "URL", quoted)
	}
	return out, name
}

// TestNothingIsFetched: nothing leaves the machine, and the unit is unverified with what it names.
func TestNothingIsFetched(t *testing.T) {
	w := startWatch(t)
	for _, s := range spots() {
		for _, n := range s.names {
			t.Run(s.name+"/"+n, func(t *testing.T) {
				files, name := s.filled(w, n)
				ks := unitOf(t, "")
				b := &Builder{Flux: behaviour(t, "2.9")}
				out := b.Render(Input{Files: files, Dir: "app", Spec: ks})
				if w.happened(t) {
					t.Fatalf("%d connections, git: %s", w.conns.Load(), w.git(t))
				}
				if len(out.Failures) > 0 || len(out.Objects) > 0 || len(out.Unverified) == 0 {
					t.Fatalf("%d objects, failures %+v, unverified %+v", len(out.Objects), out.Failures, out.Unverified)
				}
				_, value, _ := strings.Cut(name, "=")
				r := out.Unverified[0]
				if r.Code != model.CodeRemoteBase || r.Subject != name && r.Subject != value {
					t.Fatalf("the reason is %+v, and the name %q", r, name)
				}
			})
		}
	}
}

// TestKustomizeWouldFetch is the control: without the inspection, each of these names makes kustomize go out. A name
// that does not could stand in the test above for ever without a meaning.
func TestKustomizeWouldFetch(t *testing.T) {
	schemaLock.Lock()
	defer schemaLock.Unlock()
	defer warmSchema()
	for _, s := range spots() {
		for i, n := range s.names {
			if i > 0 && len(s.names) != len(repositories) || s.name != "resources" && i > 1 {
				continue // how a name is read does not depend on the spot
			}
			t.Run(s.name+"/"+n, func(t *testing.T) {
				w := startWatch(t)
				files, _ := s.filled(w, n)
				root := files.write(t)
				if _, ok := files["app/kustomization.yaml"]; !ok {
					if err := os.WriteFile(filepath.Join(root, "app", "kustomization.yaml"), []byte("resources: [sub]\n"), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				k := krusty.MakeKustomizer(&krusty.Options{LoadRestrictions: types.LoadRestrictionsNone, PluginConfig: types.DisabledPluginConfig()})
				_, err := k.Run(filesys.MakeFsOnDisk(), filepath.Join(root, "app"))
				if !w.happened(t) {
					t.Errorf("nothing is fetched: %v", err)
				}
			})
		}
	}
}

// TestForbidFetching: a name that only comes to be within the build, here by a patch of a transformer's configuration,
// is met by the process-wide stop. It puts the process back as it was.
func TestForbidFetching(t *testing.T) {
	w := startWatch(t)
	before := http.DefaultTransport
	defer func() { http.DefaultTransport = before }()
	ForbidFetching()

	files := mapFiles{
		"app/cm.yaml": cmA, "app/kustomization.yaml": "resources: [cm.yaml]\ntransformers: [../t]\n",
		"t/t.yaml":             "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: x}\npath: local.yaml\n",
		"t/kustomization.yaml": "resources: [t.yaml]\npatches:\n- target: {kind: PatchTransformer}\n  patch: |\n    - {op: replace, path: /path, value: \"" + w.url + "/p.yaml\"}\n",
	}
	out := (&Builder{Flux: behaviour(t, "2.9")}).Render(Input{Files: files, Dir: "app", Spec: unitOf(t, "")})
	if w.happened(t) {
		t.Fatalf("%d connections, git: %s", w.conns.Load(), w.git(t))
	}
	if len(out.Failures) > 0 || len(out.Unverified) != 1 || out.Unverified[0].Subject != w.url+"/p.yaml" {
		t.Fatalf("failures %+v, unverified %+v", out.Failures, out.Unverified)
	}
	if _, err := http.Get(w.url); err == nil || w.happened(t) {
		t.Fatal("the default client still fetches")
	}
	http.DefaultTransport = before
	// The control: so it would have gone.
	(&Builder{Flux: behaviour(t, "2.9")}).Render(Input{Files: files, Dir: "app", Spec: unitOf(t, "")})
	if !w.happened(t) {
		t.Fatal("nothing is fetched either way: the test says nothing")
	}
}

// TestNamesThatAreLocal: what only resembles a URL is built.
func TestNamesThatAreLocal(t *testing.T) {
	w := startWatch(t)
	for _, name := range []string{"http/x.yaml", "https.yaml", "git/x.yaml", "git@x.yaml", "a@b.yaml", "app@v1/x.yaml", "ssh/x.yaml", "file/x.yaml", "x/github.com/o/r.yaml", "a:b.yaml", "a b.yaml", "x=y.yaml"} {
		t.Run(name, func(t *testing.T) {
			files := mapFiles{"app/" + name: cmA, "app/kustomization.yaml": "resources: [\"" + name + "\"]\nconfigMapGenerator: [{name: urls, literals: [\"home=http://example.org/\"]}]\ncommonAnnotations: {source: \"https://github.com/o/r\", path: \"http://x\"}\n"}
			out := (&Builder{Flux: behaviour(t, "2.9")}).Render(Input{Files: files, Dir: "app", Spec: unitOf(t, "")})
			if len(out.Objects) != 2 || len(out.Unverified) > 0 || len(out.Failures) > 0 || w.happened(t) {
				t.Fatalf("%d objects, failures %+v, unverified %+v", len(out.Objects), out.Failures, out.Unverified)
			}
		})
	}
}
