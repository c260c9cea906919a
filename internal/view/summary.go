package view

import (
	"fmt"
	"io"
	"sort"
	"strings"
	"text/tabwriter"

	"github.com/tidegate/tidegate/internal/report"
)

// Style is how a person sees text: with colour on a terminal, without it elsewhere.
type Style struct{ Colour bool }

func (s Style) paint(code, text string) string {
	if !s.Colour {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s Style) bold(t string) string   { return s.paint("1", t) }
func (s Style) red(t string) string    { return s.paint("31", t) }
func (s Style) yellow(t string) string { return s.paint("33", t) }
func (s Style) dim(t string) string    { return s.paint("2", t) }

// maxListed bounds the reasons of one kind that a summary lists; JSON has them all.
const maxListed = 12

// Summary writes what came of a render, for a person: a table of environments, what failed and where, and what could
// not be known and why.
func Summary(w io.Writer, r *report.Render, s Style) error {
	var b strings.Builder
	for _, warning := range r.Warnings {
		fmt.Fprintf(&b, "%s %s\n", s.yellow("warning:"), oneLine(warning))
	}
	s.failures(&b, r)
	s.unverified(&b, r)
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	s.table(&b, r)
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	return nil
}

func (s Style) table(b *strings.Builder, r *report.Render) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "ENVIRONMENT\tUNITS\tOBJECTS\tOK\tUNVERIFIED\tFAILED\t  ENTRY")
	for _, e := range r.Environments {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t  %s\n", e.Name, e.Summary.Units, e.Summary.Objects, e.Summary.OK, e.Summary.Unverified, e.Summary.Failed, oneLine(e.Entry))
	}
	t.Flush()
	total := fmt.Sprintf("%s of %s: %s, %s", count(r.Summary.Environments, "environment"), oneLine(r.Repository),
		count(r.Summary.Units, "unit"), count(r.Summary.Objects, "object"))
	failed := fmt.Sprintf("%d failed", r.Summary.Failed)
	if r.Summary.Failed > 0 {
		failed = s.red(failed)
	}
	unverified := fmt.Sprintf("%d unverified", r.Summary.Unverified)
	if r.Summary.Unverified > 0 {
		unverified = s.yellow(unverified)
	}
	fmt.Fprintf(b, "%s; %s, %s; %.2f s\n", total, failed, unverified, r.Summary.Seconds)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (s Style) failures(b *strings.Builder, r *report.Render) {
	for _, e := range r.Environments {
		for _, reason := range e.Reasons {
			if reason.Code == "entry" {
				s.failure(b, e.Name, e.Entry, reason)
			}
		}
		for _, u := range e.Units {
			if u.Status != "failed" {
				continue
			}
			for _, reason := range u.Reasons[:1] {
				s.failure(b, e.Name, u.Namespace+"/"+u.Name, reason)
			}
		}
	}
}

func (s Style) failure(b *strings.Builder, env, unit string, r report.Reason) {
	fmt.Fprintf(b, "%s %s %s: %s\n", s.red("failed"), s.bold(env), s.bold(oneLine(unit)), indentLines(r.Message))
	for _, p := range r.Places {
		fmt.Fprintf(b, "    at %s\n", place(p))
	}
	if r.Fix != "" {
		fmt.Fprintf(b, "    %s %s\n", s.dim("to mend:"), oneLine(r.Fix))
	}
}

func place(p report.Place) string {
	out := oneLine(p.File)
	if p.Line > 0 {
		out += fmt.Sprintf(":%d", p.Line)
		if p.Column > 0 {
			out += fmt.Sprintf(":%d", p.Column)
		}
	}
	return out
}

// indentLines keeps a message of several lines below its first.
func indentLines(msg string) string {
	lines := strings.Split(strings.TrimSpace(msg), "\n")
	for i := range lines {
		lines[i] = oneLine(lines[i])
	}
	return strings.Join(lines, "\n    ")
}

// group is one cause of what is unverified, with how much it touches.
type group struct {
	env, code, subject, message string
	units                       int
}

func (s Style) unverified(b *strings.Builder, r *report.Render) {
	for _, e := range r.Environments {
		groups := groups(e)
		charts := 0
		listed := 0
		for _, g := range groups {
			if g.code == "chart" {
				charts += g.units
				continue
			}
			if listed == maxListed {
				continue
			}
			listed++
			fmt.Fprintf(b, "%s %s %s", s.yellow("unverified"), s.bold(e.Name), oneLine(g.message))
			if g.units > 1 {
				fmt.Fprintf(b, " %s", s.dim(fmt.Sprintf("(%d units)", g.units)))
			}
			b.WriteByte('\n')
		}
		hidden := len(groups) - listed
		if charts > 0 {
			for _, g := range groups {
				if g.code == "chart" {
					hidden--
				}
			}
		}
		if hidden > 0 {
			fmt.Fprintf(b, "%s %s %s\n", s.yellow("unverified"), s.bold(e.Name), s.dim(fmt.Sprintf("and %d more causes: -o json lists all", hidden)))
		}
		if charts > 0 {
			fmt.Fprintf(b, "%s %s %s: charts are not rendered\n", s.yellow("unverified"), s.bold(e.Name), count(charts, "HelmRelease"))
		}
	}
}

// groups gathers the reasons of an environment by their cause, those that touch most units first.
func groups(e report.Environment) []group {
	byKey := map[string]*group{}
	var order []*group
	add := func(r report.Reason, unit string) {
		key := r.Code + "\x00" + r.Subject
		g := byKey[key]
		if g == nil {
			msg := r.Message
			if unit != "" && needsUnit(r.Code) {
				msg = unit + ": " + msg
			}
			g = &group{env: e.Name, code: r.Code, subject: r.Subject, message: msg}
			byKey[key] = g
			order = append(order, g)
		}
		g.units++
	}
	for _, reason := range e.Reasons {
		if reason.Code != "entry" {
			add(reason, "")
		}
	}
	for _, u := range e.Units {
		if u.Status == "failed" {
			continue
		}
		seen := map[string]bool{}
		for _, reason := range u.Reasons {
			if key := reason.Code + "\x00" + reason.Subject; !seen[key] {
				seen[key] = true
				add(reason, u.Namespace+"/"+u.Name)
			}
		}
	}
	sort.SliceStable(order, func(i, j int) bool { return order[i].units > order[j].units })
	out := make([]group, len(order))
	for i, g := range order {
		out[i] = *g
	}
	return out
}

// needsUnit tells whether a message says "its", so that it needs the unit's name before it.
func needsUnit(code string) bool {
	switch code {
	case "foreign-source", "parent-unknown", "remote-cluster":
		return true
	}
	return false
}
