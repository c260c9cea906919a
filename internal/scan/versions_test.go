package scan_test

import (
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/flux"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/render"
	"github.com/tidegate/tidegate/internal/sops"
	"github.com/tidegate/tidegate/internal/sops/sopstest"
)

// TestVersionsDiffer renders one unit as the version before a change and as the one that brought it: each row of the
// table in package flux is seen in what a cluster gets.
func TestVersionsDiffer(t *testing.T) {
	const plain = "\n-- app/cm.yaml --\n@cm x c a: b\n"
	const deployment = `
-- app/kustomization.yaml --
resources: [pod.yaml]
images: [{name: web, newName: registry/web, newTag: v1}]
-- app/pod.yaml --
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {containers: [{name: c, image: web}]}
`
	for _, c := range []struct{ name, before, since, spec, files, wantBefore, wantSince string }{
		{"undefined variables", "2.8", "2.9", "postBuild: {substitute: {A: a}}", "\n-- app/cm.yaml --\n@cm x c a: \"<${UNDEFINED}>\"\n", "a: <>", "failed"},
		{"substituteStrategy", "2.8", "2.9", "postBuild: {substituteStrategy: Always}", "\n-- app/cm.yaml --\n@cm x c a: \"${A:=default}\"\n", "a: ${A:=default}", "a: default"},
		{"buildMetadata", "2.8", "2.9", "buildMetadata: [originAnnotations]", plain, "-config.kubernetes.io/origin", "config.kubernetes.io/origin"},
		{"images", "2.8", "2.9", "images: [{name: web, newTag: v2}]", deployment, "image: web:v2", "image: registry/web:v2"},
		{"negative lengths", "2.8", "2.9", "postBuild: {substitute: {A: abcdef}}", "\n-- app/cm.yaml --\n@cm x c a: \"${A:2:-1}\"\n", "failed", "a: cde"},
		{"missing components", "2.6", "2.7", "ignoreMissingComponents: true\ncomponents: [../gone]", plain, "failed", "a: b"},
		{"prefixes", "2.2", "2.3", "namePrefix: pre-", plain, "-name: pre-c", "name: pre-c"},
		{"ExternalArtifact", "2.6", "2.7", "sourceRef: {kind: ExternalArtifact, name: x}", plain, "failed", "unverified"},
	} {
		files := "-- clusters/a/ks.yaml --\n@ks anchor | path: ./anchor\n" + kustomization("app", append([]string{"path: ./app"}, c.spec)...) + "-- anchor/cm.yaml --\n@cm x anchor a: b" + c.files
		files = strings.Replace(files, "@ks anchor | path: ./anchor\n", kustomization("anchor", "path: ./anchor")+"---\n", 1)
		for version, want := range map[string]string{c.before: c.wantBefore, c.since: c.wantSince} {
			o := options(t, tree(t, files))
			b, err := flux.For(version)
			if err != nil {
				t.Fatal(err)
			}
			o.Builder, o.FluxGiven = &render.Builder{Flux: b}, true
			u := unitNamed(t, one(t, o), "app")
			got := stream(u)
			if u.Status != model.StatusOK {
				got = string(u.Status)
			}
			text, absent := strings.CutPrefix(want, "-")
			if strings.Contains(got, text) == absent {
				t.Errorf("%s in %s: want %q\n%s\n%+v", c.name, version, want, got, u.Reasons)
			}
		}
	}
}

// A spec that was decrypted, with ciphertext where a mask may not stand: nothing of it is shown, neither the inline
// values nor what the API server refused.
func TestDecryptedSpecIsNotShown(t *testing.T) {
	keys, err := sops.ParseKeys([]byte(sopstest.Identity))
	if err != nil {
		t.Fatal(err)
	}
	const secret = "plaintext-of-a-secret"
	for name, spec := range map[string]string{
		"admitted": "{interval: 10m, retryInterval: 7m, prune: true, path: ./app, postBuild: {substitute: {A: " + secret + "}}, sourceRef: {kind: GitRepository, name: flux-system}}",
		"refused":  "{interval: 10m, retryInterval: " + secret + ", prune: true, path: ./app, postBuild: {substitute: {A: a}}, sourceRef: {kind: GitRepository, name: flux-system}}",
	} {
		text := "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: app, namespace: flux-system}\nspec: " + spec + "\n"
		enc := string(sopstest.Encrypt(t, sops.YAML, []byte(text), sopstest.Recipient, "^(retryInterval|substitute)$"))
		if strings.Contains(enc, secret) {
			t.Fatal("not encrypted")
		}
		o := options(t, tree(t, "-- clusters/a/ks.yaml --\n@ks mid | path: ./mid | decryption: {provider: sops}\n-- app/cm.yaml --\n@cm x c a: \"${A}\"\n-- mid/ks.yaml --\n"+enc))
		o.Builder.Keys = keys
		env := one(t, o)
		u := unitNamed(t, env, "app")
		if name == "admitted" && (u.Status != model.StatusOK || !strings.Contains(stream(u), secret)) {
			t.Errorf("%s:\n%s\n%s", name, outline(env), stream(u))
		}
		if name == "refused" && (u.Status != model.StatusFailed || !has(u, model.CodeRefused)) {
			t.Errorf("%s:\n%s", name, outline(env))
		}
		shown := outline(env)
		for _, u := range env.Units {
			for _, object := range u.Objects {
				shown += object.Display
			}
		}
		if strings.Contains(shown, secret) {
			t.Errorf("%s: the plaintext is shown:\n%s", name, shown)
		}
	}
}
