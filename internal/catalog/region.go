package catalog

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/tidegate/tidegate/internal/model"
)

// Of two hand-written files a part is generated: the waves in the list of the graph's files, and the table in the
// document about waves. The part stands between two lines that a person wrote there; the rest of the file is left as it
// is, and a file without these lines is left alone altogether.

// The marks, in a file of either kind.
const (
	beginMark = "catalog: begin"
	endMark   = "catalog: end"
)

// wavesDocument is the document with the table of waves.
const wavesDocument = "docs/waves.md"

// regions fills the parts.
func (c *Catalog) regions(out *Output) (problems []Problem) {
	list := path.Join(c.Settings.Clusters, "kustomization.yaml")
	data, err := c.files.ReadFile(list)
	if err == nil {
		var lines []string
		for _, w := range out.Waves {
			lines = append(lines, fmt.Sprintf("- %s.yaml", waveName(c.Settings.Apps, w.Number)))
		}
		with, found, err := fill(string(data), lines)
		switch {
		case err != nil:
			problems = append(problems, Problem{Place: model.Place{File: list, Line: 1, Column: 1}, Message: err.Error(), Fix: fmt.Sprintf("write the lines `# %s` and `# %s` once each, in this order", beginMark, endMark)})
		case found:
			out.Files[list] = []byte(with)
		default:
			problems = append(problems, c.unlisted(out, list, string(data))...)
		}
	} else if len(out.Waves) > 0 {
		problems = append(problems, Problem{Place: model.Place{File: list, Line: 1, Column: 1}, Message: "it does not exist, so nothing would apply the waves", Fix: "write it, or say in tidegate.yaml under catalog.clusters where the graph is"})
	}
	if data, err := c.files.ReadFile(wavesDocument); err == nil {
		with, found, err := fill(string(data), c.table(out))
		if err != nil {
			problems = append(problems, Problem{Place: model.Place{File: wavesDocument, Line: 1, Column: 1}, Message: err.Error()})
		} else if found {
			out.Files[wavesDocument] = []byte(with)
		}
	}
	return problems
}

// unlisted says which waves a list without marks lacks: nothing would apply them.
func (c *Catalog) unlisted(out *Output, list, text string) (problems []Problem) {
	for _, w := range out.Waves {
		if name := waveName(c.Settings.Apps, w.Number) + ".yaml"; !strings.Contains(text, name) {
			problems = append(problems, Problem{Place: model.Place{File: list, Line: 1, Column: 1},
				Message: fmt.Sprintf("it does not list %s, so nothing would apply wave %d", name, w.Number),
				Fix:     fmt.Sprintf("write the lines `# %s` and `# %s` among its resources: what is between them is kept up to date", beginMark, endMark)})
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^\s*-\s*["']?(`+regexp.QuoteMeta(path.Base(c.Settings.Apps))+`-wave-\d+\.yaml)`).FindAllStringSubmatch(text, -1) {
		if _, made := out.Files[path.Join(c.Settings.Clusters, m[1])]; !made {
			problems = append(problems, Problem{Place: model.Place{File: list, Line: 1, Column: 1}, Message: fmt.Sprintf("it lists %s, which is no longer made: the whole graph would not build", m[1]),
				Fix: fmt.Sprintf("take it off the list, or let the lines `# %s` and `# %s` keep the list up to date", beginMark, endMark)})
		}
	}
	return problems
}

// fill puts lines between the marks of a text, indented as the first mark is. found is false for a text without marks.
func fill(text string, lines []string) (with string, found bool, err error) {
	all := strings.SplitAfter(text, "\n")
	begin, end := -1, -1
	for i, l := range all {
		switch marked := strings.TrimSpace(strings.NewReplacer("<!--", "", "-->", "", "#", "").Replace(l)); {
		case marked == beginMark && begin >= 0, marked == endMark && end >= 0:
			return "", false, fmt.Errorf("line %d: the mark %q is there twice", i+1, marked)
		case marked == beginMark:
			begin = i
		case marked == endMark:
			end = i
		}
	}
	switch {
	case begin < 0 && end < 0:
		return text, false, nil
	case begin < 0 || end < begin:
		return "", false, fmt.Errorf("the marks %q and %q do not enclose anything", beginMark, endMark)
	}
	indent := all[begin][:len(all[begin])-len(strings.TrimLeft(all[begin], " \t"))]
	newline := "\n"
	if strings.HasSuffix(all[begin], "\r\n") {
		newline = "\r\n"
	}
	var b strings.Builder
	b.WriteString(strings.Join(all[:begin+1], ""))
	for _, l := range lines {
		b.WriteString(indent + l + newline)
	}
	b.WriteString(strings.Join(all[end:], ""))
	return b.String(), true, nil
}

// table is the table of waves, in Markdown.
func (c *Catalog) table(out *Output) []string {
	lines := []string{"", "| wave | app | needs | at |", "|---|---|---|---|"}
	for _, w := range out.Waves {
		for _, a := range w.Apps {
			var at []string
			if a.Route != nil {
				at = append(at, a.Route.Host)
			}
			if a.L4 != nil {
				at = append(at, "`"+a.L4.Address+"`")
			}
			lines = append(lines, fmt.Sprintf("| %d | %s | %s | %s |", w.Number, a.Name, cell(strings.Join(c.Needs(a), ", ")), cell(strings.Join(at, ", "))))
		}
	}
	return append(lines, "")
}
