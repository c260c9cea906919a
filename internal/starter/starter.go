// Package starter makes repositories: a new one of the reference platform, with a person's own names and addresses, and
// a further environment in one that exists. It works on files in memory and writes nothing.
//
// The rules are:
//
//   - An address keeps its place in the plan: the host part of every address of dev's or prod's network stays, and the network
//     is the new one. A network in which a host part has no room is refused.
//   - Names and addresses are replaced wherever they stand, in manifests, in the catalog, and in documents, so that the
//     documents of the new repository are true.
//   - What nobody said is not guessed: it is a TBD-<ENVIRONMENT>-<NAME>, which a check refuses.
package starter

import (
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// What the reference platform has, which a new repository may have otherwise.
const (
	referenceDomain = "home.example.net"
	referenceURL    = "ssh://git@git.example.net/home/platform.git"
	referenceDev    = "192.168.1.0/24"
	referenceProd   = "192.168.2.0/24"
)

// Values are a person's own. What is empty stays as in the reference platform.
type Values struct {
	Domain  string // home.example.net
	DevLAN  string // 192.168.1.0/24
	ProdLAN string // 192.168.2.0/24
	RepoURL string // ssh://git@git.example.net/home/platform.git
}

// k3s' own networks for pods and Services.
var clusterNetworks = []netip.Prefix{netip.MustParsePrefix("10.42.0.0/16"), netip.MustParsePrefix("10.43.0.0/16")}

// New gives the files of the reference platform with values in them. The error says which value cannot be, and why.
func New(files map[string][]byte, v Values) (map[string][]byte, error) {
	if v.Domain == "" {
		v.Domain = referenceDomain
	}
	if len(validation.IsDNS1123Subdomain(v.Domain)) > 0 || !strings.Contains(v.Domain, ".") {
		return nil, fmt.Errorf("--domain %q is no domain: write one such as home.example.net", v.Domain)
	}
	if err := checkURL(v.RepoURL); err != nil {
		return nil, err
	}
	if v.RepoURL == "" {
		v.RepoURL = referenceURL
	}
	var moves []move
	for _, n := range []struct{ flag, from, to string }{{"--dev-lan", referenceDev, v.DevLAN}, {"--prod-lan", referenceProd, v.ProdLAN}} {
		m, err := moveOf(n.flag, n.from, n.to)
		if err != nil {
			return nil, err
		}
		for _, other := range moves {
			if other.to.Overlaps(m.to) {
				return nil, fmt.Errorf("%s %s overlaps %s: each environment has a network of its own", n.flag, m.to, other.to)
			}
		}
		moves = append(moves, m)
	}
	names := strings.NewReplacer(referenceURL, v.RepoURL, referenceDomain, v.Domain)
	out := map[string][]byte{}
	for p, data := range files {
		text, err := moved(names.Replace(string(data)), moves)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
		out[p] = []byte(text)
	}
	return out, nil
}

// plainURL is a URL that stands in YAML and in a shell as it is.
var plainURL = regexp.MustCompile(`^[A-Za-z0-9@:/._~%+-]+$`)

func checkURL(text string) error {
	if text == "" {
		return nil
	}
	u, err := url.Parse(text)
	if err == nil && plainURL.MatchString(text) && (u.Scheme == "ssh" || u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && strings.Trim(u.Path, "/") != "" {
		if _, secret := u.User.Password(); secret {
			return fmt.Errorf("--repo-url holds a password, which would be in git for good: leave it out, and give it to flux bootstrap")
		}
		return nil
	}
	fix := "ssh://git@git.example.net/home/platform.git"
	if user, rest, ok := strings.Cut(text, "@"); ok && strings.Contains(rest, ":") && !strings.Contains(text, "://") {
		host, p, _ := strings.Cut(rest, ":")
		fix = "ssh://" + user + "@" + host + "/" + strings.TrimPrefix(p, "/")
	}
	return fmt.Errorf("--repo-url %q is no URL that Flux reads: write ssh:// or https://, such as %s", text, fix)
}

// move is a network that becomes another.
type move struct {
	flag     string
	from, to netip.Prefix
}

func moveOf(flag, from, to string) (move, error) {
	m := move{flag: flag, from: netip.MustParsePrefix(from)}
	if to == "" {
		m.to = m.from
		return m, nil
	}
	p, err := netip.ParsePrefix(to)
	switch {
	case err != nil || !p.Addr().Is4():
		return m, fmt.Errorf("%s %q is no IPv4 network: write it as 192.168.1.0/24", flag, to)
	case p.Masked() != p:
		return m, fmt.Errorf("%s %s is an address in a network: the network is %s", flag, to, p.Masked())
	case p.Bits() < 8 || p.Bits() > 26:
		return m, fmt.Errorf("%s %s is too large or too small for the plan: /8 to /26 fit", flag, to)
	}
	for _, c := range clusterNetworks {
		if c.Overlaps(p) {
			return m, fmt.Errorf("%s %s overlaps %s, which k3s gives to pods or Services", flag, to, c)
		}
	}
	m.to = p
	return m, nil
}

// address is an IPv4 address in a text, with or without a prefix length.
var address = regexp.MustCompile(`\b(?:\d{1,3}\.){3}\d{1,3}(?:/\d{1,2})?\b`)

// moved gives a text with the addresses of networks in their new ones.
func moved(text string, moves []move) (string, error) {
	var fault error
	out := address.ReplaceAllStringFunc(text, func(s string) string {
		for _, m := range moves {
			if s == m.from.String() {
				return m.to.String()
			}
			bare, bits, cut := strings.Cut(s, "/")
			a, err := netip.ParseAddr(bare)
			if err != nil || !m.from.Contains(a) {
				continue
			}
			b, err := m.address(a)
			if err != nil {
				fault = err
				return s
			}
			if cut {
				return b.String() + "/" + bits
			}
			return b.String()
		}
		return s
	})
	return out, fault
}

// address moves one address: its host part stays.
func (m move) address(a netip.Addr) (netip.Addr, error) {
	from, to, at := number(m.from.Addr()), number(m.to.Addr()), number(a)
	host := at - from
	if size := uint32(1) << (32 - m.to.Bits()); host >= size-1 {
		return a, fmt.Errorf("%s %s has no room for host %d, which is %s in the plan", m.flag, m.to, host, a)
	}
	n := to + host
	return netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}), nil
}

func number(a netip.Addr) uint32 {
	b := a.As4()
	return uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
}
