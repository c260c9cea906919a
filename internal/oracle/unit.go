package oracle

import (
	"fmt"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Unit is a Flux Kustomization as its parent rendered it: apiVersion, kind, metadata with name and
// namespace, spec. Values are those that JSON decodes to.
type Unit struct {
	Object map[string]any
}

// typed gives the object as the controller holds it, and the untyped form that the controller makes from
// that. Fields the type does not know are dropped, as the API server prunes them; a value of another type
// (a number in postBuild.substitute) is an error, as the API server refuses the object.
func (u Unit) typed() (*kustomizev1.Kustomization, unstructured.Unstructured, error) {
	ks := &kustomizev1.Kustomization{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, ks); err != nil {
		return nil, unstructured.Unstructured{}, fmt.Errorf("not a Kustomization that the API server would admit: %w", err)
	}
	if ks.Name == "" || ks.Namespace == "" {
		return nil, unstructured.Unstructured{}, fmt.Errorf("not a Kustomization that the API server would admit: it needs metadata.name and metadata.namespace")
	}
	untyped, err := runtime.DefaultUnstructuredConverter.ToUnstructured(ks)
	if err != nil {
		return nil, unstructured.Unstructured{}, err
	}
	return ks, unstructured.Unstructured{Object: untyped}, nil
}
