package oracle

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// update names the variable that has TestCases rewrite the archives' wants. Read the difference before
// committing it: the wants of the strict and lax builds were first compared with outputs recorded elsewhere.
const update = "ORACLE_UPDATE"

func TestCases(t *testing.T) {
	for _, c := range Cases(t) {
		t.Run(c.Name, func(t *testing.T) {
			if c.Comment == "" {
				t.Error("an archive says in its comment what it shows")
			}
			got := judge(t, c)
			if os.Getenv(update) != "" {
				rewrite(t, c, got)
				return
			}
			if diff := cmp.Diff(c.wants, got); diff != "" {
				t.Errorf("Flux's result differs from the archive (-want +got):\n%s", diff)
			}
		})
	}
}

// judge gives every want of a case, anew.
func judge(t *testing.T, c Case) map[string]string {
	ctx := context.Background()
	dir := c.Dir(t)
	artifact, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer artifact.Close()
	got := map[string]string{}
	for _, unit := range c.Units(t) {
		name := unit.Name()
		strict, strictErr := artifact.Build(ctx, unit, c.Cluster(t), c.Options(t, true))
		lax, laxErr := artifact.Build(ctx, unit, c.Cluster(t), c.Options(t, false))
		got["strict/"+name] = text(strict, strictErr)
		if l := text(lax, laxErr); l != got["strict/"+name] {
			got["lax/"+name] = l
		}
		built := strict
		if strictErr != nil {
			built = lax
		}
		if strictErr != nil && laxErr != nil {
			continue
		}
		final, err := Applied(built, unit)
		if err != nil {
			t.Fatal(err)
		}
		got["final/"+name] = string(final)
		if err := Guard(final); err != nil {
			got["guard/"+name] = err.Error() + "\n"
		}
		if _, ok := c.Want("stages", name); ok {
			if got["stages/"+name], err = Stages(final); err != nil {
				t.Fatal(err)
			}
		}
	}
	return got
}

func text(out []byte, err error) string {
	if err != nil {
		return "ERR " + err.Error() + "\n"
	}
	return string(out)
}

func rewrite(t *testing.T, c Case, got map[string]string) {
	archive := &txtar.Archive{Comment: []byte(c.Comment + "\n"), Files: c.Files}
	for _, unit := range c.Units(t) {
		for _, kind := range []string{"strict", "lax", "final", "guard", "stages"} {
			if want, ok := got[kind+"/"+unit.Name()]; ok {
				archive.Files = append(archive.Files, txtar.File{Name: "want-" + kind + "/" + unit.Name(), Data: []byte(want)})
			}
		}
	}
	path := filepath.Join("testdata", "cases", c.Name+".txtar")
	if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestWantsEndInALineBreak(t *testing.T) {
	// txtar cannot hold a file whose text does not end in a line break; a want that does not is cut.
	for _, c := range Cases(t) {
		for kind, want := range c.wants {
			if want != "" && !strings.HasSuffix(want, "\n") {
				t.Errorf("%s: want-%s does not end in a line break", c.Name, kind)
			}
		}
	}
}
