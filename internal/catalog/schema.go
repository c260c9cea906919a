package catalog

import (
	"encoding/json"
	"reflect"

	"github.com/invopop/jsonschema"
)

// Schema gives the JSON Schema (draft 2020-12) of a file of the catalog, for editors. It is made of the tags that the
// reader goes by, so it allows what the reader allows; what a schema cannot say (that a port has the name that a route
// gives) the reader says.
func Schema() (json.RawMessage, error) {
	s := schemaOf(reflect.TypeFor[App]())
	s.Version = jsonschema.Version
	s.ID = jsonschema.ID("https://" + APIVersion + "/app.json")
	s.Title = "tidegate catalog"
	s.Description = APIVersion + ": a file of the catalog, which describes one app"
	return json.MarshalIndent(s, "", "  ")
}

func schemaOf(t reflect.Type) *jsonschema.Schema {
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.Slice:
		if keyed(t.Elem()) {
			return &jsonschema.Schema{Type: "object", AdditionalProperties: schemaOf(t.Elem())}
		}
		return &jsonschema.Schema{Type: "array", Items: schemaOf(t.Elem())}
	case reflect.Int:
		return &jsonschema.Schema{Type: "integer"}
	case reflect.Bool:
		return &jsonschema.Schema{Type: "boolean"}
	case reflect.String:
		return &jsonschema.Schema{Type: "string"}
	}
	out := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), AdditionalProperties: jsonschema.FalseSchema}
	var alone *jsonschema.Schema
	for _, f := range fieldsOf(t) {
		if f.key {
			continue
		}
		p := schemaOf(t.Field(f.index).Type)
		if f.number {
			p = &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "string"}, {Type: "number"}}}
		}
		p.Description = f.doc
		for _, e := range f.enum {
			p.Enum = append(p.Enum, e)
		}
		if f.scalar {
			alone = p
		}
		if f.name == "" {
			continue
		}
		out.Properties.Set(f.name, p)
		if f.needed {
			out.Required = append(out.Required, f.name)
		}
	}
	switch {
	case alone != nil && out.Properties.Len() == 0:
		return alone
	case alone != nil:
		return &jsonschema.Schema{OneOf: []*jsonschema.Schema{alone, out}}
	}
	return out
}
