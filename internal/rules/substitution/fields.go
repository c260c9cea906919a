package substitution

import (
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/facts"
	"github.com/tidegate/tidegate/internal/model"
)

// This file knows fields of objects: in which of them the API server takes nothing but a text, in which nothing ever
// expands a text, and in which a program may.

// builtin are the groups whose fields are known here.
var builtin = map[string]bool{"": true, "apps": true, "batch": true, "networking.k8s.io": true, "rbac.authorization.k8s.io": true, "policy": true, "storage.k8s.io": true}

// Builtin tells whether an object is of a kind of Kubernetes itself, which kustomize-controller passes through its Go type.
func Builtin(ref model.Ref) bool { return builtin[ref.Group()] }

// Flux tells whether an object is of a kind of Flux's own controllers.
func Flux(ref model.Ref) bool { return strings.HasSuffix(ref.Group(), ".toolkit.fluxcd.io") }

// at gives the last step of a path that is a key, and the one before it.
func at(p model.Path) (last, parent string) {
	last, _ = p[len(p)-1].(string)
	if len(p) > 1 {
		parent, _ = p[len(p)-2].(string)
	}
	return last, parent
}

func oneOf(s any, of ...string) bool {
	text, ok := s.(string)
	return ok && slices.Contains(of, text)
}

// TextField tells whether the API server takes nothing but a text at a path. It says no where it does not know.
func TextField(ref model.Ref, p model.Path) bool {
	if len(p) == 0 {
		return false
	}
	last, parent := at(p)
	switch group := ref.Group(); {
	case oneOf(p[0], "apiVersion", "kind"):
		return len(p) == 1
	case p[0] == "metadata":
		return len(p) == 2 && oneOf(last, "name", "namespace", "generateName") || len(p) == 3 && oneOf(p[1], "labels", "annotations")
	case group == "" && oneOf(ref.Kind, "ConfigMap", "Secret"):
		return len(p) == 2 && oneOf(p[0], "data", "stringData", "binaryData") || ref.Kind == "Secret" && len(p) == 1 && last == "type"
	case group == "storage.k8s.io" && ref.Kind == "StorageClass":
		return len(p) == 2 && p[0] == "parameters" || len(p) == 1 && last == "provisioner"
	case group == "kustomize.toolkit.fluxcd.io":
		return fluxField(p, last, parent) || len(p) == 4 && p[1] == "postBuild" && parent == "substitute" || oneOf(last, "namePrefix", "nameSuffix", "newName", "newTag", "digest", "patch")
	case group == "helm.toolkit.fluxcd.io":
		return len(p) > 1 && p[0] == "spec" && !oneOf(p[1], "values", "postRenderers") && (fluxField(p, last, parent) || oneOf(last, "version", "releaseName", "chart", "valuesKey", "targetPath"))
	case Flux(ref):
		return fluxField(p, last, parent)
	case builtin[group]:
		return builtinField(p, last, parent)
	}
	return false
}

// fluxField are the texts that Flux's kinds have in common.
func fluxField(p model.Path, last, parent string) bool {
	return len(p) > 1 && p[0] == "spec" && (oneOf(last, "path", "targetNamespace", "interval", "timeout", "retryInterval", "serviceAccountName", "url", "provider", "name", "namespace", "kind",
		"branch", "tag", "semver", "commit", "address", "channel") || p[1] == "commonMetadata" && oneOf(parent, "labels", "annotations"))
}

func builtinField(p model.Path, last, parent string) bool {
	switch {
	case oneOf(parent, "matchLabels", "nodeSelector", "selector", "labels", "annotations"):
		return true
	case last == "":
		return oneOf(parent, "args", "command", "accessModes", "externalIPs", "loadBalancerSourceRanges", "hosts")
	case last == "value" && len(p) > 2:
		list, _ := p[len(p)-3].(string)
		return list == "env"
	}
	return oneOf(last, "name", "namespace", "image", "serviceAccountName", "storageClassName", "volumeName", "host", "hostname", "subPath", "mountPath", "key", "secretName", "claimName")
}

// MetadataText tells whether a value is a label or an annotation of the object itself.
func MetadataText(p model.Path) bool {
	return len(p) == 3 && p[0] == "metadata" && oneOf(p[1], "labels", "annotations")
}

// Unexpanded tells whether a text stands where no program would ever expand it, so that an expression in it is a
// mistake whatever its name: what names an object, its labels, the spec of Flux's own kinds, host names, addresses.
func Unexpanded(ref model.Ref, p model.Path, text string) bool {
	if len(p) == 0 || ref.Kind == "CustomResourceDefinition" {
		return false
	}
	last, parent := at(p)
	switch p[0] {
	case "apiVersion", "kind":
		return true
	case "metadata":
		// An annotation of several lines is a text for a program.
		return len(p) > 1 && (oneOf(p[1], "name", "namespace", "labels") || p[1] == "annotations" && !strings.Contains(text, "\n"))
	case "spec":
		if len(p) == 1 {
			return false
		}
	default:
		return false
	}
	if last == "" {
		last = parent // an entry of a list
	}
	switch group := ref.Group(); {
	case group == "kustomize.toolkit.fluxcd.io":
		if p[1] == "postBuild" && len(p) == 4 {
			// NAME: ${NAME} is how a dashboard's own variable is passed through.
			return text != "${"+last+"}"
		}
		return p[1] != "patches"
	case group == "helm.toolkit.fluxcd.io":
		return !oneOf(p[1], "values", "valuesFrom", "postRenderers")
	case group == "image.toolkit.fluxcd.io":
		return false // extract and templates have such a language of their own
	case Flux(ref):
		return true
	case group == "gateway.networking.k8s.io":
		return oneOf(last, "hostname", "hostnames", "gatewayClassName", "sectionName") || parent == "addresses" || p[1] == "parentRefs" || len(p) > 2 && p[1] == "addresses"
	case group == "cert-manager.io" && ref.Kind == "Certificate":
		return oneOf(last, "dnsNames", "ipAddresses", "commonName", "secretName")
	case group == "networking.k8s.io":
		return oneOf(last, "host", "hosts", "cidr", "except", "ingressClassName", "secretName")
	case group == "cilium.io" && strings.HasPrefix(ref.Kind, "CiliumLoadBalancerIPPool"):
		return oneOf(last, "cidr", "start", "stop")
	case group == "metallb.io":
		return oneOf(last, "addresses", "peerAddress")
	case group == "" && ref.Kind == "Service":
		return true
	}
	return false
}

// Carried tells whether a text goes on to a build of its own: a patch in the spec of a Kustomization is applied to what
// that Kustomization builds, and substitution there reaches it.
func Carried(env *facts.Environment, ref model.Ref, p model.Path) bool {
	if ref.Group() != "kustomize.toolkit.fluxcd.io" || ref.Kind != "Kustomization" || len(p) < 2 || p[0] != "spec" || p[1] != "patches" {
		return false
	}
	child := env.Unit(model.UnitID{Kind: "Kustomization", Namespace: ref.Namespace, Name: ref.Name})
	return child == nil || child.Substitution != nil && (child.Substitution.Runs || child.Substitution.Doubt)
}

// Program tells whether a text stands where a program gets it that may expand it with variables of its own: a file of a
// ConfigMap or Secret, the command of a container, a text of several lines.
func Program(ref model.Ref, p model.Path, text string) bool {
	if len(p) == 0 {
		return false
	}
	last, parent := at(p)
	switch {
	case ref.Group() == "" && oneOf(ref.Kind, "ConfigMap", "Secret"):
		return oneOf(p[0], "data", "stringData")
	case last == "" && oneOf(parent, "args", "command"):
		return true
	}
	return strings.Contains(text, "\n")
}
