package rule

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
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
	// Panicked are the IDs of rules that panicked: what else they would have found is not known.
	Panicked []string
	// Partial: only some of the repository's environments were rendered. Whoever knows sets it before Suppress, which then
	// calls no suppression needless.
	Partial bool
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
		if p.panicked {
			out.Panicked = append(out.Panicked, p.Rule.ID)
		}
		out.Skips = append(out.Skips, p.skips...)
	}
	slices.SortStableFunc(out.Findings, compare)
	return out, nil
}

func (p *Pass) run() {
	defer func() {
		if r := recover(); r != nil {
			p.panicked = true
			// What panicked may hold a secret; its type and the place in the program do not.
			p.findings = append(p.findings, Finding{Severity: Error, defect: true,
				Message: fmt.Sprintf("rule %s panicked (%T, in %s): a defect of tidegate, so that not everything is known of what it checks", p.Rule.ID, r, panickedIn()),
				Breaks:  "what the rule looks for may be there and is not reported",
				Fixes:   []Fix{{Message: "report it to tidegate, with the repository if you can; --skip-rule " + p.Rule.ID + " leaves the rule out until then"}}})
		}
	}()
	p.Rule.Run(p)
}

// panickedIn names the function and line that panicked. It is called in the deferred function that recovers.
func panickedIn() string {
	var counters [64]uintptr
	frames := runtime.CallersFrames(counters[:runtime.Callers(0, counters[:])])
	inPanic := false
	for {
		f, more := frames.Next()
		if inPanic && !strings.HasPrefix(f.Function, "runtime.") {
			return fmt.Sprintf("%s, line %d", f.Function, f.Line)
		}
		inPanic = inPanic || f.Function == "runtime.gopanic"
		if !more {
			return "a function that is not known"
		}
	}
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
		if f.Certainty == "" {
			f.Certainty = model.CertaintyExact
			if f.Span.Line == 0 {
				f.Certainty = model.CertaintyObject
			}
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
		if doubt(f.Certainty) > doubt(m.Certainty) {
			m.Certainty = f.Certainty
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

// doubt orders certainties: what several environments share is as sure as the least sure of them.
func doubt(c model.Certainty) int {
	switch c {
	case model.CertaintyExact:
		return 0
	case model.CertaintyAttributed:
		return 1
	}
	return 2
}

// compare orders findings by place, as a person reads files.
func compare(a, b *Merged) int {
	return cmp.Or(strings.Compare(a.Span.File, b.Span.File), cmp.Compare(a.Span.Line, b.Span.Line), cmp.Compare(a.Span.Column, b.Span.Column),
		strings.Compare(a.Rule.ID, b.Rule.ID), strings.Compare(a.Message, b.Message), strings.Compare(a.Object.String(), b.Object.String()),
		strings.Compare(a.Path.String(), b.Path.String()))
}
