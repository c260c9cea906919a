package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/tidegate/tidegate/internal/facts"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/rule"
	"github.com/tidegate/tidegate/internal/rules/substitution"
	"github.com/tidegate/tidegate/internal/subst"
)

// TG0001 is what makes a check no cleaner than a render: a unit that Flux would fail to build.
var TG0001 = &rule.Rule{
	ID: "TG0001", Name: "render-fails", Severity: rule.Error,
	Doc: rule.Doc{
		What: "Flux would fail to build a Kustomization, or the API server would refuse it",
		Why: `Whatever stops kustomize-controller before it applies anything: a path that is not there, a manifest that is no Kubernetes object, a patch without a target, a
Kustomization that its own schema refuses. The unit stays as it was, with everything that depends on it, and the message is seen
by whoever looks at the cluster.`,
		Bad: `-- clusters/home/app.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: app
  namespace: flux-system
spec:
  interval: 10m
  path: ./apps
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
-- app/app.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: app
  namespace: default
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
-- app/app.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: app
  namespace: default
`,
		Misses: "What fails for a reason of its own is told by the rule for it: TG0302 and TG0303 for variables, TG0305 for a spec that a variable made invalid.",
		Since:  "0.1",
	},
	Run: func(p *rule.Pass) {
		for _, env := range p.Facts.Environments {
			for _, r := range env.Reasons {
				if r.Code == model.CodeEntry {
					p.Report(failure(env, nil, r))
				}
			}
			for _, u := range env.Units {
				if u.Status != model.StatusFailed || len(u.Reasons) == 0 || toldElsewhere(u) {
					continue
				}
				p.Report(failure(env, u, u.Reasons[0]))
			}
		}
	},
}

// toldElsewhere tells whether another rule says why a unit fails.
func toldElsewhere(u *facts.Unit) bool {
	switch u.Reasons[0].Code {
	case model.CodeSubstitute:
		return u.Substitution != nil && slices.ContainsFunc(substitution.Faults(u), func(f substitution.Fault) bool {
			return f.Error.Kind != subst.KindLimit // of a text that is too large nobody knows what is wrong with it
		})
	case model.CodeRefused:
		if u.Self == nil {
			return false
		}
		// A text of its spec that a variable made something else.
		spec := &facts.Object{Text: u.Self.Display}
		told := false
		spec.Scalars(func(at model.Path, v any) {
			if _, text := v.(string); !text && mustBeText(u.Self.Ref, at) && u.Self.Trace != nil && len(u.Self.Trace.Origin(at).Uses) > 0 {
				told = true
			}
		})
		return told
	}
	return false
}

func failure(env *facts.Environment, u *facts.Unit, r model.Reason) rule.Finding {
	message, rest, _ := strings.Cut(r.Message, "\n")
	if strings.HasSuffix(message, ":") {
		next, _, _ := strings.Cut(strings.TrimSpace(rest), "\n")
		message += " " + next // a list of errors: its head says nothing
	}
	f := rule.Finding{Environment: env.Name, Certainty: model.CertaintyAttributed, Message: message, Breaks: "nothing of it is applied"}
	if u != nil {
		f.Unit = u.ID
		f.Message = u.ID.String() + ": " + message
		f.Breaks = fmt.Sprintf("%s applies nothing: what it applied before stays, and what depends on it waits", u.ID)
	}
	if r.Fix != "" {
		f.Fixes = append(f.Fixes, rule.Fix{Message: r.Fix})
	} else {
		f.Fixes = append(f.Fixes, rule.Fix{Message: "mend what the message names; tidegate render shows the same failure"})
	}
	for i, at := range r.Places {
		span := model.Span{File: at.File, Line: at.Line, Column: max(1, at.Column), EndLine: at.Line, EndColumn: max(1, at.Column) + 1}
		if at.Line == 0 {
			span = model.Span{File: at.File}
		}
		if i == 0 {
			f.Span = span
		} else {
			f.Because = append(f.Because, rule.Because{Span: span, Message: "and here"})
		}
	}
	if u == nil {
		return f
	}
	if f.Span.File == "" {
		placeOfObject(&f, u, r.Subject)
	}
	field := []any{"spec", "path"}
	if r.Code == model.CodeRefused {
		field = []any{"metadata", "name"}
	}
	at, ok := selfSpan(u, field...)
	switch {
	case f.Span.File == "" && ok:
		f.Span = at
	case f.Span.File == "":
		f.Span = model.Span{File: u.Path}
	case ok:
		f.Because = append(f.Because, rule.Because{Span: at, Message: u.ID.String() + " builds it"})
	}
	return f
}

// placeOfObject puts a failure to the object that it is about, and to the expression whose value is what fails to be read, as
// far as one can be found: the message speaks of lines of a text that nobody has.
func placeOfObject(f *rule.Finding, u *facts.Unit, subject string) {
	for _, o := range u.Built {
		if o.Ref.String() != subject || o.Trace == nil {
			continue
		}
		f.Object = o.Ref
		origin := o.Trace.Origin(nil)
		f.Span, f.Certainty = origin.Span, model.CertaintyObject
		if substitution.Of(o) != substitution.On {
			return
		}
		for _, s := range substitution.Sites(o) {
			res, err := substitution.Eval(u, s.Text)
			if err != nil || len(res.Segments) == 0 || s.Key {
				continue
			}
			var value any
			if sigsyaml.Unmarshal([]byte("v: "+res.Text), &value) == nil {
				continue
			}
			seg := res.Segments[0]
			f.Path = s.Path
			f.Span, f.Certainty = s.Span(seg.In, seg.InEnd)
			f.Message += fmt.Sprintf("; %s with %s is no YAML there", short(s.Text[seg.In:seg.InEnd]), strconv.Quote(short(res.Text)))
			v := u.Substitution.Variables[seg.Name]
			v.Name = seg.Name
			if !seg.Defaulted {
				f.Because = append(f.Because, becauseSet(v)...)
			}
			f.Fixes = []rule.Fix{quoting(v, s.Text[seg.In:seg.InEnd], seg.Defaulted, "put quotes into the value")}
			return
		}
		return
	}
}
