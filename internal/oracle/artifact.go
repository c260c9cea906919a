package oracle

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	securejoin "github.com/cyphar/filepath-securejoin"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/kyaml/openapi"
)

// Artifact is a private copy of an artifact that many units can be built from. What a build writes into it
// is undone after the build. Close it when done.
type Artifact struct {
	source, root string
}

// Open copies the directories and regular files of dir to a temporary directory.
func Open(dir string) (*Artifact, error) {
	root, err := os.MkdirTemp("", "oracle-")
	if err != nil {
		return nil, err
	}
	// The controller's MkdirTempAbs: a temporary directory behind a link would be outside of itself.
	resolved, err := filepath.EvalSymlinks(root)
	if err == nil {
		err = copyTree(dir, resolved)
	}
	if err != nil {
		os.RemoveAll(root)
		return nil, fmt.Errorf("copy artifact: %w", err)
	}
	return &Artifact{source: dir, root: resolved}, nil
}

// Close removes the copy, and loads kustomize's global schema again, which Flux's build leaves empty and
// which builds in parallel must find loaded.
func (a *Artifact) Close() error {
	openapi.ResetOpenAPI()
	openapi.Schema()
	return os.RemoveAll(a.root)
}

// begin gives the root to build in, and what undoes the build. The generator writes the kustomization file
// of the unit's directory and nothing else; decryption may write anywhere, so it gets a copy of its own.
func (a *Artifact) begin(unit Unit, o Options) (root string, restore func() error, err error) {
	ks, _, err := unit.typed()
	if err != nil {
		// Let the build report it.
		return a.root, func() error { return nil }, nil
	}
	if usesSOPS(ks) && o.Decrypt != nil {
		own, err := Open(a.source)
		if err != nil {
			return "", nil, err
		}
		return own.root, func() error { return os.RemoveAll(own.root) }, nil
	}
	dir, err := securejoin.SecureJoin(a.root, ks.Spec.Path)
	if err != nil {
		return a.root, func() error { return nil }, nil
	}
	before := map[string][]byte{}
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			continue // a directory of that name: the generator cannot write there either
		}
		before[filepath.Join(dir, name)] = data
	}
	return a.root, func() error {
		for path, data := range before {
			var err error
			if data == nil {
				err = os.Remove(path)
			} else {
				err = os.WriteFile(path, data, 0o600)
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("restore artifact: %w", err)
			}
		}
		return nil
	}, nil
}

func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		case d.Type().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(to, rel), data, 0o600)
		default:
			return nil
		}
	})
}
