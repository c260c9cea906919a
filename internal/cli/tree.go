package cli

import "github.com/spf13/cobra"

// Tree gives the program's commands and flags, for the generator of docs/commands.md. It is read, never run.
func Tree() *cobra.Command { return (&Command{}).root() }
