package flux

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	kjson "sigs.k8s.io/json"
)

// API groups of the Flux kinds, without their versions.
const (
	KustomizeGroup = "kustomize.toolkit.fluxcd.io"
	HelmGroup      = "helm.toolkit.fluxcd.io"
	SourceGroup    = "source.toolkit.fluxcd.io"
	OperatorGroup  = "fluxcd.controlplane.io"
	// ExtensionsGroup has the ArtifactGenerator (source-watcher).
	ExtensionsGroup = "source.extensions.fluxcd.io"
)

// Kustomization is Flux's own type: what kustomize-controller works with after the API server has taken the object.
type Kustomization = kustomizev1.Kustomization

// PostBuild is its spec.postBuild.
type PostBuild = kustomizev1.PostBuild

// RefusedError says that the API server would refuse an object, so that it never reaches a controller.
type RefusedError struct {
	Field string // path of the field, such as spec.postBuild.substitute.PORT
	Why   string
}

func (e *RefusedError) Error() string { return e.Field + ": " + e.Why }

// IsGroup tells whether an apiVersion belongs to a group.
func IsGroup(apiVersion, group string) bool {
	g, _, ok := strings.Cut(apiVersion, "/")
	return ok && g == group
}

// DecodeKustomization gives the typed object of a rendered manifest. The error is a *RefusedError when the API server
// would refuse it: a required field is absent, or a value is not one that the CRD allows (kustomizationSpec). Unknown
// fields are dropped, as the API server drops them, and so are fields that the version does not have. obj is not changed.
func DecodeKustomization(obj map[string]any, b Behaviour) (*Kustomization, error) {
	if err := checkIdentity(obj); err != nil {
		return nil, err
	}
	if obj["spec"] == nil {
		return nil, &RefusedError{"spec", "Required value"}
	}
	spec, err := kustomizationSpec(b).take("spec", obj["spec"])
	if err != nil {
		return nil, err
	}
	// The CRD says this of kubeConfig in CEL.
	if k, ok := spec.(map[string]any)["kubeConfig"].(map[string]any); ok && (k["secretRef"] == nil) == (k["configMapRef"] == nil) {
		return nil, &RefusedError{"spec.kubeConfig", "Invalid value: exactly one of secretRef and configMapRef must be given"}
	}
	data, err := json.Marshal(map[string]any{
		"apiVersion": obj["apiVersion"], "kind": obj["kind"], "metadata": identity(obj), "spec": spec,
	})
	if err != nil {
		return nil, err
	}
	var ks Kustomization
	// Field names are matched by case, as the API server matches them and encoding/json does not.
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &ks); err != nil {
		return nil, refused(err)
	}
	return &ks, nil
}

// refused turns the decoder's message into one about the object.
func refused(err error) error {
	var typ *json.UnmarshalTypeError
	if errors.As(err, &typ) {
		return &RefusedError{typ.Field, fmt.Sprintf("must be of type %s, and is %s", typ.Type, typ.Value)}
	}
	msg := strings.TrimPrefix(err.Error(), "json: ")
	msg = strings.TrimPrefix(msg, "cannot unmarshal ")
	return &RefusedError{"spec", msg}
}

// identity keeps of metadata what a controller reads. Labels and annotations that are no strings would fail the
// decoder although kustomize-controller drops them before it applies (SEMANTICS 6.8).
func identity(obj map[string]any) map[string]any {
	m, _ := obj["metadata"].(map[string]any)
	return map[string]any{"name": m["name"], "namespace": m["namespace"]}
}

// checkIdentity refuses the names that no custom resource may have (apimachinery pkg/api/validation, ValidateObjectMeta).
// A namespace that is not set is left to the caller: only the cluster's default decides what that means.
func checkIdentity(obj map[string]any) error {
	id := identity(obj)
	name, ok := id["name"].(string)
	if !ok || name == "" {
		return &RefusedError{"metadata.name", "Required value"}
	}
	if why := validation.IsDNS1123Subdomain(name); len(why) > 0 {
		return &RefusedError{"metadata.name", fmt.Sprintf("Invalid value: %q: %s", name, why[0])}
	}
	if id["namespace"] == nil {
		return nil
	}
	namespace, ok := id["namespace"].(string)
	if !ok {
		return &RefusedError{"metadata.namespace", "must be of type string, and is " + typeName(id["namespace"])}
	}
	if why := validation.IsDNS1123Label(namespace); namespace != "" && len(why) > 0 {
		return &RefusedError{"metadata.namespace", fmt.Sprintf("Invalid value: %q: %s", namespace, why[0])}
	}
	return nil
}

func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case map[string]any:
		return "object"
	case []any:
		return "array"
	}
	return "number"
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
