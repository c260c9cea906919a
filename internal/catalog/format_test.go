package catalog

import (
	"reflect"
	"strings"
	"testing"
)

// Every example that the documentation and the messages give is one that the reader takes, and every field has one.
func TestExamples(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var visit func(typ reflect.Type)
	visit = func(typ reflect.Type) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct || seen[typ] {
			return
		}
		seen[typ] = true
		for _, f := range fieldsOf(typ) {
			if f.key {
				continue
			}
			if f.doc == "" || f.example == "" && f.name != "" {
				t.Errorf("%s.%s has no documentation or no example", typ.Name(), f.name)
			}
			visit(typ.Field(f.index).Type)
			if typ != reflect.TypeFor[App]() {
				continue
			}
			_, problems := decode("x.yaml", []byte(f.name+": "+f.example+"\n"))
			for _, p := range problems {
				if !strings.Contains(p.Message, "is missing") || strings.HasPrefix(p.Message, f.name+".") {
					t.Errorf("%s: %s: %s (%s)", f.name, f.example, p.Message, p.Fix)
				}
			}
		}
	}
	visit(reflect.TypeFor[App]())
	if len(seen) < 12 {
		t.Errorf("only %d types", len(seen))
	}
}
