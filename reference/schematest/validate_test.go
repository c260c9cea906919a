package schematest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	verrors "k8s.io/kube-openapi/pkg/validation/errors"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
)

// fault is what is wrong with an object, and where in it.
type fault struct{ path, reason string }

func (f fault) String() string { return f.path + ": " + f.reason }

// validate gives what is wrong with an object, and where its schema is from; that is empty when there is none.
func (s *schemas) validate(o map[string]any) (faults []fault, source string) {
	k := kindOf(o)
	schema, ok := s.kinds[k]
	if !ok {
		return nil, ""
	}
	c := check{metadata: s.metadata, secret: k == kind{"", "v1", "Secret"}}
	c.values(o, schema.schema, "")
	c.fields(o, schema.schema, "", schema.custom)
	slices.SortFunc(c.faults, func(a, b fault) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(c.faults), schema.source
}

// check collects what is wrong with one object.
type check struct {
	metadata *spec.Schema
	secret   bool // values are decrypted, and are not to be printed
	faults   []fault
}

func (c *check) add(path, format string, args ...any) {
	c.faults = append(c.faults, fault{path, fmt.Sprintf(format, args...)})
}

// values holds types, required fields, enums, formats, bounds and patterns, with the validator that the API server uses for
// custom resources. It takes no notice of fields that a schema does not have.
func (c *check) values(v any, s *spec.Schema, at string) {
	for _, err := range validate.NewSchemaValidator(s, nil, at, strfmt.Default).Validate(v).Errors {
		path, reason := at, err.Error()
		var one *verrors.Validation
		if errors.As(err, &one) {
			path, reason = one.Name, strings.TrimPrefix(strings.TrimPrefix(reason, one.Name), " in body ")
		} else if quoted, rest, ok := strings.Cut(strings.TrimPrefix(reason, `"`), `" `); ok {
			path, reason = quoted, rest // what is said of oneOf and its like has its path in the text alone
		}
		path = strings.TrimPrefix(path, ".")
		if c.secret {
			reason = "is not what the schema says"
		}
		c.faults = append(c.faults, fault{path, reason})
	}
}

// fields finds those that a schema does not have. An object of a custom kind, and one within another, has apiVersion, kind
// and metadata whatever its schema says, and its metadata is held against ObjectMeta.
func (c *check) fields(v any, s *spec.Schema, at string, object bool) {
	open := extension(s, preserve)
	if extension(s, intOrString) {
		switch v.(type) {
		case int64, string, nil: // whether null may be, values says
		default:
			c.add(at, "must be an integer or a string")
		}
		return
	}
	switch v := v.(type) {
	case []any:
		if s.Items == nil || s.Items.Schema == nil {
			return // of what type it is, values says
		}
		for i, e := range v {
			c.fields(e, s.Items.Schema, fmt.Sprintf("%s[%d]", at, i), extension(s.Items.Schema, embedded))
		}
	case map[string]any:
		// Kubernetes' own OpenAPI writes "any value" as a schema that says nothing.
		nothing := len(s.Type) == 0 && len(s.Properties) == 0 && s.AdditionalProperties == nil
		for _, k := range slices.Sorted(maps.Keys(v)) {
			here := strings.TrimPrefix(at+"."+k, ".")
			p, ok := s.Properties[k]
			switch {
			case object && (k == "apiVersion" || k == "kind"):
				if _, text := v[k].(string); !text {
					c.add(here, "must be a string")
				}
			case object && k == "metadata":
				c.values(v[k], c.metadata, here)
				c.fields(v[k], c.metadata, here, false)
			case ok:
				c.fields(v[k], &p, here, extension(&p, embedded))
			case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
				of := s.AdditionalProperties.Schema
				c.fields(v[k], of, here, extension(of, embedded))
			case s.AdditionalProperties != nil && s.AdditionalProperties.Allows, open, nothing:
			default:
				c.add(here, "is no field of the schema")
			}
		}
		if object && at != "" {
			for _, k := range []string{"apiVersion", "kind"} {
				if v[k] == nil {
					c.add(at+"."+k, "is required in an object within another")
				}
			}
		}
	}
}

func extension(s *spec.Schema, name string) bool {
	on, _ := s.Extensions.GetBool(name)
	return on
}
