package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tidegate/tidegate/internal/report"
)

func (c *Command) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema " + strings.Join(report.SchemaNames(), "|"),
		Short: "print the JSON Schema of a result",
		Long: `Print the JSON Schema of what a verb writes with -o json: report is that of check, render that of render, why that of render --why, rules that of rules and explain. Within a version a
field is never renamed or given another meaning; new fields may appear.`,
		Example: "  tidegate schema report > report.schema.json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return flagError{fmt.Errorf("schema takes one name: there are %s", strings.Join(report.SchemaNames(), ", "))}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			data, err := report.Schema(args[0])
			if err != nil {
				return flagError{err}
			}
			_, err = fmt.Fprintf(c.Stdout, "%s\n", data)
			return err
		},
	}
}
