package engine_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate/internal/engine"
	"github.com/tidegate/tidegate/internal/report"
)

func unitNamed(namespace, name string) report.Unit {
	return report.Unit{
		Kind: "Kustomization", Namespace: namespace, Name: name, Status: "ok",
		Objects: []report.Object{{Manifest: "kind: ConfigMap\n"}, {Manifest: "kind: Secret"}},
	}
}

// Whatever a unit is called, its file lies where its environment's files lie. A render refuses such names; what
// writes files does not rely on it.
func TestWriteOutHostileNames(t *testing.T) {
	parent := t.TempDir()
	out := filepath.Join(parent, "out")
	r := &report.Render{Environments: []report.Environment{{Name: "dev", Units: []report.Unit{
		unitNamed("a", "../../../up"), unitNamed("..", ".."), unitNamed(".", "."), unitNamed("", "x"), unitNamed("a", `b\c`),
		unitNamed("a", "system:node"), unitNamed("a", "line\nfeed"), unitNamed("a", "ü"),
	}}}}
	if err := engine.WriteOut(engine.Request{}, out, r); err != nil {
		t.Fatal(err)
	}
	var got []string
	for name := range files(t, parent) {
		got = append(got, name)
	}
	want := map[string]bool{
		"out/.tidegate-rendered": true, "out/dev/kustomization/a/..%2F..%2F..%2Fup.yaml": true, "out/dev/kustomization/%../%...yaml": true,
		"out/dev/kustomization/%./%..yaml": true, "out/dev/kustomization/%/x.yaml": true, "out/dev/kustomization/a/b%5Cc.yaml": true,
		"out/dev/kustomization/a/system:node.yaml": true, "out/dev/kustomization/a/line%0Afeed.yaml": true, "out/dev/kustomization/a/%C3%BC.yaml": true,
	}
	for _, name := range got {
		if !want[name] {
			t.Errorf("%s was written", name)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d files, want %d: %q", len(got), len(want), got)
	}
	if diff := cmp.Diff("kind: ConfigMap\n---\nkind: Secret\n", files(t, out)["dev/kustomization/a/system:node.yaml"]); diff != "" {
		t.Error(diff)
	}

	// The next render takes all of them away.
	if err := engine.WriteOut(engine.Request{}, out, &report.Render{}); err != nil {
		t.Fatal(err)
	}
	if left := files(t, out); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

// What failed or could not be rendered at all has no file, and a HelmRelease has none.
func TestWriteOutLeavesOut(t *testing.T) {
	out := t.TempDir()
	failed, unknown, chart := unitNamed("a", "failed"), unitNamed("a", "unknown"), unitNamed("a", "chart")
	failed.Status = "failed"
	unknown.Status, unknown.Objects = "unverified", nil
	chart.Kind = "HelmRelease"
	doubted, empty := unitNamed("a", "doubted"), unitNamed("a", "empty")
	doubted.Status, empty.Objects = "unverified", nil
	r := &report.Render{Environments: []report.Environment{{Name: "dev", Units: []report.Unit{failed, unknown, chart, doubted, empty}}}}
	if err := engine.WriteOut(engine.Request{}, out, r); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		".tidegate-rendered":               "dev/kustomization/a/doubted.yaml\ndev/kustomization/a/empty.yaml\n",
		"dev/kustomization/a/doubted.yaml": "kind: ConfigMap\n---\nkind: Secret\n",
		"dev/kustomization/a/empty.yaml":   "",
	}
	if diff := cmp.Diff(want, files(t, out)); diff != "" {
		t.Error(diff)
	}
}

// A link that lies where a file goes is replaced, not written through; one that leads out of the directory stops it.
func TestWriteOutLinks(t *testing.T) {
	parent := t.TempDir()
	out, victim := filepath.Join(parent, "out"), filepath.Join(parent, "victim")
	r := &report.Render{Environments: []report.Environment{{Name: "dev", Units: []report.Unit{unitNamed("a", "x")}}}}
	if err := engine.WriteOut(engine.Request{}, out, r); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(victim, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(out, "dev/kustomization/a/x.yaml")
	for _, at := range []string{file, file + ".tmp"} {
		_ = os.Remove(at)
		if err := os.Symlink(victim, at); err != nil {
			t.Fatal(err)
		}
		if err := engine.WriteOut(engine.Request{}, out, r); err != nil {
			t.Fatal(err)
		}
		fi, err := os.Lstat(file)
		if err != nil || fi.Mode()&fs.ModeSymlink != 0 {
			t.Errorf("%s: %v %v", file, fi, err)
		}
		if data, _ := os.ReadFile(victim); string(data) != "mine" {
			t.Fatalf("a link was written through: %q", data)
		}
	}
	if err := os.RemoveAll(filepath.Join(out, "dev")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(parent, filepath.Join(out, "dev")); err != nil {
		t.Fatal(err)
	}
	if err := engine.WriteOut(engine.Request{}, out, r); err == nil {
		t.Error("a folder outside of the directory was written to")
	}
	if _, err := os.Stat(filepath.Join(parent, "kustomization")); err == nil {
		t.Error("a folder outside of the directory was made")
	}
}
