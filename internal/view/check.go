package view

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/tidegate/tidegate/internal/report"
)

// Check writes what a check found, for a person: each finding with its place, the lines, why, what breaks, and how to
// mend it; then what could not be asked or known, a table of environments, and one line that sums up. verbose lists
// each cause of what is unverified.
func Check(w io.Writer, r *report.Check, s Style, verbose bool) error {
	var b strings.Builder
	for _, warning := range r.Warnings {
		fmt.Fprintf(&b, "%s %s\n", s.yellow("warning:"), oneLine(warning))
	}
	for _, f := range r.Findings {
		s.finding(&b, f, len(r.Environments) > 1)
		b.WriteByte('\n')
	}
	before := b.Len()
	for _, note := range r.Notes {
		s.wrap(&b, "note", note)
	}
	s.skipped(&b, r)
	s.unknown(&b, r, verbose)
	if b.Len() > before || before > 0 && len(r.Findings) == 0 {
		b.WriteByte('\n')
	}
	s.checkTable(&b, r)
	_, err := io.WriteString(w, b.String())
	return err
}

// Findings writes findings alone.
func Findings(w io.Writer, list []report.Finding, s Style) error {
	var b strings.Builder
	for i, f := range list {
		if i > 0 {
			b.WriteByte('\n')
		}
		s.finding(&b, f, false)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (s Style) severity(name string) string {
	if name == "error" {
		return s.red(s.bold(name))
	}
	return s.yellow(s.bold(name))
}

func (s Style) finding(b *strings.Builder, f report.Finding, environments bool) {
	fmt.Fprintf(b, "%s %s %s: %s", s.severity(f.Severity), s.bold(f.Rule), f.Name, s.bold(oneLine(f.Message)))
	if environments && len(f.Environments) > 0 {
		b.WriteString("  " + s.dim("["+oneLine(strings.Join(f.Environments, ", "))+"]"))
	}
	b.WriteByte('\n')
	if f.File != "" {
		b.WriteString("  " + s.bold(place(report.Place{File: f.File, Line: f.Line, Column: f.Column})))
		switch f.Certainty {
		case "attributed":
			b.WriteString(s.dim("  (attributed: it is here as far as the build tells)"))
		case "object":
			b.WriteString(s.dim("  (the object is here; where in it is not known)"))
		}
		b.WriteByte('\n')
	}
	s.snippet(b, f)
	if f.Object != "" && !strings.Contains(f.Message, f.Object) || f.Path != "" && !strings.Contains(f.Message, f.Path) {
		s.wrap(b, "object", strings.TrimSpace(f.Object+" "+f.Path))
	}
	label := "because"
	for i, because := range f.Because {
		if i == maxListed {
			s.wrap(b, "", fmt.Sprintf("and %d more places: -o json lists all", len(f.Because)-i))
			break
		}
		text := because.Message
		if because.File != "" {
			text = place(report.Place{File: because.File, Line: because.Line, Column: because.Column}) + ": " + text
		}
		s.wrap(b, label, text)
		label = ""
	}
	if f.Breaks != "" {
		s.wrap(b, "breaks", f.Breaks)
	}
	label = "fix"
	for _, fix := range f.Fixes {
		s.wrap(b, label, fix.Message)
		label = ""
	}
}

// skipped lists the rules that could not be asked, those of one rule and environment together.
func (s Style) skipped(b *strings.Builder, r *report.Check) {
	type key struct{ rule, need, units string }
	envs := map[key][]string{}
	var order []key
	for _, k := range r.Skipped {
		id := key{k.Rule + " " + k.Name, k.Needs, someOf(k.Units)}
		if _, ok := envs[id]; !ok {
			order = append(order, id)
		}
		envs[id] = append(envs[id], k.Environment)
	}
	for _, k := range order {
		line := s.yellow("skipped") + " " + oneLine(k.rule)
		if k.units != "" {
			line += " of " + oneLine(k.units)
		}
		if names := strings.Join(envs[k], ", "); names != "" && len(envs[k]) < len(r.Environments) {
			line += " [" + oneLine(names) + "]"
		}
		b.WriteString(line + ": needs " + oneLine(k.need) + "\n")
	}
}

// someOf names the first of a list, and how many there are.
func someOf(list []string) string {
	switch len(list) {
	case 0:
		return ""
	case 1:
		return list[0]
	}
	return fmt.Sprintf("%s and %d more", list[0], len(list)-1)
}

// unknown tells what could not be known: in a line for each kind of cause, or each cause with verbose.
func (s Style) unknown(b *strings.Builder, r *report.Check, verbose bool) {
	type key struct{ env, code string }
	units, causes := map[key]int{}, map[key]int{}
	var order []key
	for _, u := range r.Unverified {
		if verbose {
			line := s.yellow("unverified") + " " + s.bold(oneLine(u.Environment)) + " "
			if about := someOf(u.Units); about != "" && !strings.Contains(u.Message, u.Units[0]) {
				line += oneLine(about) + ": "
			} else if len(u.Units) == 0 && u.Subject != "" && !strings.Contains(u.Message, u.Subject) {
				line += oneLine(u.Subject) + ": "
			}
			b.WriteString(line + oneLine(u.Message) + "\n")
			continue
		}
		k := key{u.Environment, u.Code}
		if causes[k] == 0 {
			order = append(order, k)
		}
		causes[k]++
		units[k] += len(u.Units)
	}
	for _, k := range order {
		fmt.Fprintf(b, "%s %s %s\n", s.yellow("unverified"), s.bold(oneLine(k.env)), causeText(k.code, causes[k], units[k]))
	}
	if len(order) > 0 {
		b.WriteString(s.dim("  what is unverified is neither right nor wrong; --verbose lists each cause") + "\n")
	}
}

// causeText says what a code means, for so many causes and units.
func causeText(code string, causes, units int) string {
	switch code {
	case "chart":
		return count(units, "HelmRelease") + ": charts are not rendered"
	case "encrypted":
		return count(causes, "encrypted object") + " that no held key opens, " + count(units, "unit")
	case "missing-source":
		return count(causes, "source") + " of variables that nothing in the repository makes, " + count(units, "unit")
	case "foreign-source":
		return count(units, "unit") + " whose files come from another repository or artifact"
	case "remote-base":
		return count(causes, "base") + " that would have to be fetched, " + count(units, "unit")
	case "template":
		if causes == 1 {
			return "1 object that makes further objects"
		}
		return count(causes, "object") + " that make further objects"
	case "parent-unknown":
		return count(units, "unit") + " whose own spec depends on what is not known"
	}
	return fmt.Sprintf("%s: %s, %s", code, count(causes, "cause"), count(units, "unit"))
}

func (s Style) checkTable(b *strings.Builder, r *report.Check) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "ENVIRONMENT\tUNITS\tOBJECTS\tUNVERIFIED\tFAILED\tERRORS\tWARNINGS\t  ENTRY")
	for _, e := range r.Environments {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t  %s\n", oneLine(e.Name), e.Units, e.Objects, e.Unverified, e.Failed, e.Errors, e.Warnings, oneLine(e.Entry))
	}
	t.Flush()
	m := r.Summary
	errors, warnings := count(m.Errors, "error"), count(m.Warnings, "warning")
	if m.Errors > 0 {
		errors = s.red(errors)
	}
	if m.Warnings > 0 {
		warnings = s.yellow(warnings)
	}
	fmt.Fprintf(b, "%s of %s, %s: %s, %s", count(m.Environments, "environment"), oneLine(r.Repository), count(m.Rules, "rule"), errors, warnings)
	for _, more := range []struct {
		n    int
		what string
	}{{m.Suppressed, "suppressed"}, {m.Skipped, "skipped"}} {
		if more.n > 0 {
			fmt.Fprintf(b, "; %d %s", more.n, more.what)
		}
	}
	if m.Unverified > 0 {
		fmt.Fprintf(b, "; %s unverified", count(m.Unverified, "unit"))
	}
	fmt.Fprintf(b, "; %.2f s\n", m.Seconds)
	if len(r.Findings) > 0 {
		b.WriteString(s.dim("tidegate explain "+r.Findings[0].Rule+" says more of a rule") + "\n")
	}
}
