package cli

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/tidegate/tidegate/internal/flux"
)

func (c *Command) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "print the version, and the Flux version that is assumed", Args: upTo(0),
		RunE: func(*cobra.Command, []string) error {
			version := "unknown"
			if info, ok := debug.ReadBuildInfo(); ok {
				version = info.Main.Version
			}
			_, err := fmt.Fprintf(c.Stdout, "tidegate %s (Flux %s unless --flux-version says otherwise)\n", version, flux.DefaultVersion)
			return err
		},
	}
}
