package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"

	yaml3 "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"
)

func (k *check) volumes() {
	a := k.a
	mounts := map[string]string{}
	mount := func(at, p string) {
		switch other, taken := mounts[path.Clean(p)]; {
		case p == "":
		case !path.IsAbs(p) || path.Clean(p) != p || p == "/" || strings.Contains(p, ":"):
			k.bad(at, quote(p)+" is no absolute path in the container", "write one such as /data")
		case taken:
			k.bad(at, p+" is also the place of "+other, "each has a place of its own")
		default:
			mounts[path.Clean(p)] = at
		}
	}
	for _, v := range a.Storage {
		at := join("storage", v.Name)
		if len(validation.IsDNS1123Label(v.Name)) > 0 || len(v.Name) > 20 {
			k.bad(at, quote(v.Name)+" is no name of a volume", "write at most 20 small letters, digits and dashes")
		}
		if v.Name == filesVolume && len(a.Files) > 0 {
			k.bad(at, "the volume of files is called so", "give it another name")
		}
		mount(at+".mount", v.Mount)
		k.quantity(at+".size", v.Size)
		switch {
		case v.Scratch && (v.Local != nil || v.Class != "" || v.Size != ""):
			k.bad(at, "what is scratch has no size, class or node", "take them away, or scratch")
		case !v.Scratch && v.Size == "" && v.Mount != "":
			k.bad(at, at+".size is missing", "add size: 5Gi, or a ${TOKEN}; or scratch: true for what need not be kept")
		case v.Local != nil && v.Class != "":
			k.bad(at+".class", "a local volume has no class", "take it away")
		case v.Class != "" && len(validation.IsDNS1123Subdomain(v.Class)) > 0:
			k.bad(at+".class", quote(v.Class)+" is no name of a StorageClass", "")
		}
		if l := v.Local; l != nil {
			if l.Path != "" && (!path.IsAbs(l.Path) || path.Clean(l.Path) != l.Path) {
				k.bad(at+".local.path", quote(l.Path)+" is no absolute path", "write one such as /srv/media")
			}
			if l.Node != "" && !isToken(l.Node) && len(validation.IsDNS1123Subdomain(l.Node)) > 0 {
				k.bad(at+".local.node", quote(l.Node)+" is no name of a node", "write a name, or one ${TOKEN}")
			}
		}
	}
	keys := map[string]string{}
	for _, f := range a.Files {
		at := join("files", f.Path)
		mount(at, f.Path)
		if other, ok := keys[path.Base(f.Path)]; ok {
			k.bad(at, "its name is also that of "+other, "files of one app have names of their own")
		}
		keys[path.Base(f.Path)] = f.Path
		if len(validation.IsConfigMapKey(path.Base(f.Path))) > 0 {
			k.bad(at, quote(path.Base(f.Path))+" cannot be the name of a file in a ConfigMap", "write letters, digits, '-', '_' and '.'")
		}
	}
}

func (k *check) database() {
	a, b := k.a, k.a.Backup
	if d := a.Database; d != nil {
		k.quantity("database.size", d.Size)
		if d.Server != "" && len(validation.IsDNS1123Label(d.Server)) > 0 {
			k.bad("database.server", quote(d.Server)+" is no name of a server", "write small letters, digits and dashes")
		}
		k.number("database.instances", d.Instances, 1, 9)
		if d.Name != "" && (len(d.Name) > 63 || !isIdentifier(d.Name)) {
			k.bad("database.name", quote(d.Name)+" is no name of a database", "write small letters, digits and _")
		}
		if b == nil || b.Database == "" {
			k.bad("database", "nothing says when the database is backed up", `add backup: {database: "0 30 3 * * *"}, or never`)
		}
	}
	if b == nil {
		return
	}
	switch {
	case b.Database == "" || b.Database == "never":
	case a.Database == nil:
		k.bad("backup.database", "the app has no database", "take it away")
	case len(strings.Fields(b.Database)) != 6:
		k.bad("backup.database", fmt.Sprintf("%s is no schedule of six fields", quote(b.Database)), `seconds come first, as in "0 30 3 * * *", which is half past three`)
	}
	for i, v := range b.Without {
		if !slices.ContainsFunc(a.Storage, func(s Volume) bool { return s.Name == v }) {
			k.bad(fmt.Sprintf("backup.without[%d]", i), quoteKey(v)+" is no volume of the app", "name one of storage")
		}
	}
}

func isIdentifier(s string) bool {
	for i, r := range s {
		if (r < 'a' || r > 'z') && r != '_' && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

var manifestName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*\.yaml$`)

// manifests reads the app's own manifests: each must be objects of the app's namespace.
func (k *check) manifests() {
	taken := map[string]bool{}
	for i, name := range k.a.Manifests {
		at := fmt.Sprintf("manifests[%d]", i)
		where := path.Join(k.c.Settings.Dir, k.a.Name, name)
		switch {
		case !manifestName.MatchString(name) || strings.HasSuffix(name, ".sops.yaml"):
			k.bad(at, quote(name)+" is no name of a manifest", "write the name of a .yaml file in "+path.Join(k.c.Settings.Dir, k.a.Name)+"; encrypted ones belong under secrets")
			continue
		case reserved[name] || taken[name]:
			k.bad(at, name+" is the name of a file that is made already", "give it another")
			continue
		}
		taken[name] = true
		data, _, err := k.c.own(k.a, name)
		switch {
		case missing(err):
			k.bad(at, where+" does not exist", "write it, or take it off the list")
			continue
		case err != nil:
			k.bad(at, "reading "+where+": "+err.Error(), "")
			continue
		}
		if len(data) > maxFile {
			k.bad(at, where+" is larger than 1 MiB", "")
			continue
		}
		if line, why := objectsOf(data); why != "" {
			k.bad(at, fmt.Sprintf("%s:%d: %s", where, line, why), "it is put among the app's manifests as it is, and has to build there")
		}
	}
}

// objectsOf says what keeps a file from being Kubernetes objects, and where; empty when nothing does.
func objectsOf(data []byte) (line int, why string) {
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) || bytes.HasPrefix(data, []byte("%")) {
		return 1, "it begins with a byte order mark or a directive, before which no comment can stand"
	}
	dec := yaml3.NewDecoder(bytes.NewReader(data))
	for n := 0; ; n++ {
		var doc yaml3.Node
		err := safely(func() error { return dec.Decode(&doc) })
		switch {
		case errors.Is(err, io.EOF) && n == 0:
			return 1, "it is empty"
		case errors.Is(err, io.EOF):
			return 0, ""
		case err != nil:
			line, msg := yamlError(err)
			return line, "it is no YAML: " + msg
		}
		var o struct {
			APIVersion string `yaml:"apiVersion"`
			Kind       string
			Metadata   struct{ Name string }
		}
		if doc.Decode(&o) != nil || o.APIVersion == "" || o.Kind == "" || o.Metadata.Name == "" {
			return lineOf(&doc), "a document has no apiVersion, kind or metadata.name"
		}
	}
}

// lineOf is where a document's content begins.
func lineOf(doc *yaml3.Node) int {
	if len(doc.Content) > 0 {
		return max(doc.Content[0].Line, 1)
	}
	return max(doc.Line, 1)
}

// reserved are the names of the files that are made of the format.
var reserved = map[string]bool{
	"kustomization.yaml": true, "namespace.yaml": true, "database.yaml": true, "storage.yaml": true, "config.yaml": true,
	"deployment.yaml": true, "service.yaml": true, "http-route.yaml": true, "network-policy.yaml": true,
}
