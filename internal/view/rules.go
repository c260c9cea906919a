package view

import (
	"fmt"
	"io"
	"slices"
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

// difference writes what makes the good example of the bad one, file by file, with a line around each change.
func difference(b *strings.Builder, bad, good string) {
	before, after := files(bad), files(good)
	text := map[string]string{}
	for _, f := range after {
		text[f.name] = f.text
	}
	for _, f := range before {
		change(b, f.name, f.text, text[f.name])
		delete(text, f.name)
	}
	for _, f := range after {
		if _, isNew := text[f.name]; isNew {
			change(b, f.name, "", f.text)
		}
	}
}

// change writes the lines of a file that go and come; nothing where none do.
func change(b *strings.Builder, name, before, after string) {
	lines := diff(linesOf(before), linesOf(after))
	if !slices.ContainsFunc(lines, changed) {
		return
	}
	fmt.Fprintf(b, "    # %s\n", name)
	for i, l := range lines {
		if changed(l) || i > 0 && changed(lines[i-1]) || i+1 < len(lines) && changed(lines[i+1]) {
			b.WriteString(strings.TrimRight("    "+l, " ") + "\n")
		}
	}
	b.WriteByte('\n')
}

func changed(line string) bool { return line[0] != ' ' }

func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// diff gives the lines of two short texts, marked with what becomes of them, so that as many as possible stay.
func diff(a, b []string) []string {
	// common[i][j] is how many lines a[i:] and b[j:] can share.
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var out []string
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, "  "+a[i])
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			out = append(out, "- "+a[i])
			i++
		default:
			out = append(out, "+ "+b[j])
			j++
		}
	}
	return out
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
