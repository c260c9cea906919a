package schematest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
	"sigs.k8s.io/yaml"
)

// kind is what a schema is of.
type kind struct{ group, version, kind string }

func (k kind) String() string {
	if k.group == "" {
		return k.version + " " + k.kind
	}
	return k.group + "/" + k.version + " " + k.kind
}

// schemas are those of kinds, with metadata's.
type schemas struct {
	kinds    map[kind]*spec.Schema
	builtin  map[kind]bool
	metadata *spec.Schema
}

// load reads the schemas of Kubernetes and of the definitions.
func load(t *testing.T, groups map[string]bool) *schemas {
	t.Helper()
	s := &schemas{kinds: map[kind]*spec.Schema{}, builtin: map[kind]bool{}}
	dir := filepath.Join(module(t, kubernetes), "api/openapi-spec/v3")
	for g := range groups {
		group, version, ok := strings.Cut(g, "/")
		file := filepath.Join(dir, "api__"+g+"_openapi.json")
		if ok {
			file = filepath.Join(dir, "apis__"+group+"__"+version+"_openapi.json")
		}
		data, err := os.ReadFile(file)
		if err != nil {
			continue // no group of Kubernetes' own
		}
		s.openapi(t, data)
	}
	if s.metadata == nil {
		t.Fatal("no schema of ObjectMeta")
	}
	for _, text := range crdTexts(t) {
		s.crd(t, text)
	}
	return s
}

// openapi takes the kinds of a document of Kubernetes' OpenAPI, with what they refer to put into them.
func (s *schemas) openapi(t *testing.T, data []byte) {
	t.Helper()
	var doc struct {
		Components struct {
			Schemas map[string]*spec.Schema `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	r := resolver{doc.Components.Schemas, map[string]*spec.Schema{}}
	for name, schema := range doc.Components.Schemas {
		if strings.HasSuffix(name, "meta.v1.ObjectMeta") && s.metadata == nil {
			s.metadata = r.named(name)
		}
		var of []struct{ Group, Version, Kind string }
		if schema.Extensions.GetObject("x-kubernetes-group-version-kind", &of) != nil || len(of) != 1 {
			continue
		}
		k := kind{of[0].Group, of[0].Version, of[0].Kind}
		s.kinds[k], s.builtin[k] = r.named(name), true
	}
}

// resolver puts schemas in the place of references: kube-openapi's validator follows none. What contains itself (only the
// schema of schemas does) is left open there.
type resolver struct {
	all  map[string]*spec.Schema
	done map[string]*spec.Schema
}

func (r resolver) named(name string) *spec.Schema {
	if s, ok := r.done[name]; ok {
		return s
	}
	open := &spec.Schema{}
	open.AddExtension("x-kubernetes-preserve-unknown-fields", true)
	r.done[name] = open
	s := r.schema(r.all[name])
	r.done[name] = s
	return s
}

func (r resolver) schema(s *spec.Schema) *spec.Schema {
	if s == nil {
		return nil
	}
	if ref := s.Ref.String(); ref != "" {
		return r.named(ref[strings.LastIndex(ref, "/")+1:])
	}
	out := *s
	if len(s.AllOf) == 1 && len(s.Properties) == 0 {
		return r.schema(&s.AllOf[0]) // a reference with a default
	}
	if s.Format == "int-or-string" {
		out.Type, out.Format = nil, "" // it says that it is a text, and in oneOf that it may be a number
	}
	if s.Properties != nil {
		out.Properties = map[string]spec.Schema{}
		for k, p := range s.Properties {
			out.Properties[k] = *r.schema(&p)
		}
	}
	if s.Items != nil && s.Items.Schema != nil {
		out.Items = &spec.SchemaOrArray{Schema: r.schema(s.Items.Schema)}
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		out.AdditionalProperties = &spec.SchemaOrBool{Allows: true, Schema: r.schema(s.AdditionalProperties.Schema)}
	}
	return &out
}

// crd takes the kinds of a CustomResourceDefinition.
func (s *schemas) crd(t *testing.T, text string) {
	t.Helper()
	var d struct {
		Kind string
		Spec struct {
			Group    string
			Names    struct{ Kind string }
			Versions []struct {
				Name   string
				Schema struct {
					OpenAPIV3Schema json.RawMessage `json:"openAPIV3Schema"`
				}
			}
		}
	}
	if err := yaml.Unmarshal([]byte(text), &d); err != nil {
		t.Fatalf("%v in\n%.300s", err, text)
	}
	if d.Kind != "CustomResourceDefinition" {
		return
	}
	for _, v := range d.Spec.Versions {
		var schema spec.Schema
		if len(v.Schema.OpenAPIV3Schema) == 0 {
			continue
		}
		if err := json.Unmarshal(v.Schema.OpenAPIV3Schema, &schema); err != nil {
			t.Fatalf("%s: %v", d.Spec.Names.Kind, err)
		}
		s.kinds[kind{d.Spec.Group, v.Name, d.Spec.Names.Kind}] = &schema
	}
}

// validate gives what is wrong with an object; ok is false when nothing has a schema of its kind.
func (s *schemas) validate(o map[string]any) (faults []string, ok bool) {
	apiVersion, _ := o["apiVersion"].(string)
	k := kind{version: apiVersion}
	if g, v, cut := strings.Cut(apiVersion, "/"); cut {
		k.group, k.version = g, v
	}
	k.kind, _ = o["kind"].(string)
	schema := s.kinds[k]
	if schema == nil {
		return nil, false
	}
	res := validate.NewSchemaValidator(schema, nil, "", strfmt.Default).Validate(o)
	for _, err := range res.Errors {
		faults = append(faults, err.Error())
	}
	unknown(o, schema, "", &faults)
	if !s.builtin[k] {
		// A definition says of metadata that it is an object, and the API server holds it to ObjectMeta.
		meta := o["metadata"]
		for _, err := range validate.NewSchemaValidator(s.metadata, nil, "metadata", strfmt.Default).Validate(meta).Errors {
			faults = append(faults, err.Error())
		}
		unknown(meta, s.metadata, "metadata", &faults)
	}
	sort.Strings(faults)
	return faults, true
}

// unknown finds fields that a schema does not have: the API server drops them, or refuses the object.
func unknown(v any, s *spec.Schema, at string, faults *[]string) {
	if s == nil {
		return
	}
	if open, _ := s.Extensions.GetBool("x-kubernetes-preserve-unknown-fields"); open && len(s.Properties) == 0 {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			here := strings.TrimPrefix(at+"."+k, ".")
			p, ok := s.Properties[k]
			open, _ := s.Extensions.GetBool("x-kubernetes-preserve-unknown-fields")
			embedded, _ := s.Extensions.GetBool("x-kubernetes-embedded-resource")
			switch {
			case ok:
				unknown(e, &p, here, faults)
			case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
				unknown(e, s.AdditionalProperties.Schema, here, faults)
			case at == "metadata", at == "" && (k == "apiVersion" || k == "kind" || k == "metadata"), open, embedded,
				s.AdditionalProperties != nil && s.AdditionalProperties.Allows, len(s.Properties) == 0 && len(s.Type) == 0:
			default:
				*faults = append(*faults, here+" is no field")
			}
		}
	case []any:
		if s.Items == nil {
			return
		}
		for i, e := range v {
			unknown(e, s.Items.Schema, fmt.Sprintf("%s[%d]", at, i), faults)
		}
	}
}
