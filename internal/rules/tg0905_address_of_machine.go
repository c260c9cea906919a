package rules

import (
	"fmt"

	"github.com/tidegate/tidegate/internal/rule"
	"github.com/tidegate/tidegate/internal/rules/network"
)

// TG0905 finds machines in a pool.
var TG0905 = &rule.Rule{
	ID: "TG0905", Name: "machine-in-pool", Severity: rule.Error,
	Needs: []string{TG0905needs},
	Doc: rule.Doc{
		What: "the address of a node, or of the control plane, lies in a pool of LB-IPAM",
		Why: `LB-IPAM gives what is in its pool to Services, and Cilium answers ARP for it. If a node, or kube-vip, has the same address, two machines answer for one address, and
the API server is gone whenever the wrong one is faster.`,
		Bad:    within(lanExample, lanVars+"  POOL_START: 192.168.1.10\n  POOL_STOP: 192.168.1.59\n  GATEWAY_VIP: 192.168.1.10\n  GAME_VIP: 192.168.1.51\n"),
		Good:   lanExample,
		Misses: "Machines are known from tidegate.yaml (environments.NAME.nodes and controlPlaneVIP).",
		Since:  "0.1",
	},
	Run: func(p *rule.Pass) {
		if len(p.Facts.Settings.Machines) == 0 {
			p.Skip("", TG0905needs)
			return
		}
		for _, env := range p.Facts.Environments {
			n := network.Of(env)
			for _, m := range p.Facts.Settings.Machines {
				if m.Environment != env.Name {
					continue
				}
				for _, pool := range n.Pools {
					block, in := pool.Contains(m.Addr)
					if !in {
						continue
					}
					at := block.Path.Child("start")
					if pool.Get(at...) == nil {
						at = block.Path.Child("cidr")
					}
					span, certainty, _, because := authored(pool.Object, at, "")
					p.Report(rule.Finding{Environment: env.Name, Unit: pool.Unit.ID, Object: pool.Ref, Path: at, Span: span, Certainty: certainty,
						Message: fmt.Sprintf("%s of %s, %s, lies in the pool %s: %s", m.Name, env.Name, m.Addr, pool.Ref.Name, block.String()),
						Breaks:  "LB-IPAM may give it to a Service: two machines then answer for one address, and neither is reached for certain",
						Because: append(because, rule.Because{Span: m.Span, Message: m.Name + " is here"}),
						Fixes:   []rule.Fix{{Message: "let the pool begin after it or end before it"}, {Message: "or give the machine another address, and say so in tidegate.yaml"}}})
				}
			}
		}
	},
}

const TG0905needs = "environments.NAME.nodes or controlPlaneVIP in tidegate.yaml"
