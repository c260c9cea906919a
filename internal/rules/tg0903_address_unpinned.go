package rules

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tidegate/tidegate/internal/lbipam"
	"github.com/tidegate/tidegate/internal/rule"
	"github.com/tidegate/tidegate/internal/rules/network"
	"github.com/tidegate/tidegate/internal/spell"
)

// TG0903 finds Services that may take the address that names lead to.
var TG0903 = &rule.Rule{
	ID: "TG0903", Name: "address-unpinned", Severity: rule.Error,
	Doc: rule.Doc{
		What: "a Service asks for no address, and may get the one that DNS gives for the Gateway",
		Why: `What asks for no address gets the first free one of the pool. A Gateway that pins none counts on being the only such: DNS answers with that first address. A second
Service without a pin, and on a new cluster an earlier one, takes it; the Gateway gets the next, still reports healthy, and every name leads to the wrong place.`,
		Bad:    within(lanExample, "-- network/game.yaml --\napiVersion: v1\nkind: Service\nmetadata:\n  name: game\n  namespace: game\nspec:\n  type: LoadBalancer\n  externalTrafficPolicy: Cluster\n  selector:\n    app: game\n  ports:\n    - port: 25565\n"),
		Good:   lanExample,
		Misses: "Where no Gateway without an address shares the pool, or DNS answers with none, a Service without a pin is a matter of taste.",
		Since:  "0.1",
	},
	Run: func(p *rule.Pass) {
		for _, env := range p.Facts.Environments {
			n := network.Of(env)
			if len(n.Answers) == 0 {
				continue
			}
			for _, g := range n.Balancers {
				if !g.Gateway || len(g.Pins) > 0 || g.Unclear {
					continue
				}
				for _, b := range n.Balancers {
					if b == g || len(b.Pins) > 0 || b.Unclear || !share(n, g, b) {
						continue
					}
					f := rule.Finding{Environment: env.Name, Unit: b.Unit.ID, Object: b.Ref, Path: []any{"spec", "type"},
						Message: fmt.Sprintf("%s pins no address, and neither does %s: whichever comes first gets the address that DNS gives", b.Ref, g.Ref),
						Breaks:  fmt.Sprintf("on a new cluster names may lead to %s, while %s reports healthy", b.Ref, g.Ref),
						Fixes:   []rule.Fix{{Message: "pin an address of the pool: metadata.annotations lbipam.cilium.io/ips"}}}
					if like := misspelt(b); like != "" {
						f.Message += fmt.Sprintf("; it has the annotation %s, which nothing reads", like)
						f.Path = []any{"metadata", "annotations", like}
						f.Fixes = []rule.Fix{{Message: "write " + lbipam.RequestAnnotations[0]}}
					}
					if b.Gateway {
						f.Path = []any{"metadata", "name"}
					}
					f.Span, f.Certainty, _, _ = authored(b.Object, f.Path, "")
					a := n.Answers[0]
					f.Because = append(f.Because, becauseOf(a.Object, a.Path, a.Addr.String(), fmt.Sprintf("DNS answers with %s", a.Addr)))
					p.Report(f)
				}
			}
		}
	},
}

// misspelt finds an annotation that is nearly one by which a Service asks for an address.
func misspelt(b *network.Balancer) string {
	all, _ := b.Get("metadata", "annotations").(map[string]any)
	keys := slices.Sorted(maps.Keys(all))
	for _, want := range lbipam.RequestAnnotations {
		if near := spell.Nearest(want, keys, 2); near != "" {
			return near
		}
	}
	return ""
}

// share tells whether two may get an address of one pool.
func share(n *network.Network, a, b *network.Balancer) bool {
	for _, p := range n.PoolsFor(a) {
		for _, q := range n.PoolsFor(b) {
			if p == q {
				return true
			}
		}
	}
	return false
}
