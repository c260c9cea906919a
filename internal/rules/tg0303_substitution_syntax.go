package rules

import (
	"fmt"
	"path"

	"github.com/tidegate/tidegate/internal/facts"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/rule"
	"github.com/tidegate/tidegate/internal/rules/substitution"
	"github.com/tidegate/tidegate/internal/subst"
)

// TG0303 finds expressions that Flux cannot parse.
var TG0303 = &rule.Rule{
	ID: "TG0303", Name: "substitution-syntax", Severity: rule.Error,
	Doc: rule.Doc{
		What: "an expression is not in the language of postBuild",
		Why: `A text that Flux cannot parse fails the whole Kustomization, in every version and mode, and Flux does not say where: "missing closing brace", "bad
substitution", "unable to parse variable name". The language is a small part of the shell's: ${NAME-default} without the colon, ${ARRAY[0]},
${NAME//x}, ${!NAME}, ${{ … }} are all errors. They come with scripts, JavaScript templates, workflow files, and comments that
mention such a form. Each is reported here with its position, not only the first.`,
		Bad: `-- clusters/home/app.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: app
  namespace: flux-system
spec:
  interval: 10m
  path: ./app
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
  postBuild:
    substitute:
      DOMAIN: example.net
-- app/app.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: app
  namespace: default
data:
  run.sh: |
    #!/bin/bash
    first=${list[0]}
    echo "$first of ${DOMAIN}"
`,
		Good: `-- clusters/home/app.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: app
  namespace: flux-system
spec:
  interval: 10m
  path: ./app
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
  postBuild:
    substitute:
      DOMAIN: example.net
-- app/app.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: app
  namespace: default
data:
  run.sh: |
    #!/bin/bash
    first=$${list[0]}
    echo "$first of ${DOMAIN}"
`,
		Misses: "$NAME, $(command) and $((1+2)) are nothing to Flux. Objects with the annotation kustomize.toolkit.fluxcd.io/substitute: disabled are left alone.",
		Since:  "0.1",
	},
	Run: func(p *rule.Pass) {
		for _, env := range p.Facts.Environments {
			for _, u := range env.Units {
				if u.Substitution == nil {
					continue
				}
				if u.Substitution.Doubt && substitution.Uses(u) {
					doubtful(p, env, u)
				}
				for _, f := range substitution.Faults(u) {
					switch f.Error.Kind {
					case subst.KindUndefined:
					case subst.KindLimit:
						p.SkipUnit(env.Name, fmt.Sprintf("a smaller text than %s has: %s", shown(f.Object.Ref, f.Path), f.Error.Error()), u.ID)
					default:
						p.Report(syntaxFinding(env, u, f))
					}
				}
			}
		}
	},
}

func syntaxFinding(env *facts.Environment, u *facts.Unit, f substitution.Fault) rule.Finding {
	span, certainty := f.Span(f.From, f.To)
	expression := short(f.Text[f.From:f.To])
	out := rule.Finding{Environment: env.Name, Unit: u.ID, Object: f.Object.Ref, Path: f.Path, Span: span, Certainty: certainty,
		Message: fmt.Sprintf("Flux cannot parse %s: %s", expression, f.Error.Error()),
		Breaks:  fmt.Sprintf("%s fails and applies nothing: variable substitution failed: %s", u.ID, f.Error.Error()),
		Because: []rule.Because{becauseSelf(u, fmt.Sprintf("%s substitutes in all of its objects", u.ID), "spec", "postBuild")},
	}
	if f.Error.Kind == subst.KindFunction {
		out.Message = fmt.Sprintf("Flux cannot work out %s with the value it gets: %s", expression, f.Error.Error())
		out.Breaks = fmt.Sprintf("%s fails and applies nothing: the controller panics over it", u.ID)
	}
	escape := rule.Fix{Message: "write a second dollar before it, $${…}, if it is meant for another program: Flux takes one away", Edits: before(f, span, certainty)}
	out.Fixes = []rule.Fix{escape, {Message: "or annotate " + f.Object.Ref.String() + " with kustomize.toolkit.fluxcd.io/substitute: disabled" + languageHint(f.Path)}}
	if advice := f.Advice(); advice != "" {
		out.Fixes = append(out.Fixes, rule.Fix{Message: advice})
	}
	return out
}

// languageHint says what language a text is in, as the name of its key tells.
func languageHint(p model.Path) string {
	if len(p) == 0 {
		return ""
	}
	key, _ := p[len(p)-1].(string)
	language := map[string]string{".js": "JavaScript", ".cjs": "JavaScript", ".mjs": "JavaScript", ".ts": "TypeScript", ".tf": "Terraform", ".groovy": "Groovy",
		".tpl": "a template", ".sh": "a shell script", ".bash": "a shell script", ".ps1": "PowerShell", ".kts": "Kotlin", ".kt": "Kotlin", ".php": "PHP", ".hcl": "HCL",
		".xml": "XML", ".properties": "a properties file"}[path.Ext(key)]
	if language == "" {
		return ""
	}
	return fmt.Sprintf(": %s is %s, where ${ has a meaning of its own", key, language)
}
