package config

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	yaml3 "go.yaml.in/yaml/v3"
)

// Allow is a finding that the repository's owner lives with.
type Allow struct {
	Rule        string `yaml:"rule"`        // TG0203, or its name
	Path        string `yaml:"path"`        // a pattern of files, such as apps/legacy/**
	Object      string `yaml:"object"`      // KIND/NAMESPACE/NAME
	Environment string `yaml:"environment"` // its name
	Reason      string `yaml:"reason"`      // without one it is no use

	// Where its first key stands; EndColumn is the column after it, in characters.
	Line, Column, EndColumn int `yaml:"-"`
}

// AllowList is `allow`.
type AllowList []Allow

var allowFields = []string{"rule", "path", "object", "environment", "reason"}

// UnmarshalYAML keeps where the entries stand. It refuses by itself what it does not know, since a node that decodes itself
// is not held to KnownFields. What an entry must have for it to count is a matter of the rules (TG0002), which point at it.
func (l *AllowList) UnmarshalYAML(n *yaml3.Node) error {
	if n.Kind != yaml3.SequenceNode {
		return fmt.Errorf("line %d: allow is no list", n.Line)
	}
	for _, e := range n.Content {
		at := e
		if e.Kind == yaml3.AliasNode {
			e = e.Alias
		}
		if e.Kind != yaml3.MappingNode || len(e.Content) == 0 {
			return fmt.Errorf("line %d: an entry of allow has the fields %s", at.Line, strings.Join(allowFields, ", "))
		}
		var a Allow
		for i := 0; i+1 < len(e.Content); i += 2 {
			if k := e.Content[i]; !slices.Contains(allowFields, k.Value) {
				return fmt.Errorf("line %d: field %s not found in an entry of allow: there are %s", k.Line, k.Value, strings.Join(allowFields, ", "))
			}
		}
		if err := e.Decode(&a); err != nil {
			return err
		}
		// A YAML column counts characters from 1, as ours do.
		a.Line, a.Column, a.EndColumn = at.Line, at.Column, at.Column+1
		if e == at {
			key := e.Content[0]
			a.Line, a.Column, a.EndColumn = key.Line, key.Column, key.Column+utf8.RuneCountInString(key.Value)
		}
		*l = append(*l, a)
	}
	return nil
}
