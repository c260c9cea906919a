package render

import (
	"context"
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/oracle"
	"github.com/tidegate/tidegate/internal/sops"
	"github.com/tidegate/tidegate/internal/sops/sopstest"
)

// The plaintexts of this file. Whatever a view may show must hold none of them in any guise.
const (
	password = "hunter2-correct-horse"
	number   = "86753091234"
)

// encryptedCase is a repository with ciphertext in it, and what its render comes to.
type encryptedCase struct {
	files mapFiles
	spec  string
	// flagged is the code that some object is unverified for without a key; empty where the whole unit fails either way.
	flagged model.Code
	// public tells that the plaintext stays out of the objects.
	public bool
}

func encryptedCases(t *testing.T) map[string]encryptedCase {
	enc := func(f sops.Format, text, regex string) string {
		return string(sopstest.Encrypt(t, f, []byte(text), sopstest.Recipient, regex))
	}
	const inSecret = "^(data|stringData)$"
	secret := "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\nstringData:\n  p: " + password + "\n  n: \"" + number + "\"\n"
	generator := func(field string) string {
		return "resources: [cm.yaml]\nsecretGenerator:\n- name: gen\n  " + field + "\n"
	}
	deployment := "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec:\n  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}\n    spec:\n      containers: [{name: c, image: x, env: [{name: P, valueFrom: {secretKeyRef: {name: gen, key: p.txt}}}]}]\n"
	return map[string]encryptedCase{
		"generator, binary file":  {files: mapFiles{"app/kustomization.yaml": generator("files: [p.txt]"), "app/p.txt": enc(sops.Binary, password+"\n", "")}, flagged: model.CodeOpaqueName},
		"generator, YAML file":    {files: mapFiles{"app/kustomization.yaml": generator("files: [p.yaml]"), "app/p.yaml": enc(sops.YAML, "a:\n  b: "+password+"\n  n: "+number+"\n", "")}, flagged: model.CodeOpaqueName},
		"generator, key names it": {files: mapFiles{"app/kustomization.yaml": generator("files: [conf.json=p.enc]"), "app/p.enc": enc(sops.JSON, `{"a": "`+password+`", "l": [1, "`+number+`"]}`, "")}, flagged: model.CodeOpaqueName},
		"generator, docker":       {files: mapFiles{"app/kustomization.yaml": generator("files: [.dockerconfigjson=d.enc]\n  type: kubernetes.io/dockerconfigjson"), "app/d.enc": enc(sops.JSON, `{"auths": {"r": {"auth": "`+password+`"}}}`, "")}, flagged: model.CodeOpaqueName},
		"generator, dotenv":       {files: mapFiles{"app/kustomization.yaml": generator("envs: [p.env]"), "app/p.env": enc(sops.Dotenv, "P="+password+"\nN="+number+"\n", "")}, flagged: model.CodeOpaqueName},
		"generator, ini":          {files: mapFiles{"app/kustomization.yaml": generator("files: [p.ini]"), "app/p.ini": enc(sops.INI, "[a]\nb = "+password+"\n", "")}, flagged: model.CodeOpaqueName},
		"generator without hash":  {files: mapFiles{"app/kustomization.yaml": generator("files: [p.txt]\n  options: {disableNameSuffixHash: true}"), "app/p.txt": enc(sops.Binary, password, "")}, flagged: model.CodeEncrypted},
		"name in another object":  {files: mapFiles{"app/kustomization.yaml": strings.Replace(generator("files: [p.txt]"), "cm.yaml", "cm.yaml, d.yaml", 1), "app/d.yaml": deployment, "app/p.txt": enc(sops.Binary, password, "")}, flagged: model.CodeOpaqueName},
		"generator in component":  {files: mapFiles{"app/kustomization.yaml": "resources: [cm.yaml]\ncomponents: [../comp]\n", "comp/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nsecretGenerator: [{name: gen, files: [p.txt]}]\n", "comp/p.txt": enc(sops.Binary, password, "")}, flagged: model.CodeOpaqueName},
		"one file, two uses":      {files: mapFiles{"app/kustomization.yaml": generator("files: [p.txt]") + "configMapGenerator: [{name: also, files: [p.txt]}]\n", "app/p.txt": enc(sops.Binary, password, "")}, flagged: model.CodeOpaqueName},
		"patch":                   {files: mapFiles{"app/kustomization.yaml": "resources: [cm.yaml]\npatches: [{path: p.yaml}]\n", "app/p.yaml": enc(sops.YAML, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  p: "+password+"\n", "^data$")}, flagged: model.CodeEncrypted},
		"patch, then copied": {files: mapFiles{"app/kustomization.yaml": "resources: [cm.yaml, b.yaml]\npatches: [{path: p.yaml}]\nreplacements: [{source: {kind: ConfigMap, name: a, fieldPath: data.p}, targets: [{select: {name: b}, fieldPaths: [data.q], options: {create: true}}]}]\n",
			"app/b.yaml": cmB + "data: {q: x}\n", "app/p.yaml": enc(sops.YAML, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  p: "+password+"\n", "^data$")}, flagged: model.CodeEncrypted},
		"patch of a number":      {files: mapFiles{"app/kustomization.yaml": "resources: [d.yaml]\npatches: [{path: p.yaml}]\n", "app/d.yaml": deployment, "app/p.yaml": enc(sops.YAML, "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: d\nspec:\n  replicas: "+number+"\n", "^replicas$")}, flagged: model.CodeEncrypted},
		"Secret":                 {files: mapFiles{"app/s.yaml": enc(sops.YAML, secret, inSecret)}, flagged: model.CodeEncrypted},
		"Secret, all of it":      {files: mapFiles{"app/s.yaml": enc(sops.YAML, secret, "^(stringData|metadata)$")}, flagged: model.CodeEncrypted},
		"Secret, base64":         {files: mapFiles{"app/s.yaml": enc(sops.YAML, "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\ndata:\n  p: "+b64(password)+"\n", inSecret)}, flagged: model.CodeEncrypted},
		"Secret, values within":  {files: mapFiles{"app/s.yaml": "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\ndata:\n  plain: " + b64("x") + "\n  p.yaml: " + b64(enc(sops.YAML, "a: "+password+"\n", "")) + "\n  p.env: " + b64(enc(sops.Dotenv, "A="+password+"\n", "")) + "\n  bin: " + b64(enc(sops.Binary, password, "")) + "\n"}, flagged: model.CodeEncrypted},
		"ConfigMap":              {files: mapFiles{"app/s.yaml": enc(sops.YAML, cmB+"data:\n  p: "+password+"\n", "^data$")}, flagged: model.CodeEncrypted},
		"custom resource":        {files: mapFiles{"app/s.yaml": enc(sops.YAML, "apiVersion: example.org/v1\nkind: T\nmetadata:\n  name: t\nspec:\n  list: [a, "+password+"]\n  n: "+number+"\n", "^(list|n)$")}, flagged: model.CodeEncrypted},
		"with expressions":       {files: mapFiles{"app/s.yaml": enc(sops.YAML, "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s-${A}\nstringData:\n  p: $$"+password+"${A}\n  q: ${A}\n", inSecret)}, spec: "postBuild: {substitute: {A: value}}", flagged: model.CodeEncrypted},
		"decryption disabled":    {files: mapFiles{"app/s.yaml": enc(sops.YAML, "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\n  annotations:\n    kustomize.toolkit.fluxcd.io/decrypt: Disabled\nstringData:\n  p: "+password+"\n", inSecret)}, public: true},
		"undefined in plaintext": {files: mapFiles{"app/s.yaml": enc(sops.YAML, "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\nstringData:\n  p: ${A}"+password+"${UNDEFINED_"+number+"}\n", inSecret)}, spec: "postBuild: {substitute: {A: value}}"},
		"syntax in plaintext":    {files: mapFiles{"app/s.yaml": enc(sops.YAML, "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\n  annotations:\n    x: ${A}\nstringData:\n  p: ${A "+password+"\n", inSecret)}, spec: "postBuild: {substitute: {A: value}}"},
		"YAML broken by it":      {files: mapFiles{"app/s.yaml": enc(sops.YAML, "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\nstringData:\n  p: a${A}"+password+"\n", inSecret)}, spec: "postBuild: {substitute: {A: \"x: y: \"}}"},
		"patch of nothing":       {files: mapFiles{"app/kustomization.yaml": "resources: [cm.yaml]\npatches: [{path: p.yaml}]\n", "app/p.yaml": enc(sops.YAML, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: "+password+"\ndata:\n  a: "+number+"\n", "")}},
		"patch that is no patch": {files: mapFiles{"app/kustomization.yaml": "resources: [cm.yaml]\npatches: [{path: p.txt, target: {kind: ConfigMap}}]\n", "app/p.txt": enc(sops.Binary, password+": [", "")}},
		"two keys of one name":   {files: mapFiles{"app/kustomization.yaml": "resources: [cm.yaml]\nsecretGenerator:\n- {name: gen, envs: [p.env], literals: [A=b]}\n", "app/p.env": enc(sops.Dotenv, "A="+password+"\n", "")}},
	}
}

func b64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

func (c encryptedCase) input(t *testing.T) Input {
	t.Helper()
	ks := unitOf(t, strings.TrimSpace("decryption: {provider: sops, secretRef: {name: age}}\n"+c.spec))
	files := mapFiles{"app/cm.yaml": cmA}
	for p, text := range c.files {
		files[p] = text
	}
	return Input{Files: files, Dir: "app", Spec: ks, Strict: true, Lookup: func(string, string, string) *DataSource { return nil }}
}

// TestDecryptionEqualsFlux: with the key, the objects are those that Flux makes, and nothing secret can be shown.
func TestDecryptionEqualsFlux(t *testing.T) {
	keys, err := sops.ParseKeys([]byte(sopstest.Identity))
	if err != nil {
		t.Fatal(err)
	}
	judge, err := oracle.ParseAgeKeys(sopstest.Identity)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range encryptedCases(t) {
		t.Run(name, func(t *testing.T) {
			in := c.input(t)
			want, wantErr := oracle.Build(context.Background(), in.Files.(mapFiles).write(t), oracle.Unit{Object: untyped(t, in.Spec).Object}, nil, judge.Hooks(oracle.Options{Strict: true}))
			b := &Builder{Flux: behaviour(t, "2.9"), Keys: keys}
			out := b.Render(in)
			if (wantErr != nil) != (len(out.Failures) > 0) {
				t.Fatalf("we say %+v, Flux %v", out.Failures, wantErr)
			}
			if got := streamOf(out.Objects); wantErr == nil && got != string(want) {
				t.Fatal(firstDifference(got, string(want)))
			}
			if (wantErr == nil) == (c.flagged == "" && !c.public) {
				t.Fatalf("the case is not what its description says: %v", wantErr)
			}
			if wantErr == nil && !c.public && len(leaks(streamOf(out.Objects))) == 0 {
				t.Fatal("the result holds no plaintext, so nothing can be masked in it")
			}
			for _, o := range out.Objects {
				if len(o.Unverified) > 0 {
					t.Errorf("%s is unverified with the key: %+v", o.Ref, o.Unverified)
				}
			}
			holdSecret(t, out)
			if wantErr == nil {
				holdAppliedSecrets(t, in, out, want)
			}
			if len(out.Failures) > 0 {
				in.ShowSecrets = true
				asked := (&Builder{Flux: b.Flux, Keys: keys}).Render(in)
				if len(asked.Failures) == 0 || asked.Failures[0].Message == out.Failures[0].Message && len(leaks(wantErr.Error())) > 0 {
					t.Errorf("--show-secrets shows no more than %s", out.Failures[0].Message)
				}
			}
		})
	}
}

// holdAppliedSecrets goes on to what is applied: labels, a Secret's stringData in base64.
func holdAppliedSecrets(t *testing.T, in Input, out Output, built []byte) {
	t.Helper()
	want, err := oracle.Applied(built, oracle.Unit{Object: untyped(t, in.Spec).Object})
	if err != nil {
		t.Fatal(err)
	}
	objects, failure := Applied(in.Spec, nil, out.Objects, false)
	if guard := oracle.Guard(want); guard != nil || failure != nil {
		if guard == nil || failure == nil {
			t.Fatalf("applied: %+v, Flux %v", failure, guard)
		}
		return
	}
	got := ""
	for _, o := range objects {
		got += "---\n" + o.YAML
	}
	if got != string(want) {
		t.Fatal(firstDifference(got, string(want)))
	}
	holdSecret(t, Output{Objects: objects})
}

// TestWithoutKey: with no key, or another, nothing fails for want of it, and what depends on it is unverified.
func TestWithoutKey(t *testing.T) {
	other, err := sops.ParseKeys([]byte(sopstest.OtherIdentity))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range encryptedCases(t) {
		for holder, keys := range map[string]*sops.Keys{"none": nil, "other": other} {
			t.Run(name+"/"+holder, func(t *testing.T) {
				out := (&Builder{Flux: behaviour(t, "2.9"), Keys: keys}).Render(c.input(t))
				holdSecret(t, out)
				if c.flagged == "" {
					return
				}
				if len(out.Failures) > 0 {
					t.Fatalf("it fails: %+v", out.Failures)
				}
				codes := map[model.Code]bool{}
				masked := 0
				for _, o := range out.Objects {
					for _, r := range o.Unverified {
						codes[r.Code] = true
					}
					if strings.Contains(decoded64(o.YAML), sops.DefaultMask) {
						masked++
						if len(o.Unverified) == 0 {
							t.Errorf("%s holds a mask and is not flagged", o.Ref)
						}
					}
				}
				if !codes[c.flagged] || masked == 0 {
					t.Errorf("flagged %v, %d masked; want %s", codes, masked, c.flagged)
				}
			})
		}
	}
}

// TestGeneratedNameWithKey: the name is the cluster's with the key, also where it is shown, and where it is used.
func TestGeneratedNameWithKey(t *testing.T) {
	keys, _ := sops.ParseKeys([]byte(sopstest.Identity))
	in := encryptedCases(t)["name in another object"].input(t)
	out := (&Builder{Flux: behaviour(t, "2.9"), Keys: keys}).Render(in)
	name := ""
	for _, o := range out.Objects {
		if o.Ref.Kind == "Secret" {
			name = o.Ref.Name
			if !strings.Contains(o.Display, "name: "+name+"\n") || !o.Secret() {
				t.Errorf("the Secret is shown as\n%s", o.Display)
			}
		}
	}
	for _, o := range out.Objects {
		if o.Ref.Kind == "Deployment" && (!strings.Contains(o.YAML, "name: "+name+"\n") || o.Display != o.YAML) {
			t.Errorf("the Deployment does not use %s, or is masked:\n%s", name, o.Display)
		}
	}
	if !regexp.MustCompile(`^gen-[a-z0-9]{10}$`).MatchString(name) {
		t.Errorf("the name is %q", name)
	}
}

// holdSecret: nothing that a view may show holds plaintext.
func holdSecret(t *testing.T, out Output) {
	t.Helper()
	show := func(what, text string) {
		if found := leaks(text); len(found) > 0 {
			t.Errorf("%s holds %v:\n%s", what, found, text)
		}
	}
	for _, o := range out.Objects {
		show("the display of "+o.Ref.String(), o.Display)
		show("the reference", o.Ref.String())
		for _, r := range o.Unverified {
			show("a reason", fmt.Sprintf("%+v", r))
		}
		if len(leaks(o.YAML)) > 0 && !o.Secret() {
			t.Errorf("%s holds plaintext and does not say so", o.Ref)
		}
	}
	for _, r := range append(out.Failures, out.Unverified...) {
		show("a reason", fmt.Sprintf("%+v", r))
	}
}

var brokenLine = regexp.MustCompile(`(\|-?)?\n +`)

var base64Text = regexp.MustCompile(`[A-Za-z0-9+/]{8,}={0,2}`)

// leaks gives the plaintexts that stand in a text, as they are or within base64, twice over.
func leaks(text string) []string {
	var out []string
	all := text + decoded64(text) + decoded64(decoded64(text))
	for _, s := range []string{password, number, "hunter2", b64(password)[:20], "8.6753091234e+10"} {
		if strings.Contains(all, s) {
			out = append(out, s)
		}
	}
	return out
}

func decoded64(text string) string {
	out := text
	// kustomize breaks long base64 into lines.
	for _, m := range base64Text.FindAllString(text+"\n"+brokenLine.ReplaceAllString(text, ""), -1) {
		if raw, err := base64.StdEncoding.DecodeString(m); err == nil {
			out += "\n" + string(raw)
		}
	}
	return out
}
