package trace

import (
	"encoding/base64"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/kustomize/api/types"

	"github.com/tidegate/tidegate/internal/model"
)

// This file finds where the values of generated ConfigMaps and Secrets come from: a file as a whole, a line of an env
// file, a literal of the kustomization.

// generator is an entry of configMapGenerator or secretGenerator.
type generator struct {
	kust  *kustomization
	field string // configMapGenerator[0]
	args  *types.GeneratorArgs
}

// generator finds the entry that made the object; nil when no entry did, or more than one may have.
func (o *Object) generator() *generator {
	var best *generator
	for _, k := range o.build.kusts {
		switch o.ref.Kind {
		case "ConfigMap":
			for i := range k.k.ConfigMapGenerator {
				best = o.better(best, k, fmt.Sprintf("configMapGenerator[%d]", i), &k.k.ConfigMapGenerator[i].GeneratorArgs)
			}
		case "Secret":
			for i := range k.k.SecretGenerator {
				best = o.better(best, k, fmt.Sprintf("secretGenerator[%d]", i), &k.k.SecretGenerator[i].GeneratorArgs)
			}
		}
	}
	return best
}

// better prefers the entry whose name takes more of the object's.
func (o *Object) better(best *generator, k *kustomization, field string, args *types.GeneratorArgs) *generator {
	if args.Name == "" || !strings.Contains(o.ref.Name, args.Name) || best != nil && len(best.args.Name) >= len(args.Name) {
		return best
	}
	return &generator{k, field, args}
}

// input is a value that a generator took in.
type input struct {
	kust   *kustomization
	file   string // a file whose bytes from at on are the value; empty for a literal
	at     int
	length int
	field  string // the entry in the kustomization file
}

// generated finds the generator's input that a value of data is.
func (o *Object) generated(b *branch) (*input, bool) {
	if b.parent == nil || b.parent.parent == nil || b.parent.parent.parent != nil {
		return nil, false
	}
	section, _ := b.parent.step.(string)
	key, ok := b.step.(string)
	if !ok || section != "data" && section != "binaryData" && section != "stringData" {
		return nil, false
	}
	value := b.node.Value
	if o.ref.Kind == "Secret" && section == "data" || section == "binaryData" {
		raw, err := base64.StdEncoding.DecodeString(value)
		if err != nil {
			return nil, false
		}
		value = string(raw)
	}
	// Entries of one name are merged by `behavior`: all of them are looked at.
	for _, k := range o.build.kusts {
		for i := range k.k.ConfigMapGenerator {
			if in, ok := o.input(k, fmt.Sprintf("configMapGenerator[%d]", i), &k.k.ConfigMapGenerator[i].GeneratorArgs, "ConfigMap", key, value); ok {
				return in, true
			}
		}
		for i := range k.k.SecretGenerator {
			if in, ok := o.input(k, fmt.Sprintf("secretGenerator[%d]", i), &k.k.SecretGenerator[i].GeneratorArgs, "Secret", key, value); ok {
				return in, true
			}
		}
	}
	return nil, false
}

func (o *Object) input(k *kustomization, field string, args *types.GeneratorArgs, kind, key, value string) (*input, bool) {
	if kind != o.ref.Kind || !strings.Contains(o.ref.Name, args.Name) {
		return nil, false
	}
	for i, f := range args.FileSources {
		name, file := splitFileSource(f)
		if name != key {
			continue
		}
		p := path.Join(k.dir, file)
		if data, err := o.build.files.files.ReadFile(p); err == nil && string(data) == value {
			return &input{kust: k, file: p, length: len(data), field: fmt.Sprintf("%s.files[%d]", field, i)}, true
		}
	}
	for i, l := range args.LiteralSources {
		name, text, ok := strings.Cut(l, "=")
		if ok && name == key && unquoted(text) == value {
			return &input{kust: k, at: strings.Index(l, value), length: len(value), field: fmt.Sprintf("%s.literals[%d]", field, i)}, true
		}
	}
	envs := args.EnvSources
	if args.EnvSource != "" {
		envs = append(envs[:len(envs):len(envs)], args.EnvSource)
	}
	for i, f := range envs {
		p := path.Join(k.dir, f)
		data, err := o.build.files.files.ReadFile(p)
		if err != nil {
			continue
		}
		if at := envLine(string(data), key, value); at >= 0 {
			return &input{kust: k, file: p, at: at, length: len(value), field: fmt.Sprintf("%s.envs[%d]", field, i)}, true
		}
	}
	return nil, false
}

// unquoted takes the quotes off a literal as kustomize does (kv/kv.go removeQuotes).
func unquoted(s string) string {
	if len(s) > 1 && s[0] == s[len(s)-1] && (s[0] == '"' || s[0] == '\'') {
		return s[1 : len(s)-1]
	}
	return s
}

// envLine gives the offset of the value of KEY=VALUE in an env file; -1 when it is not there.
func envLine(text, key, value string) int {
	at := 0
	for line := range strings.SplitAfterSeq(text, "\n") {
		trimmed := strings.TrimRight(strings.TrimLeft(line, " \t"), "\r\n")
		if name, v, ok := strings.Cut(trimmed, "="); ok && name == key && v == value {
			return at + strings.Index(line, trimmed) + len(name) + 1
		}
		at += len(line)
	}
	return -1
}

// within gives the span of a part of an input.
func (in *input) within(o *Object, from, to int) (model.Span, bool) {
	if from < 0 || to < from || to > in.length {
		return model.Span{}, false
	}
	if in.file == "" {
		v := o.build.value(in.kust.file, in.field)
		if v == nil || in.at < 0 {
			return model.Span{}, false
		}
		s, ok := o.build.files.file(in.kust.file).yaml.Within(v, in.at+from, in.at+to)
		s.File = path.Join(o.unit.Root, in.kust.file)
		return s, ok
	}
	data, err := o.build.files.files.ReadFile(in.file)
	if err != nil || in.at+to > len(data) {
		return model.Span{}, false
	}
	s := model.Span{File: path.Join(o.unit.Root, in.file)}
	s.Line, s.Column = position(data, in.at+from)
	s.EndLine, s.EndColumn = position(data, in.at+to)
	return s, true
}

// position gives the line and column of an offset, both from 1, the column in characters.
func position(data []byte, offset int) (line, column int) {
	before := string(data[:offset])
	start := strings.LastIndexByte(before, '\n') + 1
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[start:]) + 1
}

// fromGenerator attributes a value to a generator.
func (o *Object) fromGenerator(b *branch) (model.Origin, bool) {
	if in, ok := o.generated(b); ok {
		if span, ok := in.within(o, 0, in.length); ok {
			by, at := o.build.by(in.kust, in.field, o.unit)
			out := model.Origin{Span: span, Certainty: model.CertaintyExact, Step: model.StepGenerator, Text: b.node.Value, By: by, ByAt: at}
			return out, true
		}
	}
	if o.kept() || o.named != nil {
		return model.Origin{}, false
	}
	g := o.generator()
	if g == nil {
		return model.Origin{}, false
	}
	field := g.field + ".name"
	if o.isObjectName(b) || b.parent != nil && b.parent.parent == nil {
		if span, ok := o.build.field(g.kust.file, field, o.unit); ok {
			return model.Origin{Span: span, Certainty: model.CertaintyAttributed, Step: model.StepGenerator, Text: g.args.Name, By: g.field, ByAt: span}, true
		}
	}
	for _, f := range []string{"type", "namespace"} {
		if v := o.build.value(g.kust.file, g.field+"."+f); v != nil && b.step == f && v.Value == b.node.Value {
			span, _ := o.build.field(g.kust.file, g.field+"."+f, o.unit)
			return model.Origin{Span: span, Certainty: model.CertaintyAttributed, Step: model.StepGenerator, Text: v.Value, By: g.field + "." + f, ByAt: span}, true
		}
	}
	if opts := g.args.Options; opts != nil {
		key, _ := b.step.(string)
		for _, m := range []struct {
			field string
			pairs map[string]string
		}{{"labels", opts.Labels}, {"annotations", opts.Annotations}} {
			if v, ok := m.pairs[key]; ok && v == b.node.Value {
				at := model.Path{"options", m.field, key}.String()
				if span, ok := o.build.field(g.kust.file, g.field+"."+at, o.unit); ok {
					return model.Origin{Span: span, Certainty: model.CertaintyAttributed, Step: model.StepGenerator, Text: v, By: g.field, ByAt: span}, true
				}
			}
		}
	}
	return model.Origin{}, false
}
