// Package lbipam knows how Cilium gives addresses to Services of type LoadBalancer (cilium operator/pkg/lbipam). It is a leaf:
// rules ask it now, and whatever simulates a cluster can.
//
// The rules are:
//
//   - A pool matches a Service by spec.serviceSelector; one without a selector matches all. Besides its labels a Service
//     has io.kubernetes.service.name and io.kubernetes.service.namespace.
//   - A Service that asks for addresses gets those that lie in a matching pool and are free, and waits for the others for
//     ever. Two Services may share an address if both have the same sharing key.
//   - A Service that asks for none gets the first free address of a matching pool.
//   - spec.loadBalancerClass that is not Cilium's leaves a Service to somebody else.
package lbipam

import (
	"net/netip"
	"slices"
	"strings"
)

// Annotations by which a Service asks, with the ones that older versions read.
var (
	RequestAnnotations = []string{"lbipam.cilium.io/ips", "io.cilium/lb-ipam-ips"}
	SharingAnnotations = []string{"lbipam.cilium.io/sharing-key", "io.cilium/lb-ipam-sharing-key"}
)

// Block is a range of addresses, both ends included.
type Block struct{ From, To netip.Addr }

// Contains tells whether an address lies in the block.
func (b Block) Contains(a netip.Addr) bool { return b.From.Compare(a) <= 0 && a.Compare(b.To) <= 0 }

// Overlaps tells whether two blocks have an address in common.
func (b Block) Overlaps(o Block) bool { return b.From.Compare(o.To) <= 0 && o.From.Compare(b.To) <= 0 }

func (b Block) String() string {
	if b.From == b.To {
		return b.From.String()
	}
	return b.From.String() + " to " + b.To.String()
}

// ParseBlock reads a block of a pool: a CIDR, or a start with an optional stop.
func ParseBlock(cidr, start, stop string) (b Block, ok bool) {
	if cidr != "" {
		p, err := netip.ParsePrefix(strings.TrimSpace(cidr))
		if err != nil {
			return b, false
		}
		return Block{p.Masked().Addr(), last(p)}, true
	}
	if stop == "" {
		stop = start
	}
	from, err1 := netip.ParseAddr(strings.TrimSpace(start))
	to, err2 := netip.ParseAddr(strings.TrimSpace(stop))
	return Block{from, to}, err1 == nil && err2 == nil && from.Is4() == to.Is4() && from.Compare(to) <= 0
}

// last is the highest address of a network.
func last(p netip.Prefix) netip.Addr {
	bytes := p.Masked().Addr().AsSlice()
	for i := range bytes {
		bits := min(8, max(0, p.Bits()-8*i))
		bytes[i] |= byte(0xff >> bits)
	}
	a, _ := netip.AddrFromSlice(bytes)
	return a
}

// First gives the first address of blocks, in their order, that is not taken.
func First(blocks []Block, taken func(netip.Addr) bool) (netip.Addr, bool) {
	const most = 1 << 16 // a pool with more addresses than that has a free one before
	for _, b := range blocks {
		n := 0
		for a := b.From; a.IsValid() && a.Compare(b.To) <= 0 && n < most; a, n = a.Next(), n+1 {
			if !taken(a) {
				return a, true
			}
		}
	}
	return netip.Addr{}, false
}

// Addresses reads a list of addresses as an annotation has it.
func Addresses(text string) (out []netip.Addr, ok bool) {
	for _, s := range strings.Split(text, ",") {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		a, err := netip.ParseAddr(s)
		if err != nil {
			return nil, false
		}
		out = append(out, a)
	}
	return out, true
}

// Requirement is one of a label selector.
type Requirement struct {
	Key, Operator string
	Values        []string
}

// Matches tells whether labels meet all requirements. An operator that does not exist is never met.
func Matches(all []Requirement, labels map[string]string) bool {
	for _, r := range all {
		value, has := labels[r.Key]
		ok := false
		switch r.Operator {
		case "In":
			ok = has && slices.Contains(r.Values, value)
		case "NotIn":
			ok = !has || !slices.Contains(r.Values, value)
		case "Exists":
			ok = has
		case "DoesNotExist":
			ok = !has
		}
		if !ok {
			return false
		}
	}
	return true
}

// Ours tells whether Cilium serves a Service of this class.
func Ours(class string) bool {
	return class == "" || strings.HasPrefix(class, "io.cilium/")
}
