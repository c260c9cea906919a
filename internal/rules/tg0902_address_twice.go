package rules

import (
	"fmt"
	"net/netip"

	"github.com/tidegate/tidegate/internal/rule"
	"github.com/tidegate/tidegate/internal/rules/network"
)

// TG0902 finds addresses that two ask for.
var TG0902 = &rule.Rule{
	ID: "TG0902", Name: "address-twice", Severity: rule.Error,
	Doc: rule.Doc{
		What: "two Services ask for one address",
		Why: `LB-IPAM gives an address to the first that asks for it, and nothing to the second. Which of them is first is another matter on each cluster, and after each
restart of its operator: what worked for a year is gone after an upgrade.`,
		Bad:    within(lanExample, "-- network/voice.yaml --\napiVersion: v1\nkind: Service\nmetadata:\n  name: voice\n  namespace: voice\n  annotations:\n    lbipam.cilium.io/ips: ${GAME_VIP}\nspec:\n  type: LoadBalancer\n  ports:\n    - port: 9987\n"),
		Good:   lanExample,
		Misses: "Services that have the same sharing key (lbipam.cilium.io/sharing-key) may share an address.",
		Since:  "0.1",
	},
	Run: func(p *rule.Pass) {
		for _, env := range p.Facts.Environments {
			n := network.Of(env)
			if len(n.Pools) == 0 {
				continue
			}
			type holder struct {
				b   *network.Balancer
				pin network.Pin
			}
			first := map[netip.Addr]holder{}
			for _, b := range n.Balancers {
				for _, pin := range b.Pins {
					h, taken := first[pin.Addr]
					if !taken {
						first[pin.Addr] = holder{b, pin}
						continue
					}
					if h.b == b || b.Sharing != "" && b.Sharing == h.b.Sharing {
						continue
					}
					value := pin.Addr.String()
					span, certainty, name, because := authored(b.Object, pin.Path, value)
					what := value
					if name != "" {
						what = name + ", " + value + ","
					}
					p.Report(rule.Finding{Environment: env.Name, Unit: b.Unit.ID, Object: b.Ref, Path: pin.Path, Span: span, Certainty: certainty,
						Message: fmt.Sprintf("%s is asked for by %s and by %s", what, h.b.Ref, b.Ref),
						Breaks:  "one of the two gets it, and the other none; which one is another matter on each cluster",
						Because: append(because, becauseOf(h.b.Object, h.pin.Path, value, h.b.Ref.String()+" asks for it here")),
						Fixes:   []rule.Fix{{Message: "give one of them another address of the pool"}, {Message: "or give both the same lbipam.cilium.io/sharing-key, if their ports differ"}}})
				}
			}
		}
	},
}
