// Package rule is what a rule is, and runs rules: in parallel, over an index that nobody changes.
package rule

import (
	"slices"

	"github.com/tidegate/tidegate/internal/facts"
	"github.com/tidegate/tidegate/internal/model"
)

// Severity says how much a finding weighs.
type Severity string

const (
	Error   Severity = "error"   // it breaks, or ships what nobody meant
	Warning Severity = "warning" // it works by luck, or in silence does other than it says
)

// Rule is one thing that is checked, with everything that is told of it.
type Rule struct {
	ID       string // TG0301; the first two digits are the family
	Name     string // unresolved-token
	Severity Severity
	// Needs says what must be known besides the repository's files, for the table of rules: "knobs.source in
	// tidegate.yaml". Empty nearly always.
	Needs []string
	Doc   Doc
	// Run reports findings to the pass. It must not change anything that the pass gives it.
	Run func(*Pass)
}

// Doc is a rule's documentation: `tidegate explain` and docs/rules/ID.md are made of it.
type Doc struct {
	What string // one sentence: what is found
	Why  string // what happens in the cluster, and how it was missed; paragraphs
	Bad  string // a txtar archive of a small repository that fires
	Good string // the same, mended: it fires nothing
	// Misses says what the rule leaves alone on purpose, and how to live with a finding that is meant.
	Misses string
	Since  string // the version of tidegate that brought it
}

// Finding is one thing that is wrong, where, because of what, and how to mend it.
type Finding struct {
	// Severity is the rule's when empty.
	Severity Severity
	// Environment is where it was found; the runner puts equal findings of several environments together.
	Environment string
	Unit        model.UnitID // zero where it concerns none
	Object      model.Ref    // zero where it concerns none
	Path        model.Path   // within Object
	Span        model.Span   // the place to look, and to mend
	Certainty   model.Certainty
	Message     string    // what is wrong, in one sentence, with the names and values that matter
	Breaks      string    // what happens in the cluster
	Because     []Because // the other places that make it so
	Fixes       []Fix     // alternatives

	defect bool // of tidegate: nothing suppresses it
}

// Because is another place that makes a finding so.
type Because struct {
	Span    model.Span // may be zero: then only the message is told
	Message string
}

// Fix is one way to mend a finding.
type Fix struct {
	Message string
	Edits   []Edit // what to write where; empty where a person must decide
}

// Edit replaces a span of a file.
type Edit struct {
	Span model.Span
	New  string
}

// Skip says that a rule could not be asked, wholly or for an environment.
type Skip struct {
	Rule        string
	Environment string         // empty: for all
	Needs       string         // "knobs.source in tidegate.yaml"
	Units       []model.UnitID // what is not judged for it; empty: all
}

// Pass is one run of one rule. It is not safe for concurrent use; each rule has its own.
type Pass struct {
	Facts *facts.Index
	Rule  *Rule

	findings []Finding
	skips    []Skip
	panicked bool
}

// Report adds a finding.
func (p *Pass) Report(f Finding) { p.findings = append(p.findings, f) }

// Skip says what the rule would need to know. An empty environment means all of them.
func (p *Pass) Skip(environment, needs string) {
	p.skip(Skip{Rule: p.Rule.ID, Environment: environment, Needs: needs})
}

// SkipUnit says what the rule would need to know to judge one unit.
func (p *Pass) SkipUnit(environment, needs string, unit model.UnitID) {
	p.skip(Skip{Rule: p.Rule.ID, Environment: environment, Needs: needs, Units: []model.UnitID{unit}})
}

func (p *Pass) skip(s Skip) {
	for i := range p.skips {
		have := &p.skips[i]
		if have.Environment != s.Environment || have.Needs != s.Needs {
			continue
		}
		switch {
		case len(have.Units) == 0:
		case len(s.Units) == 0:
			have.Units = nil
		case !slices.Contains(have.Units, s.Units[0]):
			have.Units = append(have.Units, s.Units[0])
		}
		return
	}
	p.skips = append(p.skips, s)
}
