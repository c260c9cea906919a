// Command gendocs writes a page for each rule with what its example really gives, and the JSON Schemas of the results:
//
//	go generate ./internal/rules
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidegate/tidegate/internal/engine"
	"github.com/tidegate/tidegate/internal/report"
	"github.com/tidegate/tidegate/internal/view"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run works in internal/rules, where go generate starts it.
func run() error {
	docs := filepath.Join("..", "..", "docs")
	if err := pages(filepath.Join(docs, "rules")); err != nil {
		return err
	}
	for _, name := range engine.SchemaNames() {
		data, err := engine.Schema(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(docs, name+".schema.json"), append(data, '\n'), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(docs, "catalog.md"), engine.CatalogPage(), 0o644)
}

const head = "<!-- Written by go generate ./internal/rules: change the rule, not this file. -->\n\n"

func pages(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(dir, "TG*.md"))
	if err != nil {
		return err
	}
	for _, f := range old {
		if err := os.Remove(f); err != nil {
			return err
		}
	}
	all := engine.Rules().Rules
	var index bytes.Buffer
	index.WriteString(head + "# Rules\n\n| rule | severity | finds that |\n|---|---|---|\n")
	for _, r := range all {
		what := strings.ReplaceAll(r.What, "|", "\\|")
		if len(r.Needs) > 0 {
			what += "; needs " + strings.Join(r.Needs, ", ")
		}
		fmt.Fprintf(&index, "| [%s %s](%s.md) | %s | %s |\n", r.ID, r.Name, r.ID, r.Severity, what)
		page, err := page(r)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, r.ID+".md"), page, 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, "README.md"), index.Bytes(), 0o644)
}

func page(r report.Rule) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s# %s %s\n\nFinds that %s. Severity %s, since %s.\n\n", head, r.ID, r.Name, r.What, r.Severity, r.Since)
	if len(r.Needs) > 0 {
		fmt.Fprintf(&b, "Needs %s; it is skipped without.\n\n", strings.Join(r.Needs, ", "))
	}
	b.WriteString(r.Why + "\n\n## Example\n\n")
	fence(&b, "", r.Bad)
	found, err := engine.Example(context.Background(), r.Bad)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.ID, err)
	}
	var said strings.Builder
	if err := view.Findings(&said, found, view.Style{}); err != nil {
		return nil, err
	}
	b.WriteString("\n`tidegate check` says:\n\n")
	fence(&b, "text", said.String())
	b.WriteString("\nMended:\n\n")
	fence(&b, "", r.Good)
	b.WriteString("\n## What it leaves alone\n\n" + r.Misses + "\n")
	return b.Bytes(), nil
}

// fence writes a text as it is, between fences that it does not hold itself.
func fence(b *bytes.Buffer, language, text string) {
	mark := "```"
	for strings.Contains(text, mark) {
		mark += "`"
	}
	fmt.Fprintf(b, "%s%s\n%s\n%s\n", mark, language, strings.TrimRight(text, "\n"), mark)
}
