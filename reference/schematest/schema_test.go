package schematest

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/yaml"
)

// Extensions of OpenAPI that say what a schema lets through.
const (
	preserve    = "x-kubernetes-preserve-unknown-fields"
	embedded    = "x-kubernetes-embedded-resource"
	intOrString = "x-kubernetes-int-or-string"
	ofKind      = "x-kubernetes-group-version-kind"
)

// kind is what a schema is of.
type kind struct{ group, version, kind string }

func (k kind) String() string { return k.apiVersion() + " " + k.kind }

func (k kind) apiVersion() string {
	if k.group == "" {
		return k.version
	}
	return k.group + "/" + k.version
}

// kindOf reads the kind of an object.
func kindOf(o map[string]any) (k kind) {
	k.version, _ = o["apiVersion"].(string)
	if group, version, ok := strings.Cut(k.version, "/"); ok {
		k.group, k.version = group, version
	}
	k.kind, _ = o["kind"].(string)
	return k
}

// kindNamed reads what String writes.
func kindNamed(text string) kind {
	apiVersion, name, _ := strings.Cut(text, " ")
	return kindOf(map[string]any{"apiVersion": apiVersion, "kind": name})
}

// known is a schema and where it is from.
type known struct {
	schema *spec.Schema
	source string
	custom bool // from a CustomResourceDefinition, which says little of metadata
}

// schemas are those of the kinds that are asked for, and ObjectMeta's.
type schemas struct {
	kinds    map[kind]known
	metadata *spec.Schema
}

// load reads the schemas of kinds that have one. Only the documents of their groups are read.
func load(t *testing.T, wanted map[kind]bool) *schemas {
	t.Helper()
	dirs := modules(t)
	s := &schemas{kinds: map[kind]known{}}
	values := readEnums(t, filepath.Join(dirs[kubernetes], enumsFile))
	files := map[string]bool{"api__v1_openapi.json": true} // for ObjectMeta
	for k := range wanted {
		if k.group != "" {
			files["apis__"+k.group+"__"+k.version+"_openapi.json"] = true
		}
	}
	for f := range files {
		data, err := os.ReadFile(filepath.Join(dirs[kubernetes], "api/openapi-spec/v3", f))
		if errors.Is(err, fs.ErrNotExist) {
			continue // no group of Kubernetes' own
		}
		if err != nil {
			t.Fatal(err)
		}
		s.openapi(t, data, values, wanted)
	}
	if s.metadata == nil {
		t.Fatal("no schema of ObjectMeta")
	}
	for _, d := range allDefinitions(t, dirs) {
		s.definition(t, d, wanted)
	}
	return s
}

func (s *schemas) add(t *testing.T, k kind, v known) {
	t.Helper()
	if old, ok := s.kinds[k]; ok {
		t.Fatalf("%s is defined by %s and by %s", k, old.source, v.source)
	}
	s.kinds[k] = v
}

// openapi takes kinds out of a document of Kubernetes' OpenAPI.
func (s *schemas) openapi(t *testing.T, data []byte, values enums, wanted map[kind]bool) {
	t.Helper()
	var doc struct {
		Components struct {
			Schemas map[string]*spec.Schema `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	r := &resolver{all: doc.Components.Schemas, values: values, done: map[place]*spec.Schema{}}
	if s.metadata == nil {
		s.metadata = r.named("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta", 0)
	}
	for name, schema := range doc.Components.Schemas {
		var of []struct{ Group, Version, Kind string }
		// DeleteOptions and the like are of many groups, and no object's kind.
		if schema.Extensions.GetObject(ofKind, &of) != nil || len(of) != 1 {
			continue
		}
		k := kind{of[0].Group, of[0].Version, of[0].Kind}
		// A kind that is part of another, as PersistentVolumeClaim is of StatefulSet, is in both groups' documents.
		if wanted[k] && s.kinds[k].source != kubernetes {
			s.add(t, k, known{schema: r.named(name, 0), source: kubernetes})
		}
	}
}

// place is a named schema at a depth of references.
type place struct {
	name  string
	depth int
}

// deepest is how far references are followed. Only the schema of schemas refers to itself, and no definition in the
// reference platform nests that deep.
const deepest = 40

// resolver puts schemas in the place of references: kube-openapi's validator follows none.
type resolver struct {
	all    map[string]*spec.Schema
	values enums
	done   map[place]*spec.Schema
}

func (r *resolver) named(name string, depth int) *spec.Schema {
	if s, ok := r.done[place{name, depth}]; ok {
		return s
	}
	var s *spec.Schema
	short := name[strings.LastIndex(name, ".")+1:]
	switch {
	case depth > deepest:
		s = &spec.Schema{SchemaProps: spec.SchemaProps{Not: &spec.Schema{}}} // nothing is right here, rather than everything
	case short == "JSONSchemaPropsOrArray" || short == "JSONSchemaPropsOrBool":
		// They are published without any schema. What is an object in them is held against JSONSchemaProps.
		one := *r.named(strings.TrimSuffix(strings.TrimSuffix(name, "OrArray"), "OrBool"), depth+1)
		one.Type = nil
		s = &one
	default:
		s = r.schema(r.all[name], depth)
		if short == "RawExtension" || short == "FieldsV1" { // objects of any form
			open := *s
			open.Extensions = spec.Extensions{preserve: true}
			s = &open
		}
		r.values.put(name, s)
	}
	r.done[place{name, depth}] = s
	return s
}

func (r *resolver) schema(s *spec.Schema, depth int) *spec.Schema {
	if s == nil {
		return nil
	}
	if ref := s.Ref.String(); ref != "" {
		return r.named(ref[strings.LastIndex(ref, "/")+1:], depth+1)
	}
	if len(s.AllOf) == 1 && len(s.Properties) == 0 {
		return r.schema(&s.AllOf[0], depth) // a reference with a default
	}
	out := *s
	if s.Format == "int-or-string" {
		out.Format = "" // no format of the validator; oneOf says the same
	}
	if s.Properties != nil {
		out.Properties = make(map[string]spec.Schema, len(s.Properties))
		for k, p := range s.Properties {
			out.Properties[k] = *r.schema(&p, depth)
		}
	}
	if s.Items != nil {
		out.Items = &spec.SchemaOrArray{Schema: r.schema(s.Items.Schema, depth)}
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		out.AdditionalProperties = &spec.SchemaOrBool{Allows: true, Schema: r.schema(s.AdditionalProperties.Schema, depth)}
	}
	return &out
}

// definition takes kinds out of a CustomResourceDefinition.
func (s *schemas) definition(t *testing.T, d definition, wanted map[kind]bool) {
	t.Helper()
	var crd struct {
		Kind string
		Spec struct {
			Group    string
			Names    struct{ Kind string }
			Versions []struct {
				Name   string
				Served bool
				Schema struct {
					OpenAPIV3Schema json.RawMessage `json:"openAPIV3Schema"`
				}
			}
		}
	}
	if err := yaml.Unmarshal([]byte(d.text), &crd); err != nil {
		t.Fatalf("%s: %v in\n%.300s", d.source, err, d.text)
	}
	if crd.Kind != "CustomResourceDefinition" {
		return
	}
	for _, v := range crd.Spec.Versions {
		k := kind{crd.Spec.Group, v.Name, crd.Spec.Names.Kind}
		if !wanted[k] || !v.Served || len(v.Schema.OpenAPIV3Schema) == 0 {
			continue
		}
		var schema spec.Schema
		if err := json.Unmarshal(v.Schema.OpenAPIV3Schema, &schema); err != nil {
			t.Fatalf("%s: %s: %v", d.source, k, err)
		}
		waiveDefaulted(&schema)
		s.add(t, k, known{schema: &schema, source: d.source, custom: true})
	}
}

// waiveDefaulted takes fields with a default out of what is required: the API server sets them before it validates. In
// Kubernetes' own OpenAPI a default of "" means only that Go has no text without a value.
func waiveDefaulted(s *spec.Schema) {
	if s == nil {
		return
	}
	s.Required = slices.DeleteFunc(s.Required, func(name string) bool { return s.Properties[name].Default != nil })
	for k, p := range s.Properties {
		waiveDefaulted(&p)
		s.Properties[k] = p
	}
	if s.Items != nil {
		waiveDefaulted(s.Items.Schema)
	}
	if s.AdditionalProperties != nil {
		waiveDefaulted(s.AdditionalProperties.Schema)
	}
}
