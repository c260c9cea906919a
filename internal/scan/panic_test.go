package scan_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tidegate/tidegate/internal/flux"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/render"
	"github.com/tidegate/tidegate/internal/scan"
	"github.com/tidegate/tidegate/internal/source"
)

// trapTree panics when one file is read to build it, as a defect would: the first two times are for the artifact's identity.
type trapTree struct {
	source.Tree
	trap  string
	reads *atomic.Int32
}

func (t trapTree) ReadFile(p string) ([]byte, error) {
	if p == t.trap && t.reads.Add(1) > 2 {
		panic("plaintext-of-a-secret")
	}
	return t.Tree.ReadFile(p)
}

// TestPanicOfOneUnit: a defect in one unit is that unit's failure, does not stop the others, and quotes nothing.
func TestPanicOfOneUnit(t *testing.T) {
	unit := func(name string) string {
		return "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: " + name + ", namespace: flux-system}\n" +
			"spec: {interval: 1m, path: ./" + name + ", prune: true, sourceRef: {kind: GitRepository, name: flux-system}}\n---\n"
	}
	object := func(name string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: default}\n"
	}
	tree := trapTree{source.FromMap("trap", map[string]string{"a/x.txt": object("a"), "a/kustomization.yaml": "resources: [x.txt]\n", "b/x.yaml": object("b")}), "a/kustomization.yaml", new(atomic.Int32)}
	v, err := flux.For("2.9")
	if err != nil {
		t.Fatal(err)
	}
	res, err := scan.Scan(context.Background(), scan.Options{
		Tree: tree, Builder: &render.Builder{Flux: v},
		Entries: []scan.Entry{{Name: "e", Path: "ks.yaml", File: []byte(unit("a") + unit("b"))}},
	})
	if err != nil {
		t.Fatal(err)
	}
	units := res.Environments[0].Units
	if len(units) != 2 || units[0].Status != model.StatusFailed || units[1].Status != model.StatusOK {
		t.Fatalf("units %v", units)
	}
	if m := units[0].Reasons[0].Message; strings.Contains(m, "plaintext") || m == "" {
		t.Errorf("message %q", m)
	}
}
