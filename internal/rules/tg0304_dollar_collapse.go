package rules

import (
	"fmt"
	"strings"

	"github.com/tidegate/tidegate/internal/facts"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/rule"
	"github.com/tidegate/tidegate/internal/rules/substitution"
)

// TG0304 finds doubled dollars that substitution makes one of.
var TG0304 = &rule.Rule{
	ID: "TG0304", Name: "dollar-collapse", Severity: rule.Error,
	Doc: rule.Doc{
		What: "two dollars that are no escape become one",
		Why: `Where substitution runs, $$ is an escape: it becomes $. That is what $${NAME} is for. But a script's own $$, its process number, becomes a lonely $; Kubernetes'
$$(NAME), which keeps a container from expanding it, becomes $(NAME), and is expanded; a password or hash that holds $$ becomes another
one. Nothing fails: the text is merely not the one in Git.

It acts on decrypted values as well, since Flux substitutes after it decrypts. There the rule says only that a value holds such a text, never which; base64 in the
data of a Secret is immune.`,
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
    #!/bin/sh
    tmp=/tmp/run.$$
    echo "${DOMAIN}" > "$tmp"
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
    #!/bin/sh
    tmp=$(mktemp)
    echo "${DOMAIN}" > "$tmp"
`,
		Misses: "$${NAME} is the escape and is right. $$NAME is a warning: it becomes $NAME, which is what many who write it mean, and $NAME alone would do.",
		Since:  "0.1",
	},
	Run: func(p *rule.Pass) {
		for _, env := range p.Facts.Environments {
			for _, u := range env.Units {
				for _, o := range u.Built {
					if substitution.Of(o) == substitution.On {
						collapses(p, env, u, o)
					}
				}
			}
		}
	},
}

func collapses(p *rule.Pass, env *facts.Environment, u *facts.Unit, o *facts.Object) {
	for _, s := range substitution.Sites(o) {
		for _, c := range collapsing(s.Text) {
			p.Report(collapse(env, u, s, c))
		}
	}
	for _, at := range o.From.Hidden {
		span := o.Trace.Origin(at).Span
		p.Report(rule.Finding{Severity: rule.Warning, Environment: env.Name, Unit: u.ID, Object: o.Ref, Path: at, Span: span, Certainty: model.CertaintyAttributed,
			Message: fmt.Sprintf("the decrypted value of %s holds ${ or $$, on which substitution acts", shown(o.Ref, at)),
			Breaks:  "the cluster gets another value than was encrypted, or the Kustomization fails: Flux decrypts first and substitutes then",
			Fixes:   []rule.Fix{{Message: "move the value to data, where it is base64 and immune"}, {Message: "or write each $ that counts as $$ before you encrypt it"}}})
	}
}

// run is a run of dollars that is not an escape.
type run struct {
	at, dollars int
	after       string // what follows, as far as it matters
}

// collapsing finds the runs of two or more dollars in which not all pairs are the escape of an expression.
func collapsing(text string) []run {
	var out []run
	for i := 0; i < len(text); {
		if text[i] != '$' {
			// What is in an expression is not unescaped.
			i++
			continue
		}
		n := 0
		for i+n < len(text) && text[i+n] == '$' {
			n++
		}
		rest := text[i+n:]
		switch {
		case strings.HasPrefix(rest, "{") && n%2 == 1:
			// The last dollar begins an expression, whose arguments keep their dollars.
			if n > 1 {
				out = append(out, run{i, n - 1, "expression"})
			}
			i += n - 1 + len(substitution.Expression(text, i+n-1))
			continue
		case strings.HasPrefix(rest, "{") && n == 2:
		case strings.HasPrefix(rest, "{") && n > 2:
			out = append(out, run{i, n - 2, "escape"})
		case n > 1:
			out = append(out, run{i, n, rest})
		}
		i += n
	}
	return out
}

func collapse(env *facts.Environment, u *facts.Unit, s substitution.Site, c run) rule.Finding {
	o := s.Object
	span, certainty := s.Span(c.at, c.at+c.dollars)
	becomes := strings.Repeat("$", (c.dollars+1)/2)
	f := rule.Finding{Environment: env.Name, Unit: u.ID, Object: o.Ref, Path: s.Path, Span: span, Certainty: certainty,
		Message: fmt.Sprintf("%s becomes %s in %s", s.Text[c.at:c.at+c.dollars], becomes, shown(o.Ref, s.Path)),
		Breaks:  "the text in the cluster is not the one in Git, and nothing says so",
	}
	double := rule.Fix{Message: "write each dollar twice where both count: $$$$ becomes $$"}
	if certainty == model.CertaintyExact && !s.Key {
		double.Edits = []rule.Edit{{Span: span, New: strings.Repeat("$", c.dollars*2)}}
	}
	first := byte(0)
	if c.after != "" && c.after != "expression" && c.after != "escape" {
		first = c.after[0]
	}
	switch {
	case first == '(':
		f.Message += ", so that $$(…) is $(…)"
		f.Breaks = "what was to reach the program as it stands is expanded: by Kubernetes in a container's command, args and env, by a shell elsewhere"
	case first == '_' || first >= 'a' && first <= 'z' || first >= 'A' && first <= 'Z':
		f.Severity = rule.Warning
		f.Breaks = "if $$ is meant, it is lost; if $NAME is meant, one dollar would do, since Flux leaves $NAME alone"
		single := rule.Fix{Message: "write one dollar, if that is what is meant"}
		if certainty == model.CertaintyExact && !s.Key {
			single.Edits = []rule.Edit{{Span: span, New: "$"}}
		}
		f.Fixes = append(f.Fixes, single)
	case substitution.Script(s.Text):
		f.Breaks = "the script gets a lonely $ where it wants its process number"
	}
	if at, ok := selfSpan(u, "spec", "postBuild"); ok {
		f.Because = append(f.Because, rule.Because{Span: at, Message: fmt.Sprintf("%s substitutes in all of its objects", u.ID)})
	}
	f.Fixes = append(f.Fixes, double, rule.Fix{Message: "or annotate " + o.Ref.String() + " with kustomize.toolkit.fluxcd.io/substitute: disabled"})
	return f
}
