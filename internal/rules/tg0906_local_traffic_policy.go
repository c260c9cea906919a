package rules

import (
	"fmt"

	"github.com/tidegate/tidegate/internal/rule"
	"github.com/tidegate/tidegate/internal/rules/network"
)

// TG0906 finds Services that drop what arrives at another node.
var TG0906 = &rule.Rule{
	ID: "TG0906", Name: "local-traffic-policy", Severity: rule.Error,
	Doc: rule.Doc{
		What: "a Service that is announced on the LAN has externalTrafficPolicy Local",
		Why: `With L2 announcement one node answers ARP for an address, and Cilium chooses it without looking where the pods are. With externalTrafficPolicy Local a node without
a pod drops what arrives. It works until the lease moves; then the address is announced by a node that answers nothing. Such an outage took eight days to find.`,
		Bad:  within(lanExample, "-- network/game.yaml --\napiVersion: v1\nkind: Service\nmetadata:\n  name: game\n  namespace: game\n  annotations:\n    lbipam.cilium.io/ips: ${GAME_VIP}\nspec:\n  type: LoadBalancer\n  externalTrafficPolicy: Local\n  selector:\n    app: game\n  ports:\n    - port: 25565\n"),
		Good: lanExample,
		Misses: "Only what a CiliumL2AnnouncementPolicy selects is looked at: with BGP every node that has a pod announces the address by itself. A policy that chooses among nodes " +
			"may choose those with the pod: then it is a warning.",
		Since: "0.1",
	},
	Run: func(p *rule.Pass) {
		for _, env := range p.Facts.Environments {
			n := network.Of(env)
			for _, b := range n.Balancers {
				at := []any{"spec", "externalTrafficPolicy"}
				if b.Gateway || b.Get(at...) != "Local" {
					continue
				}
				var by *network.Announcer
				for _, a := range n.Announcers {
					if a.L2 && a.Announces(b) && (by == nil || !a.SomeNodes) {
						by = a
					}
				}
				if by == nil {
					continue
				}
				f := rule.Finding{Environment: env.Name, Unit: b.Unit.ID, Object: b.Ref, Path: at,
					Message: fmt.Sprintf("%s has externalTrafficPolicy Local, and %s announces its address from any node", b.Ref, by.Ref),
					Breaks:  "a node without the pod may answer ARP for the address and drop all that arrives",
					Fixes:   []rule.Fix{{Message: "write externalTrafficPolicy: Cluster; the client's address is then that of a node"}}}
				if by.SomeNodes {
					f.Severity = rule.Warning
					f.Message = fmt.Sprintf("%s has externalTrafficPolicy Local, and %s announces its address from any node that it selects", b.Ref, by.Ref)
				}
				f.Span, f.Certainty, _, f.Because = authored(b.Object, at, "")
				if f.Certainty == "exact" && f.Span.Known() && len(f.Because) == 0 {
					f.Fixes[0].Edits = []rule.Edit{{Span: f.Span, New: "Cluster"}}
				}
				p.Report(f)
			}
		}
	},
}
