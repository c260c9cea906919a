package scan

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"sync"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/tidegate/tidegate/internal/flux"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/render"
	"github.com/tidegate/tidegate/internal/sops"
)

// held is one object that the cluster of an environment holds, with what a render must know of its making.
type held struct {
	ref        model.Ref
	label      model.Ref // ref as messages may show it
	obj        map[string]any
	shown      map[string]any // obj with secrets masked; the same map when it has none
	secret     bool           // obj holds what shown hides
	unverified []model.Reason
	unit       *model.UnitID // who renders it; nil for what the user says is there
	object     *model.Object // nil for what the user says is there
	file       string        // that the user named; empty for what is rendered

	once   sync.Once
	data   *render.DataSource // as a source of variables; valid after once
	digest string             // of data
}

type objectKey struct{ group, kind, namespace, name string }

func keyOf(r model.Ref) objectKey { return objectKey{r.Group(), r.Kind, r.Namespace, r.Name} }

// store is what the cluster of one environment holds, as far as later steps ask for it: the sources of variables and
// Flux's own objects.
type store struct {
	objects map[objectKey]*held
	twice   []model.Reason
}

func newStore() *store { return &store{objects: map[objectKey]*held{}} }

// interesting tells whether a render ever asks for objects of this kind.
func interesting(r model.Ref) bool {
	switch r.Kind {
	case "ConfigMap", "Secret":
		return r.APIVersion == "v1"
	}
	for _, g := range []string{flux.KustomizeGroup, flux.HelmGroup, flux.SourceGroup, flux.ExtensionsGroup, flux.OperatorGroup} {
		if flux.IsGroup(r.APIVersion, g) {
			return true
		}
	}
	return false
}

// put adds an object. What Flux renders replaces what the user said is there; of two units that render one object the
// first one met stays, and that is reported for Kustomizations, whose meaning it changes.
func (s *store) put(h *held) {
	k := keyOf(h.ref)
	old := s.objects[k]
	if old != nil && old.unit != nil {
		if h.ref.Kind == "Kustomization" && !sameYAML(old.obj["spec"], h.obj["spec"]) {
			s.twice = append(s.twice, model.Reason{
				Code: model.CodeDuplicateOwn, Subject: h.label.String(),
				Message: fmt.Sprintf("%s is rendered by %s and by %s with different specs: whoever applies last wins, and the first is followed here", h.label, old.unit, h.unit),
				Fix:     "let one unit own it",
			})
		}
		return
	}
	s.objects[k] = h
}

func sameYAML(a, b any) bool {
	x, err1 := sigsyaml.Marshal(a)
	y, err2 := sigsyaml.Marshal(b)
	return err1 == nil && err2 == nil && string(x) == string(y)
}

func (s *store) get(group, kind, namespace, name string) *held {
	return s.objects[objectKey{group, kind, namespace, name}]
}

// hold takes a rendered object apart.
func hold(o *model.Object, unit *model.UnitID) (*held, error) {
	h := &held{ref: o.Ref, label: o.Ref, unverified: o.Unverified, unit: unit, object: o, secret: o.Secret()}
	if err := sigsyaml.Unmarshal([]byte(o.YAML), &h.obj); err != nil {
		return nil, err
	}
	h.shown = h.obj
	if h.secret {
		h.ref = model.Ref{APIVersion: text(h.obj, "apiVersion"), Kind: text(h.obj, "kind"),
			Namespace: text(h.obj, "metadata", "namespace"), Name: text(h.obj, "metadata", "name")}
		h.shown = nil
		if err := sigsyaml.Unmarshal([]byte(o.Display), &h.shown); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// source gives a ConfigMap or Secret as a source of variables; nil when the cluster has none.
func (s *store) source(kind, namespace, name string) *render.DataSource {
	if h := s.get("", kind, namespace, name); h != nil {
		return h.source(kind)
	}
	return nil
}

// source takes the object apart once, for all units that read it.
func (h *held) source(kind string) *render.DataSource {
	h.once.Do(func() {
		h.data = h.takeApart(kind)
		sum := sha256.New()
		for _, k := range sortedNames(h.data.Data) {
			fmt.Fprintf(sum, "%q=%q,", k, h.data.Data[k].Text)
		}
		h.digest = string(sum.Sum(nil))
	})
	return h.data
}

func (h *held) takeApart(kind string) *render.DataSource {
	out := &render.DataSource{Ref: h.label, Data: map[string]render.Value{}}
	h.collect(out, "data", kind == "Secret")
	if kind == "Secret" {
		// The API server folds stringData into data, and stringData wins.
		h.collect(out, "stringData", false)
	}
	return out
}

func (h *held) collect(out *render.DataSource, field string, encoded bool) {
	data, _ := h.obj[field].(map[string]any)
	shown, _ := h.shown[field].(map[string]any)
	for k, v := range data {
		text, ok := v.(string)
		as, public := shown[k]
		val := render.Value{Text: text, Secret: as != v, Hidden: !public, Source: h.label.String(), Holder: h.label}
		if h.object != nil && h.object.Trace != nil {
			val.Set = func() model.Origin { return h.object.Trace.Origin(model.Path{field, k}) }
		} else if h.file != "" {
			val.Source += " in " + h.file
		}
		name := k
		if val.Hidden {
			name = sops.DefaultMask
		}
		switch {
		case !ok:
			val.Unknown = &model.Reason{Code: model.CodeRefused, Subject: h.label.String(),
				Message: fmt.Sprintf("%s of %s is no string, so the API server refuses the object", name, h.label), Fix: "quote it"}
		case encoded:
			raw, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				val.Unknown = &model.Reason{Code: model.CodeRefused, Subject: h.label.String(),
					Message: fmt.Sprintf("data.%s of %s is no base64, so the API server refuses the object", name, h.label), Fix: "encode it, or move it to stringData"}
			}
			val.Text = string(raw)
		}
		if val.Unknown == nil {
			val.Unknown = h.unknown(val.Text)
		}
		out.Data[k] = val
	}
}

// unknown tells why a value within the object is not the cluster's: it holds a mask, or an expression that could not
// be evaluated.
func (h *held) unknown(text string) *model.Reason {
	for i := range h.unverified {
		switch r := h.unverified[i]; r.Code {
		case model.CodeEncrypted, model.CodeOpaqueName:
			if strings.Contains(text, sops.DefaultMask) || strings.HasPrefix(text, "ENC[") {
				return &r
			}
		case model.CodeMissingVariable:
			if strings.Contains(text, "${") {
				return &r
			}
		}
	}
	if strings.HasPrefix(text, "ENC[") && h.obj["sops"] != nil {
		return &model.Reason{Code: model.CodeEncrypted, Subject: h.label.String(),
			Message: h.label.String() + " is encrypted and its Kustomization has no decryption, so it is refused",
			Fix:     "add spec.decryption to the Kustomization that applies it"}
	}
	return nil
}
