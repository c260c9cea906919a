package view

import (
	"bufio"
	"io"
	"strings"
	"unicode"

	"github.com/tidegate/tidegate/internal/report"
)

// Manifests writes the objects of every unit as one YAML stream. Comments say which unit begins, and why an object is
// not verified; without the comments a unit's documents are byte for byte what kustomize-controller builds.
func Manifests(w io.Writer, r *report.Render) error {
	b := bufio.NewWriter(w)
	for _, e := range r.Environments {
		for _, u := range e.Units {
			if len(u.Objects) == 0 {
				continue
			}
			b.WriteString("---\n" + oneLine("# "+e.Name+": "+u.Kind+" "+u.Namespace+"/"+u.Name+" from "+u.Path) + "\n")
			if u.Suspended {
				b.WriteString("# suspended: the cluster applies none of it\n")
			}
			if err := writeUnit(b, u); err != nil {
				return err
			}
		}
	}
	return b.Flush()
}

// UnitFile writes the documents of one unit, as `render --out` puts them into a file.
func UnitFile(w io.Writer, u report.Unit) error {
	b := bufio.NewWriter(w)
	if err := writeUnit(b, u); err != nil {
		return err
	}
	return b.Flush()
}

func writeUnit(b *bufio.Writer, u report.Unit) error {
	for i, o := range u.Objects {
		if i > 0 {
			b.WriteString("---\n")
		}
		for _, r := range o.Reasons {
			b.WriteString("# unverified: " + oneLine(r.Message) + "\n")
		}
		b.WriteString(o.Manifest)
		if !strings.HasSuffix(o.Manifest, "\n") {
			b.WriteString("\n")
		}
	}
	return nil
}

// oneLine keeps text from leaving a comment or a table's row, and a terminal from obeying it: control characters, line
// separators, what turns the direction of writing and what has no width become spaces, and bytes that are no text the sign for that.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == 0x2028 || r == 0x2029 || unicode.Is(unicode.Bidi_Control, r) || r == 0x200b || r == 0x2060 || r == 0xfeff {
			return ' '
		}
		return r
	}, s)
}
