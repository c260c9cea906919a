package render

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"testing"

	generator "github.com/fluxcd/pkg/kustomize"

	"github.com/tidegate/tidegate/internal/flux"
	"github.com/tidegate/tidegate/internal/model"
)

const (
	cmA = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n"
	cmB = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: b\n"
)

// TestGenerateEqualsFlux compares the kustomization file that a build starts from with the one that Flux's generator
// writes.
func TestGenerateEqualsFlux(t *testing.T) {
	one := mapFiles{"app/cm.yaml": cmA}
	for name, c := range map[string]struct {
		files mapFiles
		spec  string
	}{
		"none":                  {one, ""},
		"yaml":                  {one.with("app/kustomization.yaml", "resources: [cm.yaml]\n"), ""},
		"yml":                   {one.with("app/kustomization.yml", "resources: [cm.yaml]\n"), ""},
		"Kustomization":         {one.with("app/Kustomization", "resources: [cm.yaml]\n"), ""},
		"yaml and yml":          {one.with("app/kustomization.yml", "resources: [b.yaml]\n", "app/kustomization.yaml", "resources: [cm.yaml]\n"), ""},
		"yml and Kustomization": {one.with("app/kustomization.yml", "resources: [cm.yaml]\n", "app/Kustomization", "resources: [b.yaml]\n"), ""},
		"all three":             {one.with("app/kustomization.yml", "a: b\n", "app/Kustomization", "a: b\n", "app/kustomization.yaml", "resources: [cm.yaml]\n"), ""},
		"directory of the name": {one.with("app/kustomization.yaml/x.yaml", cmB), ""},
		"directory, then file":  {one.with("app/kustomization.yaml/x.yaml", cmB, "app/kustomization.yml", "resources: [cm.yaml]\n"), ""},
		"other case":            {one.with("app/Kustomization.yaml", "resources: [cm.yaml]\n"), ""},
		"root":                  {mapFiles{"a.yaml": cmA, "sub/b.yaml": cmB}, "path: ./"},
		"root without path":     {mapFiles{"a.yaml": cmA}, "path: ''"},
		"path above":            {one, "path: ../../app"},
		"nested": {mapFiles{"app/b.yml": cmA, "app/.dot.yaml": cmA, "app/.hidden/h.yaml": cmA, "app/top.yaml": cmA, "app/sub/deep/d.yaml": cmA,
			"app/withk/kustomization.yaml": "resources: [x.yaml]\n", "app/withk/x.yaml": cmB, "app/withk/deep/y.yaml": cmB, "app/x.json": "{}", "app/README.md": "#", "app/noext": cmA, "app/.yaml": cmA}, ""},
		"order":                {mapFiles{"app/a.yaml": cmA, "app/a/x.yaml": cmA, "app/a-b.yaml": cmA, "app/a_b/c.yaml": cmA, "app/B.yaml": cmA, "app/10.yaml": cmA, "app/9.yaml": cmA, "app/é.yaml": cmA}, ""},
		"nested by yml":        {mapFiles{"app/x/kustomization.yml": "", "app/x/a.yaml": cmA, "app/y/Kustomization": "", "app/z/kustomization.yaml/a.yaml": cmA}, ""},
		"empty directory":      {mapFiles{"app/": ""}, ""},
		"no manifest":          {mapFiles{"app/README.md": "x", "app/sub/notes.txt": "x"}, ""},
		"empty manifests":      {mapFiles{"app/empty.yaml": "", "app/comment.yaml": "# nothing\n", "app/sep.yaml": "---\n---\n", "app/null.yaml": "null\n"}, ""},
		"odd names":            {mapFiles{"app/a b.yaml": cmA, "app/c+d@e.yaml": cmA, "app/日本/é.yaml": cmA, "app/x=y.yaml": cmA, "app/'q'.yaml": cmA, "app/#h.yaml": cmA, "app/a: b.yaml": cmA, "app/- x.yaml": cmA, "app/%41.yaml": cmA, "app/a\\b.yaml": cmA, "app/tab\t.yaml": cmA}, ""},
		"odd path":             {mapFiles{"my apps/a+b@c/日本/x.yaml": cmA}, "path: ./my apps/a+b@c/日本"},
		"path in its own name": {mapFiles{"app/app/app/x.yaml": cmA}, ""},
		"YAML upper case":      {mapFiles{"app/a.YAML": cmA, "app/b.Yml": cmA, "app/c.yaml.bak": cmA}, ""},
		"helm templates":       {mapFiles{"app/t.yaml": "a: {{ .Values.x }}\n"}, ""},
		"values":               {one.with("app/values.yaml", "replicas: 3\n"), ""},
		"sops config":          {one.with("app/.sops.yaml", "creation_rules:\n- age: x\n"), ""},
		"no name":              {one.with("app/x.yaml", "apiVersion: v1\nkind: ConfigMap\n"), ""},
		"no kind":              {one.with("app/x.yaml", "apiVersion: v1\nmetadata: {name: x}\n"), ""},
		"broken YAML":          {one.with("app/x.yaml", "a: [\n"), ""},
		"tab":                  {one.with("app/x.yaml", "a:\n\tb: c\n"), ""},
		"scalar":               {one.with("app/x.yaml", "just text\n"), ""},
		"list":                 {one.with("app/x.yaml", "- a\n- b\n"), ""},
		"flow expression":      {one.with("app/x.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${NAME}}\n"), ""},
		"List":                 {one.with("app/x.yaml", "apiVersion: v1\nkind: List\nitems:\n- "+strings.ReplaceAll(cmB, "\n", "\n  ")+"\n"), ""},
		"bad List":             {one.with("app/x.yaml", "apiVersion: v1\nkind: List\nitems: 3\n"), ""},
		"bad in the second":    {one.with("app/x.yaml", cmA+"---\nvalues: 1\n", "app/y.yaml", "a: [\n"), ""},
		"bad in a folder":      {one.with("app/s/t/x.yaml", "values: 1\n"), ""},
		"bad below kustomized": {one.with("app/s/kustomization.yaml", "resources: []\n", "app/s/x.yaml", "values: 1\n"), ""},
	} {
		t.Run(name, func(t *testing.T) { holdGenerate(t, c.files, unitOf(t, c.spec)) })
	}
}

// TestGenerateReadsKustomizations: what a kustomization file may hold, and what a Kustomization adds to it.
func TestGenerateReadsKustomizations(t *testing.T) {
	specs := []string{
		"",
		"targetNamespace: prod",
		"{targetNamespace: prod, namePrefix: p-, nameSuffix: -s}",
		"images: [{name: nginx, newTag: v2}, {name: nginx, digest: 'sha256:abc'}, {name: redis, newName: r2}, {name: new}]",
		"patches: [{patch: '- op: remove\n  path: /x', target: {kind: ConfigMap, name: a.*, namespace: ns, group: g, version: v1, labelSelector: 'a=b', annotationSelector: c}}, {patch: 'x: ${Y}'}]",
		"components: [../c, ./d]",
		"{components: [../comp, ./missing, ../../out, ../app/../comp], ignoreMissingComponents: true}",
		"buildMetadata: [originAnnotations, transformerAnnotations]",
		"{buildMetadata: [], patches: [], images: [], components: []}",
	}
	texts := []string{
		"", "# a comment\n", "null\n", "{}\n", "---\n", "resources: [cm.yaml]\n", "resources:\n- cm.yaml\n---\nresources: [b.yaml]\n", "\ufeffresources: [cm.yaml]\n", "resources: [cm.yaml]\r\n",
		"apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [cm.yaml]\n", "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [cm.yaml]\n", "apiVersion: x\nkind: Y\n",
		"Resources: [cm.yaml]\n", "RESOURCES: [cm.yaml]\nnamespace: a\nNameSpace: b\n", "unknown: 1\nresources: [cm.yaml]\n", "resources: [cm.yaml]\nresources: [b.yaml]\n",
		"resources: cm.yaml\n", "resources: [1, true]\n", "resources: {a: b}\n", "resources: [~]\n", "resources: ~\n", "- a\n", "text\n", "a: [\n", "\ta: b\n", "a: *x\n", "a: &x {b: *x}\n",
		"namespace: a\nnamePrefix: b\nnameSuffix: c\n", "namespace: 5\n", "bases: [../base]\n", "commonLabels: {a: b}\n", "commonLabels: {a: 1}\n", "labels: [{pairs: {a: b}, includeSelectors: true}]\n", "commonAnnotations: {a: b}\n",
		"images: [{name: nginx, newTag: v1, digest: 'sha256:old'}, {name: docker.io/library/nginx, newName: x}, {name: redis, newTag: '7', tagSuffix: -x}]\n", "imageTags: [{name: a}]\n",
		"patches: [{path: p.yaml}, {patch: 'a: b', target: {kind: X}, options: {allowNameChange: true}}]\n", "patches: [p.yaml]\n", "patchesStrategicMerge: [p.yaml, 'a: b']\n", "patchesJson6902: [{target: {kind: A, name: b, version: v1}, path: p.json}]\n",
		"configMapGenerator: [{name: a, literals: [a=b], files: [x], envs: [y], env: z, behavior: merge, options: {disableNameSuffixHash: true, labels: {a: b}}}]\n", "secretGenerator: [{name: s, type: t, literals: []}]\n", "generatorOptions: {disableNameSuffixHash: true, immutable: true}\n",
		"components: [../comp]\n", "replicas: [{name: a, count: 3}]\n", "replacements: [{source: {kind: A}, targets: [{select: {kind: B}, fieldPaths: [a.b]}]}, {path: r.yaml}]\n", "vars: [{name: A, objref: {kind: K, name: n, apiVersion: v1}}]\n", "crds: [c.yaml]\n", "configurations: [c.yaml]\n", "openapi: {path: o.json}\n", "openapi: {version: v1.20.4}\n", "openapi: {version: 1}\n",
		"generators: [g.yaml]\ntransformers: ['kind: X']\nvalidators: []\n", "helmCharts: [{name: a, repo: b, valuesInline: {a: 1, b: [c]}}]\n", "helmGlobals: {chartHome: x}\n", "inventory: {type: x}\n", "buildMetadata: [managedByLabel]\n", "sortOptions: {order: fifo, legacySortOptions: {orderFirst: [A]}}\n", "metadata: {name: x, annotations: {a: b}}\n",
		"resources: ['a: b', \"x\\ny\", é, '']\n", "resources: [yes, no, 0123, 1.10, 2026-01-02]\n", "namespace: 'yes'\nnamePrefix: '012'\n", "namespace: ''\n",
	}
	for _, text := range texts {
		for _, spec := range specs {
			t.Run(fmt.Sprintf("%.40q/%.30s", text, spec), func(t *testing.T) {
				files := mapFiles{"app/kustomization.yaml": text, "app/cm.yaml": cmA, "comp/kustomization.yaml": "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\n"}
				holdGenerate(t, files, unitOf(t, spec))
			})
		}
	}
}

// TestComponentsMustBeLocal compares what is refused among spec.components.
func TestComponentsMustBeLocal(t *testing.T) {
	files := mapFiles{"app/cm.yaml": cmA, "comp/kustomization.yaml": ""}
	for _, c := range []string{"../comp", "./comp", "comp", "/comp", "/app/../comp", "git::x", "git::", "GIT::X", "gh:x/y", "gh:", "ssh://h/r", "SSH://h/r", "https://h/r", "http://", "http://x", "git@h:r", "git@", "user@h:r/x", "github.com/o/r", "github.com:", "github.com:o/r", "GitHub.com/o/r", "file:///comp", "file://comp", "FILE:///comp", "", ".", "..", "a b", "é"} {
		for _, ignore := range []string{"true", "false"} {
			t.Run(c+"/"+ignore, func(t *testing.T) {
				holdGenerate(t, files, unitOf(t, fmt.Sprintf("{components: [%q], ignoreMissingComponents: %s}", c, ignore)))
			})
		}
	}
}

// TestImagesBeforeMerge: up to Flux 2.8 an entry of spec.images replaced the one of its name.
func TestImagesBeforeMerge(t *testing.T) {
	files := mapFiles{"app/cm.yaml": cmA, "app/kustomization.yaml": "resources: [cm.yaml]\nimages:\n- name: nginx\n  newName: mirror/nginx\n  newTag: v1\n"}
	spec := SpecOf(unitOf(t, "images: [{name: nginx, newTag: v2}]"), "app")
	for version, want := range map[string]string{
		"2.8": "images:\n- name: nginx\n  newTag: v2\n",
		"2.9": "images:\n- name: nginx\n  newName: mirror/nginx\n  newTag: v2\n",
	} {
		b := newBuildFS(files)
		if _, err := generate(b, "app", &spec, behaviour(t, version)); err != nil {
			t.Fatal(err)
		}
		if got := string(b.overlay["app/kustomization.yaml"]); !strings.Contains(got, want) {
			t.Errorf("%s:\n%s\nlacks\n%s", version, got, want)
		}
	}
}

// holdGenerate compares our step with Flux's generator on the same files: bytes, name of the file, whether it is new.
// Where Flux fails, the build must fail, with Flux's words.
func holdGenerate(t *testing.T, files mapFiles, ks *flux.Kustomization) {
	t.Helper()
	root := files.write(t)
	dir := cleanPath(ks.Spec.Path)
	want, wantFile, action, wantErr := generator.NewGenerator(root, untyped(t, ks)).GenerateManifest(filepath.Join(root, filepath.FromSlash(dir)))

	spec := SpecOf(ks, dir)
	b := newBuildFS(files)
	made, err := generate(b, dir, &spec, behaviour(t, "2.9"))
	if wantErr != nil {
		words := strings.ReplaceAll(strings.ReplaceAll(wantErr.Error(), root, artifactRoot), artifactRoot+"/", "")
		builder := &Builder{Flux: behaviour(t, "2.9")}
		built := builder.Build(files, spec)
		if built.Err == nil || built.Code != model.CodeGenerate {
			t.Fatalf("Flux cannot generate and the build says %v (%s)\nFlux: %v", built.Err, built.Code, wantErr)
		}
		if strings.HasSuffix(words, "value contains itself") {
			words = words[strings.LastIndex(words, "anchor"):] // ours is met earlier, in aliases.go
		}
		if !strings.Contains(built.Err.Error(), words) {
			t.Fatalf("the build says\n%v\nFlux says\n%s", built.Err, words)
		}
		return
	}
	if err != nil {
		t.Fatalf("we fail and Flux does not: %v", err)
	}
	if made.made != (action == generator.CreatedAction) {
		t.Fatalf("made %t, Flux's action %s", made.made, action)
	}
	file := path.Join(dir, path.Base(filepath.ToSlash(wantFile)))
	got, ok := b.overlay[file]
	if !ok || len(b.overlay) != 1 {
		t.Fatalf("%d files were written, none is %s", len(b.overlay), file)
	}
	if string(got) != string(want) {
		t.Fatalf("%s: %s\ngot:\n%s\nwant:\n%s", file, firstDifference(string(got), string(want)), got, want)
	}
}

// cleanPath is spec.path in the artifact, for artifacts without symlinks.
func cleanPath(p string) string {
	p = strings.TrimPrefix(path.Clean("/"+p), "/")
	if p == "" {
		return "."
	}
	return p
}
