package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/tidegate/tidegate/internal/cli"
)

const hostileUnit = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: app, namespace: flux-system}
spec:
  interval: 10m
  path: ./app
  prune: true
  sourceRef: {kind: GitRepository, name: flux-system}
`

const hostileObject = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\ndata: {a: b}\n"

// hostile writes a repository whose environment dev renders the folder app.
func hostile(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	all := map[string]string{"clusters/dev/app.yaml": hostileUnit}
	for p, text := range files {
		all[p] = text
	}
	for p, text := range all {
		at := filepath.Join(dir, filepath.FromSlash(p))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// runProgram is the program itself, with a bound on its time.
func runProgram(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	c := &cli.Command{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }, Dir: t.TempDir()}
	code = c.Main(ctx, args)
	if ctx.Err() != nil {
		t.Fatalf("still at work after 20 s: %v", args)
	}
	return code, out.String(), errs.String()
}

func repeat(n int, f func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(f(i))
	}
	return b.String()
}

// Input that would fill the memory or never end is refused by name, within seconds.
func TestBombs(t *testing.T) {
	mega := strings.Repeat("A", 1<<20)
	for _, c := range []struct {
		name  string
		files map[string]string
		code  int
		part  string // of stderr
	}{
		{"an alias of long text, in a kustomization", map[string]string{
			"app/kustomization.yaml": "x: &a " + mega + "\ncommonAnnotations:\n" + repeat(5000, func(i int) string { return fmt.Sprintf("  k%d: *a\n", i) })},
			1, "app/kustomization.yaml: line "},
		{"an alias of long text, in a manifest", map[string]string{
			"app/a.yaml": hostileObject + "x: &a " + mega + "\ny: [" + strings.Repeat("*a, ", 5000) + "]\n"}, 1, "app/a.yaml: line "},
		{"an alias of long text, in what is assumed", map[string]string{"app/a.yaml": hostileObject, "tidegate.yaml": "assumes: [big.yaml]\n",
			"big.yaml": hostileObject + "x: &a " + mega + "\ny: [" + strings.Repeat("*a, ", 5000) + "]\n"}, 2, "big.yaml: line "},
		{"an alias of long text that variables make", map[string]string{
			"clusters/dev/app.yaml": hostileUnit + "  postBuild:\n    substitute: {A: '&a " + mega[:1<<16] + "', B: '[" + strings.Repeat("*a, ", 5000) + "]'}\n",
			"app/a.yaml":            hostileObject + "x: ${A}\ny: ${B}\n"}, 1, "aliases make more than"},
		{"aliases of aliases", map[string]string{"app/a.yaml": hostileObject + "x0: &x0 [a, a, a, a, a, a, a, a, a, a]\n" + repeat(9, func(i int) string {
			return fmt.Sprintf("x%d: &x%d [%s]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*x%d, ", i), 10))
		})}, 1, "app/a.yaml: line "},
		{"an alias of itself", map[string]string{"app/a.yaml": hostileObject + "x: &x [*x]\n"}, 1, "app/a.yaml: line 5: anchor 'x' value contains itself"},
		{"an alias of itself, in a kustomization", map[string]string{"app/kustomization.yaml": "resources: &x [*x]\n"}, 1, "anchor 'x' value contains itself"},
		{"anchors without an alias", map[string]string{"app/a.yaml": hostileObject + "x: [" + repeat(300_000, func(i int) string { return fmt.Sprintf("&a%d b, ", i) }) + "\"*\"]\n"}, 0, ""},
		{"nested", map[string]string{"app/a.yaml": hostileObject + "x: " + strings.Repeat("[", 100_000)}, 1, "app/a.yaml"},
		{"patches that copy copies", map[string]string{"app/a.yaml": hostileObject, "app/kustomization.yaml": "resources: [a.yaml]\npatches:\n- target: {kind: ConfigMap}\n  patch: |\n" +
			repeat(40, func(i int) string { return fmt.Sprintf("    - {op: copy, from: /data, path: /data/k%d}\n", i) })}, 0, "the JSON patches of app copy more than"},
		{"objects", map[string]string{"app/a.yaml": repeat(20_000, func(i int) string {
			return strings.Replace(hostileObject, "name: a", fmt.Sprintf("name: a%d", i), 1) + "---\n"
		})}, 0, "the build reads more than 10000 objects, the last of them in app/a.yaml"},
		{"a folder that includes itself", map[string]string{"app/kustomization.yaml": "resources: [../app]\n"}, 1, "cycle"},
		{"folders that include each other", map[string]string{"app/kustomization.yaml": "resources: [../b]\n", "b/kustomization.yaml": "resources: [../app]\n"}, 1, "cycle"},
		{"a component that includes itself", map[string]string{"app/kustomization.yaml": "components: [../b]\n", "b/kustomization.yaml": "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\ncomponents: [../b]\n"}, 1, "cycle"},
		{"variables that double", map[string]string{
			"clusters/dev/app.yaml": hostileUnit + "  postBuild:\n    substitute: {N: aaaaaaaaaaaaaaaa, L: x}\n",
			"app/k.yaml":            strings.Replace(hostileUnit, "name: app,", `name: "a${L}",`, 1) + "  postBuild:\n    substitute: {N: '${N}${N}${N}${N}${N}${N}${N}${N}', L: '${L}x'}\n"}, 1, "comes to more than 16 MiB"},
		{"Kustomizations without end", map[string]string{
			"clusters/dev/app.yaml": hostileUnit + "  postBuild:\n    substitute: {L: x}\n",
			"app/k.yaml":            strings.Replace(hostileUnit, "name: app,", `name: "a${L}",`, 1) + "  postBuild:\n    substitute: {L: '${L}x'}\n"}, 1, "metadata.name"},
		{"tidegate.yaml", map[string]string{"tidegate.yaml": "a: &a [a, a]\nb: &b [*a, *a]\n"}, 2, "tidegate.yaml"},
		{"tidegate.yaml with an escape", map[string]string{"tidegate.yaml": "\"a\\e[31m\": b\n"}, 2, "tidegate.yaml"},
		{"binary", map[string]string{"app/a.yaml": "\x00\xff\xfe\x01\x80" + strings.Repeat("\xfe", 1000)}, 1, "app/a.yaml"},
		{"truncated", map[string]string{"app/a.yaml": hostileObject[:60]}, 1, "app/a.yaml"},
		{"path outside", map[string]string{"app/kustomization.yaml": "resources: [../../../../../../../../etc/passwd]\n"}, 1, "etc/passwd"},
		{"absolute path", map[string]string{"app/kustomization.yaml": "resources: [/etc/passwd]\n"}, 1, "etc/passwd"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := runProgram(t, "render", hostile(t, c.files))
			if code != c.code || !strings.Contains(stderr, c.part) {
				t.Errorf("exit %d, want %d with %q\n%.800s", code, c.code, c.part, stderr)
			}
			if strings.Contains(stdout+stderr, "\x1b") || strings.Contains(stderr, "root:") {
				t.Errorf("a terminal would obey, or a file outside was read:\n%.800q", stderr)
			}
			// A check says no less, and is not brought down either.
			code, stdout, stderr = runProgram(t, "check", hostile(t, c.files))
			if code != c.code {
				t.Errorf("check: exit %d, want %d\n%.800s%.800s", code, c.code, stdout, stderr)
			}
			if strings.Contains(stdout+stderr, "\x1b") || strings.Contains(stdout, "root:") {
				t.Errorf("check: a terminal would obey, or a file outside was read:\n%.800q", stdout)
			}
		})
	}
}

// What rules look at, in numbers and lengths that nobody writes by hand, is checked within seconds, and what a finding
// quotes of it steers no terminal.
func TestHostileFindings(t *testing.T) {
	long := strings.Repeat("${A} $$ ${B-x} 192.168.1.7 TBD-A-B ", 20_000)
	vars := hostileUnit + "  postBuild:\n    substitute: {OWN: x}\n"
	escape := "\\e]0;owned\\a\\e[31m\\u202e\\u200b"
	config := "environments:\n  dev: {path: clusters/dev, lan: 192.168.1.0/24}\nknobs: {source: ConfigMap flux-system/vars, lan: [A]}\n"
	for name, files := range map[string]map[string]string{
		"one long line":      {"clusters/dev/app.yaml": vars, "tidegate.yaml": config, "app/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\ndata: {a: '" + long + "'}\n"},
		"a block of lines":   {"clusters/dev/app.yaml": vars, "tidegate.yaml": config, "app/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\ndata:\n  a: |\n    " + strings.ReplaceAll(long, "TBD", "\n    TBD") + "\n"},
		"open expressions":   {"clusters/dev/app.yaml": vars, "app/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\ndata: {a: '" + strings.Repeat("${", 100_000) + "'}\n"},
		"dollars":            {"clusters/dev/app.yaml": vars, "app/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\ndata: {a: '" + strings.Repeat("$", 1_000_001) + "'}\n"},
		"escapes":            {"clusters/dev/app.yaml": vars, "app/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\ndata: {a: \"${NONE" + escape + "}" + escape + " ${NONE}\", \"k" + escape + "\": '${NONE}'}\n"},
		"raw bidi and C1":    {"clusters/dev/app.yaml": vars, "app/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\ndata: {a: '\u202e\u0085\u200b ${NONE}'} # \u202e tidegate:ignore TG0302\n"},
		"a folder's name":    {"clusters/dev/app.yaml": vars, "app/\u202e\x1b[31m.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\ndata: {a: '${NONE}'}\n"},
		"many suppressions":  {"clusters/dev/app.yaml": vars, "app/a.yaml": hostileObject + strings.Repeat("# tidegate:ignore TG0302 x\n", 50_000)},
		"names of a pattern": {"tidegate.yaml": "allow: [{rule: TG0302, path: '" + strings.Repeat("**/*a", 200) + "', reason: x}]\n", "clusters/dev/app.yaml": vars, "app/a.yaml": strings.Replace(hostileObject, "a: b", "a: '${NONE}'", 1)},
		"a chain of units": {"app/a.yaml": hostileObject, "clusters/dev/more.yaml": repeat(1500, func(i int) string {
			return strings.Replace(hostileUnit, "name: app", fmt.Sprintf("name: u%d", i), 1) + fmt.Sprintf("  dependsOn: [{name: u%d}, {name: none%d}]\n---\n", (i+1)%1500, i)
		})},
		"empty documents":          {"app/a.yaml": hostileObject + strings.Repeat("---\n\n", 200_000)},
		"labels that are no texts": {"app/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: default\n  labels:\n" + repeat(5000, func(i int) string { return fmt.Sprintf("    l%d: %d\n", i, i) })},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := hostile(t, files)
			for _, format := range []string{"text", "json"} {
				code, stdout, stderr := runProgram(t, "check", dir, "-o", format)
				if code > 1 {
					t.Errorf("exit %d\n%.800s", code, stderr)
				}
				if strings.ContainsAny(stdout+stderr, "\x1b\x07") || format == "text" && strings.ContainsAny(stdout, "\u202e\u200b\u0085") {
					t.Errorf("a terminal would obey:\n%.800q", stdout)
				}
			}
		})
	}
}

// fakeGit puts a git into PATH that leaves a file behind when it runs, and a proxy into the environment that counts.
func fakeGit(t *testing.T) (called func() bool) {
	t.Helper()
	bin, mark := t.TempDir(), filepath.Join(t.TempDir(), "ran")
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte("#!/bin/sh\n: > '"+mark+"'\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	asked := make(chan struct{}, 1)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conn.Close()
			select {
			case asked <- struct{}{}:
			default:
			}
		}
	}()
	for _, v := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
		t.Setenv(v, "http://"+l.Addr().String())
	}
	return func() bool {
		_, err := os.Stat(mark)
		return err == nil || len(asked) > 0
	}
}

func utf16Text(s string) string {
	var b bytes.Buffer
	b.WriteString("\xff\xfe")
	for _, u := range utf16.Encode([]rune(s)) {
		b.Write([]byte{byte(u), byte(u >> 8)})
	}
	return b.String()
}

// Nothing is fetched, however a URL is spelt and wherever it stands, and the unit is not rendered as if it did not.
func TestNothingIsFetched(t *testing.T) {
	called := fakeGit(t)
	const url = "https://example.org/a/b"
	plugin := "apiVersion: builtin\nkind: %s\nmetadata: {name: x}\n%s\n"
	for name, files := range map[string]map[string]string{
		"resource":              {"app/kustomization.yaml": "resources: [" + url + "]\n"},
		"file over HTTP":        {"app/kustomization.yaml": "resources: ['HTTP://example.org/a.yaml']\n"},
		"GitHub":                {"app/kustomization.yaml": "resources: [GitHub.com/a/b]\n"},
		"SCP":                   {"app/kustomization.yaml": "resources: ['git@example.org:a/b']\n"},
		"SCP without git":       {"app/kustomization.yaml": "resources: ['x@example.org:b.git']\n"},
		"forced git":            {"app/kustomization.yaml": "resources: ['GIT::x@example.org/a/b']\n"},
		"file URL":              {"app/kustomization.yaml": "resources: ['file:///a/b']\n"},
		"escape":                {"app/kustomization.yaml": `resources: ["\x68ttps://example.org/a/b"]` + "\n"},
		"joined lines":          {"app/kustomization.yaml": "resources: [\"htt\\\n  ps://example.org/a/b\"]\n"},
		"binary":                {"app/kustomization.yaml": "resources: [!!binary aHR0cHM6Ly9leGFtcGxlLm9yZy9hL2I=]\n"},
		"anchor":                {"app/kustomization.yaml": "commonAnnotations: {a: &u " + url + "}\nresources: [*u]\n"},
		"merge":                 {"app/kustomization.yaml": "x: &x {resources: ['ssh://g@example.org/a/b']}\n<<: *x\n"},
		"JSON":                  {"app/kustomization.yaml": `{"resources": ["https:\/\/example.org/a/b"]}`},
		"Kustomization":         {"app/Kustomization": "resources: [" + url + "]\n"},
		"upper case":            {"app/kustomization.yaml": "RESOURCES: [" + url + "]\n"},
		"long s":                {"app/kustomization.yaml": "re\u017fource\u017f: [" + url + "]\n"},
		"BOM":                   {"app/kustomization.yaml": "\ufeffresources: [" + url + "]\n"},
		"CRLF":                  {"app/kustomization.yaml": "resources:\r\n- " + url + "\r\n"},
		"UTF-16":                {"app/kustomization.yaml": utf16Text("resources: [" + url + "]\n")},
		"twice":                 {"app/kustomization.yaml": "resources: []\nresources: [" + url + "]\n"},
		"two documents":         {"app/kustomization.yaml": "resources: [" + url + "]\n---\nresources: []\n"},
		"base":                  {"app/kustomization.yaml": "bases: [" + url + "]\n"},
		"component":             {"app/kustomization.yaml": "components: [" + url + "]\n"},
		"included":              {"app/kustomization.yaml": "resources: [../b]\n", "b/kustomization.yaml": "components: [../c]\n", "c/kustomization.yaml": "kind: Component\nresources: [" + url + "]\n"},
		"spec.components":       {"clusters/dev/app.yaml": hostileUnit + "  components: ['x@example.org/a/b']\n", "app/a.yaml": hostileObject},
		"crds":                  {"app/kustomization.yaml": "crds: [" + url + "]\n"},
		"configurations":        {"app/kustomization.yaml": "configurations: [" + url + "]\n"},
		"openapi":               {"app/kustomization.yaml": "openapi: {path: '" + url + "'}\n"},
		"patch":                 {"app/kustomization.yaml": "resources: [a.yaml]\npatches: [{path: '" + url + "'}]\n", "app/a.yaml": hostileObject},
		"patchesStrategicMerge": {"app/kustomization.yaml": "resources: [a.yaml]\npatchesStrategicMerge: ['" + url + "']\n", "app/a.yaml": hostileObject},
		"replacement":           {"app/kustomization.yaml": "resources: [a.yaml]\nreplacements: [{path: '" + url + "'}]\n", "app/a.yaml": hostileObject},
		"generator's file":      {"app/kustomization.yaml": "configMapGenerator: [{name: a, files: ['k=" + url + "']}]\n"},
		"generator's envs":      {"app/kustomization.yaml": "secretGenerator: [{name: a, envs: ['" + url + "']}]\n"},
		"generators":            {"app/kustomization.yaml": "generators: [" + url + "]\n"},
		"transformer's patch":   {"app/kustomization.yaml": "resources: [a.yaml]\ntransformers: [t.yaml]\n", "app/a.yaml": hostileObject, "app/t.yaml": fmt.Sprintf(plugin, "PatchTransformer", "path: "+url)},
		"plugin in disguise":    {"app/kustomization.yaml": "resources: [a.yaml]\ntransformers: [t.yaml]\n", "app/a.yaml": hostileObject, "app/t.yaml": fmt.Sprintf(plugin, `"Patch\x54ransformer"`, "path: "+url)},
		"plugin in a folder":    {"app/kustomization.yaml": "generators: [../g]\n", "g/kustomization.yaml": "resources: [g.yaml]\n", "g/g.yaml": fmt.Sprintf(plugin, "ConfigMapGenerator", "files: ['k="+url+"']")},
		"plugin that is patched": {"app/kustomization.yaml": "generators: [../g]\n", "g/kustomization.yaml": "resources: [g.yaml]\npatches: [{target: {kind: X}, options: {allowKindChange: true}, patch: '[{op: replace, path: /kind, value: ConfigMapGenerator}]'}]\n",
			"g/g.yaml": fmt.Sprintf(plugin, "X", "files: ['k="+url+"']")},
		"chart":           {"app/kustomization.yaml": "helmCharts: [{name: a, repo: '" + url + "', version: 1.0.0}]\n"},
		"chart generator": {"app/kustomization.yaml": "generators: [g.yaml]\n", "app/g.yaml": fmt.Sprintf(plugin, "HelmChartInflationGenerator", "name: a\nrepo: "+url)},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := runProgram(t, "render", hostile(t, files), "-o", "json")
			if called() {
				t.Fatalf("something was fetched\n%s", stderr)
			}
			if code > 1 || code == 0 && !strings.Contains(stdout, `"remote-base"`) {
				t.Errorf("exit %d, and no remote base\n%s", code, stderr)
			}
			code, stdout, stderr = runProgram(t, "check", hostile(t, files), "-o", "json")
			if called() {
				t.Fatalf("a check fetched something\n%s", stderr)
			}
			if code > 1 || code == 0 && !strings.Contains(stdout, `"remote-base"`) {
				t.Errorf("check: exit %d, and no remote base\n%s", code, stderr)
			}
		})
	}
}
