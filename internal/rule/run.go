package rule

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/tidegate/tidegate/internal/facts"
	"github.com/tidegate/tidegate/internal/model"
)

// Result is what rules said.
type Result struct {
	Findings   []*Merged // in order of place
	Suppressed []*Suppressed
	Skips      []Skip
}

// Merged is a finding with the environments that share it.
type Merged struct {
	Finding
	Rule         *Rule
	Environments []string
}

// Suppressed is a finding that the repository's owner lives with.
type Suppressed struct {
	*Merged
	Reason string
	By     model.Span // the comment or the entry of tidegate.yaml
}

// Run asks each rule, workers of them at a time. The result does not depend on how many. It fails when ctx ends.
//
// A rule that panics is a finding of its own: a defect of tidegate must not pass for a clean repository.
func Run(ctx context.Context, rules []*Rule, ix *facts.Index, workers int) (*Result, error) {
	passes := make([]*Pass, len(rules))
	g, group := errgroup.WithContext(ctx)
	g.SetLimit(max(1, workers))
	for i, r := range rules {
		passes[i] = &Pass{Facts: ix, Rule: r}
		g.Go(func() error {
			if err := group.Err(); err != nil {
				return err
			}
			passes[i].run()
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	out := &Result{}
	for _, p := range passes {
		out.Findings = append(out.Findings, merge(p)...)
		for _, s := range p.skips {
			if !slices.Contains(out.Skips, s) {
				out.Skips = append(out.Skips, s)
			}
		}
	}
	slices.SortStableFunc(out.Findings, compare)
	return out, nil
}

func (p *Pass) run() {
	defer func() {
		if r := recover(); r != nil {
			// What panicked may hold a secret; its type does not.
			p.findings = append(p.findings, Finding{Severity: Error,
				Message: fmt.Sprintf("rule %s panicked (%T): a defect of tidegate, so that nothing is known of what it checks", p.Rule.ID, r),
				Breaks:  "what the rule looks for may be there and is not reported",
				Fixes:   []Fix{{Message: "report it to tidegate, with the repository if you can"}}})
		}
	}()
	p.Rule.Run(p)
}

// merge puts the findings of one rule together that several environments share, or that it reported twice.
func merge(p *Pass) []*Merged {
	type key struct {
		span    model.Span
		object  model.Ref
		path    string
		message string
	}
	byKey := map[key]*Merged{}
	var out []*Merged
	for _, f := range p.findings {
		if f.Severity == "" {
			f.Severity = p.Rule.Severity
		}
		k := key{f.Span, f.Object, f.Path.String(), f.Message}
		m := byKey[k]
		if m == nil {
			m = &Merged{Finding: f, Rule: p.Rule}
			m.Because = nil
			byKey[k] = m
			out = append(out, m)
		}
		if f.Severity == Error {
			m.Severity = Error
		}
		if f.Environment != "" && !slices.Contains(m.Environments, f.Environment) {
			m.Environments = append(m.Environments, f.Environment)
		}
		for _, b := range f.Because {
			if !slices.Contains(m.Because, b) {
				m.Because = append(m.Because, b)
			}
		}
	}
	for _, m := range out {
		slices.Sort(m.Environments)
	}
	return out
}

// compare orders findings by place, as a person reads files.
func compare(a, b *Merged) int {
	return cmp.Or(strings.Compare(a.Span.File, b.Span.File), cmp.Compare(a.Span.Line, b.Span.Line), cmp.Compare(a.Span.Column, b.Span.Column),
		strings.Compare(a.Rule.ID, b.Rule.ID), strings.Compare(a.Message, b.Message), strings.Compare(a.Object.String(), b.Object.String()),
		strings.Compare(a.Path.String(), b.Path.String()))
}
