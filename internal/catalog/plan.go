package catalog

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"sort"
	"strings"

	yaml3 "go.yaml.in/yaml/v3"

	"github.com/tidegate/tidegate/internal/model"
)

// Plan is what a render would change.
type Plan struct {
	Catalog *Catalog
	Output  *Output
	Changes []Change
	Moves   *Moves   // a cutover that is under way
	Next    []string // what the user does with it
	Left    []string // files among the output that nobody generated, and that stay
}

// Change is a file that is written or removed.
type Change struct {
	Path     string
	Old, New []byte // nil when there is none
}

// Render says what of a tree would change, and all that speaks against it. committed is the tree that Flux has, or may have; with
// problems nothing is to be written.
func Render(files, committed Files, s Settings, cutover bool) (*Plan, []Problem, error) {
	c, problems, err := Load(files, s)
	if err != nil || len(problems) > 0 {
		return &Plan{Catalog: c}, problems, err
	}
	p := &Plan{Catalog: c}
	if p.Moves, p.Next, problems = c.decide(committed, cutover); len(problems) > 0 {
		return p, problems, nil
	}
	p.Output, problems = c.make(p.Moves)
	if len(problems) > 0 {
		sortProblems(problems)
		return p, problems, nil
	}
	if problems = append(p.emptied(files), p.elsewhere(files)...); len(problems) > 0 {
		return p, problems, nil
	}
	problems, err = p.compare(files)
	return p, problems, err
}

// emptied refuses a catalog without a single app where apps were generated: a name that is mistyped in tidegate.yaml, or a folder that
// was moved, reads like a decision to delete everything.
func (p *Plan) emptied(files Files) []Problem {
	c := p.Catalog
	if len(c.Apps) > 0 {
		return nil
	}
	var apps []string
	for app := range c.placedIn(files) {
		apps = append(apps, app)
	}
	if len(apps) == 0 {
		return nil
	}
	sort.Strings(apps)
	return []Problem{{Place: model.Place{File: c.Settings.Dir, Line: 1, Column: 1},
		Message: fmt.Sprintf("it holds no app, and %s has %s: all of them would be deleted", c.Settings.Apps, some(apps)),
		Fix:     "say in tidegate.yaml under catalog.dir where the catalog is; if really no app is to be left, remove " + c.Settings.Apps + "/wave-* as well"}}
}

// some names the first of a list, and how many there are.
func some(list []string) string {
	const most = 5
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
}

// waveFile is a Kustomization of a wave, by its name.
var waveFile = regexp.MustCompile(`^(.+)-wave-\d+\.yaml$`)

// elsewhere refuses settings under which what was generated before would be left behind: apps would have two owners, or be deleted
// by the one that they had.
func (p *Plan) elsewhere(files Files) (out []Problem) {
	s := p.Catalog.Settings
	for _, name := range files.Paths() {
		m := waveFile.FindStringSubmatch(path.Base(name))
		if m == nil || path.Dir(name) == s.Clusters && m[1] == path.Base(s.Apps) {
			continue
		}
		if data, err := files.ReadFile(name); err == nil && Generated(name, data) {
			out = append(out, Problem{Place: model.Place{File: name, Line: 1, Column: 1},
				Message: fmt.Sprintf("it was generated, and catalog.apps and catalog.clusters in tidegate.yaml now say %s and %s: every app would change its owner, and be deleted by the old one", s.Apps, s.Clusters),
				Fix:     "take tidegate.yaml back; or, where no cluster runs this, remove what was generated first"})
		}
	}
	return out
}

// compare holds the output against a tree.
func (p *Plan) compare(files Files) (problems []Problem, err error) {
	s := p.Catalog.Settings
	existing := files.Paths()
	ours := p.ours(files, existing)
	for name, data := range p.Output.Files {
		if _, ok := slices.BinarySearch(existing, name); !ok {
			p.Changes = append(p.Changes, Change{Path: name, New: data})
			continue
		}
		old, err := files.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		if bytes.Equal(old, data) {
			continue
		}
		if !Generated(name, old) && !ours[name] && !p.region(name) {
			problems = append(problems, Problem{Place: model.Place{File: name, Line: 1, Column: 1}, Message: "it was not generated, and the catalog would write over it",
				Fix: "move it away, or take what it says into " + s.Dir})
			continue
		}
		p.Changes = append(p.Changes, Change{Path: name, Old: old, New: data})
	}
	for _, name := range existing {
		if _, made := p.Output.Files[name]; made || !p.place(name) {
			continue
		}
		old, err := files.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		if Generated(name, old) || ours[name] {
			p.Changes = append(p.Changes, Change{Path: name, Old: old})
		} else if strings.HasPrefix(name, s.Apps+"/wave-") {
			p.Left = append(p.Left, name)
		}
	}
	sort.Slice(p.Changes, func(i, j int) bool { return p.Changes[i].Path < p.Changes[j].Path })
	sortProblems(problems)
	return problems, nil
}

// place tells whether a path is one where generated files are.
func (p *Plan) place(name string) bool {
	s := p.Catalog.Settings
	return strings.HasPrefix(name, s.Apps+"/wave-") || strings.HasPrefix(name, s.Dir+"/") && strings.HasSuffix(name, ".example") || name == p.Catalog.movesPath() ||
		path.Dir(name) == s.Clusters && strings.HasPrefix(path.Base(name), path.Base(s.Apps)+"-wave-")
}

// region tells whether a part of a hand-written file is generated.
func (p *Plan) region(name string) bool {
	return name == path.Join(p.Catalog.Settings.Clusters, "kustomization.yaml") || name == wavesDocument
}

// ours are the encrypted files of the output. They cannot say that they were copied: their folder's generated list does.
func (p *Plan) ours(files Files, existing []string) map[string]bool {
	out := map[string]bool{}
	for _, name := range existing {
		if !strings.HasPrefix(name, p.Catalog.Settings.Apps+"/wave-") || path.Base(name) != "kustomization.yaml" {
			continue
		}
		data, err := files.ReadFile(name)
		if err != nil || !Generated(name, data) {
			continue
		}
		var k struct {
			Resources []string `yaml:"resources"`
		}
		if safely(func() error { return yaml3.Unmarshal(data, &k) }) != nil {
			continue
		}
		for _, r := range k.Resources {
			if strings.HasSuffix(r, ".sops.yaml") {
				out[path.Join(path.Dir(name), r)] = true
			}
		}
	}
	return out
}
