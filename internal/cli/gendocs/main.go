// Command gendocs writes docs/commands.md from the commands and flags that the program really has:
//
//	go generate ./internal/cli/gendocs
package main

//go:generate go run . -out ../../../docs/commands.md

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tidegate/tidegate/internal/cli"
)

func main() {
	out := flag.String("out", "", "the file to write")
	flag.Parse()
	if *out == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := os.WriteFile(*out, document(cli.Tree()), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

const head = `<!-- Written by go generate ./internal/cli/gendocs: change the command, not this file. -->

# Commands
`

// document gives the page: a section for each command, those of one parent in the order of help.
func document(root *cobra.Command) []byte {
	var b bytes.Buffer
	b.WriteString(head)
	section(&b, root)
	return b.Bytes()
}

func section(b *bytes.Buffer, c *cobra.Command) {
	c.InitDefaultHelpFlag()
	fmt.Fprintf(b, "\n## %s\n", c.CommandPath())
	text := c.Long
	if text == "" {
		text = sentence(c.Short)
	}
	fmt.Fprintf(b, "\n%s\n", text)
	fence(b, c.UseLine())
	if c.HasExample() {
		b.WriteString("\nExamples:\n")
		fence(b, unindent(c.Example))
	}
	b.WriteString("\nFlags:\n")
	fence(b, unindent(c.LocalFlags().FlagUsages()))
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			section(b, sub)
		}
	}
}

func fence(b *bytes.Buffer, text string) {
	fmt.Fprintf(b, "\n```text\n%s\n```\n", strings.TrimRight(text, "\n"))
}

// sentence makes one of a command's short description.
func sentence(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}

// unindent takes from every line the two spaces that help puts before it.
func unindent(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(strings.TrimPrefix(lines[i], "  "), " ")
	}
	return strings.Join(lines, "\n")
}
