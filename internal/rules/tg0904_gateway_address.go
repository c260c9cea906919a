package rules

import (
	"fmt"
	"net/netip"

	"github.com/tidegate/tidegate/internal/rule"
	"github.com/tidegate/tidegate/internal/rules/network"
)

// TG0904 finds names that lead to an address that the Gateway does not get.
var TG0904 = &rule.Rule{
	ID: "TG0904", Name: "gateway-address", Severity: rule.Error,
	Doc: rule.Doc{
		What: "DNS within the cluster answers with an address that the Gateway does not get",
		Why: `A Gateway without an address gets the first free one of its pool. If DNS answers with another, what is asked by name within the cluster goes to an address that nobody
announces. The Gateway is Programmed, its certificate is valid, clients outside work, and single sign-on between the apps times out.`,
		Bad:    within(lanExample, lanVars+"  POOL_START: 192.168.1.48\n  POOL_STOP: 192.168.1.59\n  GATEWAY_VIP: 192.168.1.50\n  GAME_VIP: 192.168.1.51\n"),
		Good:   lanExample,
		Misses: "DNS is read from ConfigMap kube-system/coredns-custom, which k3s' CoreDNS takes in, and there from answers of the template plugin. With several Gateways that pin no address nothing is said.",
		Since:  "0.1",
	},
	Run: func(p *rule.Pass) {
		for _, env := range p.Facts.Environments {
			n := network.Of(env)
			if len(n.Pools) == 0 || !n.Clear() || len(n.Answers) == 0 {
				continue
			}
			var gateways []*network.Balancer
			for _, b := range n.Balancers {
				if b.Gateway {
					gateways = append(gateways, b)
				}
			}
			if len(gateways) != 1 || gateways[0].Unclear {
				continue
			}
			g := gateways[0]
			got, how := netip.Addr{}, "it asks for it"
			if len(g.Pins) > 0 {
				got = g.Pins[0].Addr
			} else if first, ok := n.First(g); ok {
				got, how = first, "it asks for none, and that is the first that nothing else asks for"
			}
			for _, a := range n.Answers {
				if !got.IsValid() || a.Addr == got {
					continue
				}
				value := a.Addr.String()
				span, certainty, name, because := authored(a.Object, a.Path, value)
				f := rule.Finding{Environment: env.Name, Unit: a.Unit.ID, Object: a.Ref, Path: a.Path, Span: span, Certainty: certainty, Because: because,
					Message: fmt.Sprintf("DNS answers for %s with %s, and %s gets %s: %s", a.Zone, value, g.Ref, got, how),
					Breaks:  fmt.Sprintf("within the cluster every name of %s leads to an address that nobody announces, while %s reports healthy", a.Zone, g.Ref),
					Fixes:   []rule.Fix{{Message: fmt.Sprintf("let DNS answer with %s", got)}, {Message: fmt.Sprintf("or let the pool begin with %s", value)}}}
				if name != "" {
					f.Fixes[0].Message = fmt.Sprintf("set %s to %s", name, got)
				}
				if pools := n.PoolsFor(g); len(g.Pins) > 0 {
					f.Because = append(f.Because, becauseOf(g.Object, g.Pins[0].Path, got.String(), g.Ref.String()+" asks for "+got.String()))
				} else if len(pools) > 0 && len(pools[0].Blocks) > 0 {
					f.Because = append(f.Because, becauseOf(pools[0].Object, pools[0].Blocks[0].Path.Child("start"), "", fmt.Sprintf("%s has %s", pools[0].Ref, pools[0].Range())))
				}
				p.Report(f)
			}
		}
	},
}
