package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"

	"github.com/tidegate/tidegate/internal/report"
	"github.com/tidegate/tidegate/internal/view"
)

// written is the list of files that a render wrote into a directory, so that the next one can take away those that it
// no longer writes, and nothing else.
const written = ".tidegate-rendered"

// CheckOut refuses an output directory inside the repository, where the next render would read what this one wrote.
func CheckOut(req Request, out string) error {
	dir, err := real(req.path(out))
	if err != nil {
		return usage("--out %s: %v", out, err)
	}
	repo := req.path(req.Repo)
	if req.Repo == "" {
		if repo = gitRoot(req.Dir); repo == "" {
			tree, _, err := open(req.Dir)
			if err != nil || !isFluxRepository(tree) {
				return nil // the embedded reference platform is rendered
			}
			repo = req.Dir
		}
	}
	if repo, err = real(repo); err != nil {
		return nil // Open says what is wrong with it
	}
	if dir == repo || strings.HasPrefix(dir, strings.TrimSuffix(repo, "/")+"/") {
		return usage("--out %s is inside the repository, where the next render would read it: name a directory outside", out)
	}
	return nil
}

// real resolves symlinks of as much of a path as exists.
func real(p string) (string, error) {
	abs, err := filepath.Abs(p)
	if err != nil {
		return "", err
	}
	rest := ""
	for at := abs; ; at = filepath.Dir(at) {
		if r, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(r, rest), nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if at == filepath.Dir(at) {
			return abs, nil
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// WriteOut writes a file for each Kustomization that was rendered, readable by the user alone when it holds plaintext,
// and removes the files of an earlier render that are no longer made. It never leaves the directory, whatever names
// the repository uses and whatever links lie in it.
func WriteOut(req Request, out string, r *report.Render) error {
	dir := req.path(out)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	old := map[string]bool{}
	if fi, err := root.Lstat(written); err == nil && !fi.Mode().IsRegular() {
		return fmt.Errorf("--out %s: %s is no regular file: remove it", out, written)
	}
	if data, err := root.ReadFile(written); err == nil {
		for _, p := range strings.Split(string(data), "\n") {
			if p != "" && filepath.IsLocal(p) {
				old[p] = true
			}
		}
	}
	mode := fs.FileMode(0o644)
	if r.Secrets {
		mode = 0o600
	}
	var now []string
	for _, e := range r.Environments {
		for _, u := range e.Units {
			if u.Kind != "Kustomization" || u.Status == "failed" || len(u.Objects) == 0 && u.Status == "unverified" {
				continue
			}
			p := path.Join(e.Name, "kustomization", segment(u.Namespace), segment(u.Name)+".yaml")
			var b bytes.Buffer
			if err := view.UnitFile(&b, u); err != nil {
				return err
			}
			if err := replaceFile(root, p, b.Bytes(), mode); err != nil {
				return fmt.Errorf("--out: %w", err)
			}
			now = append(now, p)
			delete(old, p)
		}
	}
	for p := range old {
		if err := root.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("--out: %w", err)
		}
	}
	sort.Strings(now)
	return replaceFile(root, written, []byte(strings.Join(now, "\n")+"\n"), 0o644)
}

// replaceFile writes beside a file and renames, so that a reader never sees half of it.
func replaceFile(root *os.Root, p string, data []byte, mode fs.FileMode) error {
	if d := path.Dir(p); d != "." {
		if err := root.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	tmp := p + ".tmp"
	if err := root.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = root.Rename(tmp, p)
	}
	if err != nil {
		_ = root.Remove(tmp)
	}
	return err
}

// segment keeps a name within one folder. Kubernetes refuses names that need it.
func segment(s string) string {
	if s == "" || s == "." || s == ".." {
		return "%" + s
	}
	return strings.ReplaceAll(url.PathEscape(s), "%3A", ":")
}
