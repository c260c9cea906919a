package flux

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// This file is the API server's side of a custom resource: what it refuses, and what it drops before it stores one.
//
// The rules are:
//   - A field that the schema does not name is dropped, at every depth (pruning).
//   - null in a field or map entry is dropped before anything is checked, so that a required field that is null is
//     absent (apiextensions-apiserver pkg/apiserver/schema/defaulting/prunenulls.go). null in a list is refused.
//   - The rest must have the type, the length, the pattern and the values that the schema says.

// shape is as much of a structural schema as the Flux kinds use.
type shape struct {
	kind     string           // object, array, string, boolean
	fields   map[string]shape // of an object with names of its own
	values   *shape           // of an object that is a map
	items    *shape           // of an array
	required []string
	enum     []string
	min, max int // length of a string in characters; a max of 0 is none
	pattern  *regexp.Regexp
}

// take gives the value as the API server would store it. at is its path, for the error, which is a *RefusedError.
// Fields are looked at in order of their names, so that of several faults it is always the same that is reported.
func (s shape) take(at string, v any) (any, error) {
	if name := typeName(v); name != s.kind {
		return nil, &RefusedError{at, fmt.Sprintf("must be of type %s, and is %s", s.kind, name)}
	}
	switch v := v.(type) {
	case map[string]any:
		return s.object(at, v)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			var err error
			if out[i], err = s.items.take(fmt.Sprintf("%s[%d]", at, i), item); err != nil {
				return nil, err
			}
		}
		return out, nil
	case string:
		return v, s.text(at, v)
	}
	return v, nil
}

func (s shape) object(at string, v map[string]any) (any, error) {
	for _, name := range s.required {
		if v[name] == nil {
			return nil, &RefusedError{at + "." + name, "Required value"}
		}
	}
	out := make(map[string]any, len(v))
	for _, name := range sortedKeys(v) {
		field, known := s.fields[name]
		if s.values != nil {
			field, known = *s.values, true
		}
		if !known || v[name] == nil {
			continue
		}
		item, err := field.take(at+"."+name, v[name])
		if err != nil {
			return nil, err
		}
		out[name] = item
	}
	return out, nil
}

func (s shape) text(at, v string) error {
	switch n := utf8.RuneCountInString(v); {
	case n < s.min:
		return &RefusedError{at, "Invalid value: it must not be empty"}
	case s.max > 0 && n > s.max:
		return &RefusedError{at, fmt.Sprintf("Too long: may not be more than %d characters", s.max)}
	case s.enum != nil && !slices.Contains(s.enum, v):
		return &RefusedError{at, fmt.Sprintf("Unsupported value: %q: supported values: %s", v, strings.Join(s.enum, ", "))}
	case s.pattern != nil && !s.pattern.MatchString(v):
		return &RefusedError{at, fmt.Sprintf("Invalid value: %q: must match %s", v, s.pattern)}
	}
	return nil
}

func object(fields map[string]shape, required ...string) shape {
	return shape{kind: "object", fields: fields, required: required}
}

func list(items shape) shape { return shape{kind: "array", items: &items} }

func mapOf(values shape) shape { return shape{kind: "object", values: &values} }

func oneOf(values ...string) shape { return shape{kind: "string", enum: values} }

func sized(min, max int) shape { return shape{kind: "string", min: min, max: max} }

// kustomizationSpec is spec of kustomize.toolkit.fluxcd.io/v1 Kustomization as a Flux version has it
// (kustomize-controller config/crd/bases): a field that the version lacks is one that the API server drops.
func kustomizationSpec(b Behaviour) shape {
	text, truth := shape{kind: "string"}, shape{kind: "boolean"}
	duration := shape{kind: "string", pattern: durationPattern}
	named := object(map[string]shape{"name": text}, "name")
	keyed := object(map[string]shape{"name": text, "key": text}, "name")
	target := object(map[string]shape{
		"group": text, "version": text, "kind": text, "namespace": text, "name": text, "labelSelector": text, "annotationSelector": text,
	})
	sources := []string{"OCIRepository", "GitRepository", "Bucket"}
	if b.ExternalArtifact {
		sources = append(sources, "ExternalArtifact")
	}
	postBuild := map[string]shape{
		"substitute": mapOf(text),
		"substituteFrom": list(object(map[string]shape{
			"kind": oneOf("Secret", "ConfigMap"), "name": sized(1, 253), "optional": truth,
		}, "kind", "name")),
	}
	fields := map[string]shape{
		"commonMetadata": object(map[string]shape{"annotations": mapOf(text), "labels": mapOf(text)}),
		"components":     list(text),
		"decryption": object(map[string]shape{
			"provider": oneOf("sops"), "secretRef": named, "serviceAccountName": text,
		}, "provider"),
		"deletionPolicy": oneOf("MirrorPrune", "Delete", "WaitForTermination", "Orphan"),
		"dependsOn":      list(object(map[string]shape{"name": text, "namespace": text, "readyExpr": text}, "name")),
		"force":          truth,
		"healthCheckExprs": list(object(map[string]shape{
			"apiVersion": text, "kind": text, "current": text, "failed": text, "inProgress": text,
		}, "apiVersion", "current")),
		"healthChecks": list(object(map[string]shape{
			"apiVersion": text, "kind": text, "name": text, "namespace": text,
		}, "kind", "name")),
		"images": list(object(map[string]shape{
			"name": text, "newName": text, "newTag": text, "digest": text,
		}, "name")),
		"interval":           duration,
		"kubeConfig":         object(map[string]shape{"secretRef": keyed, "configMapRef": named}),
		"patches":            list(object(map[string]shape{"patch": text, "target": target}, "patch")),
		"path":               text,
		"postBuild":          object(postBuild),
		"prune":              truth,
		"retryInterval":      duration,
		"serviceAccountName": text,
		"sourceRef": object(map[string]shape{
			"apiVersion": text, "kind": oneOf(sources...), "name": text, "namespace": text,
		}, "kind", "name"),
		"suspend":         truth,
		"targetNamespace": sized(1, 63),
		"timeout":         duration,
		"wait":            truth,
	}
	if b.NameAffixes {
		fields["namePrefix"], fields["nameSuffix"] = sized(1, 200), sized(1, 200)
	}
	if b.IgnoreMissingComponents {
		fields["ignoreMissingComponents"] = truth
	}
	if b.BuildMetadata {
		fields["buildMetadata"] = list(oneOf("originAnnotations", "transformerAnnotations"))
		fields["ignore"] = list(object(map[string]shape{"paths": list(text), "target": target}, "paths"))
	}
	if b.SubstituteStrategy {
		postBuild["substituteStrategy"] = oneOf("WithVariables", "Always")
	}
	return object(fields, "interval", "prune", "sourceRef")
}

var durationPattern = regexp.MustCompile(`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`)
