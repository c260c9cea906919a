package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tidegate/tidegate/internal/engine"
	"github.com/tidegate/tidegate/internal/report"
	"github.com/tidegate/tidegate/internal/view"
)

func (c *Command) rulesCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "rules",
		Short: "list what is checked",
		Long:  "List the rules that tidegate check asks, with what each finds and what it needs to know beyond the repository's files.",
		Args:  upTo(0),
		RunE: func(*cobra.Command, []string) error {
			switch output {
			case "json":
				return view.JSON(c.Stdout, engine.Rules())
			case "text":
				return view.Rules(c.Stdout, engine.Rules())
			}
			return flagError{fmt.Errorf("-o %s: there are text and json", output)}
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "`FORMAT`: text or json")
	return cmd
}

func (c *Command) explainCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "explain RULE",
		Short: "tell of a rule: what it finds, why it matters, an example, and the way out",
		Long: `Tell of a rule, by ID or name: what it finds and what happens in the cluster, a small repository that has the fault, what check says
of it, what mends it, and what the rule leaves alone.`,
		Example: `  tidegate explain TG0301
  tidegate explain undefined-variable`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return flagError{fmt.Errorf("explain takes one rule, such as TG0301: see tidegate rules")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if output != "text" && output != "json" {
				return flagError{fmt.Errorf("-o %s: there are text and json", output)}
			}
			r, err := abandonable(cmd.Context(), func(ctx context.Context) (*report.Rules, error) { return engine.Explain(ctx, args[0]) })
			if err != nil {
				return err
			}
			if output == "json" {
				return view.JSON(c.Stdout, r)
			}
			return view.Explain(c.Stdout, r.Rules[0], c.styleOf(c.Stdout))
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "`FORMAT`: text or json")
	return cmd
}
