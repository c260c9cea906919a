package view

import (
	"fmt"
	"io"
	"strings"

	"github.com/tidegate/tidegate/internal/report"
)

// Init tells what was written, and what is to be done with it.
func Init(w io.Writer, r *report.Start, s Style) error {
	var b strings.Builder
	dir := oneLine(r.Directory)
	fmt.Fprintf(&b, "%s: %s of a platform for dev and prod\n\n", s.bold(dir), count(r.Files, "file"))
	for i, step := range []struct {
		text     string
		commands []string
	}{
		{"Look at it. One finding is meant: nobody has decided where prod's backups go.", []string{"cd " + dir, "git init && git add --all && git commit -m 'The platform'", "tidegate check"}},
		{"Set what is yours: nodes in tidegate.yaml, knobs in clusters/dev and clusters/prod, and prod's S3_BACKUP_ENDPOINT.", nil},
		{fmt.Sprintf("Make a key of your own. The %d encrypted files are examples, and the key that opens them is public: put your recipient into .sops.yaml, and make each anew from the .example beside it.",
			len(r.Encrypted)), []string{"age-keygen -o platform.agekey", "cp catalog/gitea/gitea-runner.sops.yaml.example catalog/gitea/gitea-runner.sops.yaml   # fill it in", "sops --encrypt --in-place catalog/gitea/gitea-runner.sops.yaml",
			"tidegate catalog render   # copies the catalog's into apps/"}},
		{"Choose your apps: a file each in catalog/.", []string{"tidegate catalog add NAME", "tidegate catalog render"}},
		{"Push it, and bring up a cluster: this prints the steps and runs none.", []string{"tidegate bootstrap dev"}},
	} {
		s.numbered(&b, i+1, step.text, step.commands)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (s Style) numbered(b *strings.Builder, n int, text string, commands []string) {
	s.wrap(b, fmt.Sprintf("%d.", n), text)
	for _, c := range commands {
		fmt.Fprintf(b, "             %s\n", s.bold(Plain(c)))
	}
}

// EnvironmentAdded tells what env add wrote, and what is still to be decided.
func EnvironmentAdded(w io.Writer, r *report.Start, s Style) error {
	var b strings.Builder
	for _, f := range r.Written {
		fmt.Fprintf(&b, "wrote  %s\n", oneLine(f))
	}
	if len(r.Undecided) > 0 {
		s.wrap(&b, "decide", strings.Join(r.Undecided, ", ")+": each is a placeholder that tidegate check refuses")
	}
	s.wrap(&b, "next", "tidegate check, then tidegate bootstrap "+r.Environment)
	_, err := io.WriteString(w, b.String())
	return err
}

// Bootstrap writes the steps for a cluster.
func Bootstrap(w io.Writer, r *report.Bootstrap, s Style) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s, from %s: once, before Flux has the cluster. Nothing of this is run by tidegate.\n\n", s.bold(oneLine(r.Environment)), oneLine(r.Repository), oneLine(r.Entry))
	for i, step := range r.Steps {
		s.numbered(&b, i+1, step.Title+": "+step.Text, step.Commands)
	}
	for _, n := range r.Notes {
		s.wrap(&b, "note", n)
	}
	for _, p := range r.Problems {
		s.wrap(&b, "first", p)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
