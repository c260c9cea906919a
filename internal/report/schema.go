package report

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/invopop/jsonschema"
)

// schemas are the documents that a JSON Schema describes, by the name that `tidegate schema` knows them by.
var schemas = map[string]struct {
	version, title string
	value          any
}{
	"bootstrap":      {BootstrapVersion, "the result of tidegate bootstrap", &Bootstrap{}},
	"catalog-result": {CatalogVersion, "the result of tidegate catalog render and catalog graph", &Catalog{}},
	"report":         {CheckVersion, "the result of tidegate check", &Check{}},
	"render":         {RenderVersion, "the result of tidegate render", &Render{}},
	"why":            {WhyVersion, "the result of tidegate render --why", &Why{}},
	"rules":          {RulesVersion, "the result of tidegate rules and tidegate explain", &Rules{}},
}

// SchemaNames gives the names that Schema knows, sorted.
func SchemaNames() []string {
	var out []string
	for name := range schemas {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// Schema gives the JSON Schema (draft 2020-12) of a document. Fields may be added within a version, so it allows for
// more than it names.
func Schema(name string) (json.RawMessage, error) {
	s, ok := schemas[name]
	if !ok {
		return nil, fmt.Errorf("there is no schema %q: there are %v", name, SchemaNames())
	}
	r := &jsonschema.Reflector{AllowAdditionalProperties: true}
	doc := r.Reflect(s.value)
	doc.ID = jsonschema.ID("https://" + s.version + ".json")
	doc.Title = "tidegate " + name
	doc.Description = s.version + ": " + s.title
	return json.MarshalIndent(doc, "", "  ")
}
