package render

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"sort"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/yaml"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/tidegate/tidegate/internal/flux"
	"github.com/tidegate/tidegate/internal/sops"
)

// This file decrypts where kustomize-controller does (internal/decryptor/decryptor.go): the inputs of Secret
// generators and the patches of every kustomization that the build reaches, before the build; encrypted objects, and
// encrypted values within Secrets, after it.
//
// The rules are:
//   - What no held key opens is masked, and everything it touches is unverified. A key that is missing here says
//     nothing about the cluster.
//   - What cannot be decrypted for another reason (a file that is broken) fails, as it would in the cluster.
//   - Plaintext lives in memory alone, in values that a view cannot reach without asking for secrets.

// reading is how one pass reads encrypted content: with keys, and with a mask for what they do not open.
type reading struct {
	keys *sops.Keys
	mask string
}

// otherMask is the second mask: a pass with it finds what depends on masked content.
const otherMask = "**sops**"

func (r reading) decrypt(data []byte, in, out sops.Format) (text []byte, opened bool, opaque error, err error) {
	if r.keys != nil && !r.keys.Empty() {
		text, err = sops.Decrypt(data, in, out, r.keys)
		if err == nil {
			return text, true, nil, nil
		}
		if !errors.Is(err, sops.ErrNoKey) {
			return nil, false, nil, err
		}
		opaque = err
	} else {
		opaque = errors.New("no age key is held")
	}
	text, err = sops.Mask(data, in, out, r.mask)
	return text, false, opaque, err
}

// decryptSources replaces encrypted generator inputs and patches, of dir's kustomization and of those it includes.
func decryptSources(b *buildFS, dir string, how reading, v flux.Behaviour) error {
	d := &sourceDecryptor{fs: b, how: how, flux: v, seen: map[string]bool{}, done: map[string]bool{}}
	return d.visit(dir, true)
}

type sourceDecryptor struct {
	fs   *buildFS
	how  reading
	flux flux.Behaviour
	seen map[string]bool // folders
	done map[string]bool // files
}

// visit walks resources and components. A path that is no folder of the artifact is skipped: a file, or a URL.
func (d *sourceDecryptor) visit(dir string, root bool) error {
	if d.seen[dir] {
		return nil
	}
	d.seen[dir] = true
	if isDir, ok := d.fs.stat(abs(dir)); !ok || !isDir {
		return nil
	}
	k, err := d.load(dir)
	if err != nil {
		return err
	}
	if err := d.decryptRefs(dir, k); err != nil {
		return err
	}
	next := k.Resources
	if d.flux.DecryptComponents {
		next = append(next[:len(next):len(next)], k.Components...)
	}
	for _, r := range next {
		if err := d.visit(within(dir, r), false); err != nil {
			return err
		}
	}
	return nil
}

func (d *sourceDecryptor) load(dir string) (*types.Kustomization, error) {
	found := ""
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		p := path.Join(dir, name)
		if isDir, ok := d.fs.stat(abs(p)); ok {
			if isDir {
				return nil, fmt.Errorf("expected %s to be a regular file", name)
			}
			if found != "" {
				return nil, errors.New("found multiple kustomization files")
			}
			found = p
		}
	}
	if found == "" {
		return nil, fmt.Errorf("no kustomization file found in %s", dir)
	}
	data, err := d.fs.read(found)
	if err != nil {
		return nil, err
	}
	k := types.Kustomization{TypeMeta: types.TypeMeta{APIVersion: types.KustomizationVersion, Kind: types.KustomizationKind}}
	if err := sigsyaml.Unmarshal(data, &k); err != nil {
		return nil, fmt.Errorf("failed to unmarshal kustomization file from '%s': %w", found, err)
	}
	return &k, nil
}

func (d *sourceDecryptor) decryptRefs(dir string, k *types.Kustomization) error {
	for _, gen := range k.SecretGenerator {
		for _, src := range gen.FileSources {
			// KEY=PATH, or a path that is its own key. The key decides the format.
			key, file, ok := strings.Cut(src, "=")
			if !ok {
				file = key
			}
			if err := d.file(dir, file, sops.FormatForPath(key)); err != nil {
				return err
			}
		}
		for _, env := range gen.EnvSources {
			f := sops.FormatForPath(env)
			if f == sops.Binary {
				f = sops.Dotenv
			}
			if err := d.file(dir, env, f); err != nil {
				return err
			}
		}
	}
	if !d.flux.DecryptComponents {
		return nil // the release that brought components brought patches too
	}
	for _, p := range k.Patches {
		if p.Path == "" || isRemoteURL(p.Path) {
			continue
		}
		if err := d.file(dir, p.Path, sops.FormatForPath(p.Path)); err != nil {
			return err
		}
	}
	return nil
}

// file decrypts one file in place when it bears the marker of its format.
func (d *sourceDecryptor) file(dir, name string, f sops.Format) error {
	p := within(dir, name)
	if d.done[p] {
		return nil
	}
	data, err := d.fs.read(p)
	if err != nil {
		return err
	}
	if len(data) > sops.MaxFileSize {
		return fmt.Errorf("cannot decrypt file with size (%d bytes) exceeding limit (%d): %s", len(data), sops.MaxFileSize, p)
	}
	d.done[p] = true
	if !sops.HasMarker(data, f) {
		return nil
	}
	text, opened, opaque, err := d.how.decrypt(data, f, f)
	if err != nil {
		return fmt.Errorf("%s: %w", p, err)
	}
	if opened {
		d.fs.secretSources = true
	} else {
		d.fs.opaqueSources = append(d.fs.opaqueSources, opaqueSource{p, opaque})
	}
	d.fs.overlay[p] = text
	return nil
}

// opaqueSource is a file that no held key opens.
type opaqueSource struct {
	file string
	why  error
}

// decryptResource decrypts a built resource in place. secret tells that plaintext is now in it, opaque that a mask is.
func decryptResource(res *resource.Resource, how reading) (secret bool, opaque error, err error) {
	if sops.DecryptionDisabled(res.GetAnnotations()) {
		return false, nil, nil
	}
	where := func(what string) string {
		return fmt.Sprintf("failed to decrypt and format '%s/%s' %s", res.GetNamespace(), res.GetName(), what)
	}
	if hasSOPS(res) {
		data, err := res.MarshalJSON()
		if err != nil {
			return false, nil, err
		}
		out, opened, opaque, err := how.decrypt(data, sops.JSON, sops.JSON)
		if err != nil {
			return false, nil, fmt.Errorf("%s data: %w", where(res.GetKind()), err)
		}
		if err := res.UnmarshalJSON(out); err != nil {
			return false, nil, fmt.Errorf("failed to unmarshal decrypted '%s/%s' %s to JSON", res.GetNamespace(), res.GetName(), res.GetKind())
		}
		return opened, opaque, nil
	}
	if res.GetKind() != "Secret" {
		return false, nil, nil
	}
	data := res.GetDataMap()
	for _, key := range sortedKeys(data) {
		raw, err := base64.StdEncoding.DecodeString(data[key])
		if err != nil {
			continue // the API server will say so
		}
		in, ok := sops.DetectMarker(raw)
		if !ok {
			continue
		}
		out, opened, why, err := how.decrypt(raw, in, sops.FormatForPath(key))
		if err != nil {
			return false, nil, fmt.Errorf("%s: %w", where("Secret field '"+key+"'"), err)
		}
		secret = secret || opened
		if !opened {
			opaque = why
		}
		data[key] = base64.StdEncoding.EncodeToString(out)
	}
	// The controller writes the map back whether or not it changed, which is not the identity: a key without a value
	// becomes a string, and an empty map is dropped.
	res.SetDataMap(data)
	return secret, opaque, nil
}

// hasSOPS tells whether an object has a non-empty .sops.mac.
func hasSOPS(res *resource.Resource) bool {
	var field *yaml.MapNode
	if field = res.Field("sops"); field.IsNilOrEmpty() {
		return false
	}
	return !field.Value.Field("mac").IsNilOrEmpty()
}

// within joins as the decryptor does: what points above the artifact stays at its root.
func within(dir, p string) string {
	if filepath.IsAbs(p) {
		if r, ok := rel(p); ok {
			return r
		}
		p, dir = strings.TrimPrefix(p, "/"), "."
	}
	return strings.TrimPrefix(path.Join("/", dir, p), "/") + dotIfRoot(path.Join("/", dir, p))
}

func dotIfRoot(joined string) string {
	if joined == "/" {
		return "."
	}
	return ""
}

func isRemoteURL(p string) bool {
	u, err := url.Parse(p)
	return err == nil && u.Scheme != "" && u.Host != ""
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
