package catalog_test

import (
	"io/fs"
	"sort"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/tidegate/tidegate/internal/catalog"
	"github.com/tidegate/tidegate/internal/model"
)

// tree is a repository in memory.
type tree map[string]string

func (t tree) Paths() (out []string) {
	for p := range t {
		out = append(out, p)
	}
	sort.Strings(out)
	return out
}

func (t tree) ReadFile(p string) ([]byte, error) {
	if s, ok := t[p]; ok {
		return []byte(s), nil
	}
	return nil, &fs.PathError{Op: "read", Path: p, Err: fs.ErrNotExist}
}

// with gives the tree with changes made.
func (t tree) with(changes []catalog.Change) tree {
	out := tree{}
	for p, s := range t {
		out[p] = s
	}
	for _, c := range changes {
		if delete(out, c.Path); c.New != nil {
			out[c.Path] = string(c.New)
		}
	}
	return out
}

// over gives the tree with the files of an archive.
func (t tree) over(archive string) tree {
	out := t.with(nil)
	for _, f := range txtar.Parse([]byte(archive)).Files {
		out[f.Name] = string(f.Data)
	}
	return out
}

var settings = catalog.Settings{
	Dir: "catalog", Apps: "apps", Clusters: "clusters/base", Tiers: []string{"platform"}, After: "platform",
	Knobs: model.Ref{Kind: "ConfigMap", Namespace: "flux-system", Name: "cluster-vars"}, Gateway: "gateway/shared/https", StorageClass: "fast",
	LAN: "${LAN_CIDR}", Issuer: "https://id.example.net/realms/home", LoginNeeds: "keycloak",
	DatabaseImage: "example.net/postgresql:18", DatabaseInstances: "${REPLICAS}", DatabaseRetention: "7d", DatabaseEndpoint: "${S3}", DatabaseBucket: "s3://db/",
}

// start is a repository with tiers and a graph, and no app.
var start = tree{}.over(`
-- platform/keycloak/kustomization.yaml --
resources: []
-- platform/longhorn/namespace.yaml --
# Longhorn's.
apiVersion: v1
kind: Namespace
metadata:
  name: longhorn-system
-- platform/cnpg/kustomization.yaml --
resources: []
-- clusters/base/kustomization.yaml --
resources:
  - platform.yaml
  # catalog: begin
  # catalog: end
  - vms.yaml
`)

// app is the smallest file of an app, with more lines.
func app(name string, more ...string) string {
	return "apiVersion: tidegate.dev/v1alpha1\nname: " + name + "\nimage: example.net/" + name + ":1.0\nports: {http: 8080}\nprobe: {port: http}\nresources: {cpu: 10m, memory: 64Mi}\n" +
		strings.Join(append(more, ""), "\n")
}

// render renders a tree that has nothing against it.
func render(t *testing.T, files, committed tree, cutover bool) *catalog.Plan {
	t.Helper()
	p, problems, err := catalog.Render(files, committed, settings, cutover)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range problems {
		t.Errorf("%s:%d:%d: %s", x.Place.File, x.Place.Line, x.Place.Column, x.Message)
	}
	if len(problems) > 0 {
		t.FailNow()
	}
	return p
}
