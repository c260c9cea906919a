package trace_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	yaml3 "go.yaml.in/yaml/v3"

	"github.com/tidegate/tidegate/internal/config"
	"github.com/tidegate/tidegate/internal/flux"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/oracle"
	"github.com/tidegate/tidegate/internal/render"
	"github.com/tidegate/tidegate/internal/scan"
	"github.com/tidegate/tidegate/internal/sops"
	"github.com/tidegate/tidegate/internal/source"
	"github.com/tidegate/tidegate/internal/yamlpos"
	"github.com/tidegate/tidegate/reference"
)

// scanTree renders a tree, traced or not.
func scanTree(t testing.TB, tree source.Tree, keys *sops.Keys, traced bool) []*model.Environment {
	t.Helper()
	behaviour, err := flux.For(flux.DefaultVersion)
	if err != nil {
		t.Fatal(err)
	}
	o := scan.Options{Tree: tree, Builder: &render.Builder{Flux: behaviour, Keys: keys, Trace: traced}}
	if data, err := tree.ReadFile(config.FileName); err == nil {
		if o.Config, err = config.Parse(config.FileName, data); err != nil {
			t.Fatal(err)
		}
	}
	res, err := scan.Scan(context.Background(), o)
	var none *scan.NoEnvironmentError
	if errors.As(err, &none) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return res.Environments
}

// survey is what came of asking for the origin of every value.
type survey struct {
	exact, attributed, object int
	uses, usesExact           int
	wrong                     []string
	loose                     []string // what is known for the object alone
}

func (s *survey) total() int { return s.exact + s.attributed + s.object }

// surveyor asks for origins and looks at the files.
type surveyor struct {
	tree   source.Tree
	files  map[string]*yamlpos.File
	data   map[string]string
	begins map[string]map[[2]int]*yamlpos.Node // scalars by file and where they begin
}

// beginning finds the scalar that begins where a span does.
func (v *surveyor) beginning(s model.Span) *yamlpos.Node {
	f, _, ok := v.file(s.File)
	if !ok {
		return nil
	}
	if v.begins[s.File] == nil {
		m := map[[2]int]*yamlpos.Node{}
		var walk func(n *yamlpos.Node)
		walk = func(n *yamlpos.Node) {
			if n.Kind == yamlpos.Scalar {
				m[[2]int{n.Start.Line, n.Start.Column}] = n
			}
			for i, c := range n.Values {
				if n.Kind == yamlpos.Mapping {
					walk(n.Keys[i])
				}
				walk(c)
			}
		}
		for _, d := range f.Documents {
			if d.Root != nil {
				walk(d.Root)
			}
		}
		v.begins[s.File] = m
	}
	return v.begins[s.File][[2]int{s.Line, s.Column}]
}

func newSurveyor(tree source.Tree) *surveyor {
	return &surveyor{tree: tree, files: map[string]*yamlpos.File{}, data: map[string]string{}, begins: map[string]map[[2]int]*yamlpos.Node{}}
}

func (v *surveyor) file(p string) (*yamlpos.File, string, bool) {
	if f, ok := v.files[p]; ok {
		return f, v.data[p], f != nil
	}
	data, err := v.tree.ReadFile(p)
	if err != nil {
		v.files[p] = nil
		return nil, "", false
	}
	v.files[p], v.data[p] = yamlpos.Parse(data), string(data)
	return v.files[p], v.data[p], true
}

// spanText gives the text of a span, or why there is none.
func (v *surveyor) spanText(s model.Span) (string, error) {
	f, data, ok := v.file(s.File)
	if !ok {
		return "", fmt.Errorf("%s is not in the repository", s.File)
	}
	lines := strings.Split(data, "\n")
	if s.Line < 1 || s.EndLine > len(lines) || s.EndLine < s.Line || s.Column < 1 || s.EndLine == s.Line && s.EndColumn < s.Column {
		return "", fmt.Errorf("%v is no span of the file", s)
	}
	if s.Column > len([]rune(lines[s.Line-1]))+1 || s.EndColumn > len([]rune(lines[s.EndLine-1]))+1 {
		return "", fmt.Errorf("%v is beyond its line", s)
	}
	return f.Text(s), nil
}

func (v *surveyor) environment(env *model.Environment) *survey {
	s := &survey{}
	for _, u := range env.Units {
		for _, b := range u.Built {
			v.built(s, u, b)
		}
		for _, o := range u.Objects {
			v.rendered(s, u, o)
		}
	}
	return s
}

func (v *surveyor) built(s *survey, u *model.Unit, b *model.Built) {
	eachScalar(b.Text, func(p model.Path, n *yaml3.Node) {
		origin := b.Trace.Origin(p)
		where := fmt.Sprintf("%s %s:%s", u.ID, b.Ref, p)
		complain := func(format string, args ...any) {
			s.wrong = append(s.wrong, where+": "+fmt.Sprintf(format, args...))
		}
		switch origin.Certainty {
		case model.CertaintyExact:
			s.exact++
		case model.CertaintyAttributed:
			s.attributed++
		case model.CertaintyObject:
			s.object++
			s.loose = append(s.loose, where+" = "+short(n.Value))
			if !origin.Span.Known() {
				return
			}
		default:
			complain("certainty %q", origin.Certainty)
			return
		}
		text, err := v.spanText(origin.Span)
		if err != nil {
			complain("%v", err)
			return
		}
		if origin.Certainty != model.CertaintyExact {
			return
		}
		if origin.Step == model.StepGenerator {
			return // its text is compared by the generator itself, and perturbation proves it
		}
		at := v.beginning(origin.Span)
		if at == nil && strings.Contains(origin.By, "patches") {
			// It stands in text within a scalar: a patch in line.
			var inner yaml3.Node
			if yaml3.Unmarshal([]byte(text), &inner) == nil && len(inner.Content) == 1 && sameText(inner.Content[0].Value, n) || sameText(text, n) {
				return
			}
			complain("%s:%d:%d holds %q", origin.Span.File, origin.Span.Line, origin.Span.Column, short(text))
			return
		}
		if at == nil || !sameText(at.Value, n) || v.files[origin.Span.File].Span(at).EndLine != origin.Span.EndLine {
			complain("%s:%d:%d does not hold %q but %q", origin.Span.File, origin.Span.Line, origin.Span.Column, short(n.Value), short(text))
		}
	})
}

func (v *surveyor) rendered(s *survey, u *model.Unit, o *model.Object) {
	eachScalar(o.Display, func(p model.Path, n *yaml3.Node) {
		for _, use := range o.Trace.Origin(p).Uses {
			s.uses++
			if !use.Span.Known() {
				continue
			}
			text, err := v.spanText(use.Span)
			if err != nil {
				s.wrong = append(s.wrong, fmt.Sprintf("%s %s:%s: %s: %v", u.ID, o.Ref, p, use.Text, err))
			}
			if text == use.Text {
				s.usesExact++
			}
			for _, variable := range use.Variable {
				if variable.Set == nil {
					continue
				}
				set := variable.Set()
				if _, err := v.spanText(set.Span); err != nil && set.Span.Known() {
					s.wrong = append(s.wrong, fmt.Sprintf("%s is set at %v: %v", variable.Name, set.Span, err))
				}
			}
		}
	})
}

func sameText(there string, here *yaml3.Node) bool {
	if there == here.Value || strings.Join(strings.Fields(there), " ") == strings.Join(strings.Fields(here.Value), " ") {
		return true
	}
	var a, b any
	return here.ShortTag() != "!!str" && yaml3.Unmarshal([]byte(there), &a) == nil && yaml3.Unmarshal([]byte(here.Value), &b) == nil && fmt.Sprint(a) == fmt.Sprint(b)
}

func short(s string) string {
	if len(s) > 60 {
		return s[:60] + "…"
	}
	return s
}

// eachScalar visits the scalars of an object's text.
func eachScalar(text string, visit func(model.Path, *yaml3.Node)) {
	var doc yaml3.Node
	if yaml3.Unmarshal([]byte(text), &doc) != nil || len(doc.Content) == 0 {
		return
	}
	var walk func(n *yaml3.Node, at model.Path)
	walk = func(n *yaml3.Node, at model.Path) {
		switch n.Kind {
		case yaml3.MappingNode:
			for i := 0; i+1 < len(n.Content); i += 2 {
				walk(n.Content[i+1], at.Child(n.Content[i].Value))
			}
		case yaml3.SequenceNode:
			for i, c := range n.Content {
				walk(c, at.Child(i))
			}
		case yaml3.ScalarNode:
			visit(at, n)
		}
	}
	walk(doc.Content[0], nil)
}

func referenceTree(t testing.TB) source.Tree {
	t.Helper()
	tree, err := source.FromFS("the reference platform", reference.FS)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func report(t testing.TB, name string, s *survey) {
	t.Helper()
	if s.total() == 0 {
		t.Logf("%s: nothing", name)
		return
	}
	pct := func(n int) float64 { return 100 * float64(n) / float64(s.total()) }
	t.Logf("%s: %d values: exact %.1f %%, attributed %.1f %%, object %.1f %%; %d uses of variables, %d exact; %d wrong",
		name, s.total(), pct(s.exact), pct(s.attributed), pct(s.object), s.uses, s.usesExact, len(s.wrong))
	for i, w := range s.wrong {
		if i == 15 {
			t.Errorf("and %d more", len(s.wrong)-i)
			break
		}
		t.Error(w)
	}
	if os.Getenv("TIDEGATE_LOOSE") != "" {
		for i, l := range s.loose {
			if i == 60 {
				break
			}
			t.Log("  object: " + l)
		}
	}
}

// holdShares holds what is known of origins to what was reached once: the share of exact ones, in tenths of a percent,
// only rises, and that of values whose object alone is known only falls.
func holdShares(t *testing.T, s *survey, exact, object int) {
	t.Helper()
	if s.exact*1000 < exact*s.total() {
		t.Errorf("%d of %d origins are exact, and %.1f %% were", s.exact, s.total(), float64(exact)/10)
	}
	if s.object*1000 > object*s.total() {
		t.Errorf("of %d of %d values the object alone is known, and it was of %.1f %%: %v", s.object, s.total(), float64(object)/10, s.loose)
	}
}

// Each span of the reference platform holds the value that it is the origin of.
func TestReferenceOrigins(t *testing.T) {
	tree := referenceTree(t)
	v := newSurveyor(tree)
	for _, env := range scanTree(t, tree, nil, true) {
		s := v.environment(env)
		report(t, env.Name, s)
		holdShares(t, s, 945, 0)
		if s.usesExact != s.uses {
			t.Errorf("%d of %d expressions have their place", s.usesExact, s.uses)
		}
	}
}

// The same for the cases.
func TestCaseOrigins(t *testing.T) {
	all := &survey{}
	for _, c := range oracle.Cases(t) {
		tree, err := source.OpenDir(c.Dir(t))
		if err != nil {
			t.Fatal(err)
		}
		file, ok := c.File("ks.yaml")
		if !ok {
			continue
		}
		behaviour, err := flux.For(flux.DefaultVersion)
		if err != nil {
			t.Fatal(err)
		}
		res, err := scan.Scan(context.Background(), scan.Options{Tree: tree, Builder: &render.Builder{Flux: behaviour, Trace: true},
			Entries: []scan.Entry{{Name: "case", Path: "ks.yaml", File: file}}})
		if err != nil {
			t.Fatal(err)
		}
		s := newSurveyor(tree).environment(res.Environments[0])
		for _, w := range s.wrong {
			t.Errorf("%s: %s", c.Name, w)
		}
		all.exact, all.attributed, all.object = all.exact+s.exact, all.attributed+s.attributed, all.object+s.object
		for _, l := range s.loose {
			all.loose = append(all.loose, c.Name+" "+l)
		}
		all.uses, all.usesExact = all.uses+s.uses, all.usesExact+s.usesExact
	}
	report(t, "cases", all)
	holdShares(t, all, 909, 21)
}

// TestRealOrigins is the same for repositories that TIDEGATE_REPOS names.
func TestRealOrigins(t *testing.T) {
	list := os.Getenv("TIDEGATE_REPOS")
	if list == "" {
		t.Skip("TIDEGATE_REPOS names no repository")
	}
	for _, dir := range filepath.SplitList(list) {
		tree, err := source.OpenDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		v := newSurveyor(tree)
		for _, env := range scanTree(t, tree, nil, true) {
			report(t, filepath.Base(dir)+" "+env.Name, v.environment(env))
		}
	}
}
