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
type Style struct {
	Colour bool
	Width  int // of the screen in columns; 0 when there is none
}

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
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t  %s\n", oneLine(e.Name), e.Summary.Units, e.Summary.Objects, e.Summary.OK, e.Summary.Unverified, e.Summary.Failed, oneLine(e.Entry))
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
	fmt.Fprintf(b, "%s %s %s: %s\n", s.red("failed"), s.bold(oneLine(env)), s.bold(oneLine(unit)), indentLines(r.Message))
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
	code, subject, message, fix string
	units                       int
}

// unverified lists causes, those of one kind together, and HelmReleases last as a number.
func (s Style) unverified(b *strings.Builder, r *report.Render) {
	for _, e := range r.Environments {
		lead := s.yellow("unverified") + " " + s.bold(oneLine(e.Name)) + " "
		charts, listed, hidden := 0, 0, 0
		for _, kin := range alike(groups(e)) {
			switch {
			case kin[0].code == "chart":
				for _, g := range kin {
					charts += g.units
				}
			case listed == maxListed:
				hidden += len(kin)
			default:
				listed++
				b.WriteString(lead + s.together(kin) + "\n")
			}
		}
		if hidden > 0 {
			b.WriteString(lead + s.dim(fmt.Sprintf("and %d more causes: -o json lists all", hidden)) + "\n")
		}
		if charts > 0 {
			fmt.Fprintf(b, "%s%s: charts are not rendered\n", lead, count(charts, "HelmRelease"))
		}
	}
}

// alike puts the groups together that a person mends, or bears, as one: what no key opens, and what makes further
// objects. All others stand alone. The order is that of the first of each.
func alike(list []group) [][]group {
	at := map[string]int{}
	var out [][]group
	for _, g := range list {
		key := ""
		switch g.code {
		case "chart", "encrypted", "template":
			key = g.code + "\x00" + cause(g)
		}
		if i, ok := at[key]; ok && key != "" {
			out[i] = append(out[i], g)
			continue
		}
		at[key] = len(out)
		out = append(out, []group{g})
	}
	return out
}

// cause is a group's message without what it is about: equal for groups that differ in nothing else.
func cause(g group) string {
	if g.code == "chart" {
		return ""
	}
	_, tail, ok := strings.Cut(g.message, g.subject)
	if !ok || g.subject == "" {
		return g.message
	}
	return strings.TrimSpace(tail)
}

// together writes groups of one cause as one line, and what they are about as another.
func (s Style) together(kin []group) string {
	if len(kin) == 1 {
		line := oneLine(kin[0].message)
		if kin[0].units > 1 {
			line += " " + s.dim(fmt.Sprintf("(%d units)", kin[0].units))
		}
		return line
	}
	tail, kind := cause(kin[0]), kindOf(kin)
	for _, form := range [][2]string{{"is ", "are "}, {"makes ", "make "}, {"holds ", "hold "}} {
		if rest, ok := strings.CutPrefix(tail, form[0]); ok {
			tail = form[1] + rest
			break
		}
	}
	line := oneLine(count(len(kin), kind) + " " + tail)
	if fix := kin[0].fix; fix != "" {
		line += "; " + s.dim("to mend:") + " " + oneLine(fix)
	}
	var names []string
	for i, g := range kin {
		if i == maxNamed {
			names = append(names, fmt.Sprintf("and %d more", len(kin)-i))
			break
		}
		name := oneLine(strings.TrimPrefix(g.subject, kind+"/"))
		if g.units > 1 {
			name += fmt.Sprintf(" (%d units)", g.units)
		}
		names = append(names, name)
	}
	return line + "\n    " + s.dim(strings.Join(names, ", "))
}

// maxNamed bounds the names of one line.
const maxNamed = 6

// kindOf names what groups are about: the kind, where all subjects have one.
func kindOf(kin []group) string {
	kind, _, ok := strings.Cut(kin[0].subject, "/")
	for _, g := range kin {
		if !ok || !strings.HasPrefix(g.subject, kind+"/") || strings.ToLower(kind) == kind {
			return "object"
		}
	}
	return kind
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
			g = &group{code: r.Code, subject: r.Subject, message: msg, fix: r.Fix}
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
