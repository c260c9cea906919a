package view

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/tidegate/tidegate/internal/report"
)

// Rules writes a table of rules.
func Rules(w io.Writer, r *report.Rules) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "RULE\tNAME\tSEVERITY\tWHAT IT FINDS")
	for _, rule := range r.Rules {
		what := rule.What
		if len(rule.Needs) > 0 {
			what += " (needs " + strings.Join(rule.Needs, ", ") + ")"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", rule.ID, rule.Name, rule.Severity, what)
	}
	return t.Flush()
}

// Explain writes what is told of a rule, for a terminal.
func Explain(w io.Writer, r report.Rule, s Style) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s (%s, since %s)\n\n", s.bold(r.ID), s.bold(r.Name), r.Severity, r.Since)
	s.paragraph(&b, "Finds that "+r.What+".")
	if len(r.Needs) > 0 {
		s.paragraph(&b, "Needs "+strings.Join(r.Needs, ", ")+"; it is skipped without.")
	}
	for _, p := range strings.Split(r.Why, "\n\n") {
		s.paragraph(&b, p)
	}
	b.WriteString(s.bold("What it looks like") + "\n\n")
	archive(&b, r.Bad, r.Found)
	b.WriteString(s.bold("What check says") + "\n\n")
	if err := Findings(&b, r.Found, s); err != nil {
		return err
	}
	b.WriteString("\n" + s.bold("Mended") + "\n\n")
	difference(&b, r.Bad, r.Good)
	b.WriteString(s.bold("What it leaves alone") + "\n\n")
	s.paragraph(&b, r.Misses)
	_, err := io.WriteString(w, strings.TrimRight(b.String(), "\n")+"\n")
	return err
}

// paragraph writes a text in lines of the screen's width.
func (s Style) paragraph(b *strings.Builder, text string) {
	at := 0
	for i, word := range strings.Fields(text) {
		n := columnsOf([]rune(word))
		switch {
		case i == 0:
		case at+1+n > s.width():
			b.WriteByte('\n')
			at = 0
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
	}
	b.WriteString("\n\n")
}

// archive writes the files of an example that findings point at, indented; of the others the names.
func archive(b *strings.Builder, text string, found []report.Finding) {
	pointed := map[string]bool{}
	for _, f := range found {
		pointed[f.File] = true
	}
	var others []string
	for _, f := range files(text) {
		if !pointed[f.name] {
			others = append(others, f.name)
			continue
		}
		fmt.Fprintf(b, "    # %s\n", f.name)
		for line := range strings.SplitSeq(strings.TrimRight(f.text, "\n"), "\n") {
			b.WriteString(strings.TrimRight("    "+line, " ") + "\n")
		}
		b.WriteByte('\n')
	}
	if len(others) > 0 {
		fmt.Fprintf(b, "    # and %s\n\n", strings.Join(others, ", "))
	}
}

// difference writes the lines of the good example that the bad one has not, file by file.
func difference(b *strings.Builder, bad, good string) {
	before := map[string]map[string]int{}
	for _, f := range files(bad) {
		before[f.name] = map[string]int{}
		for line := range strings.SplitSeq(f.text, "\n") {
			before[f.name][line]++
		}
	}
	for _, f := range files(good) {
		var lines []string
		have := before[f.name]
		for line := range strings.SplitSeq(strings.TrimRight(f.text, "\n"), "\n") {
			if have[line] > 0 {
				have[line]--
				continue
			}
			lines = append(lines, "    + "+line)
		}
		if len(lines) > 0 {
			fmt.Fprintf(b, "    # %s\n%s\n\n", f.name, strings.Join(lines, "\n"))
			delete(before, f.name)
		}
	}
	for _, f := range files(bad) {
		if have, left := before[f.name]; left {
			var lines []string
			for line := range strings.SplitSeq(strings.TrimRight(f.text, "\n"), "\n") {
				if have[line] > 0 {
					lines = append(lines, "    - "+line)
				}
			}
			if len(lines) > 0 {
				fmt.Fprintf(b, "    # %s\n%s\n\n", f.name, strings.Join(lines, "\n"))
			}
		}
	}
}

type exampleFile struct{ name, text string }

// files takes an archive apart: `-- NAME --` begins a file.
func files(text string) []exampleFile {
	var out []exampleFile
	for line := range strings.SplitAfterSeq(text, "\n") {
		if name, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "-- "); ok && strings.HasSuffix(name, " --") {
			out = append(out, exampleFile{name: strings.TrimSuffix(name, " --")})
		} else if len(out) > 0 {
			out[len(out)-1].text += line
		}
	}
	return out
}
