package engine

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"filippo.io/age"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/tidegate/tidegate/internal/config"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/report"
	"github.com/tidegate/tidegate/internal/subst"
	"github.com/tidegate/tidegate/reference"
)

// bootstrap works out the steps for one environment.
type bootstrap struct {
	*repository
	env *model.Environment
	out report.Bootstrap
}

func (b *bootstrap) step(title, text string, commands ...string) {
	b.out.Steps = append(b.out.Steps, report.BootstrapStep{Title: title, Text: text, Commands: append([]string{}, commands...)})
}

func (b *bootstrap) report() (*report.Bootstrap, error) {
	b.out = report.Bootstrap{Version: report.BootstrapVersion, Repository: b.tree.Label(), Environment: b.env.Name, Entry: b.env.Entry, Steps: []report.BootstrapStep{}, Notes: []string{}, Problems: []string{}}
	conf := config.Config{}
	if b.conf != nil {
		conf = *b.conf
	}
	b.machines(conf.Environments[b.env.Name])
	if c := conf.Bootstrap; c != nil {
		if len(c.CRDs) > 0 {
			text := "These are looked for when the network starts: " + strings.Join(c.CRDs, ", ") + "."
			if c.CRDsFrom != "" {
				b.step("CustomResourceDefinitions", text, "kubectl apply --server-side -f "+shell(c.CRDsFrom))
			} else {
				b.step("CustomResourceDefinitions", text+" Nothing in "+config.FileName+" says where they come from (bootstrap.crdsFrom).")
			}
		}
		if c.Cilium != nil {
			if err := b.network(&conf); err != nil {
				return nil, err
			}
		}
		for _, s := range c.Secrets {
			ns, secret, _ := strings.Cut(s, "/")
			b.step("Secret "+s, "The private key that opens what is encrypted. The data key must end in .agekey, or Flux ignores it. Keep a copy off the cluster.",
				"kubectl create namespace "+shell(ns), fmt.Sprintf("kubectl -n %s create secret generic %s --from-file=age.agekey=KEY-FILE", shell(ns), shell(secret)))
		}
	}
	b.flux()
	b.notes(&conf)
	return &b.out, nil
}

// unquoted is a word that a shell takes as it is.
var unquoted = regexp.MustCompile(`^[A-Za-z0-9@%+=:,./_-]+$`)

// shell quotes a word that comes from a repository, since commands are printed to be pasted.
func shell(word string) string {
	if unquoted.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// notes says what a cluster should not be brought up with.
func (b *bootstrap) notes(conf *config.Config) {
	vars := b.knobs(conf)
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		if strings.Contains(vars[name], "TBD-") {
			b.out.Notes = append(b.out.Notes, fmt.Sprintf("nobody has decided %s of %s: what needs it fails until somebody does", name, b.env.Name))
		}
	}
	if data, err := b.tree.ReadFile(".sops.yaml"); err == nil {
		if ids, err := age.ParseIdentities(strings.NewReader(reference.TestAgeKey())); err == nil && len(ids) == 1 {
			if id, ok := ids[0].(*age.X25519Identity); ok && strings.Contains(string(data), id.Recipient().String()) {
				b.out.Notes = append(b.out.Notes, "the key that .sops.yaml encrypts for is public: make one of your own, and every encrypted file anew, before anything secret is in one")
			}
		}
	}
}

// machines says what tidegate.yaml knows of the nodes.
func (b *bootstrap) machines(e config.Environment) {
	if len(e.Nodes) == 0 {
		return
	}
	var nodes []string
	for _, n := range e.Nodes {
		nodes = append(nodes, n.Name+" "+n.Address)
	}
	text := "Kubernetes runs on " + strings.Join(nodes, ", ") + ", and this machine's kubectl speaks to it."
	if e.ControlPlaneVIP != "" {
		text += " The API server answers on " + e.ControlPlaneVIP + "."
	}
	b.step("Machines", text, "kubectl get nodes -o wide")
}

// network renders the values that install the network before Flux is there, and finds the chart that they are for.
func (b *bootstrap) network(conf *config.Config) error {
	c := conf.Bootstrap.Cilium
	data, err := b.tree.ReadFile(c.Values)
	if err != nil {
		return usage("%s: bootstrap.cilium.values: %v", config.FileName, err)
	}
	vars := b.knobs(conf)
	var missing []string
	res, err := subst.Eval(string(data), func(name string) (string, subst.State) {
		if v, ok := vars[name]; ok {
			return v, subst.Known
		}
		missing = append(missing, name)
		return "", subst.Opaque
	}, subst.Options{Strict: true, NegativeLength: true})
	if err != nil {
		return fmt.Errorf("%s: %w", c.Values, err)
	}
	slices.Sort(missing)
	for _, name := range slices.Compact(missing) {
		b.out.Problems = append(b.out.Problems, fmt.Sprintf("%s names ${%s}, which no knob of %s defines", c.Values, name, b.env.Name))
	}
	for _, seg := range res.Segments {
		if strings.Contains(vars[seg.Name], "TBD-") {
			b.out.Problems = append(b.out.Problems, fmt.Sprintf("nobody has decided %s of %s, and %s needs it", seg.Name, b.env.Name, c.Values))
		}
	}
	if i := strings.IndexFunc(res.Text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' }); i >= 0 {
		b.out.Problems = append(b.out.Problems, fmt.Sprintf("%s holds a control character, which a terminal would obey", c.Values))
		res.Text = ""
	}
	b.out.Values, b.out.ValuesFile = res.Text, c.Values
	release := b.object(objectName(c.Mirrors))
	chart, version, repo := "CHART", "VERSION", "REPOSITORY"
	ref := objectName(c.Mirrors)
	if release != nil {
		spec := dig(release, "spec", "chart", "spec")
		chart, version = text(dig(spec, "chart")), text(dig(spec, "version"))
		ns := text(dig(spec, "sourceRef", "namespace"))
		if ns == "" {
			ns = ref.Namespace
		}
		source := b.object(model.Ref{Kind: text(dig(spec, "sourceRef", "kind")), Namespace: ns, Name: text(dig(spec, "sourceRef", "name"))})
		repo = text(dig(source, "spec", "url"))
		if name := text(dig(release, "spec", "releaseName")); name != "" {
			ref.Name = name
		}
	} else {
		b.out.Problems = append(b.out.Problems, fmt.Sprintf("%s, which bootstrap.cilium.mirrors names, is not rendered in %s", c.Mirrors, b.env.Name))
	}
	install := fmt.Sprintf("helm install %s %s --repo %s --version %s -n %s -f %s-values.yaml", shell(ref.Name), shell(chart), shell(repo), shell(version), shell(ref.Namespace), shell(ref.Name))
	if strings.HasPrefix(repo, "oci://") {
		install = fmt.Sprintf("helm install %s %s --version %s -n %s -f %s-values.yaml", shell(ref.Name), shell(strings.TrimSuffix(repo, "/")+"/"+chart), shell(version), shell(ref.Namespace), shell(ref.Name))
	}
	b.step("Network", fmt.Sprintf("Flux adopts the release %s from here on. Its values are those of %s, with %s's knobs in them.", ref.Name, c.Values, b.env.Name),
		fmt.Sprintf("tidegate bootstrap %s --values > %s-values.yaml", shell(b.env.Name), shell(ref.Name)), install, "kubectl -n "+shell(ref.Namespace)+" rollout status "+shell("daemonset/"+ref.Name))
	return nil
}

// knobs gives the values that the environment's knobs have.
func (b *bootstrap) knobs(conf *config.Config) map[string]string {
	out := map[string]string{}
	if conf.Knobs != nil {
		data, _ := dig(b.object(objectName(conf.Knobs.Source)), "data").(map[string]any)
		for k, v := range data {
			out[k] = text(v)
		}
	}
	maps.Copy(out, conf.Environments[b.env.Name].Vars)
	return out
}

// object gives an object that the environment renders; nil when there is none.
func (b *bootstrap) object(ref model.Ref) map[string]any {
	for _, u := range b.env.Units {
		for _, o := range u.Objects {
			if o.Ref.Kind == ref.Kind && o.Ref.Namespace == ref.Namespace && o.Ref.Name == ref.Name {
				var m map[string]any
				if sigsyaml.Unmarshal([]byte(o.Display), &m) == nil {
					return m
				}
			}
		}
	}
	return nil
}

func dig(v any, path ...string) any {
	for _, p := range path {
		m, _ := v.(map[string]any)
		v = m[p]
	}
	return v
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// flux is the last step: from then on git is the only way in.
func (b *bootstrap) flux() {
	source := b.object(model.Ref{Kind: b.env.Source.Kind, Namespace: b.env.Source.Namespace, Name: b.env.Source.Name})
	url, branch := text(dig(source, "spec", "url")), text(dig(source, "spec", "ref", "branch"))
	if b.env.Source.Kind != "GitRepository" && b.env.Source.Kind != "" {
		b.step("Flux", fmt.Sprintf("The environment's source is %s, which flux bootstrap does not make: install Flux, and apply what brings it.", b.env.Source.String()), "flux install", "flux check")
		return
	}
	say := "It writes flux-system/ into " + b.env.Entry + ", commits it, and waits until Flux has it. From then on git is the only way in."
	if url == "" {
		url, say = "URL", say+" Nothing in the repository says its URL."
	}
	if branch == "" {
		branch = "main"
	}
	// flux bootstrap makes an SSH key, and an ssh:// URL of what it was given, unless it is told to use a password
	// (flux2 cmd/flux/bootstrap_git.go).
	more := ""
	if strings.HasPrefix(url, "http") {
		more = " --token-auth --username=USER"
		say += " It asks for the password, or takes it from GIT_PASSWORD."
	}
	if strings.HasPrefix(url, "http://") {
		more += " --allow-insecure-http"
	}
	b.step("Flux", say, "flux check --pre", fmt.Sprintf("flux bootstrap git --url=%s --branch=%s --path=%s%s", shell(url), shell(branch), shell(b.env.Entry), more), "flux get kustomizations --watch")
}
