package rules

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/tidegate/tidegate/internal/facts"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/rule"
)

// TG0202 finds placeholders that nobody has decided and that reach the cluster.
var TG0202 = &rule.Rule{
	ID: "TG0202", Name: "undecided-value", Severity: rule.Error,
	Doc: rule.Doc{
		What: "a placeholder that nobody has decided, TBD-…, reaches an object",
		Why: `A value that is not known yet is written as TBD-PROD-GATEWAY-VIP and not as a plausible guess, so that it cannot pass for one. Where an address is wanted the API server
refuses it. In a URL or a name it is a legal text: it applies, and backups go nowhere until somebody needs one.`,
		Bad: within(twoEnvironments, `-- clusters/prod/kustomization.yaml --
resources:
  - ../base
patches:
  - patch: |
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: cluster-vars
        namespace: flux-system
      data:
        GATEWAY_VIP: TBD-PROD-GATEWAY-VIP
`),
		Good:   twoEnvironments,
		Misses: "A placeholder that no object uses is no finding: it may wait. The word TBD in prose is none either.",
		Since:  "0.1",
	},
	Run: func(p *rule.Pass) {
		for _, env := range p.Facts.Environments {
			undecided(p, env)
		}
	},
}

// placeholder is TBD, a dash, and words in capitals, the first of which is no number.
var placeholder = regexp.MustCompile(`\bTBD-[A-Z][A-Z0-9]+(?:-[A-Z0-9]+)*\b`)

// undecided reports each place that a placeholder is written at once, with everything that it reaches.
func undecided(p *rule.Pass, env *facts.Environment) {
	found := map[model.Span]*rule.Finding{}
	var order []model.Span
	sources := variableSources(env)
	for _, u := range env.Units {
		for _, o := range u.Objects {
			if !placeholder.MatchString(o.Text) || isKnobs(p.Facts, o.Ref) || sources[identity(o.Ref)] || o.Trace == nil {
				continue
			}
			o.Strings(func(at model.Path, text string) {
				word := placeholder.FindString(text)
				if word == "" {
					return
				}
				at = append(model.Path(nil), at...)
				origin := o.Trace.Origin(at)
				span, certainty, here := origin.Span, origin.Certainty, origin.Span
				fix := fmt.Sprintf("decide it, and write the value in the place of %s", word)
				name := ""
				// What stands in the manifest itself, without what variables brought.
				literal := text
				for _, use := range origin.Uses {
					if use.Became != "" {
						literal = strings.Replace(literal, use.Became, "", 1)
					}
				}
				for _, use := range origin.Uses {
					for _, v := range use.Variable {
						if in := placeholder.FindString(v.Value); in != "" && v.Set != nil && name == "" && !strings.Contains(literal, word) {
							word = in
							set := v.Set()
							span, certainty, here, name = set.Span, set.Certainty, use.Span, v.Name
							fix = fmt.Sprintf("decide %s, and set it here", v.Name)
						}
					}
				}
				f := found[span]
				if f == nil {
					f = &rule.Finding{Environment: env.Name, Unit: u.ID, Object: o.Ref, Path: at, Span: span, Certainty: certainty,
						Message: fmt.Sprintf("nobody has decided %s, and it reaches %s", word, o.Ref),
						Breaks:  fmt.Sprintf("%s gets the word %s: where an address is wanted it is refused, and in a URL or a name it applies and fails when it is needed", o.Ref, word),
						Fixes:   []rule.Fix{{Message: fix}}}
					found[span] = f
					order = append(order, span)
				}
				message := fmt.Sprintf("%s takes it", shown(o.Ref, at))
				if name != "" {
					message = fmt.Sprintf("%s takes %s", shown(o.Ref, at), name)
				}
				if here != span {
					f.Because = append(f.Because, rule.Because{Span: here, Message: message})
				}
			})
		}
	}
	for _, span := range order {
		p.Report(*found[span])
	}
}

// variableSources gives the objects that some unit's variables come from: a value that stands in one is used where an
// expression names it.
func variableSources(env *facts.Environment) map[model.Ref]bool {
	out := map[model.Ref]bool{}
	for _, u := range env.Units {
		if u.Substitution == nil {
			continue
		}
		for _, v := range u.Substitution.Variables {
			out[identity(v.Holder)] = true
		}
	}
	return out
}

// identity is a name without the version of its API, which differs between those who speak of one object.
func identity(ref model.Ref) model.Ref {
	ref.APIVersion = ""
	return ref
}
