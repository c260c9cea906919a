package schematest

import (
	"encoding/json"
	"slices"
	"testing"

	"k8s.io/kube-openapi/pkg/validation/spec"
)

// What a schema lets through without naming it, and what it does not. No module is needed for it.
func TestFields(t *testing.T) {
	metadata := schemaOf(t, `{type: object, properties: {name: {type: string}, labels: {type: object, additionalProperties: {type: string}}}}`)
	const within = `{type: object, properties: {o: {type: object, x-kubernetes-embedded-resource: true, properties: {spec: {type: object, properties: {a: {type: string}}}}}}}`
	for name, c := range map[string]struct {
		schema, value string
		want          []string
	}{
		"unknown":                      {`{type: object, properties: {a: {type: string}}}`, `{a: x, b: x}`, []string{"b"}},
		"nothing is known":             {`{type: object}`, `{a: x}`, []string{"a"}},
		"no schema at all":             {`{}`, `{a: {b: x}}`, nil},
		"list":                         {`{type: array, items: {type: object, properties: {a: {type: string}}}}`, `[{a: x}, {b: x}]`, []string{"[1].b"}},
		"preserved":                    {`{type: object, x-kubernetes-preserve-unknown-fields: true}`, `{a: {b: [x]}}`, nil},
		"preserved beside known":       {`{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: object}}}`, `{a: {b: x}, c: x}`, []string{"a.b"}},
		"additional, of any form":      {`{type: object, additionalProperties: true}`, `{a: {b: x}}`, nil},
		"additional, of none":          {`{type: object, additionalProperties: false}`, `{a: x}`, []string{"a"}},
		"additional, with a schema":    {`{type: object, additionalProperties: {type: object, properties: {a: {}}}}`, `{k: {a: 1}, l: {b: 1}}`, []string{"l.b"}},
		"additional, preserved":        {`{type: object, additionalProperties: {x-kubernetes-preserve-unknown-fields: true}}`, `{x: {a: 1}}`, nil},
		"integer or string":            {`{x-kubernetes-int-or-string: true}`, `5`, nil},
		"neither integer nor string":   {`{type: object, properties: {a: {x-kubernetes-int-or-string: true}}}`, `{a: {b: 1}}`, []string{"a"}},
		"object within":                {within, `{o: {apiVersion: v1, kind: A, metadata: {name: a}, spec: {a: x}}}`, nil},
		"object within, its fields":    {within, `{o: {apiVersion: v1, kind: A, spec: {b: x}, status: {}}}`, []string{"o.spec.b", "o.status"}},
		"object within, its metadata":  {within, `{o: {apiVersion: v1, kind: A, metadata: {nam: a, labels: {b: 1}}}}`, []string{"o.metadata.labels.b", "o.metadata.nam"}},
		"object within, without kind":  {within, `{o: {apiVersion: v1}}`, []string{"o.kind"}},
		"object within, kind's number": {within, `{o: {apiVersion: v1, kind: 1}}`, []string{"o.kind"}},
	} {
		// The value is under a field, for what is decoded is an object.
		v, err := decoded("v: " + c.value)
		if err != nil {
			t.Fatal(err)
		}
		check := check{metadata: metadata}
		check.fields(v["v"], schemaOf(t, c.schema), "", false)
		var got []string
		for _, f := range check.faults {
			got = append(got, f.path)
		}
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, check.faults, c.want)
		}
	}
}

// A value of a Secret is in no message.
func TestSecretsAreNotPrinted(t *testing.T) {
	c := check{secret: true}
	c.values(map[string]any{"a": "hunter2"}, schemaOf(t, `{type: object, properties: {a: {type: integer}}}`), "data")
	if want := []fault{{"data.a", "is not what the schema says"}}; !slices.Equal(c.faults, want) {
		t.Errorf("got %v, want %v", c.faults, want)
	}
}

func schemaOf(t *testing.T, text string) *spec.Schema {
	t.Helper()
	m, err := decoded(text)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	s := new(spec.Schema)
	if err := json.Unmarshal(data, s); err != nil {
		t.Fatal(err)
	}
	return s
}
