package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/cli"
)

// What is committed is what the program says of itself.
func TestCommandsPageIsFresh(t *testing.T) {
	have, err := os.ReadFile("../../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := document(cli.Tree()); !bytes.Equal(have, want) {
		t.Errorf("docs/commands.md is stale: run go generate ./internal/cli/gendocs")
	}
}

// Every command that help names has a section with its flags.
func TestEveryCommandHasASection(t *testing.T) {
	page := string(document(cli.Tree()))
	for _, want := range []string{"## tidegate\n", "## tidegate render\n", "## tidegate version\n", "--age-key-file FILE", "-o, --output FORMAT", "-h, --help"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, c := range cli.Tree().Commands() {
		if got := strings.Contains(page, "\n## "+c.CommandPath()+"\n"); got != c.IsAvailableCommand() {
			t.Errorf("%s: section %t, want %t", c.CommandPath(), got, c.IsAvailableCommand())
		}
	}
}
