package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tidegate/tidegate/internal/engine"
)

func (c *Command) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema " + strings.Join(engine.SchemaNames(), "|"),
		Short: "print the JSON Schema of a result, or of a file of the catalog",
		Long: `Print the JSON Schema of what a verb writes with -o json: report is that of check, render that of render, why that of render --why, rules that of rules and explain, catalog-result that of catalog render and catalog graph. catalog is the schema of
what people write: a file of the catalog, for editors. Within a version a
field is never renamed or given another meaning; new fields may appear.`,
		Example: "  tidegate schema report > report.schema.json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return flagError{fmt.Errorf("schema takes one name: there are %s", strings.Join(engine.SchemaNames(), ", "))}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			data, err := engine.Schema(args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.Stdout, "%s\n", data)
			return err
		},
	}
}
