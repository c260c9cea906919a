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
		Misses: "$${NAME} is the escape and is right, and so are $$$$ for two dollars and $$${NAME} for a dollar before a value. $$NAME is a warning: it becomes $NAME, which is what many " +
			"who write it mean, and $NAME alone would do.",
		Since: "0.1",
	},
	Run: func(p *rule.Pass) {
		for _, env := range p.Facts.Environments {
			for _, u := range env.Units {
				for _, o := range u.Built {
					switch substitution.Of(o) {
					case substitution.On:
						collapses(p, env, u, o)
					case substitution.Unknown:
						if !o.From.OptedOut && strings.Contains(o.Text, "$$") {
							doubtful(p, env, u)
						}
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
		f := rule.Finding{Severity: rule.Warning, Environment: env.Name, Unit: u.ID, Object: o.Ref, Path: at, Span: model.Span{File: u.Path}, Certainty: model.CertaintyObject,
			Message: fmt.Sprintf("the decrypted value of %s holds ${ or $$, on which substitution acts", shown(o.Ref, at)),
			Breaks:  "the cluster gets another value than was encrypted, or the Kustomization fails: Flux decrypts first and substitutes then",
			Because: []rule.Because{becauseSelf(u, fmt.Sprintf("%s substitutes in all of its objects", u.ID), "spec", "postBuild")},
			Fixes:   []rule.Fix{{Message: "move the value to data, where it is base64 and immune"}, {Message: "or write each $ that counts as $$ before you encrypt it"}}}
		if o.Trace != nil {
			f.Span, f.Certainty = o.Trace.Origin(at).Span, model.CertaintyAttributed
		}
		p.Report(f)
	}
}

// run is a run of dollars of which substitution takes some.
type run struct {
	at, dollars int
	next        byte // what follows; 0 at the end
}

// maxRuns bounds the runs of one text that are told: a text may be nothing but dollars and blanks.
const maxRuns = 1000

// collapsing finds the runs of two or three dollars that stand before no expression. Before one, $$ is its escape and
// $$$ a dollar and its value; four or more are what somebody wrote who knows that two become one.
func collapsing(text string) []run {
	var out []run
	for i := 0; i < len(text) && len(out) < maxRuns; {
		n := 0
		for i+n < len(text) && text[i+n] == '$' {
			n++
		}
		next := byte(0)
		if i+n < len(text) {
			next = text[i+n]
		}
		switch {
		case n == 0:
			i++
		case next == '{' && n%2 == 1:
			// The arguments of an expression keep their dollars.
			i += n - 1 + substitution.Length(text[i+n-1:])
		case next != '{' && (n == 2 || n == 3):
			out = append(out, run{i, n, next})
			i += n
		default:
			i += n
		}
	}
	return out
}

func collapse(env *facts.Environment, u *facts.Unit, s substitution.Site, c run) rule.Finding {
	o := s.Object
	span, certainty := s.Span(c.at, c.at+c.dollars)
	f := rule.Finding{Environment: env.Name, Unit: u.ID, Object: o.Ref, Path: s.Path, Span: span, Certainty: certainty,
		Message: fmt.Sprintf("%s becomes %s in %s", s.Text[c.at:c.at+c.dollars], strings.Repeat("$", c.dollars-1), shown(o.Ref, s.Path)),
		Breaks:  "the text in the cluster is not the one in Git, and nothing says so",
		Because: []rule.Because{becauseSelf(u, fmt.Sprintf("%s substitutes in all of its objects", u.ID), "spec", "postBuild")},
	}
	double := rule.Fix{Message: "write each dollar twice where both count: $$$$ becomes $$"}
	single := rule.Fix{Message: "write one dollar, if that is what is meant"}
	if certainty == model.CertaintyExact && !s.Key {
		double.Edits = []rule.Edit{{Span: span, New: strings.Repeat("$", c.dollars*2)}}
		single.Edits = []rule.Edit{{Span: span, New: "$"}}
	}
	switch {
	case c.next == '(':
		f.Message += ", so that $$(…) is $(…)"
		f.Breaks = "what was to reach the program as it stands is expanded: by Kubernetes in a container's command, args and env, by a shell elsewhere"
	case c.next == '_' || c.next >= '0' && c.next <= '9' || c.next >= 'a' && c.next <= 'z' || c.next >= 'A' && c.next <= 'Z':
		f.Severity = rule.Warning
		f.Breaks = "if $$ is meant, it is lost; if $NAME is meant, one dollar would do, since Flux leaves $NAME alone"
		f.Fixes = append(f.Fixes, single)
	case substitution.Script(s.Text) || substitution.Shell(s):
		f.Breaks = "the script gets a lonely $ where it wants its process number"
	}
	f.Fixes = append(f.Fixes, double, rule.Fix{Message: "or annotate " + o.Ref.String() + " with kustomize.toolkit.fluxcd.io/substitute: disabled"})
	return f
}
