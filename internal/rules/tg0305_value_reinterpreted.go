package rules

import (
	"fmt"
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
			for _, u := range env.Units {
				for i, o := range u.Built {
					if len(u.Objects) != len(u.Built) {
						labels(p, env, u, o) // the unit failed: what was built is all there is
						continue
					}
					if substitution.Of(o) == substitution.On {
						reread(p, env, u, o, u.Objects[i])
					}
					labels(p, env, u, u.Objects[i])
				}
				joined(p, env, u)
			}
		}
	},
}

// reread compares what substitution gives with what the object has.
func reread(p *rule.Pass, env *facts.Environment, u *facts.Unit, built, final *facts.Object) {
	for _, s := range substitution.Sites(built) {
		if s.Key || isMetadataText(s.Path) {
			continue
		}
		res, err := subst.Eval(s.Text, substitution.Lookup(u.Substitution), substitution.Options(u.Substitution, u.Substitution.Strict))
		if err != nil || len(res.Opaque) > 0 || len(res.Segments) == 0 || strings.Contains(s.Text, "**SOPS**") {
			continue
		}
		got := final.Get(s.Path...)
		what, severity := changed(s.Path, built, res.Text, got)
		if what == "" {
			continue
		}
		seg := res.Segments[0]
		span, certainty := s.Span(seg.In, seg.InEnd)
		f := rule.Finding{Severity: severity, Environment: env.Name, Unit: u.ID, Object: final.Ref, Path: s.Path, Span: span, Certainty: certainty,
			Message: fmt.Sprintf("%s with %s %s", short(s.Text[seg.In:seg.InEnd]), strconv.Quote(short(res.Text)), what),
			Breaks:  "the cluster gets " + describe(got) + " in " + shown(final.Ref, s.Path),
		}
		if mustBeText(built.Ref, s.Path) {
			f.Breaks += "; the API server takes nothing but a text there, and refuses the object and all that is applied with it"
		}
		if v, ok := u.Substitution.Variables[seg.Name]; ok {
			f.Because = append(f.Because, becauseSet(v)...)
		}
		f.Fixes = []rule.Fix{
			{Message: fmt.Sprintf("put quotes into the value: %s: '\"%s\"'", seg.Name, short(res.Text))},
			{Message: fmt.Sprintf("or write ${quote}%s${quote}, with a variable quote whose value is a double quote", short(s.Text[seg.In:seg.InEnd]))},
		}
		p.Report(f)
	}
}

// changed says what became of a text, and how much it weighs; empty when nothing did that anybody would mind.
func changed(path model.Path, o *facts.Object, text string, got any) (string, rule.Severity) {
	textual := mustBeText(o.Ref, path)
	weight := rule.Warning
	if textual || isVersion(path) {
		weight = rule.Error
	}
	switch v := got.(type) {
	case string:
		switch {
		case v == text || len(text) > 1 && (text[0] == '"' || text[0] == '\'') && text[len(text)-1] == text[0]:
			return "", ""
		case strings.TrimSpace(v) == strings.TrimSpace(text):
			if textual {
				return "loses the blanks around it", rule.Warning
			}
			return "", ""
		case strings.Contains(v, "**SOPS**"):
			return "", ""
		}
		return fmt.Sprintf("is read as %s", strconv.Quote(short(v))), rule.Error
	case nil:
		switch {
		case text == "" && !textual:
			return "", "" // a default of nothing is how a value is left unset
		case strings.HasPrefix(text, "&") || strings.HasPrefix(text, "#"):
			return "is read as nothing", rule.Error
		case textual:
			return "is read as null", rule.Error
		}
		return "", ""
	case bool:
		if text != strconv.FormatBool(v) {
			return fmt.Sprintf("is read as the boolean %t", v), weight
		}
		if textual {
			return "is read as a boolean", rule.Error
		}
	case float64:
		printed := facts.Text(v)
		switch {
		case printed == text && textual:
			return "is read as a number", rule.Error
		case printed == text:
		case allDigits(text) && text[0] != '0':
			return fmt.Sprintf("is read as the number %s, which is another", printed), rule.Error
		default:
			return fmt.Sprintf("is read as the number %s", printed), weight
		}
	case map[string]any, []any:
		if textual {
			return "is read as " + describe(v), rule.Error
		}
	}
	return "", ""
}

func allDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// describe says what kind of value it is.
func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return fmt.Sprintf("the boolean %t", v)
	case float64:
		return "the number " + facts.Text(v)
	case map[string]any:
		return "a map"
	case []any:
		return "a list"
	case string:
		return "the text " + strconv.Quote(short(v))
	}
	return "something else"
}

// isVersion tells whether a field is a version by its name, so that 1.10 and 1.1 are not one.
func isVersion(p model.Path) bool {
	key, _ := p[len(p)-1].(string)
	lower := strings.ToLower(key)
	return lower == "tag" || lower == "image" || strings.HasSuffix(lower, "version")
}

// isMetadataText tells whether a value is a label or an annotation of the object, which labels looks at.
func isMetadataText(p model.Path) bool {
	return len(p) == 3 && p[0] == "metadata" && (p[1] == "labels" || p[1] == "annotations")
}

// mustBeText tells whether the API server takes nothing but a text at a path.
func mustBeText(ref model.Ref, p model.Path) bool {
	if len(p) == 0 {
		return false
	}
	last, _ := p[len(p)-1].(string)
	parent := ""
	if len(p) > 1 {
		parent, _ = p[len(p)-2].(string)
	}
	group, _, grouped := strings.Cut(ref.APIVersion, "/")
	if p[0] == "apiVersion" || p[0] == "kind" {
		return true
	}
	if p[0] == "metadata" {
		return len(p) == 2 && (last == "name" || last == "namespace") || len(p) == 3 && (p[1] == "labels" || p[1] == "annotations")
	}
	switch {
	case !grouped && (ref.Kind == "ConfigMap" || ref.Kind == "Secret"):
		return len(p) == 2 && slices.Contains([]any{"data", "stringData", "binaryData"}, p[0]) || ref.Kind == "Secret" && last == "type"
	case ref.Kind == "StorageClass" && group == "storage.k8s.io":
		return len(p) == 2 && p[0] == "parameters"
	case group == "kustomize.toolkit.fluxcd.io":
		return parent == "substitute" || len(p) == 2 && slices.Contains([]string{"path", "targetNamespace", "interval", "timeout", "retryInterval", "namePrefix", "nameSuffix", "serviceAccountName"}, last) ||
			parent == "sourceRef"
	case group == "helm.toolkit.fluxcd.io":
		return len(p) > 1 && p[1] != "values" && slices.Contains([]string{"version", "interval", "timeout", "releaseName", "targetNamespace", "chart", "name", "namespace"}, last)
	}
	if grouped && !slices.Contains([]string{"apps", "batch"}, group) {
		return false // a custom resource: its schema is not known here
	}
	switch parent {
	case "matchLabels", "nodeSelector", "selector", "labels", "annotations":
		return true
	}
	if last == "value" && len(p) > 2 {
		if _, index := p[len(p)-2].(int); index {
			return p[len(p)-3] == "env"
		}
	}
	if _, index := p[len(p)-1].(int); index {
		return parent == "args" || parent == "command"
	}
	return false
}

// labels finds labels and annotations that are no texts, with substitution or without.
func labels(p *rule.Pass, env *facts.Environment, u *facts.Unit, o *facts.Object) {
	for _, field := range []string{"labels", "annotations"} {
		m, _ := o.Get("metadata", field).(map[string]any)
		keys := make([]string, 0, len(m))
		for k := range m {
			keys = append(keys, k)
		}
		sortStrings(keys)
		for _, k := range keys {
			if _, ok := m[k].(string); ok {
				continue
			}
			at := model.Path{"metadata", field, k}
			f := rule.Finding{Environment: env.Name, Unit: u.ID, Object: o.Ref, Path: at, Certainty: model.CertaintyObject,
				Message: fmt.Sprintf("%s %s is %s, and no text", strings.TrimSuffix(field, "s"), k, describe(m[k])),
				Breaks:  "every label of " + o.Ref.String() + " is lost: kustomize-controller reads none of a set with one that is no text, and writes its own two in their place",
				Fixes:   []rule.Fix{{Message: "quote the value"}},
			}
			if field == "annotations" {
				f.Breaks = "the API server refuses " + o.Ref.String() + ", and nothing that is applied with it is applied"
			}
			if o.Trace != nil {
				origin := o.Trace.Origin(at)
				f.Span, f.Certainty = origin.Span, origin.Certainty
				for _, use := range origin.Uses {
					for _, v := range use.Variable {
						f.Because = append(f.Because, becauseSet(v)...)
						f.Fixes = []rule.Fix{{Message: fmt.Sprintf("put quotes into the value, since those of the manifest are gone by then: %s: '\"%s\"'", v.Name, short(facts.Text(m[k])))}}
					}
				}
			}
			p.Report(f)
		}
	}
}

// joined finds variables of several lines, which lose their line feeds, where an expression uses them.
func joined(p *rule.Pass, env *facts.Environment, u *facts.Unit) {
	if u.Substitution == nil {
		return
	}
	for name, v := range u.Substitution.Variables {
		if v.Secret || v.Unknown != nil || !v.Lines {
			continue
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
