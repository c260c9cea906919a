package engine

import (
	"encoding/json"
	"slices"

	"github.com/tidegate/tidegate/internal/catalog"
	"github.com/tidegate/tidegate/internal/report"
)

// catalogSchema is the name of the schema of a file of the catalog; all others are those of results.
const catalogSchema = "catalog"

// SchemaNames gives the names that Schema knows, sorted.
func SchemaNames() []string {
	names := append(report.SchemaNames(), catalogSchema)
	slices.Sort(names)
	return names
}

// Schema gives a JSON Schema: of the result of a verb, or of a file of the catalog. The error is a *UsageError.
func Schema(name string) (json.RawMessage, error) {
	if name == catalogSchema {
		return catalog.Schema()
	}
	data, err := report.Schema(name)
	if err != nil {
		return nil, usage("there is no schema %q: there are %v", name, SchemaNames())
	}
	return data, nil
}

// CatalogPage gives the documentation of the catalog's format, in Markdown.
func CatalogPage() []byte { return catalog.Page() }
