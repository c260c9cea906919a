package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/tidegate/tidegate/internal/engine"
	"github.com/tidegate/tidegate/internal/report"
	"github.com/tidegate/tidegate/internal/view"
)

// results gives one real result for each schema.
func results(t *testing.T) map[string]any {
	t.Helper()
	ctx := context.Background()
	out := map[string]any{"rules": engine.Rules()}
	var err error
	if out["report"], err = engine.Check(ctx, engine.CheckRequest{}); err != nil {
		t.Fatal(err)
	}
	if out["render"], err = engine.Render(ctx, engine.Request{Origins: true, Applied: true}); err != nil {
		t.Fatal(err)
	}
	if out["why"], err = engine.Why(ctx, engine.Request{}, "prod:Service/crafty/crafty-l4"); err != nil {
		t.Fatal(err)
	}
	if out["catalog-result"], err = engine.Catalog(ctx, engine.CatalogRequest{}); err != nil {
		t.Fatal(err)
	}
	if out["bootstrap"], err = engine.Bootstrap(ctx, engine.Request{}, "prod"); err != nil {
		t.Fatal(err)
	}
	return out
}

// The files of the reference platform's catalog are as the schema for editors says, and what the reader refuses is not.
func TestCatalogSchema(t *testing.T) {
	if page, err := os.ReadFile("../../docs/catalog.md"); err != nil || string(page) != string(engine.CatalogPage()) {
		t.Errorf("docs/catalog.md is not the program's: go generate ./internal/rules (%v)", err)
	}
	s := compiled(t, "catalog")
	files, err := filepath.Glob("../../reference/catalog/*.yaml")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var v map[string]any
		if err := sigsyaml.Unmarshal(data, &v); err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(v); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		v["wave"] = 3
		if s.Validate(v) == nil {
			t.Errorf("%s is valid with a wave", file)
		}
		delete(v, "wave")
		delete(v, "image")
		if s.Validate(v) == nil {
			t.Errorf("%s is valid without an image", file)
		}
	}
}

// compiled gives the schema of a name, as it is published in docs.
func compiled(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	want, err := engine.Schema(name)
	if err != nil {
		t.Fatal(err)
	}
	file := "../../docs/" + name + ".schema.json"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(data) != string(want)+"\n" {
		t.Errorf("%s is not the schema of the program: go generate ./internal/rules", file)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What the program writes is what its schemas say, and what is otherwise is refused.
func TestSchemas(t *testing.T) {
	for name, result := range results(t) {
		t.Run(name, func(t *testing.T) {
			s := compiled(t, name)
			var b bytes.Buffer
			if err := view.JSON(&b, result); err != nil {
				t.Fatal(err)
			}
			var v map[string]any
			if err := json.Unmarshal(b.Bytes(), &v); err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(v); err != nil {
				t.Fatal(err)
			}
			for field, value := range v {
				delete(v, field)
				if err := s.Validate(v); err == nil && field != "warnings" {
					t.Errorf("it is valid without %s", field)
				}
				v[field] = []any{7}
				if s.Validate(v) == nil {
					t.Errorf("it is valid with a list of a number for %s", field)
				}
				v[field] = value
			}
		})
	}
}

// A finding is held to its words.
func TestSchemaOfFindings(t *testing.T) {
	r, err := engine.Check(context.Background(), engine.CheckRequest{})
	if err != nil || len(r.Findings) == 0 {
		t.Fatal(err)
	}
	s := compiled(t, "report")
	for name, spoil := range map[string]func(*report.Finding){
		"severity":  func(f *report.Finding) { f.Severity = "fatal" },
		"rule":      func(f *report.Finding) { f.Rule = "X1" },
		"certainty": func(f *report.Finding) { f.Certainty = "surely" },
	} {
		spoilt := *r
		spoilt.Findings = []report.Finding{r.Findings[0]}
		spoil(&spoilt.Findings[0])
		data, err := json.Marshal(spoilt)
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if s.Validate(v) == nil {
			t.Errorf("a wrong %s is valid", name)
		}
	}
}
