package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tidegate/tidegate/internal/engine"
)

// repositoryFlags are the flags of every verb that renders a repository.
func repositoryFlags(cmd *cobra.Command, req *engine.Request) {
	f := cmd.Flags()
	f.StringArrayVar(&req.Entries, "entry", nil, "`NAME=PATH`: an environment and the directory that Flux builds first, or a file of Flux objects that somebody applies (repeatable)")
	f.StringArrayVar(&req.Environments, "env", nil, "render the environment `NAME` only (repeatable)")
	f.StringArrayVar(&req.ClusterObjects, "cluster-objects", nil, "`FILE` of objects that the cluster holds before Flux: CRDs, ConfigMaps, namespaces (repeatable)")
	f.StringArrayVar(&req.Vars, "vars", nil, "`ENV=FILE` of values for variables whose source is not in the repository: ConfigMaps and Secrets, a YAML map, or KEY=VALUE lines (repeatable)")
	f.StringVar(&req.AgeKeyFile, "age-key-file", "", "`FILE` of age keys for SOPS; else SOPS_AGE_KEY and SOPS_AGE_KEY_FILE are read")
	f.StringVar(&req.FluxVersion, "flux-version", "", "render as this Flux `VERSION` does (default 2.9; below that, undefined variables are silently empty)")
}

// repository takes the argument of such a verb.
func repository(req *engine.Request, args []string) error {
	if len(args) == 1 {
		if req.Repo = args[0]; req.Repo == "" {
			return flagError{fmt.Errorf("REPO is empty: leave it out, or name a directory")}
		}
	}
	return nil
}
