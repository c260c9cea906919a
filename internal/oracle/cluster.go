package oracle

import (
	"bytes"
	"context"
	"fmt"
	"maps"

	"github.com/fluxcd/pkg/ssa/utils"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Objects is what the cluster holds for postBuild.substituteFrom: "ConfigMap/namespace/name" or
// "Secret/namespace/name" to its data. Secret values are plain, not base64.
type Objects map[string]map[string]string

// ObjectsFromYAML reads the ConfigMaps and Secrets of a YAML stream. Other kinds are passed over. A Secret's
// stringData is folded into its data and wins, as the API server does it.
func ObjectsFromYAML(stream []byte) (Objects, error) {
	list, err := utils.ReadObjects(bytes.NewReader(stream))
	if err != nil {
		return nil, fmt.Errorf("read cluster objects: %w", err)
	}
	objects := Objects{}
	for _, u := range list {
		if u.GetAPIVersion() != "v1" {
			continue
		}
		key := u.GetKind() + "/" + u.GetNamespace() + "/" + u.GetName()
		switch u.GetKind() {
		case "ConfigMap":
			cm := &corev1.ConfigMap{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, cm); err != nil {
				return nil, fmt.Errorf("read cluster object %s: %w", key, err)
			}
			objects[key] = cm.Data
		case "Secret":
			secret := &corev1.Secret{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, secret); err != nil {
				// The converter's error would quote the value.
				return nil, fmt.Errorf("read cluster object %s: its data does not fit a Secret", key)
			}
			data := make(map[string]string, len(secret.Data)+len(secret.StringData))
			for k, v := range secret.Data {
				data[k] = string(v)
			}
			maps.Copy(data, secret.StringData)
			objects[key] = data
		}
	}
	return objects, nil
}

// reader serves Objects as the API server would serve them to LoadVariables (pkg/kustomize,
// kustomize_varsub.go), which only ever gets a ConfigMap or a Secret by name.
type reader struct {
	client.Client
	objects Objects
}

func (r reader) Get(_ context.Context, key client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	switch o := obj.(type) {
	case *corev1.ConfigMap:
		data, ok := r.objects["ConfigMap/"+key.Namespace+"/"+key.Name]
		if !ok {
			return apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, key.Name)
		}
		o.Name, o.Namespace, o.Data = key.Name, key.Namespace, maps.Clone(data)
	case *corev1.Secret:
		data, ok := r.objects["Secret/"+key.Namespace+"/"+key.Name]
		if !ok {
			return apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, key.Name)
		}
		o.Name, o.Namespace, o.Data = key.Name, key.Namespace, make(map[string][]byte, len(data))
		for k, v := range data {
			o.Data[k] = []byte(v)
		}
	default:
		return fmt.Errorf("the oracle's cluster holds no %T", obj)
	}
	return nil
}
