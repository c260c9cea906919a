package starter_test

import (
	"io/fs"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/starter"
	"github.com/tidegate/tidegate/reference"
)

func platform(t *testing.T) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	err := fs.WalkDir(reference.FS, ".", func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out[p], err = reference.FS.ReadFile(p)
		}
		return err
	})
	if err != nil || len(out) < 100 {
		t.Fatalf("%d files, %v", len(out), err)
	}
	return out
}

var ip = regexp.MustCompile(`\b(?:\d{1,3}\.){3}\d{1,3}\b`)

// Every address keeps its host part, every name is the new one, and nothing of the reference's own is left.
func TestNew(t *testing.T) {
	files := platform(t)
	same, err := starter.New(files, starter.Values{})
	if err != nil {
		t.Fatal(err)
	}
	for p := range files {
		if string(same[p]) != string(files[p]) {
			t.Errorf("without values %s changes", p)
		}
	}
	for _, v := range []starter.Values{
		{Domain: "casa.example.org", DevLAN: "10.0.4.0/22", ProdLAN: "172.16.8.128/26", RepoURL: "ssh://git@example.org/me/pf.git"},
		{DevLAN: "192.168.2.0/24", ProdLAN: "192.168.1.0/24"}, // each the other's
		{DevLAN: "172.16.0.0/12", ProdLAN: "192.168.1.0/24"},
	} {
		made, err := starter.New(files, v)
		if err != nil {
			t.Fatal(err)
		}
		from := []netip.Prefix{netip.MustParsePrefix("192.168.1.0/24"), netip.MustParsePrefix("192.168.2.0/24")}
		to := []netip.Prefix{netip.MustParsePrefix(v.DevLAN), netip.MustParsePrefix(v.ProdLAN)}
		addresses := 0
		for p, data := range files {
			text := string(made[p])
			if v.Domain != "" && (strings.Contains(text, "home.example.net") || strings.Contains(text, "git.example.net")) {
				t.Errorf("%s still has a name of the reference", p)
			}
			before, after := ip.FindAllString(string(data), -1), ip.FindAllString(text, -1)
			if len(before) != len(after) {
				t.Fatalf("%s: %d addresses become %d", p, len(before), len(after))
			}
			for i := range before {
				a, errA := netip.ParseAddr(before[i])
				b, errB := netip.ParseAddr(after[i])
				if errA != nil || errB != nil {
					continue
				}
				n := slices.IndexFunc(from, func(x netip.Prefix) bool { return x.Contains(a) })
				switch {
				case n < 0 && a != b:
					t.Errorf("%s: %s becomes %s", p, a, b)
				case n >= 0:
					addresses++
					if !to[n].Contains(b) || host(a, from[n]) != host(b, to[n]) {
						t.Errorf("%s: %s becomes %s", p, a, b)
					}
				}
			}
		}
		if addresses < 50 {
			t.Errorf("only %d addresses were seen", addresses)
		}
	}
}

func host(a netip.Addr, p netip.Prefix) uint32 {
	n := func(x netip.Addr) uint32 {
		b := x.As4()
		return uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
	}
	return n(a) - n(p.Addr())
}

func TestNewRefuses(t *testing.T) {
	for want, v := range map[string]starter.Values{
		`--domain "x" is no domain`:                              {Domain: "x"},
		`--domain "https://x.y" is no domain`:                    {Domain: "https://x.y"},
		`write ssh:// or https://, such as ssh://git@h/me/p.git`: {RepoURL: "git@h:me/p.git"},
		`--repo-url holds a password`:                            {RepoURL: "https://me:secret@h/p.git"},
		`--dev-lan "x" is no IPv4 network`:                       {DevLAN: "x"},
		`--dev-lan "fd00::/64" is no IPv4 network`:               {DevLAN: "fd00::/64"},
		`the network is 10.0.0.0/24`:                             {DevLAN: "10.0.0.7/24"},
		`/8 to /26 fit`:                                          {ProdLAN: "10.0.0.0/28"},
		`overlaps 10.42.0.0/16, which k3s gives to pods`:         {ProdLAN: "10.42.7.0/24"},
		`--prod-lan 192.168.1.0/25 overlaps 192.168.1.0/24`:      {ProdLAN: "192.168.1.0/25"},
	} {
		if _, err := starter.New(platform(t), v); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", v, err, want)
		}
	}
	if _, err := starter.New(map[string][]byte{"a": []byte("192.168.1.200")}, starter.Values{DevLAN: "10.0.0.0/26"}); err == nil || !strings.Contains(err.Error(), "has no room for host 200") {
		t.Errorf("%v", err)
	}
}

var like = starter.Like{Name: "dev", Entry: "clusters/dev", LAN: "192.168.1.0/24", Nodes: []string{"k3s-dev-1"}, Knobs: []string{"VIP", "NAME"},
	Values: map[string]string{"VIP": "192.168.1.5", "NAME": "x", "NODE": "k3s-dev-1", "INTERFACE": "eth0", "BASE": "http://192.168.1.7:80"}}

func repository() map[string][]byte {
	return map[string][]byte{
		"clusters/dev/kustomization.yaml":    []byte("# dev: one node.\nresources: [../base]\npatches:\n  - patch: |-\n      data:\n        VIP: 192.168.1.5 # why\n        NAME: x\n        INTERFACE: eth0\r\n"),
		"clusters/dev/flux-system/gotk.yaml": []byte("x: y\n"),
		"clusters/base/kustomization.yaml":   []byte("resources: []\n"),
		"tidegate.yaml":                      []byte("environments:\n  dev:\n    path: clusters/dev\n    lan: 192.168.1.0/24\n    nodes:\n      - name: k3s-dev-1\n        address: 192.168.1.10\n  # prod\n  prod:\n    path: clusters/prod\n\nknobs: {}\n"),
	}
}

// A new environment is made like another: with a network addresses move, without one they are to be decided, and what it
// would take from the base and is the other's own is set.
func TestAddEnvironment(t *testing.T) {
	out, undecided, err := starter.AddEnvironment(repository(), like, "lab", "10.9.0.0/24")
	if err != nil {
		t.Fatal(err)
	}
	if len(out) != 2 || len(undecided) > 0 {
		t.Errorf("%d files, undecided %v", len(out), undecided)
	}
	want := "# lab: made like dev by `tidegate env add`. It sets values in cluster-vars and does nothing else.\nresources: [../base]\npatches:\n  - patch: |-\n      data:\n        VIP: 10.9.0.5 # why\n        NAME: x\n        INTERFACE: eth0\r\n        BASE: http://10.9.0.7:80\n        NODE: k3s-lab-1\n"
	if got := string(out["clusters/lab/kustomization.yaml"]); got != want {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	want = "environments:\n  dev:\n    path: clusters/dev\n    lan: 192.168.1.0/24\n    nodes:\n      - name: k3s-dev-1\n        address: 192.168.1.10\n  lab:\n    path: clusters/lab\n    lan: 10.9.0.0/24\n    nodes:\n      - name: k3s-lab-1\n        address: 10.9.0.10\n  # prod\n  prod:\n    path: clusters/prod\n\nknobs: {}\n"
	if got := string(out["tidegate.yaml"]); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}

	out, undecided, err = starter.AddEnvironment(repository(), like, "lab-2", "")
	if err != nil || strings.Join(undecided, " ") != "BASE NAME NODE VIP" {
		t.Errorf("undecided %v, %v", undecided, err)
	}
	got := string(out["clusters/lab-2/kustomization.yaml"])
	for _, line := range []string{"VIP: TBD-LAB-2-VIP # why", "NAME: TBD-LAB-2-NAME", "NODE: TBD-LAB-2-NODE", "BASE: TBD-LAB-2-BASE", "INTERFACE: eth0"} {
		if !strings.Contains(got, line) {
			t.Errorf("no %q in\n%s", line, got)
		}
	}
	if got := string(out["tidegate.yaml"]); !strings.Contains(got, "  lab-2:\n    path: clusters/lab-2\n    # lan, controlPlaneVIP and nodes: when they are decided.\n  # prod\n") {
		t.Error(got)
	}
}

func TestAddEnvironmentRefuses(t *testing.T) {
	flow := repository()
	flow["tidegate.yaml"] = []byte("environments: {dev: {path: clusters/dev}}\n")
	other := repository()
	other["tidegate.yaml"] = []byte("environments:\n  prod:\n    path: clusters/prod\n")
	there := repository()
	there["clusters/lab/x.yaml"] = nil
	bare := like
	bare.LAN = ""
	for want, c := range map[string]struct {
		files     map[string][]byte
		like      starter.Like
		name, lan string
	}{
		`cannot be the name`:             {repository(), like, "Lab", ""},
		`clusters/lab exists`:            {there, like, "lab", ""},
		`is written in braces`:           {flow, like, "lab", ""},
		`environments has no dev`:        {other, like, "lab", ""},
		`overlaps dev's network`:         {repository(), like, "lab", "192.168.1.0/25"},
		`does not say which network dev`: {repository(), bare, "lab", "10.0.0.0/24"},
		`it has an environment prod`:     {repository(), like, "prod", ""},
		`holds no file`:                  {map[string][]byte{}, like, "lab", ""},
		`"x" is no IPv4 network`:         {repository(), like, "lab", "x"},
	} {
		if _, _, err := starter.AddEnvironment(c.files, c.like, c.name, c.lan); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}
