package config

import (
	"fmt"
	"slices"
	"strings"

	yaml3 "go.yaml.in/yaml/v3"
)

// Allow is a finding that the repository's owner lives with.
type Allow struct {
	Rule        string `yaml:"rule"`        // TG0203
	Path        string `yaml:"path"`        // a pattern of files, such as apps/legacy/**
	Object      string `yaml:"object"`      // KIND/NAMESPACE/NAME
	Environment string `yaml:"environment"` // its name
	Reason      string `yaml:"reason"`      // without one it is no use

	Line, Column int `yaml:"-"` // where it stands
}

// checkFields refuses what a mapping may not hold. A node that decodes itself is not held to KnownFields.
func checkFields(n *yaml3.Node, known ...string) error {
	for i := 0; n.Kind == yaml3.MappingNode && i+1 < len(n.Content); i += 2 {
		if k := n.Content[i]; !slices.Contains(known, k.Value) {
			return fmt.Errorf("line %d: field %s not found in an entry of allow: there are %s", k.Line, k.Value, strings.Join(known, ", "))
		}
	}
	return nil
}

// UnmarshalYAML keeps where the entry stands.
func (a *Allow) UnmarshalYAML(n *yaml3.Node) error {
	type plain Allow
	if err := checkFields(n, "rule", "path", "object", "environment", "reason"); err != nil {
		return err
	}
	if err := n.Decode((*plain)(a)); err != nil {
		return err
	}
	a.Line, a.Column = n.Line, n.Column
	return nil
}
