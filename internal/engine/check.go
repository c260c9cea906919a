package engine

import (
	"context"
	"net/netip"
	"strings"

	"github.com/tidegate/tidegate/internal/config"
	"github.com/tidegate/tidegate/internal/facts"
	"github.com/tidegate/tidegate/internal/model"
)

// CheckRequest is what a check works on.
type CheckRequest struct {
	Request
	Rules     []string // IDs or names; empty runs all
	SkipRules []string
}

// Facts renders a repository and gives what rules read.
func Facts(ctx context.Context, req Request) (*facts.Index, error) {
	r, err := scanned(ctx, req, true)
	if err != nil {
		return nil, err
	}
	return r.facts(), nil
}

func (r *repository) facts() *facts.Index {
	return facts.Build(r.Environments, settings(r.conf), r.tree.ReadFile)
}

// settings takes from tidegate.yaml what rules need.
func settings(c *config.Config) facts.Settings {
	var out facts.Settings
	if c == nil {
		return out
	}
	if k := c.Knobs; k != nil && k.Source != "" {
		out.Knobs = &facts.Knobs{Source: objectName(k.Source), LAN: k.LAN}
	}
	for _, name := range c.Names() {
		if lan, err := netip.ParsePrefix(c.Environments[name].LAN); err == nil {
			out.LANs = append(out.LANs, facts.LAN{Environment: name, Prefix: lan.Masked()})
		}
	}
	return out
}

// objectName reads KIND NAMESPACE/NAME.
func objectName(s string) model.Ref {
	var ref model.Ref
	ref.Kind, s, _ = strings.Cut(s, " ")
	if ns, name, ok := strings.Cut(strings.TrimSpace(s), "/"); ok {
		ref.Namespace, ref.Name = ns, name
	} else {
		ref.Name = ns
	}
	return ref
}
