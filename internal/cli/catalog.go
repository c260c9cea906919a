package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tidegate/tidegate/internal/engine"
	"github.com/tidegate/tidegate/internal/report"
	"github.com/tidegate/tidegate/internal/view"
)

func (c *Command) catalogCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "catalog",
		Short: "make the manifests of apps from one short file each",
		Long: `An app is one file, catalog/<app>.yaml: its image, ports, storage, database, name, address, secrets, and what it needs. From these files "catalog render"
writes apps/wave-N/<app>/ and the Kustomizations of the waves. In which wave an app is follows from what it needs.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return flagError{fmt.Errorf("unknown command %q for %q: see %s --help", args[0], cmd.CommandPath(), cmd.CommandPath())}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.catalogRenderCommand(), c.catalogGraphCommand(), c.catalogAddCommand())
	return cmd
}

func (c *Command) catalogRenderCommand() *cobra.Command {
	req := engine.CatalogRequest{Request: engine.Request{Dir: c.Dir, Getenv: c.Getenv}}
	var output string
	var check bool
	cmd := &cobra.Command{
		Use:   "render [REPO]",
		Short: "write what the catalog makes",
		Long: `Write apps/wave-N/<app>/ and clusters/base/apps-wave-N.yaml from the files of the catalog. Files that say that they were generated are replaced or removed;
all others are left alone. With a mistake in any file nothing is written.

An app whose needs put it into another wave changes its owner, and the old one would delete it. That is refused. With --cutover it becomes two commits, with a
reconciliation between them, neither of which deletes anything. Where no cluster runs the repository yet, --undeployed moves it at once.

Exit code: 0 when it is done, or with --check when nothing differs; 1 for mistakes, for a move without --cutover, and with --check when
something differs or is missing; 2 for a mistake in the command line; 3 when it could not run.`,
		Example: `  tidegate catalog render              # write
  tidegate catalog render --check      # in CI: does the committed tree equal it?
  tidegate catalog render --cutover    # the next step of a change of waves
  tidegate catalog render --undeployed # before the first bootstrap: no step is needed`,
		Args: upTo(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := repository(&req.Request, args); err != nil {
				return err
			}
			if output != "text" && output != "json" {
				return flagError{fmt.Errorf("-o %s: there are text and json", output)}
			}
			if req.Cutover && (check || req.Undeployed) {
				return flagError{fmt.Errorf("--cutover goes neither with --check nor with --undeployed")}
			}
			req.Write = !check
			r, err := engine.Catalog(cmd.Context(), req)
			if err != nil {
				return err
			}
			switch {
			case output == "json":
				err = view.JSON(c.Stdout, r)
			case len(r.Problems) > 0:
				err = view.CatalogProblems(c.Stdout, r, c.styleOf(c.Stdout))
			default:
				err = view.CatalogRender(c.Stdout, r, c.styleOf(c.Stdout), check)
			}
			if err != nil {
				return fmt.Errorf("writing the result: %w", err)
			}
			if len(r.Problems) > 0 || check && len(r.Changes)+len(r.Missing) > 0 {
				return exitError(ExitFailed)
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.BoolVar(&check, "check", false, "write nothing: show how the repository differs from what the catalog makes, and fail if it does")
	f.BoolVar(&req.Cutover, "cutover", false, "write the next step of a change of waves")
	f.BoolVar(&req.Undeployed, "undeployed", false, "no cluster runs this repository yet: apps change their waves at once")
	f.StringVarP(&output, "output", "o", "text", "`FORMAT` of standard output: text or json")
	return cmd
}

func (c *Command) catalogGraphCommand() *cobra.Command {
	req := engine.CatalogRequest{Request: engine.Request{Dir: c.Dir, Getenv: c.Getenv}, GraphOnly: true}
	var output string
	cmd := &cobra.Command{
		Use:   "graph [REPO]",
		Short: "show apps, what they need, and their waves",
		Example: `  tidegate catalog graph               # a table
  tidegate catalog graph -o mermaid    # a picture, for Markdown`,
		Args: upTo(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := repository(&req.Request, args); err != nil {
				return err
			}
			write := map[string]func(r *report.Catalog) error{
				"text":    func(r *report.Catalog) error { return view.CatalogGraph(c.Stdout, r, c.styleOf(c.Stdout)) },
				"mermaid": func(r *report.Catalog) error { return view.CatalogMermaid(c.Stdout, r) },
				"json":    func(r *report.Catalog) error { return view.JSON(c.Stdout, r) },
			}[output]
			if write == nil {
				return flagError{fmt.Errorf("-o %s: there are text, mermaid and json", output)}
			}
			r, err := engine.Catalog(cmd.Context(), req)
			if err != nil {
				return err
			}
			if err := write(r); err != nil {
				return fmt.Errorf("writing the result: %w", err)
			}
			if len(r.Problems) > 0 && output != "json" {
				if err := view.CatalogProblems(c.Stderr, r, c.style()); err != nil {
					return err
				}
			}
			if len(r.Problems) > 0 {
				return exitError(ExitFailed)
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "`FORMAT` of standard output: text, mermaid or json")
	return cmd
}

func (c *Command) catalogAddCommand() *cobra.Command {
	req := engine.Request{Dir: c.Dir, Getenv: c.Getenv}
	cmd := &cobra.Command{
		Use:   "add NAME [REPO]",
		Short: "write a file for a new app, to fill in",
		Long: `Write catalog/NAME.yaml with what an app must say, and what it may say as comments. Then "tidegate catalog render" makes its manifests.
A file that exists is left alone.`,
		Example: "  tidegate catalog add paperless",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return flagError{fmt.Errorf("%s takes the app's name, and the repository's directory", cmd.CommandPath())}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := repository(&req, args[1:]); err != nil {
				return err
			}
			file, err := engine.AddApp(req, args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.Stdout, "%s is written. Fill in its image, ports and needs; then: tidegate catalog render\n", view.Plain(file))
			return err
		},
	}
	return cmd
}
