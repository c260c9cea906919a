package cli

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/tidegate/tidegate/internal/engine"
	"github.com/tidegate/tidegate/internal/report"
	"github.com/tidegate/tidegate/internal/view"
)

func (c *Command) renderCommand() *cobra.Command {
	req := engine.Request{Dir: c.Dir, Getenv: c.Getenv}
	var out, output, why string
	var origins bool
	cmd := &cobra.Command{
		Use:   "render [REPO]",
		Short: "render every object of every environment, exactly as Flux makes it",
		Long: `Render every object of every environment of a Flux repository, offline, byte for byte as kustomize-controller
builds it. REPO is a directory; without it, the Flux repository that you stand in is taken, else the embedded
reference platform.

Environments are found: a bootstrapped gotk-sync.yaml, a FluxInstance with a sync path, folders of Flux Kustomizations
such as clusters/*; or named, with --entry or in tidegate.yaml. What cannot be known offline (another repository, a
chart, a value that is encrypted and whose key is not held) is unverified: shown and counted, never guessed.

--why answers where a value comes from: through patches, components, generators and transformers to a line of a file, and through each variable to where that
is set and which default it overrides.

The objects go to standard output as one YAML stream, a summary to standard error. Decrypted values are masked unless
--show-secrets is given.

Exit code: 0 when nothing failed (unverified is no failure), 1 when a unit failed, 2 for a mistake in the command line,
3 when it could not run.`,
		Example: `  tidegate render                                   # here, or the embedded reference platform
  tidegate render ~/src/fleet --env prod            # one environment
  tidegate render --entry prod=clusters/prod        # where an environment starts, said outright
  tidegate render --out ../rendered                 # a file for each unit
  tidegate render -o json | jq .summary             # for machines
  tidegate render --why prod:Service/crafty/crafty-l4:metadata.annotations["lbipam.cilium.io/ips"]
                                                    # where that value comes from
  tidegate render --vars prod=outputs.yaml          # values that Terraform would have put into the cluster`,
		Args: upTo(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := repository(&req, args); err != nil {
				return err
			}
			if output != "" && output != "json" && output != "yaml" {
				return flagError{fmt.Errorf("-o %s: there are yaml and json", output)}
			}
			if out != "" && output != "" {
				return flagError{fmt.Errorf("--out and -o exclude each other")}
			}
			if cmd.Flags().Changed("why") {
				if why == "" {
					return flagError{fmt.Errorf("--why names an object: KIND/NAMESPACE/NAME, and a field of it")}
				}
				if out != "" || req.Applied || output == "yaml" {
					return flagError{fmt.Errorf("--why tells of one object: --out, --applied and -o yaml do not go with it")}
				}
				return c.why(cmd, req, why, output)
			}
			req.Origins = output == "json" && origins
			return c.render(cmd, req, out, output)
		},
	}
	repositoryFlags(cmd, &req)
	f := cmd.Flags()
	f.BoolVar(&req.Applied, "applied", false, "go on to what is sent to the API server: owner labels, normalisation, commonMetadata")
	f.BoolVar(&req.ShowSecrets, "show-secrets", false, "print decrypted values instead of masks")
	f.StringVar(&out, "out", "", "write `DIR`/ENVIRONMENT/kustomization/NAMESPACE/NAME.yaml instead of standard output")
	f.StringVarP(&output, "output", "o", "", "`FORMAT` of standard output: yaml (default) or json")
	f.StringVar(&why, "why", "", "tell where the values of `[ENV:]KIND/[NAMESPACE/]NAME[:FIELD.PATH]` come from, instead of rendering")
	f.BoolVar(&origins, "origins", true, "with -o json, say where each value comes from; --origins=false leaves that out")
	return cmd
}

func (c *Command) render(cmd *cobra.Command, req engine.Request, out, output string) error {
	if out != "" {
		if err := engine.CheckOut(req, out); err != nil {
			return err
		}
	}
	progress := c.progress()
	req.Progress = progress.unit
	r, err := abandonable(cmd.Context(), func(ctx context.Context) (*report.Render, error) { return engine.Render(ctx, req) })
	progress.clear()
	if err != nil {
		return err
	}
	switch {
	case out != "":
		if err := engine.WriteOut(req, out, r); err != nil {
			return err
		}
	case output == "json":
		err = view.JSON(c.Stdout, r)
	default:
		err = view.Manifests(c.Stdout, r)
	}
	if err != nil {
		return fmt.Errorf("writing the result: %w", err)
	}
	if err := view.Summary(c.Stderr, r, c.style()); err != nil {
		return err
	}
	return exitOf(r)
}

// why prints where values come from.
func (c *Command) why(cmd *cobra.Command, req engine.Request, what, output string) error {
	progress := c.progress()
	req.Progress = progress.unit
	r, err := abandonable(cmd.Context(), func(ctx context.Context) (*report.Why, error) { return engine.Why(ctx, req, what) })
	progress.clear()
	if err != nil {
		return err
	}
	if output == "json" {
		return view.JSON(c.Stdout, r)
	}
	return view.Why(c.Stdout, r, c.styleOf(c.Stdout))
}

func exitOf(r *report.Render) error {
	if r.Failed() {
		return exitError(ExitFailed)
	}
	return nil
}

// progress shows on a terminal that work goes on, once it has taken a while.
type progress struct {
	c     *Command
	mu    sync.Mutex
	start time.Time
	last  time.Time
	shown bool
}

func (c *Command) progress() *progress { return &progress{c: c, start: time.Now()} }

func (p *progress) unit(env string, n int) {
	if !p.c.terminal() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if now.Sub(p.start) < 400*time.Millisecond || now.Sub(p.last) < 100*time.Millisecond {
		return
	}
	p.last, p.shown = now, true
	fmt.Fprintf(p.c.Stderr, "\r\x1b[Krendering %s: %d units", env, n)
}

func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprint(p.c.Stderr, "\r\x1b[K")
	}
}
