package view

import (
	"fmt"
	"io"
	"sort"
	"strings"
	"text/tabwriter"

	"github.com/tidegate/tidegate/internal/report"
)

// maxDiffLines bounds a diff on a screen; JSON has all of it.
const maxDiffLines = 400

// CatalogProblems writes what is wrong with a catalog.
func CatalogProblems(w io.Writer, r *report.Catalog, s Style) error {
	var b strings.Builder
	for _, p := range r.Problems {
		fmt.Fprintf(&b, "%s %s: %s\n", s.red(s.bold("error")), s.bold(place(report.Place{File: p.File, Line: p.Line, Column: p.Column})), oneLine(p.Message))
		if p.Fix != "" {
			s.wrap(&b, "fix", p.Fix)
		}
	}
	if len(r.Problems) > 0 {
		b.WriteString(count(len(r.Problems), "mistake") + "; nothing was written\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// CatalogRender writes what a render of the catalog changed, or would change. check shows how the files differ.
func CatalogRender(w io.Writer, r *report.Catalog, s Style, check bool) error {
	var b strings.Builder
	for _, warning := range r.Warnings {
		fmt.Fprintf(&b, "%s %s\n", s.yellow("warning:"), oneLine(warning))
	}
	n := map[string]int{}
	for _, c := range r.Changes {
		n[c.Action]++
		if check {
			s.diff(&b, c.Diff)
			continue
		}
		fmt.Fprintf(&b, "%-6s %s\n", c.Action, oneLine(c.Path))
	}
	for _, f := range r.Left {
		fmt.Fprintf(&b, "%s %s was not generated, and stays\n", s.yellow("note"), oneLine(f))
	}
	for _, m := range r.Missing {
		fmt.Fprintf(&b, "%s %s is not there, and %s cannot start without it:\n", s.yellow("todo"), oneLine(m.File), oneLine(m.App))
		fmt.Fprintf(&b, "     cp %s %s, fill it in, sops --encrypt --in-place %s, and render again\n", oneLine(m.Example), oneLine(m.File), oneLine(m.File))
	}
	for _, line := range r.Next {
		s.wrap(&b, "next", line)
	}
	what := fmt.Sprintf("%s in %s", count(len(r.Apps), "app"), count(wavesOf(r), "wave"))
	switch {
	case len(r.Changes) == 0:
		fmt.Fprintf(&b, "%s: nothing to change\n", what)
	case check:
		fmt.Fprintf(&b, "%s: %s differ from what the catalog makes: run tidegate catalog render\n", what, count(len(r.Changes), "file"))
	default:
		fmt.Fprintf(&b, "%s: %d created, %d changed, %d deleted\n", what, n["create"], n["change"], n["delete"])
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (s Style) diff(b *strings.Builder, text string) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, l := range lines {
		if i == maxDiffLines {
			fmt.Fprintf(b, "… and %d lines more: -o json has them\n", len(lines)-i)
			return
		}
		l = oneLine(strings.ReplaceAll(l, "\t", "    "))
		switch {
		case strings.HasPrefix(l, "+"):
			l = s.paint("32", l)
		case strings.HasPrefix(l, "-"):
			l = s.red(l)
		case strings.HasPrefix(l, "@@"), strings.HasPrefix(l, "diff "):
			l = s.dim(l)
		}
		b.WriteString(l + "\n")
	}
}

func wavesOf(r *report.Catalog) int {
	seen := map[int]bool{}
	for _, a := range r.Apps {
		seen[a.Wave] = true
	}
	return len(seen)
}

// CatalogGraph writes the apps by wave, with what they need and where they are served.
func CatalogGraph(w io.Writer, r *report.Catalog, s Style) error {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "WAVE\tAPP\tNEEDS\tHOST\tADDRESS\tKEEPS")
	last := -1
	for _, a := range byWave(r) {
		wave := ""
		if a.Wave != last {
			wave, last = fmt.Sprint(a.Wave), a.Wave
		}
		var keeps []string
		if a.Database {
			keeps = append(keeps, "database")
		}
		keeps = append(keeps, a.Storage...)
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", wave, oneLine(a.Name), dash(strings.Join(a.Needs, ", ")), dash(a.Host), dash(a.Address), dash(strings.Join(keeps, ", ")))
	}
	t.Flush()
	fmt.Fprintf(&b, "%s in %s; before them the tiers provide %s\n", count(len(r.Apps), "app"), count(wavesOf(r), "wave"), oneLine(dash(strings.Join(r.Provided, ", "))))
	_, err := io.WriteString(w, b.String())
	return err
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return oneLine(s)
}

func byWave(r *report.Catalog) []report.CatalogApp {
	apps := append([]report.CatalogApp(nil), r.Apps...)
	sort.SliceStable(apps, func(i, j int) bool {
		if apps[i].Wave != apps[j].Wave {
			return apps[i].Wave < apps[j].Wave
		}
		return apps[i].Name < apps[j].Name
	})
	return apps
}

// CatalogMermaid writes the same as a Mermaid flowchart: a box for each wave, an arrow from what is needed to who needs it.
func CatalogMermaid(w io.Writer, r *report.Catalog) error {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	apps, known := byWave(r), map[string]bool{}
	for _, a := range apps {
		known[a.Name] = true
	}
	outside := map[string]bool{}
	for _, a := range apps {
		for _, n := range a.Needs {
			outside[n] = outside[n] || !known[n]
		}
	}
	b.WriteString("  subgraph tiers\n")
	for _, n := range r.Provided {
		if outside[n] {
			fmt.Fprintf(&b, "    %s[%s]\n", node(n), oneLine(n))
		}
	}
	b.WriteString("  end\n")
	for i := 0; i < len(apps); {
		wave := apps[i].Wave
		fmt.Fprintf(&b, "  subgraph wave-%d\n", wave)
		for ; i < len(apps) && apps[i].Wave == wave; i++ {
			fmt.Fprintf(&b, "    %s[%s]\n", node(apps[i].Name), oneLine(apps[i].Name))
		}
		b.WriteString("  end\n")
	}
	for _, a := range apps {
		for _, n := range a.Needs {
			fmt.Fprintf(&b, "  %s --> %s\n", node(n), node(a.Name))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// node is an identifier that Mermaid takes for none of its own words.
func node(name string) string {
	return "n_" + strings.NewReplacer("-", "_", ".", "_").Replace(oneLine(name))
}
