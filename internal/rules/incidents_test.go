package rules_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/tidegate/tidegate/internal/engine"
	"github.com/tidegate/tidegate/internal/report"
	"github.com/tidegate/tidegate/internal/ruletest"
	"github.com/tidegate/tidegate/reference"
)

// incident is what went wrong once, or what must hold and does not, as an archive that lies over the reference platform.
//
// The rules are:
//
//   - A live one wants findings, and gets those and no others.
//   - A near miss has a name that begins with near-, and is quiet.
//   - A pending one has a file of that name: the family of the rule that is to find it, and what that must say. It
//     renders, and nothing finds it. Once something does, it is to want that.
//   - What is found in the reference as it stands is found in each of them and speaks of none. It is wanted without a
//     word, but by an archive that replaces the file that it is found in, which wants it itself.
//   - A pending one changes what is rendered, or a file that is read otherwise: else no rule could ever find it.
type incident struct {
	name    string
	archive *txtar.Archive
	pending string
}

const incidentsDir = "testdata/incidents"

var (
	incidentName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	pendingText  = regexp.MustCompile(`^TG(0[1-9]|1[0-2]): .*\S\n$`)
	wanted       = regexp.MustCompile(`(TG\d{4}) "((?:[^"\\]|\\.)*)"`)
	// readOtherwise is what says something of a platform although no object differs by it.
	readOtherwise = regexp.MustCompile(`(\.md|\.example)$|^tidegate\.yaml$|/bootstrap-values\.yaml$|/cluster-vars\.yaml$`)
)

func (i incident) near() bool { return strings.HasPrefix(i.name, "near-") }

// wants counts the findings that an archive wants besides those that the reference has.
func (i incident) wants(base *report.Check) int {
	n := 0
	for _, f := range i.archive.Files {
		for _, l := range strings.Split(string(f.Data), "\n") {
			file, _, _ := strings.Cut(l, ":")
			if f.Name != "want" {
				file = f.Name
				if !strings.Contains(l, "# want TG") {
					continue
				}
			}
			for _, w := range wanted.FindAllStringSubmatch(l, -1) {
				if !slices.ContainsFunc(base.Findings, func(b report.Finding) bool {
					return b.File == file && b.Rule == w[1] && strings.Contains(b.Message, w[2])
				}) {
					n++
				}
			}
		}
	}
	return n
}

func (i incident) has(file string) bool {
	return slices.ContainsFunc(i.archive.Files, func(f txtar.File) bool { return f.Name == file })
}

func readIncidents(t *testing.T) []incident {
	t.Helper()
	files, err := filepath.Glob(incidentsDir + "/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("there are no incidents", err)
	}
	var out []incident
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		i := incident{name: strings.TrimSuffix(filepath.Base(file), ".txtar"), archive: a}
		overlay := false
		a.Files = slices.DeleteFunc(a.Files, func(f txtar.File) bool {
			switch f.Name {
			case "pending":
				i.pending = string(f.Data)
				if !pendingText.MatchString(i.pending) || strings.Count(i.pending, "\n") != 1 {
					t.Errorf("%s: pending is %q: write TGNN: what a rule of that family must say, on one line", i.name, i.pending)
				}
				return true
			case "flags":
				overlay = slices.Contains(strings.Split(string(f.Data), "\n"), "overlay reference")
			}
			return false
		})
		if !overlay || !incidentName.MatchString(i.name) || !strings.HasPrefix(string(a.Comment), "PLATFORM.md ") || i.pending != "" && i.near() {
			t.Errorf("%s: an incident lies over the reference, has a name-like-this, begins with its section of PLATFORM.md, and is not both pending and near", file)
		}
		out = append(out, i)
	}
	return out
}

// said is what a finding says, wherever it stands: an archive moves lines.
func said(f report.Finding) string { return f.Rule + " " + f.Message }

// rendering is all that is rendered of a repository.
func rendering(t *testing.T, dir string) string {
	t.Helper()
	r, err := engine.Render(context.Background(), engine.Request{Repo: dir, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	var units [][]report.Unit
	for _, env := range r.Environments {
		for i := range env.Units {
			env.Units[i].Files = nil
		}
		units = append(units, env.Units)
	}
	data, err := json.Marshal(units)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestIncidents(t *testing.T) {
	plain := &txtar.Archive{Files: []txtar.File{{Name: "flags", Data: []byte("overlay reference\n")}}}
	dir := t.TempDir()
	ruletest.Write(t, dir, plain, false)
	base := ruletest.Check(t, dir, plain)
	ruletest.Rendered(t, base)
	baseRendering := rendering(t, dir)
	for _, f := range base.Findings {
		t.Logf("the reference itself: %s:%d %s", f.File, f.Line, said(f))
	}

	list := readIncidents(t)
	var live, near, pending []string
	families := map[string]int{}
	for _, i := range list {
		switch n := i.wants(base); {
		case i.pending != "":
			pending = append(pending, i.name+" "+strings.TrimSpace(i.pending))
			families[i.pending[:4]]++
			if n != 0 {
				t.Errorf("%s is pending, and wants findings", i.name)
			}
		case i.near():
			near = append(near, i.name)
			if n != 0 {
				t.Errorf("%s is a near miss, and wants %d findings", i.name, n)
			}
		default:
			live = append(live, i.name)
			if n <= 0 {
				t.Errorf("%s wants nothing, and is neither pending nor a near miss", i.name)
			}
		}
	}

	t.Run("each", func(t *testing.T) {
		for _, i := range list {
			t.Run(i.name, func(t *testing.T) {
				t.Parallel()
				for _, f := range i.archive.Files {
					if old, err := fs.ReadFile(reference.FS, f.Name); err == nil && bytes.Equal(old, f.Data) {
						t.Errorf("%s is the reference's", f.Name)
					}
				}
				if i.pending != "" {
					dir := t.TempDir()
					ruletest.Write(t, dir, i.archive, false)
					if !slices.ContainsFunc(i.archive.Files, func(f txtar.File) bool { return readOtherwise.MatchString(f.Name) }) && rendering(t, dir) == baseRendering {
						t.Error("it changes nothing that is rendered")
					}
					isPending(t, i, dir, base)
					return
				}
				file := filepath.Join(t.TempDir(), i.name+".txtar")
				if err := os.WriteFile(file, withBase(i, base), 0o644); err != nil {
					t.Fatal(err)
				}
				ruletest.Run(t, file)
			})
		}
	})

	t.Logf("%d incidents: %d live, %d pending, and %d near misses", len(live)+len(pending), len(live), len(pending), len(near))
	t.Logf("pending by family: %v", families)
	for _, p := range pending {
		t.Logf("pending: %s", p)
	}
}

// withBase gives an archive that wants what is found in the reference, too.
func withBase(i incident, base *report.Check) []byte {
	a := &txtar.Archive{Comment: i.archive.Comment}
	text := ""
	for _, f := range i.archive.Files {
		if f.Name == "want" {
			text = string(f.Data)
			continue
		}
		a.Files = append(a.Files, f)
	}
	for _, f := range base.Findings {
		if !i.has(f.File) {
			text += fmt.Sprintf("%s:%d %s %q\n", f.File, f.Line, f.Rule, "")
		}
	}
	a.Files = append(a.Files, txtar.File{Name: "want", Data: []byte(text)})
	return txtar.Format(a)
}

// isPending holds a pending incident to what it is: all of it renders, and nothing is found in it.
func isPending(t *testing.T, i incident, dir string, base *report.Check) {
	t.Helper()
	r := ruletest.Check(t, dir, i.archive)
	ruletest.Rendered(t, r)
	if len(r.Environments) != len(base.Environments) {
		t.Errorf("%d environments; the reference has %d", len(r.Environments), len(base.Environments))
	}
	for _, env := range r.Environments {
		if env.Failed > 0 || env.Units == 0 {
			t.Errorf("%s does not render: %d of %d units fail", env.Name, env.Failed, env.Units)
		}
	}
	known := map[string]bool{}
	for _, f := range base.Findings {
		known[said(f)] = true
	}
	for _, f := range r.Findings {
		if !known[said(f)] {
			t.Errorf("%s is no longer pending: take its file pending away, and want what is found, if it is this: %s\n%s:%d:%d %s %q",
				i.name, strings.TrimSpace(i.pending), f.File, f.Line, f.Column, f.Rule, regexp.QuoteMeta(f.Message))
		}
	}
}
