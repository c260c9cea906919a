package view

import (
	"fmt"
	"io"
	"strings"

	"github.com/tidegate/tidegate/internal/report"
)

// Why tells where values come from, as a person would: one value as a chain, several as a table.
func Why(w io.Writer, r *report.Why, s Style) error {
	var b strings.Builder
	for i, a := range r.Answers {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s %s %s\n", s.bold(oneLine(a.Environment)), s.bold(oneLine(a.Object)), oneLine(a.Path))
		by := a.Unit
		if a.UnitPath != "" {
			by += ", which builds ./" + a.UnitPath
		}
		s.wrap(&b, "unit", by)
		if a.Status != "ok" {
			s.wrap(&b, "note", "the object is unverified: tidegate render says why")
		}
		if len(a.Origins) == 1 {
			s.chain(&b, a.Origins[0])
			continue
		}
		s.origins(&b, a.Origins)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// chain tells of one value from the cluster back to where it is written.
func (s Style) chain(b *strings.Builder, o report.Origin) {
	s.wrap(b, "value", brief(o.Value, 400))
	s.wrap(b, "from", at(o)+"  "+how(o))
	s.snippet(b, report.Finding{Line: o.Line, Column: o.Column, EndLine: o.EndLine, EndColumn: o.EndColumn, Source: o.Source})
	s.acted(b, o)
	s.overrides(b, o)
	for _, u := range o.Uses {
		became := fmt.Sprintf("became %q", brief(u.Became, 200))
		switch {
		case u.Opaque:
			became = "stays as it is written: its value is not known, or may not be shown"
		case u.Default:
			became += ", its default"
		}
		s.wrap(b, "with", u.Text+" "+became)
		for _, v := range u.Variables {
			s.variable(b, v)
		}
	}
}

func (s Style) variable(b *strings.Builder, v report.Variable) {
	switch v.State {
	case "undefined":
		s.wrap(b, "", v.Name+" is defined by nothing")
		return
	case "unknown":
		s.wrap(b, "", v.Name+" is not known: "+v.Source)
		return
	}
	text := v.Name + " is set by " + v.Source
	if v.Set == nil {
		s.wrap(b, "", text)
		return
	}
	s.wrap(b, "", text+": "+at(*v.Set)+"  "+how(*v.Set))
	s.acted(b, *v.Set)
	s.overrides(b, *v.Set)
	for _, u := range v.Set.Uses {
		for _, inner := range u.Variables {
			s.variable(b, inner)
		}
	}
}

func (s Style) acted(b *strings.Builder, o report.Origin) {
	if o.By == "" {
		return
	}
	text := o.By
	if o.Via != "" {
		text += " of " + o.Via
	}
	if o.ByAt != nil && o.ByAt.At() != at(o) {
		text += ": " + oneLine(o.ByAt.At())
	}
	s.wrap(b, "by", text)
}

func (s Style) overrides(b *strings.Builder, o report.Origin) {
	if o.Overrides != nil {
		s.wrap(b, "replaces", fmt.Sprintf("%s  %q", at(*o.Overrides), brief(o.Overrides.Text, 80)))
	}
}

// origins is a table of values.
func (s Style) origins(b *strings.Builder, list []report.Origin) {
	width := 0
	for _, o := range list {
		width = max(width, min(48, len([]rune(o.Path))))
	}
	for _, o := range list {
		value := brief(o.Value, 40)
		fmt.Fprintf(b, "  %-*s  %s  %s\n", width, oneLine(o.Path), s.bold(oneLine(value)), s.dim(oneLine(at(o)+" "+how(o)+names(o))))
	}
}

// names lists the variables of a value.
func names(o report.Origin) string {
	var out []string
	for _, u := range o.Uses {
		for _, v := range u.Variables {
			out = append(out, v.Name)
		}
	}
	if len(out) == 0 {
		return ""
	}
	return " with " + strings.Join(out, ", ")
}

func at(o report.Origin) string {
	if o.File == "" {
		return "nowhere in the repository"
	}
	return (&report.Span{File: o.File, Line: o.Line, Column: o.Column}).At()
}

// how says by which step, and how surely.
func how(o report.Origin) string {
	step := o.Step
	if step == "unresolved" {
		return "(the object is from here; what made the value could not be found out)"
	}
	if o.Certainty == "exact" {
		return "(" + step + ")"
	}
	return "(" + step + ", " + o.Certainty + ")"
}

// brief cuts a text to so many characters of its first line.
func brief(s string, n int) string {
	s, _, cut := strings.Cut(strings.TrimRight(s, "\n"), "\n")
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	if cut {
		s += " …"
	}
	return s
}
