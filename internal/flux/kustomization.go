package flux

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	kjson "sigs.k8s.io/json"
)

// API groups of the Flux kinds, without their versions.
const (
	KustomizeGroup = "kustomize.toolkit.fluxcd.io"
	HelmGroup      = "helm.toolkit.fluxcd.io"
	SourceGroup    = "source.toolkit.fluxcd.io"
	OperatorGroup  = "fluxcd.controlplane.io"
)

// Kustomization is Flux's own type: what kustomize-controller works with after the API server has taken the object.
type Kustomization = kustomizev1.Kustomization

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
// would refuse it: a required field is absent, or a value is of another type than the CRD says (kustomize-controller
// config/crd/bases). Unknown fields are dropped, as the API server drops them, and so are fields that the version
// does not have.
func DecodeKustomization(obj map[string]any, b Behaviour) (*Kustomization, error) {
	spec, ok := obj["spec"].(map[string]any)
	if !ok {
		return nil, &RefusedError{"spec", "Required value"}
	}
	if err := checkTypes(spec); err != nil {
		return nil, err
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
	forget(&ks, b)
	return &ks, nil
}

// checkTypes finds what Go's decoder lets through and the CRD does not.
func checkTypes(spec map[string]any) error {
	for _, f := range []string{"interval", "prune", "sourceRef"} {
		if spec[f] == nil {
			return &RefusedError{"spec." + f, "Required value"}
		}
	}
	ref, _ := spec["sourceRef"].(map[string]any)
	for _, f := range []string{"kind", "name"} {
		if s, ok := ref[f].(string); !ok || s == "" {
			return &RefusedError{"spec.sourceRef." + f, "Required value: a string"}
		}
	}
	kinds := []string{"OCIRepository", "GitRepository", "Bucket", "ExternalArtifact"}
	if !slices.Contains(kinds, ref["kind"].(string)) {
		return &RefusedError{"spec.sourceRef.kind", fmt.Sprintf("Unsupported value: %q: supported values: %s", ref["kind"], strings.Join(kinds, ", "))}
	}
	post, _ := spec["postBuild"].(map[string]any)
	vars, _ := post["substitute"].(map[string]any)
	for _, k := range sortedKeys(vars) {
		if _, ok := vars[k].(string); !ok {
			return &RefusedError{"spec.postBuild.substitute." + k, fmt.Sprintf("must be of type string, and is %s", typeName(vars[k]))}
		}
	}
	from, _ := post["substituteFrom"].([]any)
	for i, f := range from {
		m, _ := f.(map[string]any)
		if k := m["kind"]; k != "ConfigMap" && k != "Secret" {
			return &RefusedError{fmt.Sprintf("spec.postBuild.substituteFrom[%d].kind", i), fmt.Sprintf("Unsupported value: %q: supported values: Secret, ConfigMap", fmt.Sprint(k))}
		}
		if s, ok := m["name"].(string); !ok || s == "" {
			return &RefusedError{fmt.Sprintf("spec.postBuild.substituteFrom[%d].name", i), "Required value"}
		}
	}
	if dec, ok := spec["decryption"].(map[string]any); ok && dec["provider"] != "sops" {
		return &RefusedError{"spec.decryption.provider", fmt.Sprintf("Unsupported value: %q: supported values: sops", fmt.Sprint(dec["provider"]))}
	}
	return nil
}

// forget drops the fields that a Flux version does not have.
func forget(ks *Kustomization, b Behaviour) {
	if !b.BuildMetadata {
		ks.Spec.BuildMetadata = nil
	}
	if !b.SubstituteStrategy && ks.Spec.PostBuild != nil {
		ks.Spec.PostBuild.SubstituteStrategy = ""
	}
	if !b.IgnoreMissingComponents {
		ks.Spec.IgnoreMissingComponents = false
	}
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
