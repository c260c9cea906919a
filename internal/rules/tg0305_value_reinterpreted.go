package rules

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate/internal/facts"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/rule"
	"github.com/tidegate/tidegate/internal/rules/substitution"
	"github.com/tidegate/tidegate/internal/subst"
)

// TG0305 finds values that become others when the substituted text is read as YAML again.
var TG0305 = &rule.Rule{
	ID: "TG0305", Name: "value-reinterpreted", Severity: rule.Error,
	Doc: rule.Doc{
		What: "a value is not the text that was put in its place: substituted text is read as YAML again",
		Why: `Flux substitutes in the text of an object that kustomize wrote, where quotes of the manifest are gone, and reads the result as YAML 1.1. So "${VERSION}" with
1.10 is the number 1.1, 0123 is 83, yes is true, "a #b" is a, and ~ is nothing. In a field that must be a text the API server refuses the object: cannot
convert int64 to string. In a chart's values the wrong tag is pulled.

Labels are worse. One label that is no text, and kustomize-controller reads none of them: it puts its own two in their place, and the object is applied without any of
its labels. Services lose their pods, and prune: disabled is lost with them. That needs no substitution: an unquoted true in the manifest does it.`,
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
      VERSION: "1.10"
      PORT: "8080"
-- app/app.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: app
  namespace: default
data:
  version: ${VERSION}
  port: ${PORT}
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
      VERSION: '"1.10"'
      PORT: '"8080"'
-- app/app.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: app
  namespace: default
data:
  version: ${VERSION}
  port: ${PORT}
`,
		Misses: "A number or a boolean outside of fields that must be texts is a feature, and so is a map or a list. Quotes within the value, or ${quote}${NAME}${quote} with a variable that is " +
			"a quote, keep a text a text, and are right.",
		Since: "0.1",
	},
	Run: func(p *rule.Pass) {
		for _, env := range p.Facts.Environments {
			masked := map[string]bool{}
			for _, u := range env.Units {
				reinterpreted(p, env, u, masked)
			}
			if names := slices.Sorted(maps.Keys(masked)); len(names) > 0 {
				more := ""
				if len(names) > 1 {
					more = fmt.Sprintf(" and %d more", len(names)-1)
				}
				p.Skip(env.Name, "values that are encrypted or masked, to know whether they stay texts: "+names[0]+more)
			}
			for _, o := range env.Applied {
				labels(p, env, nil, o)
			}
		}
	},
}

// reinterpreted looks at a unit. The names of variables whose values it would have to know are put into masked.
func reinterpreted(p *rule.Pass, env *facts.Environment, u *facts.Unit, masked map[string]bool) {
	results := substitution.ResultsOf(u)
	for _, o := range u.Built {
		after := results.After(o)
		if after == nil {
			labels(p, env, u, o) // what was built is all there is
			continue
		}
		switch substitution.Of(o) {
		case substitution.On:
			reread(p, env, u, o, after, masked)
		case substitution.Unknown:
			if !o.From.OptedOut && len(substitution.Sites(o)) > 0 {
				doubtful(p, env, u)
			}
		}
		labels(p, env, u, after)
	}
	if u.Substitution != nil {
		joined(p, env, u)
	}
}

// reread compares what substitution gives with what the object has.
func reread(p *rule.Pass, env *facts.Environment, u *facts.Unit, built, after *facts.Object, masked map[string]bool) {
	for _, s := range substitution.Sites(built) {
		res, err := substitution.Eval(u, s.Text)
		if err != nil || len(res.Segments) == 0 || strings.Contains(s.Text, "**SOPS**") {
			continue
		}
		seg := res.Segments[0]
		if seg.Opaque && len(res.Segments) == 1 && seg.In == 0 && seg.InEnd == len(s.Text) && substitution.TextField(built.Ref, s.Path) {
			if v := u.Substitution.Variables[seg.Name]; v.Secret || v.Unknown != nil && v.Unknown.Code == model.CodeEncrypted {
				masked[seg.Name] = true
			}
		}
		if len(res.Opaque) > 0 || !s.Key && staysText(res.Text) {
			continue
		}
		at, ok := substitution.PathAfter(u, s.Path)
		if !ok {
			continue
		}
		got := after.Get(at...)
		what, severity := "", rule.Error
		switch {
		case s.Key:
			what = otherKey(after, at)
		case has(after, at):
			if _, text := got.(string); substitution.MetadataText(at) && !text {
				continue // labels tells of it
			}
			what, severity = changed(built.Ref, at, res, got)
		}
		if what == "" {
			continue
		}
		p.Report(rereadFinding(env, u, s, after.Ref, seg, res.Text, got, what, severity))
	}
}

func rereadFinding(env *facts.Environment, u *facts.Unit, s substitution.Site, ref model.Ref, seg subst.Segment, text string, got any, what string, severity rule.Severity) rule.Finding {
	span, certainty := s.Span(seg.In, seg.InEnd)
	expression := short(s.Text[seg.In:seg.InEnd])
	f := rule.Finding{Severity: severity, Environment: env.Name, Unit: u.ID, Object: ref, Path: s.Path, Span: span, Certainty: certainty,
		Message: fmt.Sprintf("%s with %s %s", expression, strconv.Quote(short(text)), what),
		Breaks:  "the cluster gets " + describe(got) + " in " + shown(ref, s.Path),
	}
	_, isText := got.(string)
	switch {
	case s.Key:
		f.Breaks = "the cluster gets a key in " + shown(ref, s.Path[:len(s.Path)-1]) + " that nobody wrote"
	case !isText && substitution.TextField(ref, s.Path):
		f.Breaks += "; the API server takes nothing but a text there, and refuses the object and all that is applied with it"
	}
	if v, ok := u.Substitution.Variables[seg.Name]; ok {
		f.Because = append(f.Because, becauseSet(v)...)
	}
	v := u.Substitution.Variables[seg.Name]
	v.Name = seg.Name
	f.Fixes = []rule.Fix{quoting(v, s.Text[seg.In:seg.InEnd], seg.Defaulted, "put quotes into the value"),
		{Message: fmt.Sprintf("or write ${quote}%s${quote}, with a variable quote whose value is a double quote", expression)},
	}
	return f
}

// defaultOf takes an expression with a default apart.
var defaultOf = regexp.MustCompile(`^(\$\{\w+(?::?=|:-))(.*)\}$`)

// quoting is how a value stays a text: with quotes inside, or inside the default that an expression brings.
func quoting(v model.Variable, expression string, defaulted bool, lead string) rule.Fix {
	if m := defaultOf.FindStringSubmatch(expression); defaulted && m != nil {
		return rule.Fix{Message: fmt.Sprintf("put quotes into the default: %s\"%s\"}", m[1], short(m[2]))}
	}
	return rule.Fix{Message: fmt.Sprintf("%s: %s: '\"%s\"'", lead, v.Name, short(v.Value))}
}

// mustBeText tells whether the API server takes nothing but a text at a path.
func mustBeText(ref model.Ref, p model.Path) bool { return substitution.TextField(ref, p) }

// labels finds labels and annotations that are no texts, with substitution or without.
func labels(p *rule.Pass, env *facts.Environment, u *facts.Unit, o *facts.Object) {
	if !mayHaveOtherLabels(o.Text) {
		return
	}
	for _, field := range []string{"labels", "annotations"} {
		m, _ := o.Get("metadata", field).(map[string]any)
		keys := make([]string, 0, len(m))
		for k := range m {
			keys = append(keys, k)
		}
		sortStrings(keys)
		for _, k := range keys {
			if _, ok := m[k].(string); ok || m[k] == nil {
				continue // null is an empty text here (apimachinery NestedNullCoercingStringMap)
			}
			at := model.Path{"metadata", field, k}
			f := rule.Finding{Environment: env.Name, Object: o.Ref, Path: at, Certainty: model.CertaintyObject,
				Message: fmt.Sprintf("%s %s is %s, and no text", strings.TrimSuffix(field, "s"), k, describe(m[k])),
				Breaks:  "every label of " + o.Ref.String() + " is lost: kustomize-controller reads none of a set with one that is no text, and writes its own two in their place",
				Fixes:   []rule.Fix{{Message: "quote the value"}},
			}
			switch {
			case u == nil:
				f.Breaks = "the API server refuses " + o.Ref.String()
			case field == "annotations" && !exists(u, []any{"spec", "commonMetadata", "annotations"}):
				f.Breaks = "the API server refuses " + o.Ref.String() + ", and nothing that is applied with it is applied"
			case field == "annotations":
				f.Breaks = "every annotation of " + o.Ref.String() + " is lost: kustomize-controller reads none of a set with one that is no text, and writes those of spec.commonMetadata in their place"
			}
			if u != nil {
				f.Unit = u.ID
				f.Span = model.Span{File: u.Path}
			}
			if o.Trace != nil {
				origin := o.Trace.Origin(at)
				f.Span, f.Certainty = origin.Span, origin.Certainty
				for _, use := range origin.Uses {
					for _, v := range use.Variable {
						f.Because = append(f.Because, becauseSet(v)...)
						f.Fixes = []rule.Fix{quoting(v, use.Text, use.Default, "put quotes into the value, since those of the manifest are gone by then")}
					}
				}
			}
			p.Report(f)
		}
	}
}

// joined finds variables of several lines, which lose their line feeds, where an expression uses them.
func joined(p *rule.Pass, env *facts.Environment, u *facts.Unit) {
	for name, v := range u.Substitution.Variables {
		if v.Unknown != nil || !v.Lines || !v.Secret && json.Valid([]byte(v.Value)) {
			continue // JSON bears it
		}
		site, at := firstUse(u, name)
		if site == nil {
			continue
		}
		f := rule.Finding{Severity: rule.Warning, Environment: env.Name, Unit: u.ID, Object: v.Holder,
			Message: fmt.Sprintf("%s has several lines, and becomes one: line feeds are taken out of every variable", name),
			Breaks:  "a certificate, a key or a script that is put in by it is broken",
			Fixes:   []rule.Fix{{Message: "put the text into a ConfigMap or Secret of its own, or encode it in base64"}}}
		use, certainty := site.Span(at.At, at.At+len(at.Text))
		message := fmt.Sprintf("%s takes it", shown(site.Object.Ref, site.Path))
		if v.Set != nil && v.Set().Span.Known() {
			f.Span, f.Certainty = v.Set().Span, v.Set().Certainty
			f.Because = []rule.Because{{Span: use, Message: message}}
		} else {
			f.Object, f.Path, f.Span, f.Certainty = site.Object.Ref, site.Path, use, certainty
			f.Because = []rule.Because{{Message: fmt.Sprintf("%s is set by %s", name, v.Source)}}
		}
		p.Report(f)
	}
}

// firstUse finds the first expression of a unit that names a variable.
func firstUse(u *facts.Unit, name string) (*substitution.Site, substitution.Token) {
	for _, o := range u.Built {
		if !strings.Contains(o.Text, name) || substitution.Of(o) != substitution.On {
			continue
		}
		for _, s := range substitution.Sites(o) {
			for _, t := range substitution.Tokens(s.Text) {
				if t.Name == name && !t.Escaped {
					return &s, t
				}
			}
		}
	}
	return nil, substitution.Token{}
}
