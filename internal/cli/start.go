package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/tidegate/tidegate/internal/engine"
	"github.com/tidegate/tidegate/internal/report"
	"github.com/tidegate/tidegate/internal/view"
)

func (c *Command) initCommand() *cobra.Command {
	req := engine.Request{Dir: c.Dir, Getenv: c.Getenv}
	var v engine.StartValues
	cmd := &cobra.Command{
		Use:   "init DIR",
		Short: "write a complete platform, to push and to grow",
		Long: `Write the reference platform into DIR: a repository with two environments, ready for flux bootstrap. DIR must be empty or not exist; a fresh git
repository in it is left as it is. With another network every address keeps its host part.`,
		Example: `  tidegate init platform
  tidegate init platform --domain home.example.org --dev-lan 10.0.1.0/24 --prod-lan 10.0.2.0/24 --repo-url ssh://git@git.example.org/me/platform.git`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return flagError{fmt.Errorf("%s takes one directory", cmd.CommandPath())}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := engine.Init(req, args[0], v)
			if err != nil {
				return err
			}
			return view.Init(c.Stdout, r, c.styleOf(c.Stdout))
		},
	}
	f := cmd.Flags()
	f.StringVar(&v.Domain, "domain", "", "the `DOMAIN` that apps are served under (default home.example.net)")
	f.StringVar(&v.DevLAN, "dev-lan", "", "the `NETWORK` of dev (default 192.168.1.0/24)")
	f.StringVar(&v.ProdLAN, "prod-lan", "", "the `NETWORK` of prod (default 192.168.2.0/24)")
	f.StringVar(&v.RepoURL, "repo-url", "", "the `URL` that Flux reads the repository from (default ssh://git@git.example.net/home/platform.git)")
	return cmd
}

func (c *Command) envCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "env",
		Short: "add an environment",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return flagError{fmt.Errorf("unknown command %q for %q: see %s --help", args[0], cmd.CommandPath(), cmd.CommandPath())}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	req := engine.Request{Dir: c.Dir, Getenv: c.Getenv}
	var like, lan string
	add := &cobra.Command{
		Use:   "add NAME [REPO]",
		Short: "write an environment made like one that there is",
		Long: `Write clusters/NAME, made like another environment, and its entry in tidegate.yaml. Nothing in the base changes. With --lan every address
keeps its host part; without it what belongs to a network is a placeholder, TBD-NAME-KNOB, which tidegate check refuses until somebody decides it.`,
		Example: `  tidegate env add staging --like dev
  tidegate env add staging --like dev --lan 192.168.3.0/24`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return flagError{fmt.Errorf("%s takes the environment's name, and the repository's directory", cmd.CommandPath())}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if like == "" {
				return flagError{fmt.Errorf("--like names the environment that it is made like")}
			}
			if err := repository(&req, args[1:]); err != nil {
				return err
			}
			r, err := abandonable(cmd.Context(), func(ctx context.Context) (*report.Start, error) {
				return engine.AddEnvironment(ctx, req, args[0], like, lan)
			})
			if err != nil {
				return err
			}
			return view.EnvironmentAdded(c.Stdout, r, c.styleOf(c.Stdout))
		},
	}
	add.Flags().StringVar(&like, "like", "", "the `ENVIRONMENT` that it is made like")
	add.Flags().StringVar(&lan, "lan", "", "its `NETWORK`, such as 192.168.3.0/24")
	cmd.AddCommand(add)
	return cmd
}

func (c *Command) bootstrapCommand() *cobra.Command {
	req := engine.Request{Dir: c.Dir, Getenv: c.Getenv}
	var values bool
	var output string
	cmd := &cobra.Command{
		Use:   "bootstrap ENV [REPO]",
		Short: "print what to do for a cluster before Flux has it",
		Long: `Print the steps that bring up an environment's cluster, with its values filled in: the CRDs, the network, the keys and Flux, as "bootstrap" in tidegate.yaml
names them. Nothing is run, fetched or written.

Exit code: 0, or 1 when something has to be decided first.`,
		Example: `  tidegate bootstrap dev
  tidegate bootstrap prod --values > cilium-values.yaml`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return flagError{fmt.Errorf("%s takes the environment's name, and the repository's directory", cmd.CommandPath())}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if output != "text" && output != "json" {
				return flagError{fmt.Errorf("-o %s: there are text and json", output)}
			}
			if err := repository(&req, args[1:]); err != nil {
				return err
			}
			r, err := abandonable(cmd.Context(), func(ctx context.Context) (*report.Bootstrap, error) { return engine.Bootstrap(ctx, req, args[0]) })
			if err != nil {
				return err
			}
			switch {
			case output == "json":
				err = view.JSON(c.Stdout, r)
			case values:
				if r.Values == "" {
					return fmt.Errorf("%s has no values file: bootstrap.cilium.values in tidegate.yaml names one", args[0])
				}
				for _, p := range r.Problems {
					fmt.Fprintf(c.Stderr, "tidegate: %s\n", view.Plain(p))
				}
				if len(r.Problems) == 0 {
					_, err = io.WriteString(c.Stdout, r.Values)
				}
			default:
				err = view.Bootstrap(c.Stdout, r, c.styleOf(c.Stdout))
			}
			if err != nil {
				return err
			}
			if len(r.Problems) > 0 {
				return exitError(ExitFailed)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&values, "values", false, "print the Helm values of the network alone")
	cmd.Flags().StringVarP(&output, "output", "o", "text", "`FORMAT` of standard output: text or json")
	return cmd
}
