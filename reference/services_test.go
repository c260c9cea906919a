package reference_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Every LoadBalancer Service pins its address, and the Gateway, which pins none, is the only
// thing left to take the pool's first one.
func TestOnlyTheGatewayLeavesItsAddressOpen(t *testing.T) {
	for _, env := range environments {
		e := render(t, env)
		got := map[string]string{}
		for _, u := range e.units {
			for _, o := range u.objects {
				if o.GetKind() != "Service" || field(t, o, "spec", "type") != "LoadBalancer" {
					continue
				}
				got[o.GetName()] = o.GetAnnotations()["lbipam.cilium.io/ips"]
				if p := field(t, o, "spec", "externalTrafficPolicy"); p != "Cluster" {
					t.Errorf("%s: externalTrafficPolicy of %s is %v", env, o.GetName(), p)
				}
			}
		}
		want := map[string]string{"unifi-l4": e.vars["UNIFI_L4_VIP"], "crafty-l4": e.vars["CRAFTY_L4_VIP"], "plex-l4-tcp": e.vars["PLEX_L4_VIP"]}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: pinned addresses, want (-) and got (+):\n%s", env, d)
		}
		gw := e.find(t, "Gateway", "shared")
		if field(t, gw, "spec", "addresses") != nil || field(t, gw, "spec", "infrastructure") != nil {
			t.Errorf("%s: the Gateway pins an address or hands one to its Service", env)
		}
		zone := field(t, e.find(t, "ConfigMap", "coredns-custom"), "data", "home.server")
		if s, _ := zone.(string); !strings.Contains(s, `answer "{{ .Name }} 60 IN A `+e.vars["GATEWAY_VIP"]+`"`) {
			t.Errorf("%s: CoreDNS answers\n%v", env, zone)
		}
		block := field(t, e.find(t, "CiliumLoadBalancerIPPool", "lan"), "spec", "blocks", 0)
		if d := cmp.Diff(map[string]any{"start": e.vars["CILIUM_LB_POOL_START"], "stop": e.vars["CILIUM_LB_POOL_STOP"]}, block); d != "" {
			t.Errorf("%s: pool, want (-) and got (+):\n%s", env, d)
		}
		iface := field(t, e.find(t, "CiliumL2AnnouncementPolicy", "lan"), "spec", "interfaces", 0)
		if iface != "^"+e.vars["NODE_INTERFACE"]+"$" {
			t.Errorf("%s: interfaces are %v", env, iface)
		}
	}
}

// Plex advertises a URL that a client can complete: the name in the server's certificate.
func TestPlexAdvertisesItsCertificatesName(t *testing.T) {
	want := map[string]string{
		"dev":  "https://192-168-1-56.0a1b2c3d4e5f60718293a4b5c6d7e8f9.plex.direct:32400",
		"prod": "https://192-168-2-24.9f8e7d6c5b4a39281706f5e4d3c2b1a0.plex.direct:32400",
	}
	for _, env := range environments {
		container := named(t, field(t, render(t, env).find(t, "Deployment", "plex"), "spec", "template", "spec", "containers"), "plex")
		if got := named(t, container["env"], "ADVERTISE_IP")["value"]; got != want[env] {
			t.Errorf("%s: ADVERTISE_IP is %v, want %s", env, got, want[env])
		}
	}
}

// references are the names that an object needs to exist, as "Kind namespace/name".
func references(o *unstructured.Unstructured) (refs []string) {
	ns := o.GetNamespace()
	add := func(kind, ns string, name any) {
		if s, ok := name.(string); ok && s != "" {
			if ns != "" {
				s = ns + "/" + s
			}
			refs = append(refs, kind+" "+s)
		}
	}
	if ns != "" {
		add("Namespace", "", ns)
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			for k, x := range v {
				m, _ := x.(map[string]any)
				switch k {
				case "secretKeyRef", "accessKeyId", "secretAccessKey":
					add("Secret", ns, m["name"])
				case "secret":
					if m["optional"] != true {
						add("Secret", ns, m["secretName"])
					}
				case "externalSecret":
					add("Secret", ns, m["name"])
				case "existingSecret":
					add("Secret", ns, x)
				case "persistentVolumeClaim":
					add("PersistentVolumeClaim", ns, m["claimName"])
				case "dataVolume":
					add("DataVolume", ns, m["name"])
				case "storageClassName", "storageClass":
					add("StorageClass", "", x)
				case "volumeName":
					add("PersistentVolume", "", x)
				case "barmanObjectName":
					add("ObjectStore", ns, x)
				case "issuerRef":
					add("ClusterIssuer", "", m["name"])
				case "serviceAccountName":
					add("ServiceAccount", ns, x)
				case "priorityClassName":
					add("PriorityClass", "", x)
				case "sourceRef":
					add(fmt.Sprint(m["kind"]), ns, m["name"])
				case "parentRefs":
					for _, p := range x.([]any) {
						add("Gateway", p.(map[string]any)["namespace"].(string), p.(map[string]any)["name"])
					}
				case "backendRefs":
					for _, b := range x.([]any) {
						add("Service", ns, b.(map[string]any)["name"])
					}
				}
				walk(x)
			}
		}
	}
	walk(o.Object["spec"])
	return refs
}

// Every name that a manifest uses is rendered, or is made by something that is.
func TestReferencesExist(t *testing.T) {
	e := render(t, "prod")
	exists := map[string]string{ // what is not rendered, and who makes it
		"Namespace kube-system": "Kubernetes", "Namespace flux-system": "Flux",
		"StorageClass local-path":   "k3s",
		"StorageClass plex-media":   "nobody: it ties a claim to a volume by name",
		"Service headlamp/headlamp": "Headlamp's chart",
	}
	for _, u := range e.units {
		for _, o := range u.objects {
			name := o.GetName()
			if o.GetNamespace() != "" {
				name = o.GetNamespace() + "/" + name
			}
			exists[o.GetKind()+" "+name] = u.name
			if o.GetKind() == "Cluster" {
				exists["Secret "+name+"-app"] = "CloudNativePG"
			}
		}
	}
	n := 0
	for _, u := range e.units {
		for _, o := range u.objects {
			for _, r := range references(o) {
				n++
				if exists[r] == "" {
					t.Errorf("%s names %s, which nothing makes", id(o), r)
				}
			}
		}
	}
	if n < 50 {
		t.Errorf("only %d references were found: the walk misses them", n)
	}
}

// Every Service selects a workload of its namespace and targets ports that it has.
func TestServicesSelectSomething(t *testing.T) {
	e := render(t, "dev")
	type workload struct {
		labels map[string]any
		ports  []string
	}
	workloads := map[string][]workload{}
	for _, u := range e.units {
		for _, o := range u.objects {
			var w workload
			switch o.GetKind() {
			case "Deployment":
				for _, c := range field(t, o, "spec", "template", "spec", "containers").([]any) {
					ports, _ := c.(map[string]any)["ports"].([]any)
					for _, p := range ports {
						m := p.(map[string]any)
						w.ports = append(w.ports, fmt.Sprint(m["containerPort"]), fmt.Sprint(m["name"]))
					}
				}
			case "VirtualMachine":
				for _, p := range field(t, o, "spec", "template", "spec", "domain", "devices", "interfaces", 0, "ports").([]any) {
					w.ports = append(w.ports, fmt.Sprint(p.(map[string]any)["port"]))
				}
			default:
				continue
			}
			w.labels, _ = field(t, o, "spec", "template", "metadata", "labels").(map[string]any)
			workloads[o.GetNamespace()] = append(workloads[o.GetNamespace()], w)
		}
	}
	services := 0
	for _, u := range e.units {
		for _, o := range u.objects {
			if o.GetKind() != "Service" {
				continue
			}
			services++
			selector, _ := field(t, o, "spec", "selector").(map[string]any)
			i := slices.IndexFunc(workloads[o.GetNamespace()], func(w workload) bool {
				for k, v := range selector {
					if w.labels[k] != v {
						return false
					}
				}
				return len(selector) > 0
			})
			if i < 0 {
				t.Errorf("%s selects nothing: %v", id(o), selector)
				continue
			}
			for _, p := range field(t, o, "spec", "ports").([]any) {
				target := fmt.Sprint(p.(map[string]any)["targetPort"])
				if w := workloads[o.GetNamespace()][i]; !slices.Contains(w.ports, target) {
					t.Errorf("%s targets port %s, and the workload has %v", id(o), target, w.ports)
				}
			}
		}
	}
	if services < 8 {
		t.Errorf("only %d Services were found", services)
	}
}
