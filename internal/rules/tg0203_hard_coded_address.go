package rules

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"

	"github.com/tidegate/tidegate/internal/facts"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/rule"
)

// TG0203 finds addresses of an environment's network outside of the knobs.
var TG0203 = &rule.Rule{
	ID: "TG0203", Name: "hard-coded-address", Severity: rule.Error,
	Needs: []string{TG0203needs},
	Doc: rule.Doc{
		What: "an address of an environment's LAN stands in a manifest",
		Why: `Manifests are shared by all environments; an address belongs to one. A literal one ships to every cluster: dev's gateway in prod's DNS, a retired host in a network
policy. It renders, applies, and swallows traffic. Addresses are knobs: the overlay sets them, and manifests name them.`,
		Bad: within(twoEnvironments, `-- app/service.yaml --
apiVersion: v1
kind: Service
metadata:
  name: app
  namespace: default
  annotations:
    lbipam.cilium.io/ips: 192.168.1.53
spec:
  type: LoadBalancer
  ports:
    - port: 80
`),
		Good:   twoEnvironments,
		Misses: "Addresses outside of every declared LAN, and descriptions in CRDs, are left alone. tidegate.yaml and the knobs themselves are where addresses belong.",
		Since:  "0.1",
	},
	Run: func(p *rule.Pass) {
		if len(p.Facts.Settings.LANs) == 0 {
			p.Skip("", TG0203needs)
			return
		}
		if knobsAreNowhere(p) {
			return
		}
		for _, env := range p.Facts.Environments {
			sources := map[model.Ref]bool{}
			if p.Facts.Settings.Knobs == nil {
				sources = variableSources(env) // whatever variables come from is where an environment's values belong
			}
			for _, u := range env.Units {
				for _, o := range u.Built {
					if o.Ref.Kind == "CustomResourceDefinition" || isKnobs(p.Facts, o.Ref) || sources[identity(o.Ref)] || o.Trace == nil {
						continue
					}
					o.Strings(func(at model.Path, text string) {
						for _, a := range addresses(text) {
							if lan, ok := lanOf(p.Facts, a.addr); ok {
								hardCoded(p, env, u, o, append(model.Path(nil), at...), text, a, lan)
							}
						}
					})
				}
			}
		}
	},
}

const TG0203needs = "environments.NAME.lan in tidegate.yaml"

// literal is an address in a text.
type literal struct {
	from, to int
	addr     netip.Addr
}

var (
	v4Pattern = regexp.MustCompile(`\d{1,3}(?:\.\d{1,3}){3}`)
	v6Pattern = regexp.MustCompile(`[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}`)
)

// addresses finds the IP addresses in a text. What is part of a longer number or name is none.
func addresses(text string) []literal {
	var out []literal
	for _, pattern := range []*regexp.Regexp{v4Pattern, v6Pattern} {
		for _, m := range pattern.FindAllStringIndex(text, -1) {
			if m[0] > 0 && partOfWord(text[m[0]-1]) || m[1] < len(text) && partOfWord(text[m[1]]) && !(text[m[1]] == '.' && endOfSentence(text[m[1]:])) {
				continue
			}
			if a, err := netip.ParseAddr(text[m[0]:m[1]]); err == nil {
				out = append(out, literal{m[0], m[1], a})
			}
		}
	}
	return out
}

func partOfWord(c byte) bool {
	return c == '.' || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// endOfSentence tells a full stop from one that goes on.
func endOfSentence(rest string) bool { return len(rest) == 1 || rest[1] == ' ' || rest[1] == '\n' }

func lanOf(ix *facts.Index, a netip.Addr) (facts.LAN, bool) {
	for _, l := range ix.Settings.LANs {
		if l.Prefix.Contains(a.Unmap()) {
			return l, true
		}
	}
	return facts.LAN{}, false
}

func hardCoded(p *rule.Pass, env *facts.Environment, u *facts.Unit, o *facts.Object, at model.Path, text string, a literal, lan facts.LAN) {
	span, certainty := o.Trace.Within(at, a.from, a.to)
	f := rule.Finding{Environment: env.Name, Unit: u.ID, Object: o.Ref, Path: at, Span: span, Certainty: certainty,
		Message: fmt.Sprintf("%s, an address of %s's LAN %s, stands in %s", a.addr, lan.Environment, lan.Prefix, shown(o.Ref, at)),
		Breaks:  breaksAddress(p, env, lan),
	}
	if k := p.Facts.Settings.Knobs; k != nil {
		for _, other := range p.Facts.Environments {
			for _, name := range knobsWith(knobsOf(other, k.Source), text[a.from:a.to]) {
				f.Fixes = append(f.Fixes, rule.Fix{Message: fmt.Sprintf("write ${%s}, which is %s in %s", name, a.addr, other.Name)})
				if set := knobsOf(other, k.Source).Trace.Origin(model.Path{"data", name}); set.Span.Known() {
					f.Because = append(f.Because, rule.Because{Span: set.Span, Message: fmt.Sprintf("%s has it as %s", other.Name, name)})
				}
			}
		}
	}
	if len(f.Fixes) == 0 {
		f.Fixes = []rule.Fix{{Message: "make it a knob: set it in each overlay's cluster-vars, and name it here"}}
	}
	p.Report(f)
}

// breaksAddress says what a literal address does in the environment that gets it.
func breaksAddress(p *rule.Pass, env *facts.Environment, lan facts.LAN) string {
	if lan.Environment == env.Name {
		return "it is the address of one environment in a manifest: whatever else takes the manifest takes it too, and when the address changes nothing says where it stands"
	}
	return fmt.Sprintf("%s gets an address of %s's network: its traffic goes nowhere, and nothing says so", env.Name, lan.Environment)
}

// knobsWith names the knobs that have a value.
func knobsWith(o *facts.Object, value string) []string {
	if o == nil {
		return nil
	}
	m, _ := o.Get("data").(map[string]any)
	var out []string
	for k, v := range m {
		if s, ok := v.(string); ok && strings.TrimSpace(s) == value {
			out = append(out, k)
		}
	}
	sortStrings(out)
	return out
}
