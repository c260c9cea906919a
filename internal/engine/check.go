package engine

import (
	"context"
	"fmt"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/tidegate/tidegate/internal/config"
	"github.com/tidegate/tidegate/internal/facts"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/report"
	"github.com/tidegate/tidegate/internal/rule"
	"github.com/tidegate/tidegate/internal/rules"
	"github.com/tidegate/tidegate/internal/yamlpos"
)

// CheckRequest is what a check works on.
type CheckRequest struct {
	Request
	Rules     []string // IDs or names; empty runs all
	SkipRules []string
}

// Facts renders a repository and gives what rules read.
func Facts(ctx context.Context, req Request) (*facts.Index, error) {
	r, err := scanned(ctx, req, true)
	if err != nil {
		return nil, err
	}
	return r.facts(), nil
}

func (r *repository) facts() *facts.Index {
	s := settings(r.conf)
	s.Mirror = r.mirror()
	s.Machines = r.machines()
	return facts.Build(r.Environments, s, r.tree.ReadFile)
}

// machines reads the nodes and control planes of tidegate.yaml, with their places.
func (r *repository) machines() (out []facts.Machine) {
	if r.conf == nil {
		return nil
	}
	data, _ := r.tree.ReadFile(config.FileName)
	file := yamlpos.Parse(data)
	add := func(env, name, addr string, at ...any) {
		a, err := netip.ParseAddr(addr)
		if err != nil {
			return
		}
		m := facts.Machine{Environment: env, Name: name, Addr: a, Span: model.Span{File: config.FileName}}
		if len(file.Documents) > 0 {
			if _, v := file.Documents[0].Find(at); v != nil {
				m.Span = file.Span(v)
				m.Span.File = config.FileName
			}
		}
		out = append(out, m)
	}
	for _, name := range r.conf.Names() {
		e := r.conf.Environments[name]
		add(name, "controlPlaneVIP", e.ControlPlaneVIP, "environments", name, "controlPlaneVIP")
		for i, n := range e.Nodes {
			add(name, "node "+n.Name, n.Address, "environments", name, "nodes", i, "address")
		}
	}
	return out
}

// mirror reads the file of values that installs the network; nil when tidegate.yaml names none, or it cannot be read.
func (r *repository) mirror() *facts.Mirror {
	if r.conf == nil || r.conf.Bootstrap == nil || r.conf.Bootstrap.Cilium == nil || r.conf.Bootstrap.Cilium.Mirrors == "" {
		return nil
	}
	c := r.conf.Bootstrap.Cilium
	data, err := r.tree.ReadFile(c.Values)
	if err != nil || len(data) > config.MaxSize {
		return nil
	}
	file := yamlpos.Parse(data)
	return &facts.Mirror{File: c.Values, Object: objectName(c.Mirrors), Text: string(data), Span: func(p model.Path) model.Span {
		for n := len(p); n >= 0 && len(file.Documents) > 0; n-- {
			key, value := file.Documents[0].Find(p[:n])
			if value == nil {
				continue
			}
			at := value
			if key != nil && value.Kind != yamlpos.Scalar {
				at = key
			}
			span := file.Span(at)
			span.File = c.Values
			return span
		}
		return model.Span{File: c.Values}
	}}
}

// settings takes from tidegate.yaml what rules need.
func settings(c *config.Config) facts.Settings {
	var out facts.Settings
	if c == nil {
		return out
	}
	if k := c.Knobs; k != nil && k.Source != "" {
		out.Knobs = &facts.Knobs{Source: objectName(k.Source), LAN: k.LAN}
	}
	for _, name := range c.Names() {
		if lan, err := netip.ParsePrefix(c.Environments[name].LAN); err == nil {
			out.LANs = append(out.LANs, facts.LAN{Environment: name, Prefix: lan.Masked()})
		}
	}
	return out
}

// objectName reads KIND NAMESPACE/NAME.
func objectName(s string) model.Ref {
	var ref model.Ref
	ref.Kind, s, _ = strings.Cut(strings.Replace(s, " ", "/", 1), "/")
	if ns, name, ok := strings.Cut(strings.TrimSpace(s), "/"); ok {
		ref.Namespace, ref.Name = ns, name
	} else {
		ref.Name = ns
	}
	return ref
}

// Check renders a repository and asks the rules. The error is as Render's; an unknown rule is a *UsageError.
func Check(ctx context.Context, req CheckRequest) (*report.Check, error) {
	start := time.Now()
	asked, err := choose(req.Rules, req.SkipRules)
	if err != nil {
		return nil, err
	}
	r, err := scanned(ctx, req.Request, true)
	if err != nil {
		return nil, err
	}
	ix := r.facts()
	workers := req.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	res, err := rule.Run(ctx, asked, ix, workers)
	if err != nil {
		return nil, err
	}
	allowed, err := allowances(r.conf)
	if err != nil {
		return nil, err
	}
	// Of part of a repository it cannot be said that a suppression is not needed.
	res.Partial = len(req.Environments)+len(req.Entries) > 0
	res.Suppress(ix, allowed, rules.All(), asked)
	var findings []report.Finding
	source := &lines{read: ix.ReadFile}
	for _, f := range res.Findings {
		out := finding(f)
		out.Source = source.around(f.Span)
		findings = append(findings, out)
	}
	var suppressed []report.Suppressed
	for _, s := range res.Suppressed {
		suppressed = append(suppressed, report.Suppressed{Finding: finding(s.Merged), Reason: s.Reason, By: fmt.Sprintf("%s:%d", s.By.File, s.By.Line)})
	}
	var skipped []report.Skipped
	for _, s := range res.Skips {
		units := []string{}
		for _, u := range s.Units {
			units = append(units, u.String())
		}
		skipped = append(skipped, report.Skipped{Rule: s.Rule, Name: rules.ByID(s.Rule).Name, Environment: s.Environment, Needs: s.Needs, Units: units})
	}
	var notes []string
	if r.embedded && len(findings) > 0 {
		notes = append(notes, "This is the reference platform that tidegate carries. What is reported is meant to be: nobody has decided yet where prod's backups go, "+
			"and a value that nobody has decided fails loudly, here and in a gate, instead of being guessed. `tidegate check REPO` checks your own repository.")
	}
	return report.NewCheck(r.tree.Label(), r.Environments, findings, suppressed, skipped, len(asked), r.Warnings, notes, time.Since(start)), nil
}

// choose gives the rules that a request asks for.
func choose(want, skip []string) ([]*rule.Rule, error) {
	var out []*rule.Rule
	named := func(list []string, r *rule.Rule) bool {
		return slices.Contains(list, r.ID) || slices.Contains(list, r.Name)
	}
	for _, r := range rules.All() {
		if (len(want) == 0 || named(want, r)) && !named(skip, r) {
			out = append(out, r)
		}
	}
	for _, name := range slices.Concat(want, skip) {
		if rules.ByID(name) == nil {
			return nil, usage("there is no rule %q: see tidegate rules", name)
		}
	}
	if len(out) == 0 {
		return nil, usage("no rule is left to ask")
	}
	return out, nil
}

// allowances takes `allow` from tidegate.yaml.
func allowances(c *config.Config) ([]rule.Allowance, error) {
	if c == nil {
		return nil, nil
	}
	var out []rule.Allowance
	for _, a := range c.Allow {
		id := a.Rule
		if r := rules.ByID(id); r != nil {
			id = r.ID
		}
		out = append(out, rule.Allowance{Rule: id, Path: a.Path, Object: a.Object, Environment: a.Environment, Reason: a.Reason,
			Span: model.Span{File: config.FileName, Line: a.Line, Column: a.Column, EndLine: a.Line, EndColumn: a.EndColumn}})
	}
	return out, nil
}

// finding turns a rule's finding into the report's.
func finding(f *rule.Merged) report.Finding {
	out := report.Finding{Rule: f.Rule.ID, Name: f.Rule.Name, Severity: string(f.Severity), Environments: f.Environments, Path: f.Path.String(),
		File: f.Span.File, Line: f.Span.Line, Column: f.Span.Column, EndLine: f.Span.EndLine, EndColumn: f.Span.EndColumn, Certainty: string(f.Certainty),
		Message: f.Message, Breaks: f.Breaks, Because: []report.Because{}, Fixes: []report.Fix{}, Docs: "docs/rules/" + f.Rule.ID + ".md"}
	if out.Environments == nil {
		out.Environments = []string{}
	}
	if f.Unit != (model.UnitID{}) {
		out.Unit = f.Unit.String()
	}
	if f.Object != (model.Ref{}) {
		out.Object = f.Object.String()
	}
	for _, b := range f.Because {
		out.Because = append(out.Because, report.Because{File: b.Span.File, Line: b.Span.Line, Column: b.Span.Column, EndLine: b.Span.EndLine,
			EndColumn: b.Span.EndColumn, Message: b.Message})
	}
	for _, fix := range f.Fixes {
		edits := []report.Edit{}
		for _, e := range fix.Edits {
			edits = append(edits, report.Edit{File: e.Span.File, Line: e.Span.Line, Column: e.Span.Column, EndLine: e.Span.EndLine, EndColumn: e.Span.EndColumn, New: e.New})
		}
		out.Fixes = append(out.Fixes, report.Fix{Message: fix.Message, Edits: edits})
	}
	return out
}
