package render

import (
	"fmt"
	"strings"

	"github.com/fluxcd/pkg/ssa/normalize"
	"github.com/fluxcd/pkg/ssa/utils"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/tidegate/tidegate/internal/flux"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/sops"
)

// Applied takes rendered objects on to what is sent to the API server (kustomize-controller
// internal/controller/kustomization_controller.go, after build): objects without a name are dropped, owner labels,
// normalisation of built-in types, commonMetadata; and an encrypted Secret that nothing decrypts refuses the unit.
//
// It gives new objects and leaves those that it is given alone. A failure means that nothing of the unit is applied.
// display is ks with secrets masked, nil when it has none; show lets messages hold plaintext.
func Applied(ks, display *flux.Kustomization, objects []*model.Object, show bool) ([]*model.Object, *model.Reason) {
	out := make([]*model.Object, 0, len(objects))
	for _, o := range objects {
		texts, us, err := applied(ks, o.YAML)
		if err != nil {
			msg := err.Error()
			if o.Secret() && !show {
				msg = "an object that holds decrypted content cannot be applied; --show-secrets shows Flux's message"
			}
			return nil, &model.Reason{Code: model.CodeApply, Subject: o.Ref.String(), Message: msg}
		}
		for _, u := range us {
			if encryptedSecret(u) {
				return nil, &model.Reason{Code: model.CodeApply, Subject: o.Ref.String(),
					Message: fmt.Sprintf("%s is SOPS encrypted, configuring decryption is required for this secret to be reconciled", o.Ref),
					Fix:     "add spec.decryption to the Kustomization: until then it applies nothing at all"}
			}
		}
		shown := texts
		if o.Secret() || display != nil {
			as := display
			if as == nil {
				as = ks
			}
			if shown, _, err = applied(as, o.Display); err != nil || len(shown) != len(texts) {
				shown = make([]string, len(texts))
				for i := range texts {
					shown[i] = maskedWhole(o.Ref)
				}
			}
		}
		for i, u := range us {
			ref := model.Ref{APIVersion: u.GetAPIVersion(), Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName()}
			if shown[i] != texts[i] && !show {
				ref = refOfText(shown[i])
			}
			out = append(out, &model.Object{Ref: ref, YAML: texts[i], Display: shown[i], Unverified: o.Unverified, Trace: o.Trace})
		}
	}
	return out, nil
}

func applied(ks *flux.Kustomization, text string) ([]string, []*unstructured.Unstructured, error) {
	us, err := utils.ReadObjects(strings.NewReader(text))
	if err != nil {
		return nil, nil, err
	}
	for _, u := range us {
		labels := u.GetLabels()
		if labels == nil {
			// Nil also when one label is no string: then all of them are lost here, as they are in the cluster.
			labels = map[string]string{}
		}
		labels[flux.KustomizeGroup+"/name"] = ks.Name
		labels[flux.KustomizeGroup+"/namespace"] = ks.Namespace
		u.SetLabels(labels)
	}
	if err := normalize.UnstructuredList(us); err != nil {
		return nil, nil, err
	}
	if m := ks.Spec.CommonMetadata; m != nil {
		utils.SetCommonMetadata(us, m.Labels, m.Annotations)
	}
	texts := make([]string, len(us))
	for i, u := range us {
		data, err := sigsyaml.Marshal(u.Object)
		if err != nil {
			return nil, nil, err
		}
		texts[i] = string(data)
	}
	return texts, us, nil
}

func encryptedSecret(u *unstructured.Unstructured) bool {
	if u.GetKind() != "Secret" || u.GetAPIVersion() != "v1" || sops.DecryptionDisabled(u.GetAnnotations()) {
		return false
	}
	_, found := u.Object["sops"]
	return found
}
