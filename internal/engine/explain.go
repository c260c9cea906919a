package engine

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/tidegate/tidegate/internal/report"
	"github.com/tidegate/tidegate/internal/rule"
	"github.com/tidegate/tidegate/internal/rules"
	"github.com/tidegate/tidegate/internal/source"
	"github.com/tidegate/tidegate/internal/spell"
)

// Rules lists all rules.
func Rules() *report.Rules {
	out := &report.Rules{Version: report.RulesVersion, Rules: []report.Rule{}}
	for _, r := range rules.All() {
		out.Rules = append(out.Rules, ruleReport(r))
	}
	return out
}

// Explain tells of one rule, by ID or name, with what its example really gives. An unknown one is a *UsageError that
// names those that are spelt alike.
func Explain(ctx context.Context, name string) (*report.Rules, error) {
	r := rules.ByID(strings.ToUpper(name))
	if r == nil {
		r = rules.ByID(strings.ToLower(name))
	}
	if r == nil {
		return nil, usage("there is no rule %q: %s", name, alike(name))
	}
	out := ruleReport(r)
	var err error
	if out.Found, err = Example(ctx, r.Doc.Bad); err != nil {
		return nil, fmt.Errorf("the example of %s: %w", r.ID, err)
	}
	return &report.Rules{Version: report.RulesVersion, Rules: []report.Rule{out}}, nil
}

// Example checks a small repository that a txtar archive holds.
func Example(ctx context.Context, archive string) ([]report.Finding, error) {
	files, err := txtar.FS(txtar.Parse([]byte(archive)))
	if err != nil {
		return nil, err
	}
	tree, err := source.FromFS("the example", files)
	if err != nil {
		return nil, err
	}
	r, err := Check(ctx, CheckRequest{Request: Request{Tree: tree}})
	if err != nil {
		return nil, err
	}
	return r.Findings, nil
}

func ruleReport(r *rule.Rule) report.Rule {
	needs := r.Needs
	if needs == nil {
		needs = []string{}
	}
	return report.Rule{ID: r.ID, Name: r.Name, Severity: string(r.Severity), Needs: needs, What: r.Doc.What, Why: r.Doc.Why, Bad: r.Doc.Bad, Good: r.Doc.Good,
		Misses: r.Doc.Misses, Since: r.Doc.Since, Docs: "docs/rules/" + r.ID + ".md"}
}

// maxName is the longest name that is compared with those of rules.
const maxName = 64

// alike names the rules that are spelt nearly so, or have a word that is.
func alike(name string) string {
	name = strings.ToLower(name)
	type candidate struct {
		text string
		far  int
	}
	var list []candidate
	for _, r := range rules.All() {
		if len(name) < 3 || len(name) > maxName {
			break
		}
		far := len(name)
		for _, known := range append([]string{strings.ToLower(r.ID), r.Name}, strings.Split(r.Name, "-")...) {
			far = min(far, spell.Distance(name, known, 0))
		}
		if far <= max(2, len(name)/4) && far < len(name)/2 {
			list = append(list, candidate{r.ID + " " + r.Name, far})
		}
	}
	if len(list) == 0 {
		return "see tidegate rules"
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].far < list[j].far })
	var names []string
	for _, c := range list[:min(3, len(list))] {
		names = append(names, c.text)
	}
	return "did you mean " + strings.Join(names, ", ") + "? tidegate rules lists all"
}
