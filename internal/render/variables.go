package render

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/tidegate/tidegate/internal/flux"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/sops"
	"github.com/tidegate/tidegate/internal/subst"
)

// Value is one entry of a ConfigMap or Secret, or one inline variable, as far as it is known.
type Value struct {
	Text    string
	Secret  bool          // Text is plaintext of encrypted content
	Hidden  bool          // the name itself is plaintext of encrypted content
	Unknown *model.Reason // why Text is not the value; nil when it is

	Lines  bool                // it had line feeds within
	Source string              // what defines it, for a person
	Holder model.Ref           // the object that does; zero for a value that a user gave
	Set    func() model.Origin // where it is written; nil when that is not in the repository
}

// DataSource is a ConfigMap or Secret that variables are read from.
type DataSource struct {
	Ref  model.Ref
	Data map[string]Value
}

// LookupSource finds a ConfigMap or Secret of the cluster; nil when nothing in the repository makes it.
type LookupSource func(kind, namespace, name string) *DataSource

// Variables is what spec.postBuild gives to substitution (fluxcd/pkg kustomize_varsub.go LoadVariables).
//
// The rules are:
//   - Sources in order, later ones override; inline values override all. A source is in the Kustomization's namespace.
//   - Line feeds are taken out of every value.
//   - A source that is not in the repository and is not optional makes every name unknown that no later source sets:
//     it may define it, or override it.
type Variables struct {
	Runs    bool // substitution runs: there is a variable, or the strategy is Always
	Doubt   bool // whether it runs is not known, since every variable would come from a missing source
	values  map[string]Value
	doubt   map[string]*model.Reason // names whose value a missing source may override
	Missing []model.Reason           // sources that are not in the repository
	secrets bool
}

// LoadVariables evaluates spec.postBuild. An inline value that differs in in.Display is a secret, and one that holds
// what in.Doubt tells of is unknown.
//
// in.Given are values that a user supplied for what the repository does not hold: they fill names that are unknown, and
// never override or add to what is known.
//
// in.Self traces the Kustomization's own object, for its inline values; nil when nothing does.
func LoadVariables(in Input, always bool) *Variables {
	ks, display, self := in.Spec, in.Display, in.Self
	v := &Variables{values: map[string]Value{}, doubt: map[string]*model.Reason{}}
	var shown flux.PostBuild
	if display != nil && display.Spec.PostBuild != nil {
		shown = *display.Spec.PostBuild
	}
	for i, ref := range ks.Spec.PostBuild.SubstituteFrom {
		src := in.Lookup(ref.Kind, ks.Namespace, ref.Name)
		if src == nil {
			if !ref.Optional {
				name := ref.Name
				if display != nil {
					name = sops.DefaultMask
					if len(shown.SubstituteFrom) > i {
						name = shown.SubstituteFrom[i].Name
					}
				}
				v.miss(ref.Kind, ks.Namespace, name)
			}
			continue
		}
		for k, val := range src.Data {
			v.set(k, val.joined())
		}
	}
	for k, text := range ks.Spec.PostBuild.Substitute {
		val := Value{Text: text, Source: "postBuild.substitute",
			Holder: model.Ref{APIVersion: ks.APIVersion, Kind: "Kustomization", Namespace: ks.Namespace, Name: ks.Name}}
		if self != nil {
			val.Set = func() model.Origin { return self.Origin(model.Path{"spec", "postBuild", "substitute", k}) }
		}
		if display != nil {
			as, ok := shown.Substitute[k]
			val.Secret, val.Hidden = !ok || as != text, !ok
		}
		if in.Doubt != nil && (strings.Contains(text, "${") || strings.Contains(text, sops.DefaultMask)) {
			val.Unknown = in.Doubt
		}
		v.set(k, val.joined())
	}
	for name, val := range in.Given {
		have, ok := v.values[name]
		if ok && have.Unknown != nil || v.doubt[name] != nil || !ok && len(v.Missing) > 0 {
			v.set(name, val.joined())
		}
	}
	v.Runs = len(v.values) > 0 || always
	v.Doubt = !v.Runs && len(v.Missing) > 0
	return v
}

// joined takes the line feeds out of a value (fluxcd/pkg kustomize_varsub.go).
func (val Value) joined() Value {
	val.Lines = strings.Contains(strings.Trim(val.Text, "\n"), "\n")
	val.Text = strings.ReplaceAll(val.Text, "\n", "")
	return val
}

func (v *Variables) set(name string, val Value) {
	v.values[name] = val
	delete(v.doubt, name)
	v.secrets = v.secrets || val.Secret
}

func (v *Variables) miss(kind, namespace, name string) {
	ref := model.Ref{APIVersion: "v1", Kind: kind, Namespace: namespace, Name: name}
	r := model.Reason{
		Code: model.CodeMissingVariable, Subject: ref.String(),
		Message: fmt.Sprintf("%s is not made by anything in the repository, so its variables are unknown", ref),
		Fix:     "give it with --cluster-objects FILE, or its values with --vars ENV=FILE or in tidegate.yaml",
	}
	v.Missing = append(v.Missing, r)
	for name := range v.values {
		v.doubt[name] = &r
	}
}

// lookup gives substitution its variables. hide leaves secrets unexpanded, for what a view may show.
func (v *Variables) lookup(hide bool) subst.Lookup {
	return func(name string) (string, subst.State) {
		val, ok := v.values[name]
		switch {
		case !ok && len(v.Missing) > 0:
			return "", subst.Opaque
		case !ok:
			return "", subst.Undefined
		case val.Unknown != nil || hide && val.Secret:
			return "", subst.Opaque
		}
		return val.Text, subst.Known
	}
}

// why tells why a name is unknown.
func (v *Variables) why(name string) model.Reason {
	if val, ok := v.values[name]; ok && val.Unknown != nil {
		r := *val.Unknown
		r.Message = fmt.Sprintf("${%s}: %s", name, r.Message)
		return r
	}
	r := v.Missing[0]
	r.Message = fmt.Sprintf("${%s}: %s", name, r.Message)
	return r
}

// variableName is the pattern that every key of every source must match, used or not.
const variableName = "^[_[:alpha:]][_[:alpha:][:digit:]]*$"

var variablePattern = regexp.MustCompile(variableName)

// invalidName gives the first name that no variable may have; empty when all are good.
// One that is plaintext is masked, unless secrets may be shown.
func (v *Variables) invalidName(show bool) string {
	for _, name := range sortedKeys(v.values) {
		if !variablePattern.MatchString(name) {
			if v.values[name].Hidden && !show {
				return sops.DefaultMask
			}
			return name
		}
	}
	return ""
}
