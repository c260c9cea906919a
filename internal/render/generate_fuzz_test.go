package render

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzGenerate compares the generator on a small artifact: one file by name and content, a kustomization or a
// manifest, and a spec.
func FuzzGenerate(f *testing.F) {
	for _, s := range []struct{ name, text, spec string }{
		{"kustomization.yaml", "resources: [cm.yaml]\n", "targetNamespace: x"},
		{"kustomization.yml", "Resources: [cm.yaml]\nimages: [{name: a, newTag: '1'}]\n", "images: [{name: a, digest: d}]"},
		{"Kustomization", "", "{namePrefix: a-, nameSuffix: -b}"},
		{"x.yaml", "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}]\n", ""},
		{"x.yml", "values: 1\n", "patches: [{patch: 'a: b'}]"},
		{"sub/kustomization.yaml", "a", "components: [./sub, ../missing]"},
		{"sub/.x.yaml", "---\n# c\n", "{components: [../missing], ignoreMissingComponents: true}"},
		{"a b+c@d.yaml", "apiVersion: v1\nkind: A\nmetadata: {name: 1}\n", "buildMetadata: [originAnnotations]"},
		{"x.yaml", "kind: Kustomization\napiVersion: kustomize.config.k8s.io/v1beta1\nmetadata: {annotations: {config.kubernetes.io/index: a}}\n", ""},
	} {
		f.Add(s.name, s.text, s.spec)
	}
	b := behaviour(f, "2.9")
	f.Fuzz(func(t *testing.T, name, text, spec string) {
		if len(name) > 100 || len(text)+len(spec) > 1<<12 || !fileName(name) || checkAliases([]byte(text)) != nil {
			t.Skip("no file of an artifact, or one that Flux does not survive")
		}
		ks, err := decodeUnit(spec, b)
		if err != nil || len(ks.Spec.Path) > 100 || strings.ContainsRune(ks.Spec.Path, 0) {
			t.Skip("the API server refuses the spec")
		}
		for _, c := range ks.Spec.Components {
			if strings.ContainsRune(c, 0) {
				t.Skip("no path")
			}
		}
		files := mapFiles{"app/cm.yaml": cmA, "app/" + name: text}
		if isDir, ok := files.Stat(cleanPath(ks.Spec.Path)); !ok || !isDir {
			t.Skip("no such path")
		}
		holdGenerate(t, files, ks)
	})
}

// fileName tells whether a path is one that an artifact can hold and that stands below app.
func fileName(p string) bool {
	if p == "" || !utf8.ValidString(p) || strings.ContainsAny(p, "\x00\\") || strings.HasPrefix(p, "cm.yaml/") {
		return false
	}
	for _, s := range strings.Split(p, "/") {
		if s == "" || s == "." || s == ".." {
			return false
		}
	}
	return true
}
