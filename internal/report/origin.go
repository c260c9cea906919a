package report

import (
	"fmt"

	yaml3 "go.yaml.in/yaml/v3"

	"github.com/tidegate/tidegate/internal/model"
)

// WhyVersion is the version of Why's JSON.
const WhyVersion = "tidegate.dev/why/v1"

// Why is the result of `tidegate render --why`.
type Why struct {
	Version    string   `json:"version"`
	Repository string   `json:"repository"`
	Answers    []Answer `json:"answers"`
}

// Answer tells where the fields of one object of one environment come from.
type Answer struct {
	Environment string   `json:"environment"`
	Unit        string   `json:"unit"`
	UnitPath    string   `json:"unitPath,omitempty"`
	Object      string   `json:"object"`
	Path        string   `json:"path,omitempty"` // what was asked for
	Status      string   `json:"status"`         // ok, or unverified
	Origins     []Origin `json:"origins"`
}

// Origin says where one value comes from. Text is what stands at the place, decoded and before substitution.
type Origin struct {
	Path      string  `json:"path,omitempty"`
	Value     string  `json:"value"`
	File      string  `json:"file,omitempty"`
	Line      int     `json:"line,omitempty"`
	Column    int     `json:"column,omitempty"`
	EndLine   int     `json:"endLine,omitempty"`
	EndColumn int     `json:"endColumn,omitempty"`
	Certainty string  `json:"certainty" jsonschema:"enum=exact,enum=attributed,enum=object"`
	Step      string  `json:"step" jsonschema:"enum=manifest,enum=patch,enum=generator,enum=transform,enum=replace,enum=decrypt,enum=unresolved"`
	Text      string  `json:"text,omitempty"`
	By        string  `json:"by,omitempty" jsonschema:"description=the field of a kustomization or Kustomization that acted"`
	ByAt      *Span   `json:"byAt,omitempty"`
	Via       string  `json:"via,omitempty" jsonschema:"description=the object whose spec holds the text"`
	Overrides *Origin `json:"overrides,omitempty" jsonschema:"description=what stood there before a patch"`
	Uses      []Use   `json:"uses,omitempty" jsonschema:"description=expressions of postBuild"`

	// Source are the lines around the place, for a view that shows them.
	Source []SourceLine `json:"-"`
}

// Span is a place in a file.
type Span struct {
	File      string `json:"file"`
	Line      int    `json:"line,omitempty"`
	Column    int    `json:"column,omitempty"`
	EndLine   int    `json:"endLine,omitempty"`
	EndColumn int    `json:"endColumn,omitempty"`
}

// Use is an expression and what it became.
type Use struct {
	Text      string     `json:"text"`
	At        *Span      `json:"at,omitempty"`
	Became    string     `json:"became"`
	Default   bool       `json:"default,omitempty"`
	Opaque    bool       `json:"opaque,omitempty" jsonschema:"description=its value is not known"`
	Variables []Variable `json:"variables"`
}

// Variable is a variable of an expression and where its value is set.
type Variable struct {
	Name   string  `json:"name"`
	Value  string  `json:"value"`
	State  string  `json:"state" jsonschema:"enum=known,enum=secret,enum=unknown,enum=undefined"`
	Source string  `json:"source,omitempty"`
	Set    *Origin `json:"set,omitempty"`
}

// Origins gives the origin of every scalar of an object that was traced, in the order of its text.
func Origins(o *model.Object) []Origin {
	if o.Trace == nil {
		return nil
	}
	var out []Origin
	Scalars(o.Display, func(p model.Path, value string) {
		origin := NewOrigin(o.Trace.Origin(p))
		origin.Path, origin.Value = p.String(), value
		out = append(out, origin)
	})
	return out
}

// maxDepth bounds recursion over an object.
const maxDepth = 1000

// Scalars visits the scalars of a YAML text with their paths.
func Scalars(text string, visit func(p model.Path, value string)) {
	var doc yaml3.Node
	if yaml3.Unmarshal([]byte(text), &doc) != nil || len(doc.Content) == 0 {
		return
	}
	var walk func(n *yaml3.Node, at model.Path)
	walk = func(n *yaml3.Node, at model.Path) {
		if len(at) > maxDepth {
			return
		}
		switch n.Kind {
		case yaml3.MappingNode:
			for i := 0; i+1 < len(n.Content); i += 2 {
				walk(n.Content[i+1], at.Child(n.Content[i].Value))
			}
		case yaml3.SequenceNode:
			for i, c := range n.Content {
				walk(c, at.Child(i))
			}
		case yaml3.ScalarNode:
			visit(at, n.Value)
		}
	}
	walk(doc.Content[0], nil)
}

// NewOrigin turns an origin into the report's.
func NewOrigin(o model.Origin) Origin {
	out := Origin{File: o.Span.File, Line: o.Span.Line, Column: o.Span.Column, EndLine: o.Span.EndLine, EndColumn: o.Span.EndColumn,
		Certainty: string(o.Certainty), Step: string(o.Step), Text: o.Text, By: o.By, ByAt: span(o.ByAt)}
	if o.Via != nil {
		out.Via = o.Via.String()
	}
	if o.Overrides != nil {
		over := NewOrigin(*o.Overrides)
		over.Value = over.Text
		out.Overrides = &over
	}
	for _, u := range o.Uses {
		use := Use{Text: u.Text, At: span(u.Span), Became: u.Became, Default: u.Default, Opaque: u.Opaque, Variables: []Variable{}}
		for _, v := range u.Variable {
			use.Variables = append(use.Variables, variable(v))
		}
		out.Uses = append(out.Uses, use)
	}
	return out
}

func variable(v model.Variable) Variable {
	out := Variable{Name: v.Name, Value: v.Value, State: "known", Source: v.Source}
	switch {
	case v.Undefined:
		out.State = "undefined"
	case v.Unknown != nil:
		out.State = "unknown"
		if out.Source == "" {
			out.Source = v.Unknown.Subject
		}
	case v.Secret:
		out.State = "secret"
	}
	if v.Set != nil {
		set := NewOrigin(v.Set())
		set.Value = v.Value
		out.Set = &set
	}
	return out
}

func span(s model.Span) *Span {
	if s.File == "" {
		return nil
	}
	return &Span{s.File, s.Line, s.Column, s.EndLine, s.EndColumn}
}

// At writes a place as FILE:LINE:COLUMN, as far as it is known.
func (s *Span) At() string {
	if s.Line == 0 {
		return s.File
	}
	return fmt.Sprintf("%s:%d:%d", s.File, s.Line, s.Column)
}
