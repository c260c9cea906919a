package rules

import (
	"fmt"

	"github.com/tidegate/tidegate/internal/rule"
	"github.com/tidegate/tidegate/internal/rules/network"
)

// TG0901 finds addresses that LB-IPAM never gives.
var TG0901 = &rule.Rule{
	ID: "TG0901", Name: "address-outside-pool", Severity: rule.Error,
	Doc: rule.Doc{
		What: "a Service or Gateway asks for an address that no pool of Cilium's has",
		Why: `LB-IPAM gives a Service the addresses that it asks for, if they lie in a pool that matches it; otherwise it gives none. The Service has a ClusterIP, so Flux counts
it as healthy, and nobody outside ever reaches it.`,
		Bad:    within(lanExample, lanVars+"  POOL_START: 192.168.1.50\n  POOL_STOP: 192.168.1.59\n  GATEWAY_VIP: 192.168.1.50\n  GAME_VIP: 192.168.1.60\n"),
		Good:   lanExample,
		Misses: "Environments without a CiliumLoadBalancerIPPool are left alone, and so are Services whose loadBalancerClass is not Cilium's.",
		Since:  "0.1",
	},
	Run: func(p *rule.Pass) {
		for _, env := range p.Facts.Environments {
			n := network.Of(env)
			if len(n.Pools) == 0 || !n.Clear() {
				continue
			}
			for _, b := range n.Balancers {
				pools := n.PoolsFor(b)
				for _, pin := range b.Pins {
					in, ranges := false, ""
					for _, pool := range pools {
						_, ok := pool.Contains(pin.Addr)
						in = in || ok
						ranges = pool.Range()
					}
					if in {
						continue
					}
					value := pin.Addr.String()
					span, certainty, name, because := authored(b.Object, pin.Path, value)
					f := rule.Finding{Environment: env.Name, Unit: b.Unit.ID, Object: b.Ref, Path: pin.Path, Span: span, Certainty: certainty, Because: because,
						Message: fmt.Sprintf("%s which %s asks for, lies in no pool", called(name, value), b.Ref),
						Breaks:  fmt.Sprintf("%s gets no address and is never reached; Flux counts it as healthy", b.Ref),
						Fixes:   []rule.Fix{{Message: "choose an address of the pool, or make the pool larger"}}}
					if name == "" {
						f.Message = fmt.Sprintf("%s, which %s asks for, lies in no pool", value, b.Ref)
					}
					for _, pool := range pools {
						if len(pool.Blocks) > 0 {
							f.Because = append(f.Because, becauseOf(pool.Object, pool.Blocks[0].Path.Child("start"), "", fmt.Sprintf("%s has %s", pool.Ref, pool.Range())))
						}
					}
					if len(pools) == 0 {
						f.Message += fmt.Sprintf(": no pool matches %s", b.Ref)
						f.Fixes = []rule.Fix{{Message: "let the serviceSelector of a pool match it"}}
					} else if ranges != "" {
						f.Message += ": it is " + ranges
					}
					p.Report(f)
				}
			}
		}
	},
}
