package view

import (
	"encoding/json"
	"io"
)

// JSON writes a report for machines: indented, in the order of its fields, with a line feed at the end.
func JSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
