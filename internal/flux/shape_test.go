package flux

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestShapeIsTheType holds the schema against Flux's Go type: a field that it lacks would be dropped without a word, and
// one of another kind would be refused.
func TestShapeIsTheType(t *testing.T) {
	holdShape(t, "spec", kustomizationSpec(version(t, "2.99")), reflect.TypeOf(kustomizev1.KustomizationSpec{}))
}

func holdShape(t *testing.T, at string, s shape, typ reflect.Type) {
	t.Helper()
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	kinds := map[reflect.Kind]string{
		reflect.String: "string", reflect.Bool: "boolean", reflect.Slice: "array", reflect.Map: "object", reflect.Struct: "object",
	}
	want := kinds[typ.Kind()]
	if typ == reflect.TypeOf(metav1.Duration{}) {
		want = "string"
	}
	if s.kind != want {
		t.Errorf("%s is %q, and %s in Go", at, s.kind, typ)
		return
	}
	switch {
	case want == "array":
		holdShape(t, at+"[]", *s.items, typ.Elem())
	case typ.Kind() == reflect.Map:
		if s.values == nil {
			t.Errorf("%s is no map", at)
			return
		}
		holdShape(t, at+".*", *s.values, typ.Elem())
	case want == "object":
		holdFields(t, at, s, typ)
	}
}

func holdFields(t *testing.T, at string, s shape, typ reflect.Type) {
	t.Helper()
	seen := map[string]bool{}
	for _, f := range jsonFields(typ) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		seen[name] = true
		field, ok := s.fields[name]
		if !ok {
			t.Errorf("%s.%s is in Go and not in the schema", at, name)
			continue
		}
		// controller-gen makes required what has no omitempty.
		if must := !strings.Contains(options, "omitempty"); must != slices.Contains(s.required, name) {
			t.Errorf("%s.%s: required %t in Go", at, name, must)
		}
		holdShape(t, at+"."+name, field, f.Type)
	}
	for name := range s.fields {
		if !seen[name] {
			t.Errorf("%s.%s is in the schema and not in Go", at, name)
		}
	}
}

func jsonFields(typ reflect.Type) (out []reflect.StructField) {
	for i := range typ.NumField() {
		f := typ.Field(i)
		if f.Anonymous {
			out = append(out, jsonFields(f.Type)...)
			continue
		}
		out = append(out, f)
	}
	return out
}
