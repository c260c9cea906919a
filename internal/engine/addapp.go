package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"github.com/tidegate/tidegate/internal/catalog"
	"github.com/tidegate/tidegate/internal/source"
)

// AddApp writes a file for a new app into a repository's catalog, and gives its path. What exists is left alone.
func AddApp(req Request, name string) (string, error) {
	tree, _, err := req.open()
	if err != nil {
		return "", err
	}
	dir, ok := tree.(*source.Dir)
	if !ok {
		return "", usage("the reference platform within the program cannot be written: tidegate init DIR makes a repository of it")
	}
	conf, err := loadConfig(tree)
	if err != nil {
		return "", err
	}
	s := CatalogSettings(conf)
	domain := "home.example.net"
	c, _, err := catalog.Load(filesOf(tree), s)
	if err != nil {
		return "", err
	}
	if why := c.Taken(name); why != "" {
		return "", usage("%q cannot be the name of an app: %s", name, why)
	}
	if d := c.Domain(); d != "" {
		domain = d
	}
	data, err := catalog.Scaffold(name, domain)
	if err != nil {
		return "", &UsageError{err}
	}
	root, err := os.OpenRoot(dir.Root())
	if err != nil {
		return "", err
	}
	defer root.Close()
	file := path.Join(s.Dir, name+".yaml")
	if err := root.MkdirAll(s.Dir, 0o755); err != nil {
		return "", err
	}
	f, err := root.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return "", usage("%s exists, and stays as it is", file)
	}
	if err != nil {
		return "", fmt.Errorf("writing %s: %w", file, err)
	}
	_, err = f.Write(data)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return file, err
}
