package catalog

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func servicePorts(ports []Port) (out []corev1.ServicePort) {
	for _, p := range ports {
		out = append(out, corev1.ServicePort{Name: p.Name, Port: int32(p.Port), TargetPort: intstr.FromString(p.Name), Protocol: corev1.Protocol(protocol(p))})
	}
	return out
}

// services makes the Service within the cluster, and the one with an address on the LAN.
func (m *maker) services() (out []object) {
	inner := &corev1.Service{TypeMeta: kind("v1", "Service"), ObjectMeta: m.meta(m.a.Name, false)}
	inner.Spec.Selector = m.labels()
	inner.Spec.Ports = servicePorts(m.a.Ports)
	out = append(out, object{value: inner})
	l := m.a.L4
	if l == nil {
		return out
	}
	name := m.a.Name + "-l4"
	if l.Service != "" {
		name = l.Service
	}
	outer := &corev1.Service{TypeMeta: kind("v1", "Service"), ObjectMeta: m.meta(name, false)}
	if outer.Annotations == nil {
		outer.Annotations = map[string]string{}
	}
	outer.Annotations[lbAnnotation] = l.Address
	outer.Spec.Type = corev1.ServiceTypeLoadBalancer
	outer.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyCluster
	outer.Spec.Selector = m.labels()
	outer.Spec.Ports = servicePorts(m.l4Ports())
	return append(out, object{value: outer, comment: "Pinned, since the shared Gateway pins none: without a pin this Service could take the address that DNS gives for it.\n" +
		"Cluster and not Local: the address may be announced by a node without the pod."})
}

func (m *maker) l4Ports() (out []Port) {
	if m.a.L4 == nil {
		return nil
	}
	for _, name := range m.a.L4.Ports {
		if p := m.a.port(name); p != nil {
			out = append(out, *p)
		}
	}
	return out
}

func (m *maker) route() object {
	gateway := strings.Split(m.c.Settings.Gateway, "/")
	r := &httpRoute{TypeMeta: kind("gateway.networking.k8s.io/v1", "HTTPRoute"), ObjectMeta: m.meta(m.a.Name, false)}
	r.Spec.ParentRefs = []parentRef{{Namespace: gateway[0], Name: gateway[1], SectionName: gateway[2]}}
	r.Spec.Hostnames = []string{m.a.Route.Host}
	port := 0
	if p := m.a.port(m.a.Route.Port); p != nil {
		port = p.Port
	}
	r.Spec.Rules = []routeRule{{BackendRefs: []backendRef{{Name: m.a.Name, Port: port}}}}
	return object{value: r}
}

func policyPortsOf(ports []Port) []policyPorts {
	var out []policyPort
	for _, p := range ports {
		out = append(out, policyPort{Port: strconv.Itoa(p.Port), Protocol: protocol(p)})
	}
	return []policyPorts{{Ports: out}}
}

// namespaceLabel is how Cilium knows the namespace of an endpoint.
const namespaceLabel = "k8s:io.kubernetes.pod.namespace"

func within(namespace string) selector {
	return selector{MatchLabels: map[string]string{namespaceLabel: namespace}}
}

var toDNS = policyRule{
	ToEndpoints: []selector{{MatchLabels: map[string]string{namespaceLabel: "kube-system", "k8s:k8s-app": "kube-dns"}}},
	ToPorts:     []policyPorts{{Ports: []policyPort{{Port: "53", Protocol: "UDP"}, {Port: "53", Protocol: "TCP"}}}},
}

// policies make what may reach the app, and what it may reach: its own namespace, the apps that it needs and those that
// need it, the Gateway, and what is outside the cluster.
func (m *maker) policies() (out []object) {
	p := &networkPolicy{TypeMeta: kind("cilium.io/v2", "CiliumNetworkPolicy"), ObjectMeta: m.meta(m.a.Name, false)}
	p.Spec.EndpointSelector = selector{MatchLabels: m.labels()}
	all := policyPortsOf(m.a.Ports)
	friends := []selector{within(m.a.Name)}
	for _, o := range m.c.Apps {
		if slices.Contains(o.Needs, m.a.Name) {
			friends = append(friends, within(o.Name))
		}
	}
	p.Spec.Ingress = []policyRule{{FromEndpoints: friends, ToPorts: all}}
	if m.a.Route != nil {
		if routed := m.a.port(m.a.Route.Port); routed != nil {
			p.Spec.Ingress = append(p.Spec.Ingress, policyRule{FromEntities: []string{"ingress"}, ToPorts: policyPortsOf([]Port{*routed})})
		}
	}
	if l4 := m.l4Ports(); len(l4) > 0 {
		// A client that enters on another node arrives with that node's address (externalTrafficPolicy: Cluster).
		p.Spec.Ingress = append(p.Spec.Ingress,
			policyRule{FromCIDR: []string{m.c.Settings.LAN}, ToPorts: policyPortsOf(l4)},
			policyRule{FromEntities: []string{"host", "remote-node"}, ToPorts: policyPortsOf(l4)})
	}
	reach := []selector{within(m.a.Name)}
	for _, n := range m.a.Needs {
		if m.c.App(n) != nil {
			reach = append(reach, within(n))
		}
	}
	p.Spec.Egress = []policyRule{toDNS, {ToEndpoints: reach}, {ToEntities: []string{"world", "ingress"}}}
	if m.a.Nodes {
		p.Spec.Egress = append(p.Spec.Egress, policyRule{ToEntities: []string{"host", "remote-node"}})
	}
	out = append(out, object{value: p, comment: "From its own namespace and the apps that need it, and through the entrances that it has; to the apps that it needs, the\n" +
		"Gateway, and what is outside the cluster."})
	if m.a.Database != nil {
		out = append(out, m.databasePolicy())
	}
	return out
}

// databasePolicy lets the app in, the operator, and the instances to each other; and out to the API server, which the instance manager
// asks, and to the S3 of the backups (CloudNativePG's documentation of its ports: 5432, 8000 for the manager's status).
func (m *maker) databasePolicy() object {
	p := &networkPolicy{TypeMeta: kind("cilium.io/v2", "CiliumNetworkPolicy"), ObjectMeta: m.meta(m.databaseName(), false)}
	self := map[string]string{"cnpg.io/cluster": m.databaseName()}
	p.Spec.EndpointSelector = selector{MatchLabels: self}
	postgres, status := Port{Port: 5432}, Port{Port: 8000}
	p.Spec.Ingress = []policyRule{
		{FromEndpoints: []selector{{MatchLabels: m.labels()}}, ToPorts: policyPortsOf([]Port{postgres})},
		{FromEndpoints: []selector{{MatchLabels: self}, within("cnpg-system")}, ToPorts: policyPortsOf([]Port{postgres, status})},
	}
	p.Spec.Egress = []policyRule{toDNS, {ToEndpoints: []selector{{MatchLabels: self}}}, {ToEntities: []string{"kube-apiserver", "world"}}}
	return object{value: p}
}
