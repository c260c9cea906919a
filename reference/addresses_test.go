package reference_test

import (
	"net/netip"
	"path"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type settings struct {
	APIVersion   string `json:"apiVersion"`
	Environments map[string]struct {
		Path            string `json:"path"`
		LAN             string `json:"lan"`
		ControlPlaneVIP string `json:"controlPlaneVIP,omitempty"`
		Nodes           []struct {
			Name    string `json:"name"`
			Address string `json:"address"`
		} `json:"nodes"`
	} `json:"environments"`
	Knobs struct {
		Source string   `json:"source"`
		LAN    []string `json:"lan"`
	} `json:"knobs"`
	Bootstrap struct {
		CRDsFrom string   `json:"crdsFrom"`
		CRDs     []string `json:"crds"`
		Cilium   struct {
			Values  string `json:"values"`
			Mirrors string `json:"mirrors"`
		} `json:"cilium"`
		Secrets []string `json:"secrets"`
	} `json:"bootstrap"`
	Catalog        any      `json:"catalog"`
	SensitivePaths []string `json:"sensitivePaths"`
}

// No literal address of any environment's LAN stands outside cluster-vars, the overlays,
// tidegate.yaml and the documents.
func TestNoLiteralAddresses(t *testing.T) {
	var s settings
	readYAML(t, "tidegate.yaml", &s)
	var lans []netip.Prefix
	for _, e := range s.Environments {
		lans = append(lans, netip.MustParsePrefix(e.LAN))
	}
	allowed := []string{"clusters/base/cluster-vars.yaml", "clusters/dev/kustomization.yaml", "clusters/prod/kustomization.yaml", "tidegate.yaml"}
	ip := regexp.MustCompile(`\b\d{1,3}(?:[.-]\d{1,3}){3}\b`)
	for _, f := range repositoryFiles(t) {
		if slices.Contains(allowed, f) || path.Ext(f) == ".md" {
			continue
		}
		for _, m := range ip.FindAllString(read(t, f), -1) {
			a, err := netip.ParseAddr(strings.ReplaceAll(m, "-", "."))
			if err == nil && slices.ContainsFunc(lans, func(p netip.Prefix) bool { return p.Contains(a) }) {
				t.Errorf("%s holds the literal address %s", f, m)
			}
		}
	}
}

// The address plan holds over the knobs of both environments.
func TestAddressPlan(t *testing.T) {
	var s settings
	readYAML(t, "tidegate.yaml", &s)
	for _, env := range environments {
		e := render(t, env)
		addr := func(knob string) netip.Addr {
			a, err := netip.ParseAddr(e.vars[knob])
			if err != nil {
				t.Errorf("%s: %s: %v", env, knob, err)
			}
			return a
		}
		lan, out := netip.MustParsePrefix(e.vars["LAN_CIDR"]), s.Environments[env]
		if out.LAN != lan.String() {
			t.Errorf("%s: tidegate.yaml says %s, LAN_CIDR says %s", env, out.LAN, lan)
		}
		start, stop := addr("CILIUM_LB_POOL_START"), addr("CILIUM_LB_POOL_STOP")
		inPool := func(a netip.Addr) bool { return a.Compare(start) >= 0 && a.Compare(stop) <= 0 }
		if addr("GATEWAY_VIP") != start {
			t.Errorf("%s: GATEWAY_VIP is not the pool's first address", env)
		}
		seen := map[netip.Addr]string{start: "GATEWAY_VIP"}
		for _, knob := range []string{"UNIFI_L4_VIP", "CRAFTY_L4_VIP", "PLEX_L4_VIP"} {
			a := addr(knob)
			if other, taken := seen[a]; taken || !inPool(a) || !lan.Contains(a) {
				t.Errorf("%s: %s %s is outside the pool or also %s", env, knob, a, other)
			}
			seen[a] = knob
		}
		outside := []string{e.vars["K3S_API_HOST"]}
		for _, n := range out.Nodes {
			outside = append(outside, n.Address)
		}
		if out.ControlPlaneVIP != "" {
			outside = append(outside, out.ControlPlaneVIP)
		}
		for _, text := range outside {
			if a := netip.MustParseAddr(text); inPool(a) || !lan.Contains(a) {
				t.Errorf("%s: %s lies in the pool or outside the LAN", env, a)
			}
		}
		names := []string{}
		for _, n := range out.Nodes {
			names = append(names, n.Name)
		}
		for _, knob := range []string{"NODE_GAMES", "NODE_MEDIA"} {
			if !slices.Contains(names, e.vars[knob]) {
				t.Errorf("%s: %s is %s, which is no node of %v", env, knob, e.vars[knob], names)
			}
		}
	}
}

func TestSettingsNameTheRepository(t *testing.T) {
	var s settings
	readYAML(t, "tidegate.yaml", &s)
	if len(s.Environments) != 2 {
		t.Errorf("want two environments, got %v", s.Environments)
	}
	for _, env := range environments {
		if got := s.Environments[env].Path; got != "clusters/"+env {
			t.Errorf("%s: path is %q; the base is never an entry", env, got)
		}
	}
	want := []string{}
	for knob := range lanKnobs {
		want = append(want, knob)
	}
	if d := cmp.Diff(sorted(want), sorted(s.Knobs.LAN)); d != "" {
		t.Errorf("LAN block, want (-) and tidegate.yaml (+):\n%s", d)
	}
	if s.Knobs.Source != "ConfigMap flux-system/cluster-vars" {
		t.Errorf("knobs.source is %q", s.Knobs.Source)
	}
	if !slices.Contains(s.SensitivePaths, "clusters/**") {
		t.Errorf("sensitivePaths are %v", s.SensitivePaths)
	}
}

func sorted(s []string) []string {
	s = slices.Clone(s)
	sort.Strings(s)
	return s
}
