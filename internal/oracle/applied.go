package oracle

import (
	"bytes"
	"fmt"
	"sort"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/ssa"
	"github.com/fluxcd/pkg/ssa/normalize"
	ssautil "github.com/fluxcd/pkg/ssa/utils"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Applied takes the result of [Build] on to the objects that the controller sends to the API server, in the
// order in which it holds them: owner labels, normalised by their Go types, common metadata. It is a YAML
// stream with "---" before each document. It does not refuse what [Guard] refuses.
func Applied(built []byte, unit Unit) ([]byte, error) {
	objects, err := applySet(built, unit)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for _, u := range objects {
		data, err := yaml.Marshal(u)
		if err != nil {
			return nil, err
		}
		out.WriteString("---\n")
		out.Write(data)
	}
	return out.Bytes(), nil
}

// Guard gives the controller's error for a Secret that is still encrypted when it is to be applied, which
// refuses the whole unit; nil when there is none.
func Guard(applied []byte) error {
	objects, err := ssautil.ReadObjects(bytes.NewReader(applied))
	if err != nil {
		return err
	}
	for _, u := range objects {
		_, encrypted := u.Object["sops"]
		if u.GetKind() == "Secret" && u.GetAPIVersion() == "v1" && encrypted && !decryptionDisabled(u.GetAnnotations()) {
			return fmt.Errorf("%s is SOPS encrypted, configuring decryption is required for this secret to be reconciled",
				ssautil.FmtUnstructured(u))
		}
	}
	return nil
}

// Stages gives the order in which the result of [Applied] is applied, a line an object: the stage
// ("1-def", "2-class", "4-rest"; 3 is for kinds named by a flag) and the object as the
// controller's log writes it. The stages are those of ApplyAllStaged in pkg/ssa, manager_apply.go, with its
// own tests and its own sorting; its waits and dry-runs are not played.
func Stages(applied []byte) (string, error) {
	objects, err := ssautil.ReadObjects(bytes.NewReader(applied))
	if err != nil {
		return "", err
	}
	stages := []struct {
		name    string
		objects []*unstructured.Unstructured
	}{{name: "1-def"}, {name: "2-class"}, {name: "4-rest"}}
	for _, u := range objects {
		stage := 2
		switch {
		case ssautil.IsClusterDefinition(u):
			stage = 0
		case ssautil.IsClassDefinition(u):
			stage = 1
		}
		stages[stage].objects = append(stages[stage].objects, u)
	}
	var b strings.Builder
	for _, s := range stages {
		sort.Sort(ssa.SortableUnstructureds(s.objects))
		for _, u := range s.objects {
			fmt.Fprintf(&b, "%s %s\n", s.name, ssautil.FmtUnstructured(u))
		}
	}
	return b.String(), nil
}

func applySet(built []byte, unit Unit) ([]*unstructured.Unstructured, error) {
	ks, _, err := unit.typed()
	if err != nil {
		return nil, err
	}
	objects, err := ssautil.ReadObjects(bytes.NewReader(built))
	if err != nil {
		return nil, err
	}
	manager := ssa.NewResourceManager(nil, nil, ssa.Owner{Field: "kustomize-controller", Group: kustomizev1.GroupVersion.Group})
	manager.SetOwnerLabels(objects, ks.GetName(), ks.GetNamespace())
	if err := normalize.UnstructuredList(objects); err != nil {
		return nil, err
	}
	if common := ks.Spec.CommonMetadata; common != nil {
		ssautil.SetCommonMetadata(objects, common.Labels, common.Annotations)
	}
	return objects, nil
}
