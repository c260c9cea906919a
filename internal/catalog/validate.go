package catalog

import (
	"fmt"
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
)

// token is a text that is one ${TOKEN}, with an operator or without. What it becomes is another matter.
var token = regexp.MustCompile(`^\$\{[A-Za-z_][A-Za-z0-9_]*([^A-Za-z0-9_{}][^{}]*)?\}$`)

func isToken(s string) bool { return token.MatchString(s) }

// hasToken tells whether a text holds any: what it will be is not known here.
func hasToken(s string) bool { return strings.Contains(s, "${") }

// imagePattern is a repository with a tag, a digest, or both (distribution's reference grammar, as far as a person
// would notice).
var imagePattern = regexp.MustCompile(`^(?:[a-zA-Z0-9.-]+(?::[0-9]+)?/)?[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?:/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*(?::[A-Za-z0-9_][A-Za-z0-9._-]{0,127})?(?:@sha256:[0-9a-f]{64})?$`)

// check gathers the problems of one app.
type check struct {
	c   *Catalog
	a   *App
	out []Problem
}

func (k *check) bad(at, message, fix string) {
	k.out = append(k.out, Problem{Place: k.a.place(at), Message: message, Fix: fix})
}

// validate finds what is wrong with an app by itself.
func (c *Catalog) validate(a *App) []Problem {
	k := &check{c: c, a: a}
	k.identity()
	k.container()
	k.volumes()
	k.network()
	k.secrets()
	k.database()
	k.manifests()
	return k.out
}

func (k *check) identity() {
	a := k.a
	if a.APIVersion != "" && a.APIVersion != APIVersion {
		k.bad("apiVersion", "apiVersion is "+quote(a.APIVersion), "write "+APIVersion+", which this tidegate reads")
	}
	if a.Name == "" {
		return
	}
	if len(validation.IsDNS1035Label(a.Name)) > 0 {
		k.bad("name", "the name "+quote(a.Name)+" is no DNS label that a Service can have", "write small letters, digits and dashes, a letter first, such as "+label(a.Name))
		return
	}
	if len(a.Name) > 40 {
		k.bad("name", "the name is longer than 40 characters", "names of volumes and Services are made of it: choose a shorter one")
	}
	if slices.Contains(k.c.Provided, a.Name) {
		k.bad("name", fmt.Sprintf("%s is the name of something that the tiers provide", a.Name), "choose another: needs could not tell the two apart")
		return
	}
	if at, ok := k.c.namespaces[a.Name]; ok {
		k.bad("name", fmt.Sprintf("the namespace %s is made by %s already, and would have two owners", a.Name, at), "choose another name: whoever goes first would take the namespace along, with all that is in it")
		return
	}
	if want := a.Name + ".yaml"; path.Base(a.File) != want {
		k.bad("name", fmt.Sprintf("the app is called %s and its file %s", a.Name, path.Base(a.File)), "call the file "+want+", or the app "+strings.TrimSuffix(path.Base(a.File), ".yaml"))
	}
	if slices.Contains([]string{"default", "flux-system", "kube-system", "kube-public", "kube-node-lease"}, a.Name) {
		k.bad("name", fmt.Sprintf("%s is a namespace that the cluster has already", a.Name), "choose another name")
	}
}

// label makes a DNS label of a text, to suggest it.
func label(s string) string {
	out := strings.TrimLeft(strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(s), "-"), "-"), "0123456789-")
	if out == "" {
		return "my-app"
	}
	return out[:min(len(out), 40)]
}

func (k *check) container() {
	a := k.a
	switch {
	case a.Image == "" || hasToken(a.Image):
	case !imagePattern.MatchString(a.Image):
		k.bad("image", quote(a.Image)+" is no image", "write REPOSITORY:TAG, such as docker.io/library/nginx:1.29.4")
	case !strings.Contains(path.Base(a.Image), ":"):
		k.bad("image", quote(a.Image)+" has no tag, so that it would be another image tomorrow", "add a tag, or a digest")
	case strings.HasSuffix(a.Image, ":latest"):
		k.bad("image", quote(a.Image)+" is another image tomorrow", "write the tag of a release")
	}
	if len(a.Ports) == 0 && a.placed("ports") {
		k.bad("ports", "ports is empty", "an app serves something: write its port, such as {http: 8080}")
	}
	for _, p := range a.Ports {
		at := join("ports", p.Name)
		if msgs := validation.IsValidPortName(p.Name); len(msgs) > 0 {
			k.bad(at, quote(p.Name)+" is no name of a port", "at most 15 small letters, digits and dashes, with a letter among them")
		}
		if p.Port < 1 || p.Port > 65535 {
			k.bad(at, fmt.Sprintf("%d is no port", p.Port), "a port is 1 to 65535")
		}
		for _, o := range a.Ports {
			if o.Name == p.Name {
				break
			}
			if o.Port == p.Port && protocol(o) == protocol(p) {
				k.bad(at, fmt.Sprintf("port %d is also %s", p.Port, o.Name), "name it once")
			}
		}
	}
	for _, e := range a.Env {
		k.variable(e)
	}
	k.number("replicas", a.Replicas, 0, 100)
	if a.Replicas != "" && a.Replicas != "1" && a.keeps() {
		k.bad("replicas", "an app with a volume runs once: its volume attaches to one node", "take replicas away")
	}
	if a.User < 0 || a.User > 1<<31-1 {
		k.bad("user", fmt.Sprintf("%d is no user", a.User), "write a number from 1 to 2147483647")
	}
	if r := a.Resources; r != nil {
		k.quantity("resources.cpu", r.CPU)
		k.quantity("resources.memory", r.Memory)
		if r.MemoryLimit != "none" {
			k.quantity("resources.memoryLimit", r.MemoryLimit)
			limit, err1 := resource.ParseQuantity(r.MemoryLimit)
			memory, err2 := resource.ParseQuantity(r.Memory)
			if err1 == nil && err2 == nil && limit.Cmp(memory) < 0 {
				k.bad("resources.memoryLimit", fmt.Sprintf("the limit %s is below the %s that are reserved, which the API server refuses", r.MemoryLimit, r.Memory), "write at least "+r.Memory)
			}
		}
	}
	if p := a.Probe; p != nil {
		k.port("probe.port", p.Port)
		if p.Path != "" && !strings.HasPrefix(p.Path, "/") {
			k.bad("probe.path", quote(p.Path)+" does not begin with /", "write /"+p.Path)
		}
		if d, err := time.ParseDuration(p.Startup); p.Startup != "" && (err != nil || d < 10*time.Second || d > 24*time.Hour) {
			k.bad("probe.startup", quote(p.Startup)+" is no time from 10s to 24h", "write it as 90s or 15m")
		}
	}
}

func (k *check) variable(e Variable) {
	at := join("env", e.Name)
	if msgs := validation.IsEnvVarName(e.Name); len(msgs) > 0 {
		k.bad(at, quote(e.Name)+" is no name of an environment variable", "write letters, digits and _")
	}
	kinds := 0
	for _, s := range []string{e.Secret, e.Database, e.Login} {
		if s != "" {
			kinds++
		}
	}
	switch {
	case kinds == 0 && e.Key != "" || kinds == 1 && e.Secret == "" && e.Key != "":
		k.bad(at, "key belongs to a secret", "write {secret: NAME, key: KEY}")
	case kinds > 1:
		k.bad(at, "it takes its value from more than one place", "keep one of secret, database and login")
	case e.Secret != "" && e.Key == "":
		k.bad(at, "it does not say which key of the Secret", "write {secret: "+e.Secret+", key: KEY}")
	case e.Secret != "":
		s := k.a.secret(e.Secret)
		if s == nil {
			k.bad(at, fmt.Sprintf("the Secret %s is none of the app's", quoteKey(e.Secret)), "declare it under secrets")
			return
		}
		if !slices.ContainsFunc(s.Keys, func(key Key) bool { return key.Name == e.Key }) {
			k.bad(at, fmt.Sprintf("the Secret %s has no key %s", e.Secret, quoteKey(e.Key)), "declare it under secrets."+e.Secret+".keys")
		}
	case e.Database != "" && k.a.Database == nil:
		k.bad(at, "the app has no database", "add database: {size: 5Gi}")
	case e.Login != "" && k.a.Login == nil:
		k.bad(at, "the app has no login", "add login: {client: "+k.a.Name+"}")
	}
}

func protocol(p Port) string {
	if p.Protocol == "" {
		return "TCP"
	}
	return p.Protocol
}

func (a *App) placed(at string) bool { _, ok := a.places[at]; return ok }

// keeps tells whether the app has a volume that keeps data.
func (a *App) keeps() bool {
	return slices.ContainsFunc(a.Storage, func(v Volume) bool { return !v.Scratch })
}

func (a *App) secret(name string) *Secret {
	for i := range a.Secrets {
		if a.Secrets[i].Name == name {
			return &a.Secrets[i]
		}
	}
	return nil
}

func (a *App) port(name string) *Port {
	for i := range a.Ports {
		if a.Ports[i].Name == name {
			return &a.Ports[i]
		}
	}
	return nil
}

// port checks the name of a port of the app.
func (k *check) port(at, name string) {
	if name == "" || k.a.port(name) != nil {
		return
	}
	var names []string
	for _, p := range k.a.Ports {
		names = append(names, p.Name)
	}
	fix := "ports has " + strings.Join(names, ", ")
	if len(names) == 0 {
		fix = "declare it under ports"
	}
	k.bad(at, fmt.Sprintf("%s names the port %s, which the app does not have", at, quoteKey(name)), fix)
}

func (k *check) quantity(at, text string) {
	if text == "" || isToken(text) {
		return
	}
	q, err := resource.ParseQuantity(text)
	if err != nil || q.Sign() <= 0 {
		k.bad(at, fmt.Sprintf("%s is %s, which is no amount", at, quote(text)), "write it as 500m, 256Mi or 20Gi, or as one ${TOKEN}")
	}
}

func (k *check) number(at, text string, least, most int) {
	if text == "" || isToken(text) {
		return
	}
	if n, err := strconv.Atoi(text); err != nil || n < least || n > most {
		k.bad(at, fmt.Sprintf("%s is %s", at, quote(text)), fmt.Sprintf("write a number from %d to %d in quotes, or one ${TOKEN}", least, most))
	}
}

func (k *check) network() {
	a := k.a
	if r := a.Route; r != nil {
		if strings.ContainsAny(r.Host, " \t|<>\"'`") {
			k.bad("route.host", quote(r.Host)+" is no host name", "write a name, with ${TOKEN}s in it where environments differ")
		}
		if r.Host != "" && !hasToken(r.Host) && len(validation.IsDNS1123Subdomain(r.Host)) > 0 {
			k.bad("route.host", quote(r.Host)+" is no host name", "write a name such as "+label(a.Name)+".home.example.net, without scheme or path")
		}
		k.port("route.port", r.Port)
	}
	if l := a.L4; l != nil {
		if l.Address != "" && !isToken(l.Address) {
			fix := "make it a knob of cluster-vars, and write ${" + strings.ToUpper(strings.ReplaceAll(label(a.Name), "-", "_")) + "_L4_VIP}"
			if _, err := netip.ParseAddr(l.Address); err == nil {
				k.bad("l4.address", l.Address+" is an address of one environment, and every environment would get it", fix)
			} else {
				k.bad("l4.address", quote(l.Address)+" is no ${TOKEN}", fix)
			}
		}
		if len(l.Ports) == 0 && a.placed("l4.ports") {
			k.bad("l4.ports", "l4.ports is empty", "name the ports that the address serves")
		}
		for i, p := range l.Ports {
			k.port(fmt.Sprintf("l4.ports[%d]", i), p)
			if slices.Contains(l.Ports[:i], p) {
				k.bad(fmt.Sprintf("l4.ports[%d]", i), "l4.ports lists "+quoteKey(p)+" twice", "keep one of them")
			}
		}
		if l.Service != "" && (len(validation.IsDNS1035Label(l.Service)) > 0 || l.Service == a.Name) {
			k.bad("l4.service", quote(l.Service)+" cannot be the L4 Service's name", "write small letters, digits and dashes; it is not the app's own name")
		}
	}
}

func (k *check) secrets() {
	a := k.a
	for _, s := range a.Secrets {
		at := join("secrets", s.Name)
		if len(validation.IsDNS1123Subdomain(s.Name)) > 0 {
			k.bad(at, quote(s.Name)+" is no name of a Secret", "write small letters, digits and dashes")
			continue
		}
		if len(s.Keys) == 0 && a.placed(at+".keys") {
			k.bad(at+".keys", "the Secret has no keys", "list them, with what goes in: {password: a password}")
		}
		for _, key := range s.Keys {
			if len(validation.IsConfigMapKey(key.Name)) > 0 {
				k.bad(join(at+".keys", key.Name), quote(key.Name)+" is no key of a Secret", "write letters, digits, '-', '_' and '.'")
			}
		}
		if s.Name == a.Name+"-oidc" && a.Login != nil || s.Name == a.Name+"-db-s3" && a.Database != nil {
			k.bad(at, s.Name+" follows from login or database and is not declared", "take it away")
		}
	}
}
