package render

import (
	"fmt"
	"strings"
	"sync"

	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/resid"

	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/subst"
	"github.com/tidegate/tidegate/internal/trace"
)

// Built is the result of one build: objects as text, before substitution. It is immutable, shared between
// environments, and holds no kustomize nodes.
type Built struct {
	Objects []*BuiltObject
	Files   []string // read, sorted
	Remotes []Remote // what would have to be fetched; then Err is set too
	Limit   error    // the build is beyond tidegate's limits; then Err is set too
	Err     error
	Code    model.Code // of Err
	Secret  bool       // plaintext of encrypted files took part
	// SafeErr is Err without anything that may come from plaintext.
	SafeErr error
	Opaque  []model.Reason // encrypted files that no held key opens

	origins *trace.Build // nil unless the build was traced
	trace   map[string]traced
	filesID string
}

// BuiltObject is one object of a build.
type BuiltObject struct {
	ID         resid.ResId
	APIVersion string
	Text       string // as Resource.AsYAML gives it
	Display    string // Text with what came from ciphertext masked
	Err        error  // decryption or encoding failed
	ErrCode    model.Code
	// NoSubstitution: the object opts out by label or annotation.
	NoSubstitution bool
	// Expressions: Text holds something that substitution could change or refuse.
	Expressions bool
	Unverified  []model.Reason

	marks  trace.Marks
	shown  model.Ref // its name as Display has it
	secret bool      // plaintext took part in it
	slots  []string  // the scalars with expressions, when inline
	inline bool      // each expression stands in a scalar that is written as it is (inline.go)
	stable bool      // the hops that follow substitution give Text again
	once   sync.Once
	again  decoded // Text after these hops; valid after once
	lost   error
}

// reparsed gives Text after the hops that follow substitution, when substitution changed nothing. All environments
// share the result.
func (o *BuiltObject) reparsed() (string, error) {
	if o.stable {
		return o.Text, nil
	}
	o.once.Do(func() { o.again, o.lost = reparse(o.Text) })
	return o.again.text, o.lost
}

const substituteKey = "kustomize.toolkit.fluxcd.io/substitute"

// finish turns the passes of one build into its result. shown has every encrypted file masked and is nil when none was
// opened; other has another mask and is nil when none stayed closed.
func finish(p, shown, other *pass, decrypt bool, f *forms) *Built {
	out := &Built{
		Files: p.fs.filesRead(), Remotes: p.fs.remotes, Err: p.err, Code: p.code,
		Secret: p.fs.secretSources, Limit: p.fs.limit, trace: p.fs.trace,
	}
	for _, o := range p.fs.opaqueSources {
		out.Opaque = append(out.Opaque, model.Reason{
			Code: model.CodeEncrypted, Subject: o.file, Places: []model.Place{{File: o.file}},
			Message: fmt.Sprintf("%s is encrypted: %v", o.file, o.why),
			Fix:     "give the environment's age key with --age-key-file",
		})
	}
	if p.err == nil && p.fs.limit != nil {
		p.err = p.fs.limit // kustomize passes over some errors of reading
	}
	if p.err != nil {
		out.Err = plainError(p.err)
		out.SafeErr = out.Err
		if out.Secret {
			out.SafeErr = safeError(shown)
		}
		return out
	}
	for i, res := range p.res.Resources() {
		o := &BuiltObject{}
		var twin, stranger *resource.Resource
		if shown != nil {
			twin = counterpart(shown, i, res, p.res.Size())
		}
		if other != nil {
			stranger = counterpart(other, i, res, p.res.Size())
		}
		if p.fs.record != nil {
			o.marks = trace.Collect(res.YNode()) // before it is decrypted, which writes it again
		}
		o.fill(res, p.reading, shown != nil, twin, decrypt, f)
		if other != nil {
			o.compare(stranger, out.Opaque)
		}
		out.Objects = append(out.Objects, o)
	}
	return out
}

// fill encodes a resource and, when encrypted content took part, its masked twin.
func (o *BuiltObject) fill(res *resource.Resource, how reading, secretBuild bool, twin *resource.Resource, decrypt bool, f *forms) {
	o.secret = secretBuild
	o.shown = refOf(res)
	switch {
	case twin != nil:
		o.shown = refOf(twin)
	case secretBuild:
		o.shown = maskedRef
	}
	if res.GetName() == "" || res.GetKind() == "" || res.GetApiVersion() == "" {
		o.ErrCode = model.CodeBuild
		o.Err = fmt.Errorf("failed to decode Kubernetes apiVersion, kind and name from an object (apiVersion %q, kind %q, name %q)",
			res.GetApiVersion(), res.GetKind(), res.GetName())
		o.ID = res.CurId()
		return
	}
	masked := reading{mask: how.mask}
	if decrypt {
		if twin == nil && !secretBuild && (res.GetKind() == "Secret" || hasSOPS(res)) {
			twin = res.DeepCopy()
		}
		secret, opaque, err := decryptResource(res, how)
		o.secret = o.secret || secret
		if err != nil {
			o.ID = res.CurId()
			o.ErrCode, o.Err = model.CodeDecrypt, fmt.Errorf("decryption failed for '%s/%s': %w", res.GetGvk(), res.GetName(), err)
			return
		}
		if opaque != nil {
			o.Unverified = append(o.Unverified, model.Reason{
				Code: model.CodeEncrypted, Subject: o.shown.String(),
				Message: fmt.Sprintf("%s is encrypted: %v", o.shown, opaque),
				Fix:     "give the environment's age key with --age-key-file",
			})
		}
		if !secret && !secretBuild {
			twin = nil
		}
		if twin != nil {
			if _, _, err := decryptResource(twin, masked); err != nil {
				twin = nil
				secretBuild = true
			}
		}
	}
	o.ID, o.APIVersion = res.CurId(), res.GetApiVersion()
	o.NoSubstitution = res.GetLabels()[substituteKey] == "disabled" || res.GetAnnotations()[substituteKey] == "disabled"
	text, tree, err := encodeTree(&res.RNode, f)
	if err != nil {
		o.ErrCode, o.Err = model.CodeBuild, err
		return
	}
	o.Text, o.stable = text, tree != nil
	o.Display = o.Text
	switch {
	case twin != nil:
		o.Display = maskedText(o.Text, twin)
	case secretBuild:
		o.shown = maskedRef
		o.Display = maskedWhole(maskedRef)
	}
	if o.Display != o.Text {
		o.shown = refOfText(o.Display)
	} else {
		o.shown = refOfID(o)
	}
	o.Expressions = subst.HasExpression(o.Text)
	if o.Expressions && o.stable {
		o.slots, o.inline = findSlots(tree, f)
	}
}

// counterpart finds the resource that another pass made in the place of res; nil when the passes differ in shape, so
// that nothing can be said value by value.
func counterpart(p *pass, i int, res *resource.Resource, size int) *resource.Resource {
	if p.err != nil || p.res.Size() != size {
		return nil
	}
	twin := p.res.Resources()[i]
	if twin.GetKind() != res.GetKind() || twin.GetApiVersion() != res.GetApiVersion() || twin.GetNamespace() != res.GetNamespace() {
		return nil
	}
	return twin
}

// compare finds what depends on encrypted content that no key opens: whatever changes when the mask does.
func (o *BuiltObject) compare(stranger *resource.Resource, why []model.Reason) {
	text := ""
	if stranger != nil {
		text, _, _ = encodeNode(&stranger.RNode)
	}
	if text == o.Text || o.Err != nil {
		return
	}
	ref := o.shown
	reason := model.Reason{Code: model.CodeEncrypted, Subject: ref.String(),
		Message: ref.String() + " holds content of an encrypted file", Fix: "give the environment's age key with --age-key-file"}
	if len(why) > 0 {
		reason.Places = why[0].Places
		reason.Message = fmt.Sprintf("%s holds content of %s, which is encrypted", ref, why[0].Subject)
	}
	if stranger == nil || namesDiffer(o.Text, text, otherMask) {
		reason.Code = model.CodeOpaqueName
		reason.Message += "; a name with a hash in it is not the one that the cluster gets"
	}
	o.Unverified = append(o.Unverified, reason)
}

func refOf(res *resource.Resource) model.Ref {
	return model.Ref{APIVersion: res.GetApiVersion(), Kind: res.GetKind(), Namespace: res.GetNamespace(), Name: res.GetName()}
}

// plainError takes the artifact's made-up root out of a message.
func plainError(err error) error {
	msg := strings.ReplaceAll(err.Error(), artifactRoot+"/", "")
	msg = strings.ReplaceAll(msg, artifactRoot, ".")
	return fmt.Errorf("%s", strings.TrimSpace(msg))
}

// safeError is the error of a build in which plaintext took part, without the plaintext: what the same build says
// when masks stand in its place.
func safeError(shown *pass) error {
	if shown != nil && shown.err != nil {
		return plainError(shown.err)
	}
	return fmt.Errorf("the build failed over decrypted content; --show-secrets shows Flux's message")
}
