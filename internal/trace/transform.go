package trace

import (
	"fmt"
	"path"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/tidegate/tidegate/internal/model"
)

// This file attributes what transformers wrote to the field of the kustomization that told them to: namespace, prefix
// and suffix, labels, annotations, images, replicas, replacements. Flux's spec.targetNamespace and its like act as
// fields of the topmost kustomization, and are attributed to the Flux Kustomization.

// changed is a value that stands in a manifest, or stood there: a transformer made another of it.
func (o *Object) changed(b *branch, p place, span model.Span) model.Origin {
	if origin, ok := o.operation(b); ok {
		return origin
	}
	if origin, ok := o.transformed(b); ok {
		// What a replacement wrote over is not where the value stands.
		if origin.Step == model.StepReplace || origin.Step == model.StepTransform && origin.By != "" && !strings.HasPrefix(origin.By, "name") {
			old := o.origin(p, span, model.CertaintyExact)
			origin.Overrides = &old
			return origin
		}
	}
	out := o.origin(p, span, model.CertaintyAttributed)
	out.Step = model.StepTransform
	if strings.HasPrefix(p.node.Value, "ENC[") {
		out.Step, out.Text = model.StepDecrypt, "ENC[…]"
		return out
	}
	if by, at, ok := o.affix(b, p.node.Value); ok {
		out.By, out.ByAt = by, at
		return out
	}
	return out
}

// transformed looks for a transformer's field that has the value.
func (o *Object) transformed(b *branch) (model.Origin, bool) {
	if o.unit.Self != nil && o.unit.Spec.TargetNamespace != "" && b.step == "namespace" && b.node.Value == o.unit.Spec.TargetNamespace {
		if origin := o.unit.Self.Origin(model.Path{"spec", "targetNamespace"}); origin.Certainty != model.CertaintyObject {
			ref := o.unit.Ref
			origin.Certainty, origin.Step, origin.By, origin.Via = model.CertaintyAttributed, model.StepTransform, "spec.targetNamespace", &ref
			origin.ByAt = origin.Span
			return origin, true
		}
	}
	if origin, ok := o.specImage(b); ok {
		return origin, true
	}
	// The topmost kustomization is read first and acts last.
	for _, k := range o.build.kusts {
		if field := o.writes(k.k, b); field != "" {
			if origin, ok := o.byField(k, field); ok {
				return origin, true
			}
		}
	}
	if field, by, at, ok := o.replacement(b); ok {
		return model.Origin{Span: at, Certainty: model.CertaintyAttributed, Step: model.StepReplace, Text: field, By: by, ByAt: at}, true
	}
	return model.Origin{}, false
}

// specImage attributes an image to an entry of spec.images of the Flux Kustomization.
func (o *Object) specImage(b *branch) (model.Origin, bool) {
	if o.unit.Self == nil || b.step != "image" {
		return model.Origin{}, false
	}
	for i, img := range o.unit.Spec.Images {
		for _, f := range []struct{ field, text string }{{"newTag", img.NewTag}, {"digest", img.Digest}, {"newName", img.NewName}} {
			if f.text == "" || !strings.Contains(b.node.Value, f.text) {
				continue
			}
			at := model.Path{"spec", "images", i, f.field}
			if origin := o.unit.Self.Origin(at); origin.Certainty != model.CertaintyObject {
				ref := o.unit.Ref
				origin.Certainty, origin.Step, origin.By, origin.Via, origin.ByAt = model.CertaintyAttributed, model.StepTransform, at.String(), &ref, origin.Span
				return origin, true
			}
		}
	}
	return model.Origin{}, false
}

// byField is the origin of a value that a field of a kustomization file brought.
func (o *Object) byField(k *kustomization, field string) (model.Origin, bool) {
	span, ok := o.build.field(k.file, field, o.unit)
	if !ok {
		return model.Origin{}, false
	}
	out := model.Origin{Span: span, Certainty: model.CertaintyAttributed, Step: model.StepTransform, By: field, ByAt: span}
	if v := o.build.value(k.file, field); v != nil {
		out.Text = v.Value
	}
	return out, true
}

// writes names the field of a kustomization that would write a branch's value; empty when none would.
func (o *Object) writes(k *types.Kustomization, b *branch) string {
	value, step := b.node.Value, b.step
	if step == "namespace" && k.Namespace != "" && k.Namespace == value {
		return "namespace"
	}
	if o.isObjectName(b) && k.Namespace != "" && o.ref.Kind == "Namespace" && k.Namespace == value {
		return "namespace"
	}
	if key, ok := step.(string); ok {
		if field := pairField(k, key, value); field != "" {
			return field
		}
	}
	switch step {
	case "image":
		for i, img := range k.Images {
			for _, f := range []struct{ field, text string }{{"newTag", img.NewTag}, {"digest", img.Digest}, {"newName", img.NewName}} {
				if f.text != "" && strings.Contains(value, f.text) {
					return fmt.Sprintf("images[%d].%s", i, f.field)
				}
			}
		}
	case "replicas":
		for i, r := range k.Replicas {
			if fmt.Sprint(r.Count) == value && strings.Contains(o.ref.Name, r.Name) {
				return fmt.Sprintf("replicas[%d].count", i)
			}
		}
	case "config.kubernetes.io/origin", "alpha.config.kubernetes.io/transformations":
		if len(k.BuildMetadata) > 0 {
			return "buildMetadata"
		}
	}
	return ""
}

// pairField finds a label or annotation among those that a kustomization adds.
func pairField(k *types.Kustomization, key, value string) string {
	for i, l := range k.Labels {
		if v, ok := l.Pairs[key]; ok && v == value {
			return model.Path{"labels", i, "pairs", key}.String()
		}
	}
	for _, m := range []struct {
		field string
		pairs map[string]string
	}{{"commonLabels", k.CommonLabels}, {"commonAnnotations", k.CommonAnnotations}} {
		if v, ok := m.pairs[key]; ok && v == value {
			return model.Path{m.field, key}.String()
		}
	}
	if g := k.GeneratorOptions; g != nil {
		for _, m := range []struct {
			field string
			pairs map[string]string
		}{{"labels", g.Labels}, {"annotations", g.Annotations}} {
			if v, ok := m.pairs[key]; ok && v == value {
				return model.Path{"generatorOptions", m.field, key}.String()
			}
		}
	}
	return ""
}

func (o *Object) isObjectName(b *branch) bool {
	return b.step == "name" && b.parent != nil && b.parent.step == "metadata" && b.parent.parent != nil && b.parent.parent.parent == nil
}

// affix finds the prefix or suffix that made a name of another.
func (o *Object) affix(b *branch, old string) (string, model.Span, bool) {
	value := b.node.Value
	if old == "" || value == old || !strings.Contains(value, old) {
		return "", model.Span{}, false
	}
	at := strings.Index(value, old)
	before, after := value[:at], value[at+len(old):]
	if s := o.unit.Spec; o.unit.Self != nil && (s.NamePrefix != "" && strings.HasPrefix(before, s.NamePrefix) || s.NameSuffix != "" && strings.Contains(after, s.NameSuffix)) {
		field := "namePrefix"
		if s.NamePrefix == "" || !strings.HasPrefix(before, s.NamePrefix) {
			field = "nameSuffix"
		}
		return "spec." + field, o.unit.Self.Origin(model.Path{"spec", field}).Span, true
	}
	for _, k := range o.build.kusts {
		switch {
		case before != "" && k.k.NamePrefix != "" && strings.Contains(before, k.k.NamePrefix):
			by, at := o.build.by(k, "namePrefix", o.unit)
			return by, at, true
		case after != "" && k.k.NameSuffix != "" && strings.Contains(after, k.k.NameSuffix):
			by, at := o.build.by(k, "nameSuffix", o.unit)
			return by, at, true
		}
	}
	return "", model.Span{}, false
}

// replacement finds a replacement whose target has the branch's path. source names where the value was copied from.
func (o *Object) replacement(b *branch) (source, by string, at model.Span, ok bool) {
	here := b.path()
	for _, k := range o.build.kusts {
		for i, r := range k.k.Replacements {
			field := fmt.Sprintf("replacements[%d]", i)
			for _, r := range o.build.replacements(k, r) {
				if !o.targeted(r, here) {
					continue
				}
				if r.Source != nil {
					source = strings.TrimSpace(fmt.Sprintf("%s/%s %s", r.Source.Kind, r.Source.Name, r.Source.FieldPath))
				}
				by, at := o.build.by(k, field, o.unit)
				return source, by, at, at.Known()
			}
		}
	}
	return "", "", model.Span{}, false
}

// replacements gives what an entry stands for: itself, or what is in the file that it names, one or a list
// (kustomize api/internal/builtins/ReplacementTransformer.go).
func (b *Build) replacements(k *kustomization, r types.ReplacementField) []types.Replacement {
	if r.Path == "" {
		return []types.Replacement{r.Replacement}
	}
	src := b.files.file(path.Join(k.dir, r.Path))
	if src == nil {
		return nil
	}
	var list []types.Replacement
	if sigsyaml.Unmarshal(src.data, &list) == nil {
		return list
	}
	var one types.Replacement
	if sigsyaml.Unmarshal(src.data, &one) != nil {
		return nil
	}
	return []types.Replacement{one}
}

// targeted tells whether a replacement writes to a path of the object.
func (o *Object) targeted(r types.Replacement, here []any) bool {
	for _, t := range r.Targets {
		if t.Select == nil || t.Select.Kind != "" && t.Select.Kind != o.ref.Kind || t.Select.Name != "" && !strings.Contains(o.ref.Name, t.Select.Name) {
			continue
		}
		for _, f := range t.FieldPaths {
			if fieldPathFits(f, here) {
				return true
			}
		}
	}
	return false
}

// fieldPathFits tells whether a replacement's field path, such as spec.template.containers.[name=x].image, leads to a
// path. What is in brackets, and a star, stands for any item.
func fieldPathFits(field string, here []any) bool {
	var steps []string
	for _, s := range splitFieldPath(field) {
		if s != "*" && !strings.HasPrefix(s, "[") && !allDigits(s) {
			steps = append(steps, s)
		}
	}
	j := 0
	for _, step := range here {
		s, ok := step.(string)
		if !ok {
			continue
		}
		if j == len(steps) || steps[j] != s {
			return false
		}
		j++
	}
	return j == len(steps)
}

// splitFieldPath splits at dots that no backslash and no bracket keeps.
func splitFieldPath(s string) []string {
	var out []string
	var cur strings.Builder
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			i++
			cur.WriteByte(s[i])
		case c == '.' && depth == 0:
			out = append(out, cur.String())
			cur.Reset()
		default:
			if c == '[' {
				depth++
			} else if c == ']' && depth > 0 {
				depth--
			}
			cur.WriteByte(c)
		}
	}
	return append(out, cur.String())
}

func allDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
