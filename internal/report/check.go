package report

import (
	"slices"
	"time"

	"github.com/tidegate/tidegate/internal/model"
)

// CheckVersion is the version of Check's JSON.
const CheckVersion = "tidegate.dev/report/v1"

// Check is the result of `tidegate check`.
type Check struct {
	Version      string             `json:"version" jsonschema:"description=tidegate.dev/report/v1"`
	Repository   string             `json:"repository" jsonschema:"description=the directory as it was named"`
	Environments []CheckEnvironment `json:"environments"`
	Findings     []Finding          `json:"findings" jsonschema:"description=in order of file and line"`
	Suppressed   []Suppressed       `json:"suppressed" jsonschema:"description=findings that a comment or an entry of allow in tidegate.yaml covers"`
	Skipped      []Skipped          `json:"skipped" jsonschema:"description=rules that could not be asked"`
	Unverified   []Unverified       `json:"unverified" jsonschema:"description=what could not be known"`
	Warnings     []string           `json:"warnings"`
	Notes        []string           `json:"notes" jsonschema:"description=remarks on the repository as a whole"`
	Summary      CheckSummary       `json:"summary"`
}

// CheckSummary counts.
type CheckSummary struct {
	Environments int     `json:"environments"`
	Units        int     `json:"units"`
	Objects      int     `json:"objects"`
	Rules        int     `json:"rules" jsonschema:"description=rules that were asked"`
	Errors       int     `json:"errors"`
	Warnings     int     `json:"warnings"`
	Suppressed   int     `json:"suppressed"`
	Skipped      int     `json:"skipped"`
	Failed       int     `json:"failed" jsonschema:"description=units that Flux would fail to build"`
	Unverified   int     `json:"unverified" jsonschema:"description=units of which not everything is known"`
	Seconds      float64 `json:"seconds"`
}

// CheckEnvironment is one cluster.
type CheckEnvironment struct {
	Name        string `json:"name"`
	Entry       string `json:"entry"`
	FluxVersion string `json:"fluxVersion"`
	Units       int    `json:"units"`
	Objects     int    `json:"objects"`
	OK          int    `json:"ok"`
	Failed      int    `json:"failed"`
	Unverified  int    `json:"unverified"`
	Errors      int    `json:"errors" jsonschema:"description=findings of severity error that concern it"`
	Warnings    int    `json:"warnings"`
}

// Finding is one thing that is wrong. Lines and columns count from 1, columns in characters; the end is exclusive.
// Line is absent when only the file is known.
type Finding struct {
	Rule         string    `json:"rule" jsonschema:"pattern=^TG[0-9]{4}$"`
	Name         string    `json:"name"`
	Severity     string    `json:"severity" jsonschema:"enum=error,enum=warning"`
	Environments []string  `json:"environments"`
	Unit         string    `json:"unit,omitempty" jsonschema:"description=KIND/NAMESPACE/NAME"`
	Object       string    `json:"object,omitempty" jsonschema:"description=KIND/NAMESPACE/NAME"`
	Path         string    `json:"path,omitempty" jsonschema:"description=the field of the object"`
	File         string    `json:"file,omitempty"`
	Line         int       `json:"line,omitempty"`
	Column       int       `json:"column,omitempty"`
	EndLine      int       `json:"endLine,omitempty"`
	EndColumn    int       `json:"endColumn,omitempty"`
	Certainty    string    `json:"certainty,omitempty" jsonschema:"enum=exact,enum=attributed,enum=object,description=how sure the place is"`
	Message      string    `json:"message"`
	Breaks       string    `json:"breaks" jsonschema:"description=what happens in the cluster"`
	Because      []Because `json:"because"`
	Fixes        []Fix     `json:"fixes" jsonschema:"description=alternatives"`
	Docs         string    `json:"docs"`

	// Source are the lines around the place, for a view that shows them.
	Source []SourceLine `json:"-"`
}

// SourceLine is a line of a file of the repository, or a part of a long one.
type SourceLine struct {
	Number  int
	Text    string
	Skipped int // characters of the line that are left out before Text
}

// Because is another place that makes a finding so.
type Because struct {
	File      string `json:"file,omitempty"`
	Line      int    `json:"line,omitempty"`
	Column    int    `json:"column,omitempty"`
	EndLine   int    `json:"endLine,omitempty"`
	EndColumn int    `json:"endColumn,omitempty"`
	Message   string `json:"message"`
}

// Fix is one way to mend a finding.
type Fix struct {
	Message string `json:"message"`
	Edits   []Edit `json:"edits"`
}

// Edit replaces a span of a file.
type Edit struct {
	File      string `json:"file"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndLine   int    `json:"endLine"`
	EndColumn int    `json:"endColumn"`
	New       string `json:"new"`
}

// Suppressed is a finding that does not count, and why.
type Suppressed struct {
	Finding
	Reason string `json:"reason"`
	By     string `json:"by" jsonschema:"description=FILE:LINE of the comment or entry"`
}

// Skipped is a rule that could not be asked.
type Skipped struct {
	Rule        string   `json:"rule"`
	Name        string   `json:"name"`
	Environment string   `json:"environment,omitempty" jsonschema:"description=absent when it concerns all"`
	Needs       string   `json:"needs"`
	Units       []string `json:"units" jsonschema:"description=what is not judged for it; empty when that is all"`
}

// Unverified is one cause of what could not be known, with the units that it touches.
type Unverified struct {
	Environment string   `json:"environment"`
	Code        string   `json:"code"`
	Subject     string   `json:"subject,omitempty"`
	Message     string   `json:"message"`
	Fix         string   `json:"fix,omitempty"`
	Units       []string `json:"units"`
}

// NewCheck makes the report. Findings, suppressed and skipped are taken as they are; rules is how many were asked.
func NewCheck(repository string, envs []*model.Environment, findings []Finding, suppressed []Suppressed, skipped []Skipped, rules int,
	warnings, notes []string, took time.Duration) *Check {
	r := &Check{Version: CheckVersion, Repository: repository, Environments: []CheckEnvironment{}, Findings: some(findings), Suppressed: some(suppressed),
		Skipped: some(skipped), Unverified: []Unverified{}, Warnings: some(warnings), Notes: some(notes)}
	for _, e := range envs {
		env := environment(e)
		out := CheckEnvironment{Name: e.Name, Entry: e.Entry, FluxVersion: e.FluxVersion, Units: env.Summary.Units, Objects: env.Summary.Objects,
			OK: env.Summary.OK, Failed: env.Summary.Failed, Unverified: env.Summary.Unverified}
		for _, f := range findings {
			if !slices.Contains(f.Environments, e.Name) {
				continue
			}
			if f.Severity == "error" {
				out.Errors++
			} else {
				out.Warnings++
			}
		}
		r.Environments = append(r.Environments, out)
		r.Unverified = append(r.Unverified, unverified(env)...)
		r.Summary.Units += out.Units
		r.Summary.Objects += out.Objects
		r.Summary.Failed += out.Failed
		r.Summary.Unverified += out.Unverified
	}
	for _, f := range findings {
		if f.Severity == "error" {
			r.Summary.Errors++
		} else {
			r.Summary.Warnings++
		}
	}
	r.Summary.Environments, r.Summary.Rules = len(envs), rules
	r.Summary.Suppressed, r.Summary.Skipped = len(suppressed), skippedRules(skipped)
	r.Summary.Seconds = float64(took.Round(time.Millisecond)) / float64(time.Second)
	return r
}

// skippedRules counts the rules that could not be asked, or not of everything.
func skippedRules(list []Skipped) int {
	seen := map[string]bool{}
	for _, s := range list {
		seen[s.Rule] = true
	}
	return len(seen)
}

func some[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// unverified gathers what could not be known by its cause.
func unverified(e Environment) []Unverified {
	var out []Unverified
	at := map[string]int{}
	add := func(r Reason, unit string) {
		key := r.Code + "\x00" + r.Subject
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key] = i
			out = append(out, Unverified{Environment: e.Name, Code: r.Code, Subject: r.Subject, Message: r.Message, Fix: r.Fix, Units: []string{}})
		}
		if unit != "" && !slices.Contains(out[i].Units, unit) {
			out[i].Units = append(out[i].Units, unit)
		}
	}
	for _, r := range e.Reasons {
		if r.Code != string(model.CodeEntry) {
			add(r, "")
		}
	}
	for _, u := range e.Units {
		if u.Status == string(model.StatusFailed) {
			continue
		}
		for _, r := range u.Reasons {
			add(r, u.Kind+"/"+u.Namespace+"/"+u.Name)
		}
	}
	return out
}
