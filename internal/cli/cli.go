// Package cli turns flags into calls of the engine, and reports into output and an exit code. One file a verb.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tidegate/tidegate/internal/engine"
	"github.com/tidegate/tidegate/internal/render"
	"github.com/tidegate/tidegate/internal/view"
)

// Exit codes.
const (
	ExitOK       = 0 // nothing failed; what is unverified does not fail
	ExitFailed   = 1 // a unit failed, or there is a finding that fails
	ExitUsage    = 2 // the command line is wrong
	ExitCouldNot = 3 // it could not run
)

// Command is the program with its surroundings, so that a test can be one.
type Command struct {
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Getenv func(string) string
	Dir    string // working directory
}

// exitError carries an exit code for what was already said.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// Main runs the program and gives its exit code.
func (c *Command) Main(ctx context.Context, args []string) int {
	render.ForbidFetching()
	root := c.root()
	root.SetArgs(args)
	root.SetIn(c.Stdin)
	root.SetOut(c.Stdout)
	root.SetErr(c.Stderr)
	ctx, stop := guard(ctx)
	defer stop()
	err := root.ExecuteContext(ctx)
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, context.Canceled) {
		err = cause
	}
	var exit exitError
	var wrong *engine.UsageError
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &exit):
		return int(exit)
	case errors.As(err, &wrong), isFlagError(err):
		fmt.Fprintf(c.Stderr, "tidegate: %s\n", view.Plain(err.Error()))
		return ExitUsage
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		fmt.Fprintln(c.Stderr, "tidegate: interrupted")
		return ExitCouldNot
	}
	fmt.Fprintf(c.Stderr, "tidegate: %s\n", view.Plain(err.Error()))
	return ExitCouldNot
}

// flagError is a mistake in flags or arguments that cobra found.
type flagError struct{ error }

func isFlagError(err error) bool {
	var f flagError
	return errors.As(err, &f)
}

func (c *Command) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "tidegate",
		Short: "what is in Git is what every environment will run",
		Long: `tidegate renders and checks Flux repositories offline: every environment, exactly as Flux makes it.

Named no repository, a verb takes the Flux repository it stands in, else the embedded reference platform.`,
		SilenceUsage: true, SilenceErrors: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return flagError{fmt.Errorf("unknown command %q: see tidegate --help", args[0])}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return flagError{err} })
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(c.bootstrapCommand(), c.envCommand(), c.initCommand(), c.catalogCommand(), c.checkCommand(), c.explainCommand(), c.renderCommand(), c.rulesCommand(), c.schemaCommand(), c.versionCommand())
	return root
}

// style is how stderr is written to.
func (c *Command) style() view.Style { return c.styleOf(c.Stderr) }

// styleOf is how a stream is written to: in colour on a terminal, unless NO_COLOR is set, and in its width.
func (c *Command) styleOf(w io.Writer) view.Style {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return view.Style{}
	}
	columns, _, _ := term.GetSize(int(f.Fd()))
	return view.Style{Colour: c.Getenv("NO_COLOR") == "", Width: columns}
}

// terminal tells whether stderr is one.
func (c *Command) terminal() bool {
	f, ok := c.Stderr.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func upTo(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			return flagError{fmt.Errorf("%s takes at most %d argument, and %d were given", cmd.CommandPath(), n, len(args))}
		}
		return nil
	}
}
