package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tidegate/tidegate/internal/engine"
	"github.com/tidegate/tidegate/internal/report"
	"github.com/tidegate/tidegate/internal/view"
)

func (c *Command) checkCommand() *cobra.Command {
	req := engine.CheckRequest{Request: engine.Request{Dir: c.Dir, Getenv: c.Getenv}}
	var output, failOn string
	var verbose bool
	cmd := &cobra.Command{
		Use:   "check [REPO]",
		Short: "find what is wrong, where, because of what, and how to mend it",
		Long: `Render every environment of a Flux repository, offline, and hold it against the rules. Each finding has its place in a
file, the other places that make it so, what breaks in the cluster, and how to mend it. What several environments share is
told once.

A rule that would need to know what the repository does not say is skipped, and says what it needs. What could not be rendered is unverified: it
is counted, and neither passes nor fails. "tidegate rules" lists the rules, "tidegate explain RULE" tells of one.

A finding that is meant is kept quiet by a comment on its line or above it, "# tidegate:ignore TG0304 why it is meant", or by an
entry of "allow" in tidegate.yaml. Without a reason neither counts.

Exit code: 0 when there is no finding that fails, 1 when there is, 2 for a mistake in the command line, 3 when it could not
run.`,
		Example: `  tidegate check                                    # here, or the embedded reference platform
  tidegate check ~/src/fleet --env prod             # one environment
  tidegate check --fail-on warning                  # warnings fail as well
  tidegate check --rule TG0302                      # one rule
  tidegate check -o json | jq '.findings[].file'    # for machines: tidegate schema report describes it`,
		Args: upTo(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := repository(&req.Request, args); err != nil {
				return err
			}
			if output != "text" && output != "json" {
				return flagError{fmt.Errorf("-o %s: there are text and json", output)}
			}
			if failOn != "error" && failOn != "warning" && failOn != "never" {
				return flagError{fmt.Errorf("--fail-on %s: there are error, warning and never", failOn)}
			}
			return c.check(cmd, req, output, failOn, verbose)
		},
	}
	repositoryFlags(cmd, &req.Request)
	f := cmd.Flags()
	f.StringArrayVar(&req.Rules, "rule", nil, "ask `RULE` only, by ID or name (repeatable)")
	f.StringArrayVar(&req.SkipRules, "skip-rule", nil, "do not ask `RULE` (repeatable)")
	f.StringVar(&failOn, "fail-on", "error", "the `SEVERITY` from which on a finding makes the exit code 1: error, warning, or never")
	f.StringVarP(&output, "output", "o", "text", "`FORMAT` of standard output: text or json")
	f.BoolVar(&verbose, "verbose", false, "list each cause of what is unverified")
	return cmd
}

func (c *Command) check(cmd *cobra.Command, req engine.CheckRequest, output, failOn string, verbose bool) error {
	progress := c.progress()
	req.Progress = progress.unit
	r, err := abandonable(cmd.Context(), func(ctx context.Context) (*report.Check, error) { return engine.Check(ctx, req) })
	progress.clear()
	if err != nil {
		return err
	}
	if output == "json" {
		err = view.JSON(c.Stdout, r)
	} else {
		err = view.Check(c.Stdout, r, c.styleOf(c.Stdout), verbose)
	}
	if err != nil {
		return fmt.Errorf("writing the result: %w", err)
	}
	if failOn == "error" && r.Summary.Errors > 0 || failOn == "warning" && r.Summary.Errors+r.Summary.Warnings > 0 {
		return exitError(ExitFailed)
	}
	return nil
}
