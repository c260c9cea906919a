package report

import (
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate/internal/model"
)

var update = flag.Bool("update", false, "write the golden file")

const fieldsFile = "testdata/render-v1-fields.txt"

// TestFields pins the names and types of tidegate.dev/render/v1: machines parse them. A new line is a new field; a line
// that goes or changes is another version.
func TestFields(t *testing.T) {
	set := map[string]bool{}
	fields("", reflect.TypeOf(Render{}), set)
	lines := make([]string, 0, len(set))
	for l := range set {
		lines = append(lines, l)
	}
	sort.Strings(lines)
	got := RenderVersion + "\n" + strings.Join(lines, "\n") + "\n"
	if *update {
		if err := os.WriteFile(fieldsFile, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(fieldsFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("(-published +now); if only fields were added, go test ./internal/report -update:\n%s", diff)
	}
}

// fields lists a type's JSON fields, a line each: path, type, and whether it may be absent.
func fields(at string, typ reflect.Type, set map[string]bool) {
	switch typ.Kind() {
	case reflect.Slice:
		fields(at+"[]", typ.Elem(), set)
	case reflect.Struct:
		for i := range typ.NumField() {
			f := typ.Field(i)
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			line := at + "." + name + " " + f.Type.Kind().String()
			if strings.Contains(options, "omitempty") {
				line += " optional"
			}
			set[line] = true
			fields(at+"."+name, f.Type, set)
		}
	}
}

// Every field that can be told from a model is told: none is forgotten on the way.
func TestNewRender(t *testing.T) {
	parent := model.UnitID{Kind: "Kustomization", Namespace: "flux-system", Name: "flux-system"}
	reason := model.Reason{Code: model.CodeSubstitute, Message: "m", Subject: "s", Fix: "f", Places: []model.Place{{File: "a.yaml", Line: 1, Column: 2}}}
	object := &model.Object{
		Ref: model.Ref{APIVersion: "v1", Kind: "Secret", Namespace: "n", Name: "o"}, YAML: "plain", Display: "masked", Unverified: []model.Reason{reason},
	}
	env := &model.Environment{
		Name: "prod", Entry: "clusters/prod", Root: "k8s", Found: "somehow", FluxVersion: "2.9", Strict: true,
		Source: model.SourceRef{Kind: "GitRepository", Namespace: "flux-system", Name: "flux-system"}, Reasons: []model.Reason{reason},
		Applied: []*model.Object{object},
		Units: []*model.Unit{
			{ID: parent, Status: model.StatusOK},
			{ID: model.UnitID{Kind: "HelmRelease", Namespace: "n", Name: "h"}, Status: model.StatusUnverified, Reasons: []model.Reason{{Code: model.CodeChart}}},
			{
				ID: model.UnitID{Kind: "Kustomization", Namespace: "n", Name: "u"}, Parent: &parent, Path: "apps", Source: model.SourceRef{Kind: "Bucket", Namespace: "n", Name: "b"},
				DependsOn: []model.UnitID{{Kind: "Kustomization", Namespace: "a", Name: "b"}}, Suspended: true, Remote: "Secret x",
				Status: model.StatusFailed, Reasons: []model.Reason{reason}, Objects: []*model.Object{object}, Files: []string{"apps/a.yaml"},
			},
		},
	}
	r := NewRender("fleet", []*model.Environment{env}, []string{"w"}, true, false, 1234567*time.Microsecond)
	n := Reason{Code: "substitute", Message: "m", Subject: "s", Fix: "f", Places: []Place{{"a.yaml", 1, 2}}}
	o := Object{APIVersion: "v1", Kind: "Secret", Namespace: "n", Name: "o", Status: "unverified", Masked: true, Reasons: []Reason{n}, Manifest: "masked"}
	want := &Render{
		Version: RenderVersion, Repository: "fleet", Applied: true, Warnings: []string{"w"},
		Summary: Summary{Environments: 1, Units: 3, Objects: 1, OK: 1, Failed: 1, Unverified: 1, Seconds: 1.235},
		Environments: []Environment{{
			Name: "prod", Entry: "clusters/prod", Root: "k8s", Found: "somehow", FluxVersion: "2.9", Strict: true,
			Source: "GitRepository/flux-system/flux-system", Applied: []Object{o}, Reasons: []Reason{n},
			Summary: Summary{Environments: 1, Units: 3, Objects: 1, OK: 1, Failed: 1, Unverified: 1},
			Units: []Unit{
				{Kind: "Kustomization", Namespace: "flux-system", Name: "flux-system", Status: "ok", Objects: []Object{}},
				{Kind: "HelmRelease", Namespace: "n", Name: "h", Status: "unverified", Objects: []Object{}, Reasons: []Reason{{Code: "chart"}}},
				{
					Kind: "Kustomization", Namespace: "n", Name: "u", Parent: "Kustomization/flux-system/flux-system", Path: "apps", Source: "Bucket/n/b",
					DependsOn: []string{"a/b"}, Suspended: true, Remote: "Secret x", Status: "failed", Reasons: []Reason{n}, Objects: []Object{o}, Files: []string{"apps/a.yaml"},
				},
			},
		}},
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Error(diff)
	}
	data, err := json.Marshal(r)
	if err != nil || strings.Contains(string(data), "plain") {
		t.Errorf("%v, or the plaintext is in it", err)
	}
	shown := NewRender("fleet", []*model.Environment{env}, nil, false, true, 0).Environments[0].Units[2].Objects[0]
	if shown.Manifest != "plain" || shown.Masked {
		t.Errorf("with secrets: %+v", shown)
	}
}

// Lists that are always there are never null, for those who iterate without looking.
func TestEmptyLists(t *testing.T) {
	for _, envs := range [][]*model.Environment{nil, {{Name: "a"}}, {{Name: "a", Units: []*model.Unit{{Status: model.StatusOK}}}}} {
		data, err := json.Marshal(NewRender("r", envs, nil, false, false, 0))
		if err != nil || strings.Contains(string(data), "null") {
			t.Errorf("%v: %s", err, data)
		}
	}
}

// What decides the exit code: a failed unit, and an entry that cannot be used; nothing that is merely unknown.
func TestFailed(t *testing.T) {
	unit := func(s model.Status) *model.Environment {
		return &model.Environment{Units: []*model.Unit{{Status: model.StatusOK}, {Status: s}}}
	}
	why := func(c model.Code) *model.Environment {
		return &model.Environment{Reasons: []model.Reason{{Code: c}}}
	}
	for _, c := range []struct {
		name string
		env  *model.Environment
		want bool
	}{
		{"ok", unit(model.StatusOK), false}, {"unverified", unit(model.StatusUnverified), false}, {"failed", unit(model.StatusFailed), true},
		{"entry", why(model.CodeEntry), true}, {"template", why(model.CodeTemplate), false}, {"unsettled", why(model.CodeUnsettled), false},
	} {
		if got := NewRender("r", []*model.Environment{unit(model.StatusOK), c.env}, nil, false, false, 0).Failed(); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}
