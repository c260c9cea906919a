package schematest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"k8s.io/kube-openapi/pkg/validation/spec"
)

// enumsFile has what the published OpenAPI leaves out: update-openapi-spec.sh turns the feature OpenAPIEnums off, and the
// generated functions that the API server builds its own OpenAPI with still name the values.
const enumsFile = "pkg/generated/openapi/zz_generated.openapi.go"

// enums are the values that a field may have, by the name of its type in OpenAPI and its own. For a list they are those of
// its items.
type enums map[string]map[string][]any

// readEnums takes them from the functions of k8s.io/api's types.
func readEnums(t *testing.T, file string) enums {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	f, err := parser.ParseFile(token.NewFileSet(), file, data, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	out, n := enums{}, 0
	for _, decl := range f.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		// schema_k8sio_api_core_v1_Container makes io.k8s.api.core.v1.Container.
		name, ok := strings.CutPrefix(fn.Name.Name, "schema_k8sio_api_")
		if !ok {
			continue
		}
		name = "io.k8s.api." + strings.ReplaceAll(name, "_", ".")
		ast.Inspect(fn.Body, func(node ast.Node) bool {
			kv, ok := node.(*ast.KeyValueExpr)
			if !ok {
				return true
			}
			field, ok := constant(kv.Key)
			if !ok {
				return true
			}
			if values := enumOf(kv.Value); len(values) > 0 {
				if out[name] == nil {
					out[name] = map[string][]any{}
				}
				out[name][field] = values
				n++
			}
			return false
		})
	}
	if n < 100 {
		t.Fatalf("%s names the values of %d fields: it is not written as it was", file, n)
	}
	return out
}

// enumOf finds `Enum: []interface{}{"A", "B"}` in the literal of a field's schema.
func enumOf(literal ast.Expr) (values []any) {
	ast.Inspect(literal, func(node ast.Node) bool {
		kv, ok := node.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		key, ok := kv.Key.(*ast.Ident)
		list, isList := kv.Value.(*ast.CompositeLit)
		if !ok || key.Name != "Enum" || !isList {
			return true
		}
		for _, e := range list.Elts {
			if text, ok := constant(e); ok {
				values = append(values, text)
			}
		}
		return false
	})
	return values
}

// put writes the values into the schema of a type.
func (e enums) put(name string, s *spec.Schema) {
	for field, values := range e[name] {
		p, ok := s.Properties[field]
		if !ok {
			continue
		}
		if p.Items != nil && p.Items.Schema != nil {
			items := *p.Items.Schema
			items.Enum = values
			p.Items = &spec.SchemaOrArray{Schema: &items}
		} else {
			p.Enum = values
		}
		s.Properties[field] = p
	}
}
