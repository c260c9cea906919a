// Package render makes of one Flux Kustomization the objects that kustomize-controller would make of it: generate,
// decrypt, build, substitute, in Flux's order and with Flux's bytes. Each step is a file. If the result differs from
// Flux's own packages, this package is wrong; tests compare them byte for byte.
package render

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/resid"

	"github.com/tidegate/tidegate/internal/flux"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/sops"
	"github.com/tidegate/tidegate/internal/subst"
)

// Input is one Kustomization to render.
type Input struct {
	Files Files
	Dir   string              // spec.path, cleaned, in Files
	Spec  *flux.Kustomization // as its rendered parent says
	// Display is Spec with secrets masked; nil when it has none.
	Display     *flux.Kustomization
	Lookup      LookupSource
	Given       map[string]Value // a user's values for variables that the repository does not hold
	Strict      bool
	ShowSecrets bool // messages may hold plaintext
	// Doubt says why expressions and masks in Spec are not what the cluster has there; nil when Spec is the cluster's.
	Doubt *model.Reason

	// For a builder that traces: the tracer of the unit's own object, nil when no object describes it, and the folder
	// of the repository that is the artifact's root.
	Self model.Tracer
	Root string
}

// Output is what became of it. Objects is empty when Failures is not.
type Output struct {
	Objects    []*model.Object
	Failures   []model.Reason
	Unverified []model.Reason // of the unit as a whole
	Files      []string

	// With a builder that traces, also when something fails after the build.
	Built        []*model.Built
	Substitution *model.Substitution
}

// Render renders a Kustomization. It never fails: what went wrong is in the output.
func (b *Builder) Render(in Input) Output {
	built := b.Build(in.Files, SpecOf(in.Spec, in.Dir))
	out := Output{Files: built.Files}
	if in.hides() && (len(built.Remotes) > 0 || built.Limit != nil) {
		out.Unverified = append(out.Unverified, model.Reason{Code: model.CodeEncrypted, Subject: in.Dir,
			Message: "it cannot be built here, and its spec holds decrypted values, so the reason is not shown", Fix: "see it with --show-secrets"})
		return out
	}
	for _, r := range built.Remotes {
		if built.Secret && !in.ShowSecrets && r.decrypted {
			r.URL = sops.DefaultMask
		}
		out.Unverified = append(out.Unverified, model.Reason{
			Code: model.CodeRemoteBase, Subject: r.URL, Places: []model.Place{{File: r.File}},
			Message: fmt.Sprintf("%s names %s, which is not in the repository, so the unit cannot be built offline", r.File, r.URL),
			Fix:     "vendor it into the repository",
		})
	}
	if len(built.Remotes) > 0 {
		return out
	}
	if built.Limit != nil {
		out.Unverified = append(out.Unverified, model.Reason{Code: model.CodeTooLarge, Subject: in.Dir, Message: built.Limit.Error(),
			Fix: "split it, or leave it out of the artifact with .sourceignore"})
		return out
	}
	if built.Err != nil {
		out.Failures = []model.Reason{buildFailure(built, in)}
		return out
	}
	s := &substitution{in: in, built: built, twin: b.twin(in, built), forms: &b.forms}
	if in.Spec.Spec.PostBuild != nil {
		always := in.Spec.Spec.PostBuild.SubstituteStrategy == "Always"
		s.vars = LoadVariables(in, always)
		if len(in.Given) == 0 {
			// Who gives the values says that the source is there; what they leave open is said object by object.
			out.Unverified = append(out.Unverified, s.vars.Missing...)
		}
	}
	if built.origins != nil {
		s.traces(&out, b.Flux)
	}
	if !s.run(&out, b.Flux) {
		out.Objects = nil
		for _, o := range out.Built {
			o.Object = nil
		}
	}
	return out
}

// twin builds the display form of a spec that holds secrets in what a build depends on (a patch, say); nil when the
// build does not depend on them.
func (b *Builder) twin(in Input, built *Built) *Built {
	if in.Display == nil {
		return nil
	}
	shown := b.Build(in.Files, SpecOf(in.Display, in.Dir))
	if shown == built {
		return nil
	}
	return shown
}

// hides tells whether what a build does may give plaintext away, because its spec holds some.
func (in Input) hides() bool {
	return !in.ShowSecrets && in.Display != nil && !reflect.DeepEqual(SpecOf(in.Spec, in.Dir), SpecOf(in.Display, in.Dir))
}

func buildFailure(built *Built, in Input) model.Reason {
	err := built.Err
	if built.Secret && !in.ShowSecrets {
		err = built.SafeErr
	}
	if in.hides() {
		err = errors.New("the build failed over a spec that holds decrypted values; --show-secrets shows Flux's message")
	}
	r := model.Reason{Code: built.Code, Message: err.Error(), Subject: in.Dir}
	switch built.Code {
	case model.CodePath:
		r.Message = fmt.Sprintf("kustomization path not found: %s is not in the artifact", in.Spec.Spec.Path)
		r.Fix = "correct spec.path, or check what .sourceignore, spec.ignore and .gitignore leave out"
	case model.CodeBuild:
		if !in.hides() && (!built.Secret || in.ShowSecrets) {
			r.Places = locateYAML(in.Files, built.Files, r.Message)
		}
		r.Message = "kustomize build failed: " + r.Message
	case model.CodeDecrypt:
		r.Message = "error decrypting sources: " + r.Message
	}
	return r
}

// substitution takes the objects of a build through postBuild, in build order, as kustomize-controller does.
type substitution struct {
	in    Input
	built *Built
	twin  *Built
	vars  *Variables // nil without postBuild
	ids   map[identityKey]int
	slots map[string]bool // inline's answers
	forms *forms

	tracers []model.Tracer // of the objects after substitution; nil unless the build was traced
}

// identityKey is what kustomize compares when it replaces an object (resid.ResId Equals).
type identityKey struct{ group, version, kind, namespace, name string }

func keyOf(id resid.ResId) identityKey {
	return identityKey{id.Group, id.Version, id.Kind, id.EffectiveNamespace(), id.Name}
}

// run fills out and tells whether the unit stands. EffectiveNamespace asks kustomize's schema, hence the lock.
func (s *substitution) run(out *Output, v flux.Behaviour) bool {
	schemaLock.RLock()
	defer schemaLock.RUnlock()
	s.ids = make(map[identityKey]int, len(s.built.Objects))
	for _, o := range s.built.Objects {
		s.ids[keyOf(o.ID)]++
	}
	for i, o := range s.built.Objects {
		if o.Err != nil {
			out.Failures = append(out.Failures, s.objectFailure(i, o))
			return false
		}
		obj, failure := s.object(i, o, v)
		if failure != nil {
			out.Failures = append(out.Failures, *failure)
			return false
		}
		if s.tracers != nil {
			obj.Trace = s.tracers[i]
			out.Built[i].Object = obj
		}
		out.Objects = append(out.Objects, obj)
	}
	return true
}

func (s *substitution) objectFailure(i int, o *BuiltObject) model.Reason {
	msg, places := o.Err.Error(), []model.Place(nil)
	switch {
	case (o.secret || s.in.hides()) && !s.in.ShowSecrets:
		msg = "an object that holds decrypted content cannot be decrypted or written; --show-secrets shows Flux's message"
	case o.ErrCode == model.CodeBuild:
		places = locateYAML(s.in.Files, s.built.Files, msg)
	}
	if o.ErrCode == model.CodeBuild {
		msg = "kustomize build failed: " + msg
	}
	return model.Reason{Code: o.ErrCode, Subject: s.refOf(i, o).String(), Message: msg, Places: places}
}

// refOf names an object of the build as it may be shown.
func (s *substitution) refOf(i int, o *BuiltObject) model.Ref {
	switch {
	case s.in.ShowSecrets:
		return refOfID(o)
	case !s.in.hides():
		return o.shown
	case s.twin != nil && s.twin.Err == nil && len(s.twin.Objects) == len(s.built.Objects):
		return s.twin.Objects[i].shown
	}
	return maskedRef
}

func refOfID(o *BuiltObject) model.Ref {
	return model.Ref{APIVersion: o.APIVersion, Kind: o.ID.Kind, Namespace: o.ID.Namespace, Name: o.ID.Name}
}

// object takes one object through substitution.
func (s *substitution) object(i int, o *BuiltObject, v flux.Behaviour) (*model.Object, *model.Reason) {
	ref := s.refOf(i, o)
	source := s.source(i, o)
	obj := &model.Object{Ref: ref, YAML: o.Text, Display: source, Unverified: o.Unverified}
	if s.vars == nil || o.NoSubstitution {
		return obj, nil
	}
	if !s.vars.Runs {
		if s.vars.Doubt && o.Expressions {
			obj.Unverified = append(obj.Unverified[:len(obj.Unverified):len(obj.Unverified)], s.vars.Missing[0])
		}
		return obj, s.replace(o.ID)
	}
	if name := s.vars.invalidName(s.in.ShowSecrets); name != "" {
		return nil, s.failure(ref, o, fmt.Errorf("'%s' var name is invalid, must match '%s'", name, variableName), "")
	}
	if !o.Expressions {
		text, err := o.reparsed()
		if err != nil {
			return nil, s.failure(ref, o, err, o.Display)
		}
		if text != o.Text && obj.Display == o.Text {
			obj.Display = text
		}
		obj.YAML = text
		return obj, s.replace(o.ID)
	}
	return s.evaluate(ref, obj, o, source, v)
}

// source is an object of the build as it may be shown.
func (s *substitution) source(i int, o *BuiltObject) string {
	switch {
	case s.twin == nil:
		return o.Display
	case s.twin.Err == nil && len(s.twin.Objects) == len(s.built.Objects) && s.twin.Objects[i].Err == nil:
		return s.twin.Objects[i].Display
	}
	return maskedWhole(s.refOf(i, o))
}

// evaluate substitutes in an object that has expressions.
func (s *substitution) evaluate(ref model.Ref, obj *model.Object, o *BuiltObject, source string, v flux.Behaviour) (*model.Object, *model.Reason) {
	opts := subst.Options{Strict: s.in.Strict, NegativeLength: v.NegativeLength}
	res, err := subst.Eval(o.Text, s.vars.lookup(false), opts)
	if err != nil {
		return nil, s.failure(ref, o, fmt.Errorf("variable substitution failed: %w", err), source)
	}
	obj.Unverified = append(obj.Unverified[:len(obj.Unverified):len(obj.Unverified)], s.reasons(res, o.Text, source)...)
	if source == o.Text && s.inline(o, opts) && !s.usesSecrets(res) {
		obj.YAML, obj.Display = res.Text, res.Text
		return obj, s.replace(o.ID)
	}
	doc, err := reparse(res.Text)
	if err != nil {
		if len(res.Opaque) > 0 {
			obj.YAML, obj.Display = o.Text, source
			return obj, nil
		}
		return nil, s.failure(ref, o, err, source)
	}
	obj.YAML = doc.text
	id := identityOf(doc.obj)
	obj.Ref = model.Ref{APIVersion: stringOf(doc.obj["apiVersion"]), Kind: id.Kind, Namespace: id.Namespace, Name: id.Name}
	if source == o.Text && !s.usesSecrets(res) {
		obj.Display = obj.YAML
	} else {
		obj.Display = s.shown(ref, source, opts)
		if obj.Display != obj.YAML && !s.in.ShowSecrets {
			obj.Ref = refOfText(obj.Display)
		}
	}
	if keyOf(id) != keyOf(o.ID) {
		s.ids[keyOf(o.ID)]--
		s.ids[keyOf(id)]++
	}
	return obj, s.replace(id)
}

// shown substitutes in the display text with secret variables left as they are written. Where that cannot be read, nothing
// is shown but ref, the object's name as it was before substitution, which may put a secret into it.
func (s *substitution) shown(ref model.Ref, source string, opts subst.Options) string {
	res, err := subst.Eval(source, s.vars.lookup(true), opts)
	if err != nil {
		return maskedWhole(ref)
	}
	doc, err := reparse(res.Text)
	if err != nil {
		return maskedWhole(ref)
	}
	return doc.text
}

// replace is kustomize's check when a resource is put back: its identity must be the only one of its kind
// (resmap Replace).
func (s *substitution) replace(id resid.ResId) *model.Reason {
	n := s.ids[keyOf(id)]
	if n <= 1 {
		return nil
	}
	ref := model.Ref{Kind: id.Kind, Namespace: id.Namespace, Name: id.Name}
	r := model.Reason{
		Code: model.CodeSubstitute, Subject: ref.String(),
		Message: fmt.Sprintf("in Replace: id matched %d resources", n),
		Fix:     "two objects have one identity after substitution: give them different names",
	}
	if !s.in.ShowSecrets && (s.built.Secret || s.in.Display != nil || s.vars != nil && s.vars.secrets) {
		r.Subject = ""
	}
	return &r
}

func (s *substitution) usesSecrets(res subst.Result) bool {
	if !s.vars.secrets {
		return false
	}
	for _, seg := range res.Segments {
		for _, name := range namesOf(seg) {
			if s.vars.values[name].Secret {
				return true
			}
		}
	}
	return false
}

// reasons tells why a substituted text is unverified: what stayed opaque, and what a missing source may override.
// A name that stands in plaintext alone is not told.
func (s *substitution) reasons(res subst.Result, text, source string) []model.Reason {
	tell := func(name string) bool { return s.in.ShowSecrets || text == source || inDisplay(source, name) }
	var out []model.Reason
	for _, name := range res.Opaque {
		r := s.vars.why(name)
		if !tell(name) {
			r.Message = "an expression in decrypted content cannot be evaluated"
		}
		out = append(out, r)
	}
	if len(s.vars.doubt) == 0 {
		return out
	}
	seen := map[string]bool{}
	for _, seg := range res.Segments {
		for _, name := range namesOf(seg) {
			if r := s.vars.doubt[name]; r != nil && !seen[name] && tell(name) {
				seen[name] = true
				d := *r
				d.Message = fmt.Sprintf("${%s} may be overridden: %s", name, d.Message)
				out = append(out, d)
			}
		}
	}
	return out
}

func namesOf(seg subst.Segment) []string {
	if seg.Names != nil {
		return seg.Names
	}
	return []string{seg.Name}
}

// failure is what kustomize-controller reports for an object whose substitution failed. shown is the object's display
// text: when it is not its text, the message must not quote anything.
func (s *substitution) failure(ref model.Ref, o *BuiltObject, err error, shown string) *model.Reason {
	r := model.Reason{
		Code: model.CodeSubstitute, Subject: ref.String(),
		Message: fmt.Sprintf("post build failed for '%s': %v", ref, err),
	}
	var e *subst.Error
	known := errors.As(err, &e)
	if (shown != o.Text || s.vars.secrets) && shown != "" && !s.in.ShowSecrets {
		r.Message = fmt.Sprintf("post build failed for '%s': substitution over decrypted content failed; --show-secrets shows Flux's message", ref)
		if known && shown != o.Text && inDisplay(shown, e.Name) || known && shown == o.Text {
			r.Message = fmt.Sprintf("post build failed for '%s': %v", ref, err)
		} else {
			return &r
		}
	}
	if !known {
		r.Fix = "after substitution the object is read as YAML again: see which value breaks it"
		return &r
	}
	switch {
	case e.Kind == subst.KindUndefined:
		r.Fix = fmt.Sprintf("define %s in a source of postBuild, give it a default as ${%s:=…}, or write $${%s} if it is meant literally", e.Name, e.Name, e.Name)
		r.Places = locate(s.in.Files, s.built.Files, e.Name)
	default:
		r.Fix = "write $${…} where the text is meant literally, or annotate the object with " + substituteKey + ": disabled"
		line, col := e.Position(o.Text)
		if line > 0 && (shown == o.Text || s.in.ShowSecrets || strings.Contains(shown, strings.TrimSuffix(excerpt(o.Text, e.Offset), "…"))) {
			r.Message += fmt.Sprintf(" (at line %d, column %d of the built object: %s)", line, col, excerpt(o.Text, e.Offset))
			r.Places = locateText(s.in.Files, s.built.Files, excerptKey(o.Text, e.Offset))
		}
	}
	return &r
}

// inDisplay tells whether a name stands in the display text, so that naming it gives nothing away.
func inDisplay(shown, name string) bool {
	return name != "" && strings.Contains(shown, "${"+name)
}

func identityOf(obj map[string]any) resid.ResId {
	meta, _ := obj["metadata"].(map[string]any)
	group, version := resid.ParseGroupVersion(typeText(obj, "apiVersion"))
	return resid.NewResIdWithNamespace(resid.NewGvk(group, version, typeText(obj, "kind")), stringOf(meta["name"]), stringOf(meta["namespace"]))
}

// typeText is apiVersion or kind as kustomize reads it: a null there is the text of it (kyaml resid GvkFromNode).
func typeText(obj map[string]any, field string) string {
	if v, ok := obj[field]; ok && v == nil {
		return "null"
	}
	return stringOf(obj[field])
}

func stringOf(v any) string {
	switch v := v.(type) {
	case nil, map[string]any, []any:
		return ""
	case string:
		return v
	}
	return fmt.Sprint(v)
}
