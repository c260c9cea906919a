// Package config reads tidegate.yaml: what a repository's files cannot say of its environments. Everything in it is
// optional, and a repository needs no such file.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"path"
	"regexp"
	"slices"
	"sort"
	"strings"

	yaml3 "go.yaml.in/yaml/v3"

	"github.com/tidegate/tidegate/internal/flux"
)

// FileName is the file's name, at the root of a repository.
const FileName = "tidegate.yaml"

// APIVersion is the version of the format that this program reads.
const APIVersion = "tidegate.dev/v1alpha1"

// Config is the file.
type Config struct {
	APIVersion   string                 `yaml:"apiVersion"`
	Environments map[string]Environment `yaml:"environments"`
	// Assumes are files of Kubernetes objects that every cluster holds before Flux: CRDs, ConfigMaps, namespaces.
	Assumes []string `yaml:"assumes"`
	// Knobs says where the values that may differ between environments are set.
	Knobs *Knobs `yaml:"knobs"`
	// Bootstrap says what must be in a cluster before Flux is.
	Bootstrap *Bootstrap `yaml:"bootstrap"`
	// SensitivePaths are patterns of files whose change needs an approval.
	SensitivePaths []string `yaml:"sensitivePaths"`
	// Catalog says how the apps of the catalog are made.
	Catalog *Catalog `yaml:"catalog"`
	// Allow are findings that somebody decided to live with.
	Allow AllowList `yaml:"allow"`
}

// Environment is one cluster.
type Environment struct {
	// Path is the directory that Flux builds first, or a file of Flux objects that somebody applies.
	Path string `yaml:"path"`
	// Root is the folder of the repository that is the root of the artifact; the repository's root when empty.
	Root string `yaml:"root"`
	// FluxVersion decides where Flux's behaviour changed.
	FluxVersion string `yaml:"fluxVersion"`
	// Assumes adds to the file's own list.
	Assumes []string `yaml:"assumes"`
	// Vars are values of variables whose source is not in the repository.
	Vars map[string]string `yaml:"vars"`

	LAN             string `yaml:"lan"`
	Nodes           []Node `yaml:"nodes"`
	ControlPlaneVIP string `yaml:"controlPlaneVIP"`
}

// Node is a machine of a cluster.
type Node struct {
	Name    string `yaml:"name"`
	Address string `yaml:"address"`
}

// Knobs names the object that holds them, and those that every overlay must set.
type Knobs struct {
	Source string   `yaml:"source"` // KIND NAMESPACE/NAME
	LAN    []string `yaml:"lan"`
}

// Bootstrap is what must be in a cluster before Flux is, because nothing in git brings it.
type Bootstrap struct {
	CRDs     []string `yaml:"crds"`     // names of CustomResourceDefinitions
	CRDsFrom string   `yaml:"crdsFrom"` // the manifest that brings them, for whoever bootstraps
	Cilium   *struct {
		Values  string `yaml:"values"`  // file of Helm values that install the network
		Mirrors string `yaml:"mirrors"` // KIND NAMESPACE/NAME of the object whose values it repeats
	} `yaml:"cilium"`
	Secrets []string `yaml:"secrets"` // NAMESPACE/NAME
}

// Catalog says how apps are made of the files of the catalog. What it leaves out is as in the reference platform.
type Catalog struct {
	Dir      string   `yaml:"dir"`      // of the files; catalog
	Apps     string   `yaml:"apps"`     // of the output; apps
	Clusters string   `yaml:"clusters"` // of the Kustomizations of the waves; clusters/base
	Tiers    []string `yaml:"tiers"`    // folders of what is there before the apps; platform and platform-config
	After    string   `yaml:"after"`    // the Kustomization that wave 0 depends on; platform-config

	Gateway      string `yaml:"gateway"`      // NAMESPACE/NAME/LISTENER of the shared Gateway; gateway/shared/https
	StorageClass string `yaml:"storageClass"` // of volumes and databases; longhorn-apps
	LAN          string `yaml:"lan"`          // the network that l4 addresses serve; ${LAN_CIDR}

	Login struct {
		Issuer string `yaml:"issuer"` // of single sign-on
		Needs  string `yaml:"needs"`  // what provides it; keycloak
	} `yaml:"login"`
	Database struct {
		Image     string `yaml:"image"`     // of PostgreSQL; the operator's default
		Instances string `yaml:"instances"` // ${REPLICAS_DATABASE}
		Retention string `yaml:"retention"` // ${RETENTION_DATABASE}
		Endpoint  string `yaml:"endpoint"`  // of the S3 that backups go to; ${S3_BACKUP_ENDPOINT}
		Bucket    string `yaml:"bucket"`    // s3://databases/
	} `yaml:"database"`
}

// folder is a folder of the repository, written plainly, and not one of git's or of ours.
var folder = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)*$`)

// check refuses what would put the output elsewhere than below the repository.
func (c *Catalog) check() error {
	paths := []struct{ field, path string }{{".dir", c.Dir}, {".apps", c.Apps}, {".clusters", c.Clusters}}
	for i, t := range c.Tiers {
		paths = append(paths, struct{ field, path string }{fmt.Sprintf(".tiers[%d]", i), t})
	}
	for _, f := range paths {
		if f.path != "" && !folder.MatchString(f.path) {
			return fmt.Errorf("%s: %q is no folder of the repository, written plainly such as apps", f.field, f.path)
		}
	}
	if c.Gateway != "" && strings.Count(c.Gateway, "/") != 2 {
		return fmt.Errorf(".gateway: %q: write NAMESPACE/NAME/LISTENER, such as gateway/shared/https", c.Gateway)
	}
	return nil
}

var environmentName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)

// objectName is KIND NAMESPACE/NAME; a slash in the place of the blank is how findings write it.
var objectName = regexp.MustCompile(`^[A-Z][A-Za-z]*[ /][a-z0-9-]+/[a-z0-9.-]+$`)

// ValidName tells whether an environment may be called so: names become folders.
func ValidName(name string) bool { return environmentName.MatchString(name) && len(name) <= 63 }

// MaxSize is the largest file that is read, in bytes: it is written by hand.
const MaxSize = 1 << 20

// Parse reads a file strictly: a field that it does not know is an error, since it is a typing error nearly always.
// file is for messages, which carry line numbers where YAML gives them. An empty file says nothing and is good.
func Parse(file string, data []byte) (*Config, error) {
	if len(data) > MaxSize {
		return nil, fmt.Errorf("%s: %d bytes, more than the %d that are read", file, len(data), MaxSize)
	}
	var c Config
	dec := yaml3.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&c); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %s", file, inWords(err))
	}
	if err := dec.Decode(&yaml3.Node{}); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: there is more than one YAML document; everything goes into one", file)
	}
	if err := checkVars(data); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if c.APIVersion != "" && c.APIVersion != APIVersion {
		return nil, fmt.Errorf("%s: apiVersion is %q; this tidegate reads %q", file, c.APIVersion, APIVersion)
	}
	if c.Knobs != nil && c.Knobs.Source != "" && !objectName.MatchString(c.Knobs.Source) {
		return nil, fmt.Errorf("%s: knobs.source is %q: write KIND NAMESPACE/NAME, such as ConfigMap flux-system/cluster-vars", file, c.Knobs.Source)
	}
	if c.Bootstrap != nil && c.Bootstrap.Cilium != nil && c.Bootstrap.Cilium.Mirrors != "" && !objectName.MatchString(c.Bootstrap.Cilium.Mirrors) {
		return nil, fmt.Errorf("%s: bootstrap.cilium.mirrors is %q: write KIND NAMESPACE/NAME, such as HelmRelease kube-system/cilium", file, c.Bootstrap.Cilium.Mirrors)
	}
	if c.Catalog != nil {
		if err := c.Catalog.check(); err != nil {
			return nil, fmt.Errorf("%s: catalog%w", file, err)
		}
	}
	for _, name := range c.Names() {
		if err := c.Environments[name].check(name); err != nil {
			return nil, fmt.Errorf("%s: environments.%s%w", file, name, err)
		}
	}
	return &c, nil
}

// inWords takes the names of our types out of the library's message.
func inWords(err error) string {
	return strings.NewReplacer("yaml: ", "", " in type config.Config", "", " in type config.", " in ").Replace(err.Error())
}

func (e Environment) check(name string) error {
	if !ValidName(name) {
		return errors.New(": a name is made of letters, digits, '-', '_' and '.'")
	}
	for _, f := range []struct{ field, path string }{{".path", e.Path}, {".root", e.Root}} {
		if clean := path.Clean(f.path); path.IsAbs(clean) || clean == ".." || strings.HasPrefix(clean, "../") {
			return fmt.Errorf("%s: %q is not inside the repository", f.field, f.path)
		}
	}
	if e.FluxVersion != "" {
		if _, err := flux.For(e.FluxVersion); err != nil {
			return fmt.Errorf(".fluxVersion: %w", err)
		}
	}
	if e.LAN != "" {
		if _, err := netip.ParsePrefix(e.LAN); err != nil {
			return fmt.Errorf(".lan: %q is not a network such as 192.168.1.0/24", e.LAN)
		}
	}
	if e.ControlPlaneVIP != "" {
		if _, err := netip.ParseAddr(e.ControlPlaneVIP); err != nil {
			return fmt.Errorf(".controlPlaneVIP: %q is not an IP address", e.ControlPlaneVIP)
		}
	}
	for i, n := range e.Nodes {
		if _, err := netip.ParseAddr(n.Address); err != nil {
			return fmt.Errorf(".nodes[%d].address: %q is not an IP address", i, n.Address)
		}
	}
	return nil
}

// checkVars refuses values that are no strings. The YAML library would take 0123 and true for the text of them, and a
// ConfigMap, for which they stand, would not.
func checkVars(data []byte) error {
	var doc struct {
		Environments map[string]struct {
			Vars map[string]yaml3.Node
		}
	}
	if err := yaml3.Unmarshal(data, &doc); err != nil {
		return err
	}
	for _, env := range slices.Sorted(maps.Keys(doc.Environments)) {
		vars := doc.Environments[env].Vars
		for _, name := range slices.Sorted(maps.Keys(vars)) {
			n := vars[name]
			for n.Kind == yaml3.AliasNode {
				n = *n.Alias
			}
			if n.Kind != yaml3.ScalarNode || n.ShortTag() != "!!str" {
				return fmt.Errorf("line %d: environments.%s.vars.%s is no string: quote it", n.Line, env, name)
			}
		}
	}
	return nil
}

// Names gives the environments in order.
func (c *Config) Names() []string {
	names := make([]string, 0, len(c.Environments))
	for n := range c.Environments {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}
