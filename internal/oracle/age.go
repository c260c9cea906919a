package oracle

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	securejoin "github.com/cyphar/filepath-securejoin"
	"github.com/getsops/sops/v3"
	"github.com/getsops/sops/v3/aes"
	"github.com/getsops/sops/v3/age"
	"github.com/getsops/sops/v3/cmd/sops/formats"
	"github.com/getsops/sops/v3/config"
	"github.com/getsops/sops/v3/stores/dotenv"
	"github.com/getsops/sops/v3/stores/ini"
	"github.com/getsops/sops/v3/stores/json"
	sopsyaml "github.com/getsops/sops/v3/stores/yaml"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"
)

// AgeKeys opens SOPS files with age identities, as the controller's decryptor
// (internal/decryptor/decryptor.go) does with a Secret that holds them under a key ending in .agekey. It
// is a judge of our own decryption too, and shares nothing with it but the sops library. Errors are the
// controller's and hold no plaintext; only where no key fits do they say less than the controller's, which
// list the keys that were tried.
type AgeKeys struct {
	identities age.ParsedIdentities
}

// ParseAgeKeys reads the text of an age key file.
func ParseAgeKeys(text string) (AgeKeys, error) {
	var ids age.ParsedIdentities
	if err := ids.Import(text); err != nil {
		return AgeKeys{}, errors.New("not an age key file")
	}
	return AgeKeys{identities: ids}, nil
}

// Hooks gives o with the two decryption hooks set.
func (k AgeKeys) Hooks(o Options) Options {
	o.Decrypt, o.DecryptResource = k.sources, k.resource
	return o
}

const maxEncryptedFile = 5 << 20

// marker is the text by which the controller knows a file of that format to be encrypted.
func marker(f formats.Format) []byte {
	switch f {
	case formats.Yaml:
		return []byte("mac: ENC[")
	case formats.Dotenv:
		return []byte("sops_mac=ENC[")
	case formats.Ini:
		return []byte("[sops]")
	default:
		return []byte(`"mac": "ENC[`)
	}
}

func formatOf(path string) formats.Format {
	if strings.HasSuffix(path, ".dockerconfigjson") {
		return formats.Json
	}
	return formats.FormatForPath(path)
}

func store(f formats.Format) sops.Store {
	c := config.NewStoresConfig()
	switch f {
	case formats.Yaml:
		return sopsyaml.NewStore(&c.YAML)
	case formats.Dotenv:
		return dotenv.NewStore(&c.Dotenv)
	case formats.Ini:
		return ini.NewStore(&c.INI)
	case formats.Json:
		return json.NewStore(&c.JSON)
	default:
		return json.NewBinaryStore(&c.JSONBinary)
	}
}

func (k AgeKeys) decrypt(data []byte, in, out formats.Format) (plain []byte, err error) {
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("failed to emit encrypted %s file as decrypted %s", formatName(in), formatName(out))
		}
	}()
	tree, err := store(in).LoadEncryptedFile(data)
	if err != nil {
		return nil, fmt.Errorf("failed to load encrypted %s data: %w", formatName(in), err)
	}
	key, err := k.dataKey(tree.Metadata)
	if err != nil {
		return nil, err
	}
	// The MAC is not compared: the controller does not, since kustomize changes what it covers.
	if _, err := tree.Decrypt(key, aes.NewCipher()); err != nil {
		return nil, fmt.Errorf("error decrypting sops tree: %w", redacted(err))
	}
	return store(out).EmitPlainFile(tree.Branches)
}

// redacted takes out the value that sops quotes when it meets plaintext where ciphertext should be.
func redacted(err error) error {
	before, quoted, found := strings.Cut(err.Error(), "Input string ")
	if !found || !strings.Contains(quoted, " does not match sops' data format") {
		return err
	}
	return errors.New(before + "Input string <redacted> does not match sops' data format")
}

func formatName(f formats.Format) string {
	switch f {
	case formats.Yaml:
		return "YAML"
	case formats.Json:
		return "JSON"
	case formats.Ini:
		return "INI"
	case formats.Dotenv:
		return "dotenv"
	default:
		return "binary"
	}
}

func (k AgeKeys) dataKey(m sops.Metadata) ([]byte, error) {
	for _, group := range m.KeyGroups {
		for _, key := range group {
			ageKey, ok := key.(*age.MasterKey)
			if !ok {
				continue
			}
			k.identities.ApplyToMasterKey(ageKey)
			if plain, err := ageKey.Decrypt(); err == nil {
				return plain, nil
			}
		}
	}
	return nil, errors.New("cannot get sops data key")
}

// resource is DecryptResource: a whole object with .sops.mac, or else the entries of a Secret's data.
func (k AgeKeys) resource(res *resource.Resource) (*resource.Resource, error) {
	if field := res.Field("sops"); !field.IsNilOrEmpty() && !field.Value.Field("mac").IsNilOrEmpty() {
		in, err := res.MarshalJSON()
		if err != nil {
			return nil, err
		}
		out, err := k.decrypt(in, formats.Json, formats.Json)
		if err != nil {
			return nil, fmt.Errorf("failed to decrypt and format '%s/%s' %s data: %w", res.GetNamespace(), res.GetName(), res.GetKind(), err)
		}
		return res, res.UnmarshalJSON(out)
	}
	if res.GetKind() != "Secret" {
		return nil, nil
	}
	data := res.GetDataMap()
	for key, value := range data {
		text, err := base64.StdEncoding.DecodeString(value)
		if err != nil {
			continue
		}
		// The controller takes the format from a map's order; JSON before binary gives the same envelope.
		for _, in := range []formats.Format{formats.Yaml, formats.Json, formats.Dotenv, formats.Ini} {
			if !bytes.Contains(text, marker(in)) {
				continue
			}
			out := formatOf(key)
			if in == formats.Json && out == formats.Binary {
				in = formats.Binary
			}
			plain, err := k.decrypt(text, in, out)
			if err != nil {
				return nil, fmt.Errorf("failed to decrypt and format '%s/%s' Secret field '%s': %w", res.GetNamespace(), res.GetName(), key, err)
			}
			data[key] = base64.StdEncoding.EncodeToString(plain)
			break
		}
	}
	res.SetDataMap(data)
	return res, nil
}

// sources is DecryptSources: the kustomization in dir and those below it by resources and components; of
// each, what its secret generators read and its patch files.
func (k AgeKeys) sources(root, dir string) error {
	rel, err := filepath.Rel(root, dir)
	if err != nil {
		return err
	}
	w := sourceWalk{keys: k, root: root, dirs: map[string]bool{}, files: map[string]bool{}}
	_, err = w.dir(rel)
	return err
}

type sourceWalk struct {
	keys        AgeKeys
	root        string
	dirs, files map[string]bool
}

// dir reports whether rel is a directory: what is none was a file or a URL, and not of interest.
func (w sourceWalk) dir(rel string) (bool, error) {
	abs, err := securejoin.SecureJoin(w.root, rel)
	if err != nil {
		return false, err
	}
	if w.dirs[abs] {
		return true, nil
	}
	w.dirs[abs] = true
	if info, err := os.Stat(abs); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return false, nil
	} else if err != nil {
		return false, err
	}
	kus, err := loadKustomization(abs)
	if err != nil {
		return true, err
	}
	for _, gen := range kus.SecretGenerator {
		for _, source := range gen.FileSources {
			key, path, named := strings.Cut(source, "=")
			if !named {
				path = key
			}
			if err := w.file(filepath.Join(rel, path), formatOf(key)); err != nil {
				return true, err
			}
		}
		for _, path := range gen.EnvSources {
			format := formatOf(path)
			if format == formats.Binary {
				format = formats.Dotenv
			}
			if err := w.file(filepath.Join(rel, path), format); err != nil {
				return true, err
			}
		}
	}
	for _, patch := range kus.Patches {
		if patch.Path == "" || strings.Contains(patch.Path, "://") {
			continue
		}
		if err := w.file(filepath.Join(rel, patch.Path), formatOf(patch.Path)); err != nil {
			return true, err
		}
	}
	for _, below := range append(append([]string{}, kus.Resources...), kus.Components...) {
		if _, err := w.dir(filepath.Join(rel, below)); err != nil {
			return true, err
		}
	}
	return true, nil
}

func (w sourceWalk) file(rel string, format formats.Format) error {
	abs, err := securejoin.SecureJoin(w.root, rel)
	if err != nil || w.files[abs] {
		return err
	}
	info, err := os.Lstat(abs)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("cannot decrypt irregular file as it has file mode type bits set")
	}
	if info.Size() > maxEncryptedFile {
		return fmt.Errorf("cannot decrypt file with size (%d bytes) exceeding limit (%d)", info.Size(), maxEncryptedFile)
	}
	data, err := os.ReadFile(abs)
	if err != nil || !bytes.Contains(data, marker(format)) {
		return err
	}
	plain, err := w.keys.decrypt(data, format, format)
	if err != nil {
		return err
	}
	w.files[abs] = true
	return os.WriteFile(abs, plain, 0o600)
}

func loadKustomization(dir string) (types.Kustomization, error) {
	kus := types.Kustomization{}
	found := ""
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		path := filepath.Join(dir, name)
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return kus, err
		}
		if found != "" {
			return kus, errors.New("found multiple kustomization files")
		}
		found = path
	}
	if found == "" {
		return kus, errors.New("no kustomization file found")
	}
	data, err := os.ReadFile(found)
	if err != nil {
		return kus, fmt.Errorf("failed to read kustomization file: %w", err)
	}
	if err := yaml.Unmarshal(data, &kus); err != nil {
		return kus, fmt.Errorf("failed to unmarshal kustomization file from '%s': %w", found, err)
	}
	return kus, nil
}
