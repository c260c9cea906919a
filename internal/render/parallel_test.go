package render

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/tidegate/tidegate/internal/oracle"
)

// schemaFiles is an artifact in which some folders bring a schema of their own. It makes the ports of a Thing a list
// that merges by number; without it a patch replaces the list. So a schema that reaches another build, or that a build
// lacks, shows in the result.
var schemaFiles = func() mapFiles {
	const (
		thing = "apiVersion: example.org/v1\nkind: Thing\nmetadata:\n  name: t\nspec:\n  ports:\n  - {port: 1, name: one}\n  - {port: 2, name: two}\n"
		patch = "patches:\n- patch: |\n    apiVersion: example.org/v1\n    kind: Thing\n    metadata: {name: t}\n    spec: {ports: [{port: 2, name: \"${A}\"}]}\n"
		file  = `{"definitions": {"v1.Thing": {"type": "object", "properties": {
  "apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"$ref": "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"},
  "spec": {"type": "object", "properties": {"ports": {"type": "array", "x-kubernetes-patch-merge-key": "port", "x-kubernetes-patch-strategy": "merge",
    "items": {"type": "object", "properties": {"port": {"type": "integer"}, "name": {"type": "string"}}}}}}},
  "x-kubernetes-group-version-kind": [{"group": "example.org", "kind": "Thing", "version": "v1"}]}}}`
		deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: d\nspec:\n  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}\n    spec:\n      containers:\n      - {name: c, image: x}\n      - {name: d, image: y}\n"
		merge      = "patches:\n- patch: |\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {name: d}\n    spec: {template: {spec: {containers: [{name: d, env: [{name: E, value: \"${A}\"}]}]}}}\n"
	)
	return mapFiles{
		"schema/thing.json":                  file,
		"plain/t.yaml":                       thing,
		"plain/kustomization.yaml":           "resources: [t.yaml]\n" + patch,
		"own/t.yaml":                         thing,
		"own/kustomization.yaml":             "resources: [t.yaml]\nopenapi: {path: ../schema/thing.json}\n" + patch,
		"nested/kustomization.yaml":          "resources: [../own, d.yaml]\n" + merge,
		"nested/d.yaml":                      deployment,
		"component/kustomization.yaml":       "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nopenapi: {path: ../schema/thing.json}\n" + patch,
		"composed/t.yaml":                    thing,
		"composed/kustomization.yaml":        "resources: [t.yaml]\ncomponents: [../component]\n",
		"version/kustomization.yaml":         "resources: [../plain, d.yaml]\nopenapi: {version: v1.21.2}\n" + merge,
		"version/d.yaml":                     deployment,
		"unknown-version/kustomization.yaml": "resources: [../plain]\nopenapi: {version: v0.0.1}\n",
		"broken-schema/kustomization.yaml":   "resources: [../plain]\nopenapi: {path: none.json}\n",
		"both/kustomization.yaml":            "resources: [../plain]\nopenapi: {path: ../schema/thing.json, version: v1.21.2}\n",
		"deployment/d.yaml":                  deployment,
		"deployment/kustomization.yaml":      "resources: [d.yaml]\n" + merge,
		"files/t.yaml":                       thing,
		"files/d.yaml":                       deployment,
	}
}()

// The folders that build, and those whose schema is at fault.
var (
	schemaFolders = []string{"plain", "own", "deployment", "nested", "files", "composed", "plain", "version", "deployment"}
	faultyFolders = []string{"unknown-version", "broken-schema", "both"}
)

// renderFolder gives a text for what became of a folder, results and failures alike.
func renderFolder(t *testing.T, b *Builder, dir string, n int) string {
	ks := unitOf(t, fmt.Sprintf("path: ./%s\nnameSuffix: -s%d\npostBuild: {substitute: {A: x}}\n", dir, n))
	out := b.Render(Input{Files: schemaFiles, Dir: dir, Spec: ks, Strict: true})
	if len(out.Failures) > 0 {
		return "ERR " + out.Failures[0].Message
	}
	return streamOf(out.Objects)
}

// TestBuildsInParallel runs builds that change kustomize's global schema beside others that need it unchanged, and
// compares each with what it gives alone. It is meant for the race detector, too.
func TestBuildsInParallel(t *testing.T) {
	const copies, rounds = 3, 2
	v := behaviour(t, "2.9")
	alone := map[string]string{}
	for _, dir := range schemaFolders {
		for n := range copies {
			if alone[fmt.Sprint(dir, n)] != "" {
				continue
			}
			alone[fmt.Sprint(dir, n)] = renderFolder(t, &Builder{Flux: v}, dir, n)
		}
	}
	if alone["plain0"] == "" || alone["own0"] == "" || len(alone["own0"]) <= len(alone["plain0"]) {
		t.Fatalf("the schema changes nothing, so this test cannot fail:\n%s\n%s", alone["own0"], alone["plain0"])
	}
	for range rounds {
		b := &Builder{Flux: v}
		var wg sync.WaitGroup
		got := make([]string, len(schemaFolders)*copies)
		for i := range got {
			wg.Go(func() { got[i] = renderFolder(t, b, schemaFolders[i%len(schemaFolders)], i/len(schemaFolders)) })
		}
		wg.Wait()
		for i, text := range got {
			name := fmt.Sprint(schemaFolders[i%len(schemaFolders)], i/len(schemaFolders))
			if text != alone[name] {
				t.Errorf("%s beside others gives another result: %s", name, firstDifference(text, alone[name]))
			}
		}
	}
}

// TestSchemasEqualFlux holds the same folders against Flux, which resets the schema for each build.
func TestSchemasEqualFlux(t *testing.T) {
	v := behaviour(t, "2.9")
	a, err := oracle.Open(schemaFiles.write(t))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	folders := append(schemaFolders[1:6:6], faultyFolders...)
	for _, dir := range folders {
		ks := unitOf(t, "path: ./"+dir+"\nnameSuffix: -s0\npostBuild: {substitute: {A: x}}\n")
		out, err := a.Build(context.Background(), oracle.Unit{Object: untyped(t, ks).Object}, nil, oracle.Options{Strict: true})
		if want[dir] = string(out); err != nil {
			want[dir] = "ERR"
		}
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	// Twice, in both orders: what one leaves behind must not reach the next.
	b := &Builder{Flux: v}
	for i := range 2 * len(folders) {
		dir := folders[i%len(folders)]
		if i >= len(folders) {
			dir = folders[2*len(folders)-1-i]
			b = &Builder{Flux: v}
		}
		got := renderFolder(t, b, dir, 0)
		if want[dir] == "ERR" && got[:3] == "ERR" {
			continue
		}
		if got != want[dir] {
			t.Errorf("%s: %s", dir, firstDifference(got, want[dir]))
		}
	}
}
