package rules

import (
	"fmt"

	"github.com/tidegate/tidegate/internal/rule"
	"github.com/tidegate/tidegate/internal/rules/network"
)

// TG0907 finds pools whose addresses nobody answers for.
var TG0907 = &rule.Rule{
	ID: "TG0907", Name: "pool-unannounced", Severity: rule.Warning,
	Doc: rule.Doc{
		What: "a pool gives addresses that nothing announces",
		Why: `LB-IPAM writes an address into a Service; that machines on the LAN find it is the work of an announcement, over ARP or BGP. Without one every Service has its
address, every check is green, and nothing answers.`,
		Bad:    within(lanExample, "-- network/announce.yaml --\napiVersion: cilium.io/v2alpha1\nkind: CiliumL2AnnouncementPolicy\nmetadata:\n  name: lan\nspec:\n  externalIPs: true\n"),
		Good:   lanExample,
		Misses: "Any object of Cilium's BGP counts as an announcement. Where part of the environment is not known, nothing is said.",
		Since:  "0.1",
	},
	Run: func(p *rule.Pass) {
		for _, env := range p.Facts.Environments {
			n := network.Of(env)
			announced := false
			for _, a := range n.Announcers {
				announced = announced || !a.L2 || a.Get("spec", "loadBalancerIPs") == true
			}
			if announced || len(n.Pools) == 0 {
				continue
			}
			if why, ok := env.Complete(); !ok {
				p.Skip(env.Name, "all of what is applied, to know that nothing announces "+n.Pools[0].Ref.String()+": "+short(why))
				continue
			}
			for _, pool := range n.Pools {
				if len(pool.Blocks) == 0 {
					continue
				}
				f := rule.Finding{Environment: env.Name, Unit: pool.Unit.ID, Object: pool.Ref, Path: []any{"metadata", "name"},
					Message: fmt.Sprintf("nothing announces the addresses of %s", pool.Ref),
					Breaks:  "Services have their addresses, and no machine on the LAN finds them",
					Fixes:   []rule.Fix{{Message: "add a CiliumL2AnnouncementPolicy with loadBalancerIPs: true"}, {Message: "or announce them over BGP"}}}
				f.Span, f.Certainty, _, _ = authored(pool.Object, f.Path, "")
				p.Report(f)
			}
		}
	},
}
