package scan_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/config"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/scan"
	"github.com/tidegate/tidegate/internal/source"
)

// TestRealRepositories holds whole repositories against Flux's own packages, byte for byte. TIDEGATE_REPOS names them:
// directories, separated as in PATH. CONTRIBUTING.md says how to use it.
func TestRealRepositories(t *testing.T) {
	list := os.Getenv("TIDEGATE_REPOS")
	if list == "" {
		t.Skip("TIDEGATE_REPOS names no repository")
	}
	for _, dir := range filepath.SplitList(list) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			tree, err := source.OpenDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			o := scan.Options{Tree: tree}
			if data, err := tree.ReadFile(config.FileName); err == nil {
				if o.Config, err = config.Parse(config.FileName, data); err != nil {
					t.Fatal(err)
				}
			}
			first := scanWith(t, o, "2.9")
			res, given := settle(t, o, "2.9")
			for i, env := range res.Environments {
				v := judge(t, tree, env, given[env.Name], env.Strict)
				for _, d := range v.differences {
					t.Errorf("%s: %s", env.Name, d)
				}
				fmt.Printf("%s\t%s\t%s\tequal %d\tfail alike %d\tdiffer %d\tnot built %d\n",
					filepath.Base(dir), env.Name, counts(first.Environments[i]), v.equal, v.failedAlike, v.differ, v.notBuilt)
			}
		})
	}
}

func counts(env *model.Environment) string {
	ks, hr, objects, failed, unverified := 0, 0, 0, 0, 0
	codes := map[model.Code]int{}
	for _, u := range env.Units {
		objects += len(u.Objects)
		if u.ID.Kind == "HelmRelease" {
			hr++
			continue
		}
		ks++
		switch u.Status {
		case model.StatusFailed:
			failed++
		case model.StatusUnverified:
			unverified++
			codes[u.Reasons[0].Code]++
		}
	}
	var why []string
	for c, n := range codes {
		why = append(why, fmt.Sprintf("%s %d", c, n))
	}
	return fmt.Sprintf("%d Kustomizations, %d HelmReleases, %d objects, %d failed, %d unverified (%s)", ks, hr, objects, failed, unverified, strings.Join(why, ", "))
}
