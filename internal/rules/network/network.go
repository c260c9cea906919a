// Package network finds in an environment what gives addresses on the LAN, what asks for them, and what tells clients
// where to go. The rules of family TG09 share it.
package network

import (
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/facts"
	"github.com/tidegate/tidegate/internal/lbipam"
	"github.com/tidegate/tidegate/internal/model"
)

// Network is what an environment has.
type Network struct {
	Pools      []*Pool
	Balancers  []*Balancer // in the order in which they are applied
	Announcers []*Announcer
	Answers    []Answer
}

// Announcer is what tells the LAN where addresses are: a CiliumL2AnnouncementPolicy, or anything of Cilium's BGP.
type Announcer struct {
	*facts.Object
	L2       bool
	selector []lbipam.Requirement
	// SomeNodes: it chooses among nodes by more than their operating system.
	SomeNodes bool
}

// Announces tells whether it announces the address of a balancer.
func (a *Announcer) Announces(b *Balancer) bool {
	return !a.L2 || a.Get("spec", "loadBalancerIPs") == true && lbipam.Matches(a.selector, b.labels)
}

func announcer(o *facts.Object) *Announcer {
	a := &Announcer{Object: o, L2: o.Ref.Kind == "CiliumL2AnnouncementPolicy", selector: requirements(o.Get("spec", "serviceSelector"))}
	for _, r := range requirements(o.Get("spec", "nodeSelector")) {
		a.SomeNodes = a.SomeNodes || r.Key != "kubernetes.io/os"
	}
	return a
}

// Pool is a CiliumLoadBalancerIPPool.
type Pool struct {
	*facts.Object
	Unit     *facts.Unit
	Blocks   []Block
	selector []lbipam.Requirement
	// Unclear: a block of it cannot be read, so that nothing can be said of what is in it.
	Unclear bool
}

// Block is a block of a pool and where it stands in it.
type Block struct {
	lbipam.Block
	Path model.Path // of the block
}

// Balancer is a Service of type LoadBalancer, or a Gateway for which Cilium makes one.
type Balancer struct {
	*facts.Object
	Unit    *facts.Unit
	Gateway bool
	Pins    []Pin
	Sharing string
	// Unclear: what it asks for cannot be read.
	Unclear bool
	labels  map[string]string
}

// Pin is an address that something asks for.
type Pin struct {
	Addr netip.Addr
	Path model.Path
}

// Answer is an address that the cluster's DNS gives for names.
type Answer struct {
	*facts.Object
	Unit *facts.Unit
	Addr netip.Addr
	Zone string
	Path model.Path
	// From and To are where the address stands in the text at Path.
	From, To int
}

// Of gathers an environment's network.
func Of(env *facts.Environment) *Network {
	n := &Network{}
	for _, u := range env.Units {
		for _, o := range u.Objects {
			switch o.Ref.Kind {
			case "CiliumLoadBalancerIPPool":
				if o.Get("spec", "disabled") != true {
					n.Pools = append(n.Pools, pool(u, o))
				}
			case "CiliumL2AnnouncementPolicy", "CiliumBGPAdvertisement", "CiliumBGPClusterConfig", "CiliumBGPPeeringPolicy":
				n.Announcers = append(n.Announcers, announcer(o))
			case "Service":
				if o.Get("spec", "type") == "LoadBalancer" {
					class, _ := o.Get("spec", "loadBalancerClass").(string)
					if lbipam.Ours(class) {
						n.Balancers = append(n.Balancers, service(u, o))
					}
				}
			case "Gateway":
				if class, _ := o.Get("spec", "gatewayClassName").(string); class == "cilium" && strings.HasPrefix(o.Ref.APIVersion, "gateway.networking.k8s.io/") {
					n.Balancers = append(n.Balancers, gateway(u, o))
				}
			case "ConfigMap":
				n.Answers = append(n.Answers, answers(u, o)...)
			}
		}
	}
	return n
}

func pool(u *facts.Unit, o *facts.Object) *Pool {
	p := &Pool{Object: o, Unit: u, selector: requirements(o.Get("spec", "serviceSelector"))}
	blocks, _ := o.Get("spec", "blocks").([]any)
	for i, e := range blocks {
		m, _ := e.(map[string]any)
		text := func(k string) string { s, _ := m[k].(string); return s }
		b, ok := lbipam.ParseBlock(text("cidr"), text("start"), text("stop"))
		if !ok {
			p.Unclear = true
			continue
		}
		if text("cidr") != "" && o.Get("spec", "allowFirstLastIPs") == "No" && b.From.Next().Compare(b.To) < 0 {
			b.From, b.To = b.From.Next(), b.To.Prev()
		}
		p.Blocks = append(p.Blocks, Block{b, model.Path{"spec", "blocks", i}})
	}
	return p
}

func requirements(selector any) (out []lbipam.Requirement) {
	s, _ := selector.(map[string]any)
	labels, _ := s["matchLabels"].(map[string]any)
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		out = append(out, lbipam.Requirement{Key: k, Operator: "In", Values: []string{fmt.Sprint(labels[k])}})
	}
	list, _ := s["matchExpressions"].([]any)
	for _, e := range list {
		m, _ := e.(map[string]any)
		r := lbipam.Requirement{Key: fmt.Sprint(m["key"]), Operator: fmt.Sprint(m["operator"])}
		values, _ := m["values"].([]any)
		for _, v := range values {
			r.Values = append(r.Values, fmt.Sprint(v))
		}
		out = append(out, r)
	}
	return out
}

func texts(m any) map[string]string {
	out := map[string]string{}
	all, _ := m.(map[string]any)
	for k, v := range all {
		out[k] = fmt.Sprint(v)
	}
	return out
}

func service(u *facts.Unit, o *facts.Object) *Balancer {
	b := &Balancer{Object: o, Unit: u, labels: texts(o.Get("metadata", "labels"))}
	b.labels["io.kubernetes.service.name"], b.labels["io.kubernetes.service.namespace"] = o.Ref.Name, o.Ref.Namespace
	for _, a := range lbipam.RequestAnnotations {
		b.pin(model.Path{"metadata", "annotations", a})
	}
	b.pin(model.Path{"spec", "loadBalancerIP"})
	for _, a := range lbipam.SharingAnnotations {
		if s, ok := o.Get("metadata", "annotations", a).(string); ok {
			b.Sharing = s
		}
	}
	return b
}

// gateway is the Service cilium-gateway-NAME that Cilium makes for a Gateway (operator/pkg/gateway-api).
func gateway(u *facts.Unit, o *facts.Object) *Balancer {
	b := &Balancer{Object: o, Unit: u, Gateway: true, labels: texts(o.Get("spec", "infrastructure", "labels"))}
	b.labels["io.kubernetes.service.name"], b.labels["io.kubernetes.service.namespace"] = "cilium-gateway-"+o.Ref.Name, o.Ref.Namespace
	list, _ := o.Get("spec", "addresses").([]any)
	for i := range list {
		b.pin(model.Path{"spec", "addresses", i, "value"})
	}
	for _, a := range lbipam.RequestAnnotations {
		b.pin(model.Path{"spec", "infrastructure", "annotations", a})
	}
	return b
}

func (b *Balancer) pin(at model.Path) {
	text, ok := b.Get(at...).(string)
	if !ok || text == "" {
		return
	}
	list, ok := lbipam.Addresses(text)
	if !ok {
		b.Unclear = true
		return
	}
	for _, a := range list {
		b.Pins = append(b.Pins, Pin{a, at})
	}
}

// PoolsFor tells which pools a Service may get an address from.
func (n *Network) PoolsFor(b *Balancer) (out []*Pool) {
	for _, p := range n.Pools {
		if lbipam.Matches(p.selector, b.labels) {
			out = append(out, p)
		}
	}
	return out
}

// Contains tells whether an address lies in a pool.
func (p *Pool) Contains(a netip.Addr) (Block, bool) {
	for _, b := range p.Blocks {
		if b.Contains(a) {
			return b, true
		}
	}
	return Block{}, false
}

// Range shows what a pool gives.
func (p *Pool) Range() string {
	var out []string
	for _, b := range p.Blocks {
		out = append(out, b.String())
	}
	return strings.Join(out, ", ")
}

// Clear tells whether all pools can be read.
func (n *Network) Clear() bool {
	return !slices.ContainsFunc(n.Pools, func(p *Pool) bool { return p.Unclear })
}

// First is the address that a balancer which asks for none gets on a new cluster, if those that ask have theirs.
func (n *Network) First(b *Balancer) (netip.Addr, bool) {
	taken := map[netip.Addr]bool{}
	for _, o := range n.Balancers {
		for _, p := range o.Pins {
			taken[p.Addr] = true
		}
	}
	var blocks []lbipam.Block
	for _, p := range n.PoolsFor(b) {
		for _, x := range p.Blocks {
			blocks = append(blocks, x.Block)
		}
	}
	return lbipam.First(blocks, func(a netip.Addr) bool { return taken[a] })
}

// templateAnswer is an answer of CoreDNS's template plugin: NAME TTL IN A ADDRESS.
var templateAnswer = regexp.MustCompile(`answer\s+"[^"]*\bIN\s+A\s+(\d{1,3}(?:\.\d{1,3}){3})"`)

// zone is the name that a server block of a Corefile begins with.
var zone = regexp.MustCompile(`(?m)^\s*([A-Za-z0-9.-]+)(?::\d+)?(?:\s[^{\n]*)?\{`)

// answers finds the addresses that k3s' CoreDNS gives by its custom configuration (ConfigMap kube-system/coredns-custom: k3s manifests/coredns.yaml).
func answers(u *facts.Unit, o *facts.Object) (out []Answer) {
	if o.Ref.Namespace != "kube-system" || o.Ref.Name != "coredns-custom" {
		return nil
	}
	data, _ := o.Get("data").(map[string]any)
	for _, k := range slices.Sorted(maps.Keys(data)) {
		text, _ := data[k].(string)
		for _, m := range templateAnswer.FindAllStringSubmatchIndex(text, -1) {
			a, err := netip.ParseAddr(text[m[2]:m[3]])
			if err != nil {
				continue
			}
			name := ""
			for _, z := range zone.FindAllStringSubmatch(text[:m[0]], -1) {
				if strings.Contains(z[1], ".") {
					name = z[1]
				}
			}
			out = append(out, Answer{Object: o, Unit: u, Addr: a, Zone: name, Path: model.Path{"data", k}, From: m[2], To: m[3]})
		}
	}
	return out
}
