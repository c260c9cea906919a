package render

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	fluxkustomize "github.com/fluxcd/pkg/apis/kustomize"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/tidegate/tidegate/internal/flux"
)

// This file makes the kustomization.yaml that kustomize-controller builds: the one in the folder, or one for the
// manifests below it, with what the Flux Kustomization adds (fluxcd/pkg kustomize/kustomize_generator.go).
//
// The rules are:
//   - The first of kustomization.yaml, kustomization.yml, Kustomization is taken and rewritten in place, so that what
//     kustomize's type does not know is lost.
//   - One without resources gets originAnnotations, which the objects then carry.
//   - Without one, each .yaml and .yml below the folder is a resource, dot files too; a folder with a kustomization
//     of its own is one resource.
//   - targetNamespace, namePrefix and nameSuffix replace; patches and components are appended; images are merged.

// generated says what generate did.
type generated struct {
	made bool // there was no kustomization file
}

func generate(b *buildFS, dir string, spec *BuildSpec, v flux.Behaviour) (generated, error) {
	data, file, made, err := findKustomization(b, dir)
	if err != nil {
		return generated{made: made}, err
	}
	k := types.Kustomization{TypeMeta: types.TypeMeta{APIVersion: types.KustomizationVersion, Kind: types.KustomizationKind}}
	if err := sigsyaml.Unmarshal(data, &k); err != nil {
		return generated{made: made}, fmt.Errorf("%s: %w", file, err)
	}
	if !made && len(k.Resources) == 0 {
		k.BuildMetadata = []string{types.OriginAnnotations}
	}
	if spec.TargetNamespace != "" {
		k.Namespace = spec.TargetNamespace
	}
	if spec.NamePrefix != "" {
		k.NamePrefix = spec.NamePrefix
	}
	if spec.NameSuffix != "" {
		k.NameSuffix = spec.NameSuffix
	}
	own := len(k.Patches)
	for _, p := range spec.Patches {
		k.Patches = append(k.Patches, types.Patch{Patch: p.Patch, Target: selector(p.Target)})
	}
	for _, c := range spec.Components {
		if !isLocalRelative(c) {
			if made {
				// Flux would have met a manifest that is none before.
				if why := explainGenerated(b, dir); why != nil {
					return generated{made: made}, why
				}
			}
			return generated{made: made}, fmt.Errorf("component path '%s' must be local and relative", c)
		}
		if spec.IgnoreMissingComponents && !b.Exists(abs(path.Join(dir, c))) {
			continue
		}
		k.Components = append(k.Components, c)
	}
	for _, img := range spec.Images {
		k.Images = mergeImage(k.Images, img, v.MergeImages)
	}
	if len(spec.BuildMetadata) > 0 {
		k.BuildMetadata = spec.BuildMetadata
	}
	if b.record != nil {
		kept := k
		b.record.Kustomization(file, &kept)
		k.Patches, k.PatchesStrategicMerge = b.record.Patches(file, k.Patches, own), b.record.StrategicMerges(file, k.PatchesStrategicMerge)
	}
	out, err := sigsyaml.Marshal(k)
	if err != nil {
		return generated{made: made}, err
	}
	return generated{made: made}, b.WriteFile(abs(file), out)
}

// findKustomization gives the kustomization file of a folder, or one that lists its manifests.
func findKustomization(b *buildFS, dir string) (data []byte, file string, made bool, err error) {
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		p := path.Join(dir, name)
		if isDir, ok := b.stat(abs(p)); ok && !isDir {
			data, err = b.read(p)
			return data, p, false, err
		}
	}
	resources, err := scanManifests(b, dir)
	if err != nil {
		return nil, "", false, err
	}
	k := types.Kustomization{
		TypeMeta:  types.TypeMeta{APIVersion: types.KustomizationVersion, Kind: types.KustomizationKind},
		Resources: resources,
	}
	if len(resources) == 0 {
		k.Namespace = "_placeholder" // keeps kustomize from refusing an empty file
	}
	data, err = sigsyaml.Marshal(k)
	return data, path.Join(dir, konfig.DefaultKustomizationFileName()), true, err
}

// scanManifests lists what a generated kustomization.yaml has for resources, relative to dir with "./" in front.
// Flux parses each file here; kustomize parses it again and refuses the same ones, so that is left to it and Flux's
// message is looked up only when the build failed (explainGenerated).
func scanManifests(b *buildFS, dir string) ([]string, error) {
	var out []string
	err := b.Walk(abs(dir), func(name string, fi fs.FileInfo, err error) error {
		if err != nil {
			return err
		}
		p, _ := rel(name)
		if p == dir {
			return nil
		}
		resource := "./" + p
		if dir != "." {
			resource = "." + strings.TrimPrefix(p, dir)
		}
		if fi.IsDir() {
			for _, k := range konfig.RecognizedKustomizationFileNames() {
				if isDir, ok := b.stat(abs(path.Join(p, k))); ok && !isDir {
					out = append(out, resource)
					return fs.SkipDir
				}
			}
			return nil
		}
		if ext := path.Ext(p); ext == ".yaml" || ext == ".yml" {
			out = append(out, resource)
		}
		return nil
	})
	return out, err
}

// explainGenerated gives Flux's message for the first manifest of a generated kustomization that is no Kubernetes
// object; nil when all are.
func explainGenerated(b *buildFS, dir string) error {
	resources, err := scanManifests(b, dir)
	if err != nil {
		return err
	}
	for _, r := range resources {
		p := path.Join(dir, r)
		if isDir, ok := b.files.Stat(p); !ok || isDir {
			continue
		}
		data, err := b.files.ReadFile(p)
		if err != nil {
			return err
		}
		if err := parseObjects(data); err != nil {
			return fmt.Errorf("failed to decode Kubernetes YAML from %s: %w", abs(p), err)
		}
	}
	return nil
}

// mergeImage adds an entry of spec.images. A tag and a digest choose a version together, so one drops the other.
func mergeImage(images []types.Image, img fluxkustomize.Image, merge bool) []types.Image {
	whole := types.Image{Name: img.Name, NewName: img.NewName, NewTag: img.NewTag, Digest: img.Digest}
	for i := range images {
		if images[i].Name != img.Name {
			continue
		}
		if !merge {
			images[i] = whole
			return images
		}
		if img.NewName != "" {
			images[i].NewName = img.NewName
		}
		if img.NewTag != "" || img.Digest != "" {
			images[i].NewTag, images[i].Digest = img.NewTag, img.Digest
		}
		return images
	}
	return append(images, whole)
}

func selector(s *fluxkustomize.Selector) *types.Selector {
	if s == nil {
		return nil
	}
	out := &types.Selector{LabelSelector: s.LabelSelector, AnnotationSelector: s.AnnotationSelector}
	out.Group, out.Version, out.Kind = s.Group, s.Version, s.Kind
	out.Name, out.Namespace = s.Name, s.Namespace
	return out
}

// isLocalRelative is fluxcd/pkg's test for spec.components (IsLocalRelativePath).
func isLocalRelative(p string) bool {
	lower := strings.ToLower(p)
	for _, prefix := range []string{"git::", "gh:", "ssh://", "https://", "http://", "git@", "github.com:", "github.com/"} {
		if len(prefix) < len(p) && strings.HasPrefix(lower, prefix) {
			return false
		}
	}
	return !filepath.IsAbs(p) && !filepath.IsAbs(strings.TrimPrefix(lower, "file://"))
}
