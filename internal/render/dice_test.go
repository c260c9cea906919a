package render

import (
	"fmt"
	"strings"
)

// dice makes small repositories of bytes: each byte is a choice, and when they run out every choice is the first one.
// Most of what it makes builds, so that what is compared is results and not refusals.
type dice struct{ data []byte }

func (d *dice) roll(n int) int {
	if len(d.data) == 0 {
		return 0
	}
	b := d.data[0]
	d.data = d.data[1:]
	return int(b) % n
}

// one in n is true; never when the bytes have run out.
func (d *dice) one(n int) bool { return d.roll(n) == n-1 }

func (d *dice) pick(list ...string) string { return list[d.roll(len(list))] }

// raw gives bytes of the input as a text, double-quoted so that YAML reads it.
func (d *dice) raw() string {
	n := min(d.roll(24), len(d.data))
	text := string(d.data[:n])
	d.data = d.data[n:]
	return fmt.Sprintf("%q", strings.ToValidUTF8(text, "?"))
}

// expressions are texts with substitution in them; most are right.
var expressions = []string{
	"${A}", "${B}", "${C}", "pre-${A}", "${A}-post", "a ${A} b", "${A}${B}", "${A:=d}", "${D:=def}", "${D:-def}", "${A//x/y}", "${A^^}", "${#A}", "${A:0:2}", "${A:-${B}}", "$${A}", "$A", "$", "$$", "${A}:${B}", "http://${A}/${B}", "${A}/24", "%${A}%", "${A#*.}",
	"x=${A},y=${B}", "${A} ${B} ${C}", "${D}", "${A-d}", "${}", "${A", "-${A}", "${A}\\n${B}", "'${A}'", `\"${A}\"`, "@${A}", "*${A}", "#${A}", "${A}#", "{${A}}", "[${A}]",
}

// values are what variables hold.
var variableValues = []string{
	"x", "example.org", "8080", "true", "", "10.0.0.1", "1.10", "0123", "yes", "a b", "a: b", "a #b", "# c", "- x", "{a: 1}", "[1, 2]", `"q"`, `'q'`, "'", "null", "~", "1e3", "0x1F", "x:", ":x", "&x", "*x", "!x", "|", ">", "@x", "%x", "`", "l1\nl2\n", "tab\there", "é", "\u2028", "12345678901234567890", "2026-01-02", "22:22", "=", "<<", " lead", "trail ", "${A}", "$", "-", "?", ",", "x]", strings.Repeat("long ", 30), "1_000", "+1", ".5", "off", "n",
}

// scalar gives a scalar as it may stand in a manifest.
func (d *dice) scalar() string {
	switch d.roll(8) {
	case 0, 1:
		return d.pick("x", "1", "true", "web", "8080", `"8080"`, "1.5", "a b", "500m", "null", `""`, "0.5", "'yes'", "on", "0123", "~", "1e3", "-1", "9007199254740993", "{}", "[]", "é", "'it''s'")
	case 2, 3:
		return fmt.Sprintf(`"%s"`, expressions[d.roll(len(expressions))])
	case 4:
		e := expressions[d.roll(24)]
		if strings.ContainsAny(e[:1], "%@*#[{'\\") {
			return "'" + e + "'"
		}
		return e
	case 5:
		return d.raw()
	case 6:
		return d.pick("|\n          a ${A}\n          b $${B}\n", ">\n          folded ${A}\n          text\n\n            more\n", "|-\n          x\n", "|+\n          x\n\n", ">-\n          "+strings.Repeat("word ", 20)+"${B}\n", "|2\n           y\n")
	}
	return d.pick("-0", "1_000", ".5", "2026-01-02", "0o17", "!!str 1", "1.0", ".inf", "12345678901234567890", "=", "'<<'", "'# x'", "\"\\t\"", "\"a\\nb\"", "\" lead\"", "y", "off", "6e23", "!!binary aGk=")
}

// object gives a manifest.
func (d *dice) object(n int) string {
	name := d.pick("a", "b", "web", "x-${A}", "n"+fmt.Sprint(n)) + fmt.Sprint(n)
	if d.one(12) {
		name = d.pick("a0", "${A}", "${B}")
	}
	meta := fmt.Sprintf("metadata:\n  name: %q\n", name)
	if d.one(3) {
		meta += "  namespace: " + d.pick("default", `"${A}"`, "prod") + "\n"
	}
	if d.one(3) {
		meta += fmt.Sprintf("  labels:\n    app: %s\n    l2: \"%s\"\n", d.pick("web", `"${A}"`, `"1"`, "x"), expressions[d.roll(12)])
	}
	if d.one(4) {
		meta += "  annotations:\n    note: " + d.scalar() + "\n"
		if d.one(3) {
			meta += "    kustomize.toolkit.fluxcd.io/substitute: " + d.pick("disabled", "Disabled", "enabled") + "\n"
		}
	}
	switch d.roll(7) {
	case 0:
		return "apiVersion: v1\nkind: ConfigMap\n" + meta + d.fields("data", 3)
	case 1:
		return "apiVersion: apps/v1\nkind: Deployment\n" + meta + fmt.Sprintf("spec:\n  replicas: %s\n  selector:\n    matchLabels: {app: web}\n  template:\n    metadata:\n      labels: {app: web}\n    spec:\n      containers:\n      - name: c\n        image: %s\n        env:\n        - name: E\n          value: %s\n        ports:\n        - containerPort: %s\n",
			d.pick("1", `"${A}"`, "2", `"3"`), d.pick("nginx:1.2", "redis", "example.org/x:${A}", "nginx@sha256:abc"), d.scalar(), d.pick("80", `"${B}"`, "8080"))
	case 2:
		return "apiVersion: v1\nkind: Service\n" + meta + fmt.Sprintf("spec:\n  type: %s\n  selector: {app: web}\n  ports:\n  - {port: %s, name: %s}\n", d.pick("ClusterIP", `"${A}"`), d.pick("80", `"${A}"`), d.pick("http", `"${B}"`))
	case 3:
		return "apiVersion: v1\nkind: Secret\n" + meta + d.fields("stringData", 2)
	case 4:
		return "apiVersion: example.org/v1\nkind: Thing\n" + meta + d.fields("spec", 4) + "status: " + d.pick("{}", "{a: [1, {b: c}]}", "[x, y]", "null") + "\n"
	case 5:
		return "apiVersion: v1\nkind: " + d.pick("Namespace", "ServiceAccount", "PersistentVolume") + "\n" + meta
	}
	return "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\n" + meta + "roleRef: {kind: ClusterRole, name: a0, apiGroup: rbac.authorization.k8s.io}\nsubjects:\n- {kind: ServiceAccount, name: default, namespace: x}\n"
}

func (d *dice) fields(under string, n int) string {
	text := under + ":\n"
	for i := range 1 + d.roll(n) {
		key := d.pick("k", "key", "a.b", "K", `"1"`, `"${A}k"`, "k-", `"true"`, `"x y"`)
		if !strings.HasPrefix(key, `"`) {
			key += fmt.Sprint(i)
		}
		text += "      " + key + ": " + d.scalar() + "\n"
	}
	return text
}

// repository gives the files of an artifact and the spec of the Kustomization that builds ./app of it.
func (d *dice) repository() (mapFiles, string) {
	files := mapFiles{}
	var resources []string
	for i := range 1 + d.roll(3) {
		name := fmt.Sprintf("m%d.yaml", i)
		text := d.object(2 * i)
		if d.one(3) {
			text += "---\n" + d.object(2*i+1)
		}
		files["app/"+name] = text
		resources = append(resources, name)
	}
	if d.one(3) {
		files["base/kustomization.yaml"] = "resources: [b.yaml]\n" + d.transformers()
		files["base/b.yaml"] = d.object(8)
		resources = append(resources, "../base")
	}
	files["comp/kustomization.yaml"] = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\ncommonAnnotations: {comp: x}\n" + strings.ReplaceAll(d.transformers(), "commonAnnotations: ", "commonLabels: ")
	if !d.one(5) {
		k := "resources: [" + strings.Join(resources, ", ") + "]\n" + d.transformers()
		if d.one(20) {
			k += "replicas: [{name: a0, count: 5}]\n"
		}
		if d.one(3) {
			k += fmt.Sprintf("configMapGenerator:\n- name: gen\n  literals: [\"k=%s\", a=b]\n%s", expressions[d.roll(20)], d.pick("", "  options: {disableNameSuffixHash: true}\n", "  files: [f.txt]\n", "  envs: [e.env]\n"))
			files["app/f.txt"], files["app/e.env"] = "text ${A}\n", "E=${B}\nF=$$x\n"
		}
		if d.one(4) {
			k += "secretGenerator:\n- name: sec\n  literals: [\"p=${A}\"]\n"
		}
		if d.one(4) {
			k += "components: [../comp]\n"
		}
		files["app/"+d.pick("kustomization.yaml", "kustomization.yml", "Kustomization")] = k
	}
	return files, d.spec()
}

// transformers gives fields of a kustomization file that change objects.
func (d *dice) transformers() string {
	var b strings.Builder
	for _, field := range []string{
		"namespace: " + d.pick("ns", `"${A}"`) + "\n", "namePrefix: p-\n", "nameSuffix: -s\n", "commonAnnotations: {owner: \"${A}\"}\n", "images: [{name: nginx, newTag: " + d.pick("v2", `"1.10"`, `"${A}"`) + "}]\n",
		"labels: [{pairs: {team: " + d.pick("x", `"${B}"`) + "}, includeSelectors: " + d.pick("true", "false") + "}]\n", "sortOptions: {order: " + d.pick("legacy", "fifo") + "}\n",
		"patches:\n- target: {kind: " + d.pick("ConfigMap", ".*", "Deployment") + "}\n  patch: |\n    - op: add\n      path: /metadata/annotations\n      value: {patched: " + d.pick("yes", `"${A}"`, `"yes"`, "1.0") + "}\n",
		"patches:\n- target: {kind: Thing}\n  patch: |\n    apiVersion: example.org/v1\n    kind: Thing\n    metadata: {name: any}\n    spec: {added: {a: \"${A}\", b: [1, \"2\"]}, k0: " + d.pick("null", "x", `"$$"`) + "}\n",
		"buildMetadata: [" + d.pick("originAnnotations", "transformerAnnotations", "managedByLabel") + "]\n", "generatorOptions: {disableNameSuffixHash: true}\n",
	} {
		if d.one(6) && (!strings.HasPrefix(field, "patches") || !strings.Contains(b.String(), "patches")) {
			b.WriteString(field)
		}
	}
	return b.String()
}

func (d *dice) spec() string {
	s := "path: " + d.pick("./app", "app", "/app/", "./app/../app") + "\n"
	for _, field := range []string{
		"targetNamespace: prod\n", "namePrefix: f-\n", "nameSuffix: -f\n", "images: [{name: nginx, newTag: v9}, {name: redis, digest: sha256:1}]\n", "components: [../comp]\n", "{components: [../missing], ignoreMissingComponents: true}\n",
		"buildMetadata: [originAnnotations]\n", "patches:\n- patch: |\n    - op: add\n      path: /metadata/labels\n      value: {flux: \"${A}\"}\n  target: {kind: Service}\n", "commonMetadata: {labels: {cm: \"1\"}, annotations: {an: x}}\n",
	} {
		if d.one(6) {
			s += strings.NewReplacer("{components", "components", ", ignore", "\nignore", "true}", "true").Replace(field)
		}
	}
	if d.one(8) {
		return s
	}
	s += "postBuild:\n"
	if d.one(4) {
		s += "  substituteStrategy: " + d.pick("WithVariables", "Always") + "\n"
	}
	s += "  substitute:\n"
	for _, name := range []string{"A", "B", "C"} {
		if d.one(10) {
			continue
		}
		n := 9 // the first ones break nothing
		if d.one(4) {
			n = len(variableValues)
		}
		s += fmt.Sprintf("    %s: %q\n", name, variableValues[d.roll(n)])
	}
	s += "    unused_1: x\n"
	if d.one(20) {
		s += "    not-a-name: x\n"
	}
	if d.one(3) {
		s += "  substituteFrom: [{kind: ConfigMap, name: vars}, {kind: Secret, name: vars}, {kind: ConfigMap, name: none, optional: true}]\n"
	}
	return s
}
