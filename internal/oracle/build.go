package oracle

import (
	"context"
	"fmt"
	"os"
	"strings"

	securejoin "github.com/cyphar/filepath-securejoin"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	generator "github.com/fluxcd/pkg/kustomize"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
)

// Options are what of the controller's flags and keys changes a build.
type Options struct {
	// Strict is the feature gate StrictPostBuildSubstitutions: on by default since Flux 2.9.
	Strict bool
	// Decrypt stands for the decryptor's DecryptSources: it decrypts in place the files that the
	// kustomization in dir, a directory below root, uses. DecryptResource stands for its namesake: it
	// changes the resource and returns it, or returns nil when it left it alone. Each is called only for a
	// unit with spec.decryption of provider sops; nil leaves everything encrypted, where the controller
	// without a key would fail. See [AgeKeys.Hooks].
	Decrypt         func(root, dir string) error
	DecryptResource func(*resource.Resource) (*resource.Resource, error)
}

// Error is a failure of the controller: its text, with the temporary directory written as <artifact>.
type Error struct {
	text string
	err  error
}

func (e *Error) Error() string { return e.text }
func (e *Error) Unwrap() error { return e.err }

// Build gives the YAML that kustomize-controller would make of the unit from the artifact in artifactDir,
// before owner labels. The artifact is already filtered by the source's ignore rules; its symbolic links
// are dropped, as source-controller drops them. artifactDir is not changed.
//
// The error is the one of the controller (an [*Error]), or one of copying.
func Build(ctx context.Context, artifactDir string, unit Unit, objects Objects, o Options) ([]byte, error) {
	a, err := Open(artifactDir)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	return a.Build(ctx, unit, objects, o)
}

// Build is [Build] on a copy that is made once for many units. It is not safe for concurrent use.
func (a *Artifact) Build(ctx context.Context, unit Unit, objects Objects, o Options) ([]byte, error) {
	root, restore, err := a.begin(unit, o)
	if err != nil {
		return nil, err
	}
	out, err := reconcile(ctx, root, unit, objects, o)
	if rerr := restore(); rerr != nil {
		return nil, rerr
	}
	if err != nil {
		return nil, &Error{text: strings.ReplaceAll(err.Error(), root, "<artifact>"), err: err}
	}
	return out, nil
}

// reconcile follows the controller's reconcile from the unpacked artifact to the built manifests.
func reconcile(ctx context.Context, root string, unit Unit, objects Objects, o Options) ([]byte, error) {
	ks, untyped, err := unit.typed()
	if err != nil {
		return nil, err
	}
	dir, err := securejoin.SecureJoin(root, ks.Spec.Path)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("kustomization path not found: %w", err)
	}
	if _, err := generator.NewGenerator(root, untyped).WriteFile(dir); err != nil {
		return nil, err
	}
	if usesSOPS(ks) && o.Decrypt != nil {
		if err := o.Decrypt(root, dir); err != nil {
			return nil, fmt.Errorf("error decrypting sources: %w", err)
		}
	}
	m, err := generator.SecureBuild(root, dir, false)
	if err != nil {
		return nil, fmt.Errorf("kustomize build failed: %w", err)
	}
	for _, res := range m.Resources() {
		if err := postBuild(ctx, m, res, ks, untyped, objects, o); err != nil {
			return nil, err
		}
	}
	out, err := m.AsYaml()
	if err != nil {
		return nil, fmt.Errorf("kustomize build failed: %w", err)
	}
	return out, nil
}

// postBuild is what the controller does to each resource after the build.
func postBuild(ctx context.Context, m resmap.ResMap, res *resource.Resource, ks *kustomizev1.Kustomization,
	untyped unstructured.Unstructured, objects Objects, o Options) error {
	if res.GetName() == "" || res.GetKind() == "" || res.GetApiVersion() == "" {
		return fmt.Errorf("failed to decode Kubernetes apiVersion, kind and name from: %v", res.String())
	}
	if usesSOPS(ks) && o.DecryptResource != nil && !decryptionDisabled(res.GetAnnotations()) {
		changed, err := o.DecryptResource(res)
		if err != nil {
			return fmt.Errorf("decryption failed for '%s/%s': %w", res.GetGvk(), res.GetName(), err)
		}
		if changed != nil {
			if _, err := m.Replace(res); err != nil {
				return err
			}
		}
	}
	if ks.Spec.PostBuild == nil {
		return nil
	}
	changed, err := generator.SubstituteVariables(ctx, reader{objects: objects}, untyped, res,
		generator.SubstituteWithStrict(o.Strict),
		generator.SubstituteWithAlways(ks.GetSubstituteStrategy() == kustomizev1.SubstituteStrategyAlways))
	if err != nil {
		return fmt.Errorf("post build failed for '%s/%s': %w", res.GetGvk(), res.GetName(), err)
	}
	if changed != nil {
		if _, err := m.Replace(res); err != nil {
			return err
		}
	}
	return nil
}

func usesSOPS(ks *kustomizev1.Kustomization) bool {
	return ks.Spec.Decryption != nil && ks.Spec.Decryption.Provider == "sops"
}

// decryptionDisabled: decryptor.IsDecryptionDisabled, which unlike the switch for substitution does not
// mind case.
func decryptionDisabled(annotations map[string]string) bool {
	return strings.EqualFold(annotations[kustomizev1.GroupVersion.Group+"/decrypt"], kustomizev1.DisabledValue)
}
