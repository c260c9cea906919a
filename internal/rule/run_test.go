package rule

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tidegate/tidegate/internal/facts"
	"github.com/tidegate/tidegate/internal/model"
)

func span(file string, line int) model.Span {
	return model.Span{File: file, Line: line, Column: 3, EndLine: line, EndColumn: 6}
}

func reporting(id string, findings ...Finding) *Rule {
	return &Rule{ID: id, Name: "name-of-" + id, Severity: Warning, Run: func(p *Pass) {
		for _, f := range findings {
			p.Report(f)
		}
	}}
}

// told lists findings, one a line, with everything that merging decides.
func told(list []*Merged) []string {
	var out []string
	for _, f := range list {
		out = append(out, fmt.Sprintf("%s:%d %s %s %s %v %s", f.Span.File, f.Span.Line, f.Rule.ID, f.Severity, f.Message, f.Environments, f.Certainty))
	}
	return out
}

func run(t *testing.T, rules ...*Rule) *Result {
	t.Helper()
	r, err := Run(context.Background(), rules, &facts.Index{}, 2)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What several environments share is one finding.
func TestMerge(t *testing.T) {
	a, b := model.Ref{Kind: "ConfigMap", Name: "a"}, model.Ref{Kind: "ConfigMap", Name: "b"}
	because := func(lines ...int) (out []Because) {
		for _, l := range lines {
			out = append(out, Because{Span: span("vars.yaml", l), Message: "set here"})
		}
		return out
	}
	r := run(t, reporting("TG9001",
		Finding{Environment: "prod", Span: span("x.yaml", 7), Object: a, Message: "m", Because: because(1, 2)},
		Finding{Environment: "dev", Span: span("x.yaml", 7), Object: a, Message: "m", Because: because(2, 3, 3), Severity: Error, Certainty: model.CertaintyAttributed},
		Finding{Environment: "dev", Span: span("x.yaml", 7), Object: a, Message: "m"},
		Finding{Environment: "dev", Span: span("x.yaml", 7), Object: b, Message: "m"},
		Finding{Environment: "dev", Span: span("x.yaml", 7), Object: a, Message: "n"},
		Finding{Environment: "dev", Span: span("x.yaml", 7), Object: a, Message: "m", Path: model.Path{"data", "k"}},
		Finding{Environment: "dev", Span: span("x.yaml", 8), Object: a, Message: "m"},
		Finding{Span: model.Span{File: "folder"}, Message: "of no environment"},
	), reporting("TG9000", Finding{Environment: "dev", Span: span("x.yaml", 7), Object: a, Message: "m"}))
	want := []string{
		"folder:0 TG9001 warning of no environment [] object",
		"x.yaml:7 TG9000 warning m [dev] exact",
		"x.yaml:7 TG9001 error m [dev prod] attributed",
		"x.yaml:7 TG9001 warning m [dev] exact",
		"x.yaml:7 TG9001 warning m [dev] exact",
		"x.yaml:7 TG9001 warning n [dev] exact",
		"x.yaml:8 TG9001 warning m [dev] exact",
	}
	if diff := cmp.Diff(want, told(r.Findings)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(because(1, 2, 3), r.Findings[2].Because); diff != "" {
		t.Errorf("because: %s", diff)
	}
}

// The slices that a rule reports stay its own.
func TestMergeChangesNothingOfTheRules(t *testing.T) {
	shared := make([]Because, 1, 8)
	shared[0] = Because{Message: "first"}
	run(t, reporting("TG9001",
		Finding{Environment: "a", Message: "m", Because: shared},
		Finding{Environment: "b", Message: "m", Because: []Because{{Message: "second"}}}))
	if got := shared[:2][1]; got.Message != "" {
		t.Errorf("merging wrote %q behind the rule's slice", got.Message)
	}
}

func TestSkips(t *testing.T) {
	r := run(t, &Rule{ID: "TG9001", Run: func(p *Pass) {
		p.Skip("", "knobs")
		p.Skip("dev", "knobs")
		p.Skip("", "knobs")
	}}, &Rule{ID: "TG9002", Run: func(p *Pass) { p.Skip("", "knobs") }})
	want := []Skip{{Rule: "TG9001", Needs: "knobs"}, {Rule: "TG9001", Environment: "dev", Needs: "knobs"}, {Rule: "TG9002", Needs: "knobs"}}
	if !reflect.DeepEqual(r.Skips, want) {
		t.Errorf("got %v", r.Skips)
	}
}

// However many work, and whoever is first: the result is the same, byte for byte. Run with -race.
func TestRunParallelIsDeterministic(t *testing.T) {
	var rules []*Rule
	for i := range 40 {
		rules = append(rules, &Rule{ID: fmt.Sprintf("TG9%03d", 500-i), Severity: Warning, Run: func(p *Pass) {
			random := rand.New(rand.NewPCG(1, uint64(i)))
			for range 50 {
				env := p.Facts.Environments[random.IntN(len(p.Facts.Environments))].Name
				p.Report(Finding{Environment: env, Span: span(fmt.Sprintf("f%d.yaml", random.IntN(3)), random.IntN(4)), Message: fmt.Sprint(random.IntN(3)),
					Because: []Because{{Message: env}}})
				p.Skip(env, fmt.Sprint(random.IntN(2)))
			}
			if i%7 == 0 {
				panic(i)
			}
		}})
	}
	ix := facts.Build([]*model.Environment{{Name: "a"}, {Name: "b"}, {Name: "c"}}, facts.Settings{}, nil)
	var first *Result
	for _, workers := range []int{1, 2, 3, 16, 100, 0, -1} {
		r, err := Run(context.Background(), rules, ix, workers)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = r
		}
		if diff := cmp.Diff(first, r, cmpopts.IgnoreFields(Merged{}, "Rule"), cmpopts.IgnoreUnexported(Finding{})); diff != "" {
			t.Fatalf("with %d workers: %s", workers, diff)
		}
	}
	for i, f := range first.Findings[1:] {
		if compare(first.Findings[i], f) > 0 {
			t.Errorf("%s comes before %s", told(first.Findings[i:i+1]), told(first.Findings[i+1:i+2]))
		}
	}
	if len(first.Panicked) != 6 {
		t.Errorf("panicked: %v", first.Panicked)
	}
}

// No more rules than workers run at a time.
func TestRunWorkers(t *testing.T) {
	var now, most atomic.Int32
	var rules []*Rule
	for i := range 30 {
		rules = append(rules, &Rule{ID: fmt.Sprint(i), Run: func(*Pass) {
			n := now.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			now.Add(-1)
		}})
	}
	if _, err := Run(context.Background(), rules, &facts.Index{}, 3); err != nil {
		t.Fatal(err)
	}
	if most.Load() > 3 {
		t.Errorf("%d at a time", most.Load())
	}
}

type held struct{ secret string }

func (h held) Error() string { return "holds " + h.secret }

func explode(v any) { panic(v) }

// A panic costs its rule alone, says where, keeps what was found before, and tells nothing of what panicked.
func TestPanic(t *testing.T) {
	const secret = "hunter2"
	for _, v := range []any{secret, held{secret}, errors.New(secret), &held{secret}, map[string]string{secret: secret}, nil} {
		r := run(t, &Rule{ID: "TG9001", Severity: Warning, Run: func(p *Pass) {
			p.Report(Finding{Span: span("a.yaml", 1), Message: "before"})
			explode(v)
		}}, reporting("TG9002", Finding{Span: span("b.yaml", 1), Message: "another"}))
		if len(r.Findings) != 3 || !reflect.DeepEqual(r.Panicked, []string{"TG9001"}) {
			t.Fatalf("%T: %v", v, told(r.Findings))
		}
		f := r.Findings[0]
		if f.Severity != Error || f.Breaks == "" || len(f.Fixes) == 0 || !strings.Contains(f.Message, "TG9001 panicked") || !strings.Contains(f.Message, "rule.explode, line ") {
			t.Errorf("%T: %+v", v, f)
		}
		if all := fmt.Sprintf("%+v", f.Finding); strings.Contains(all, secret) {
			t.Errorf("%T: the secret is told: %s", v, all)
		}
	}
}

// So it is for the panics of the language itself, and for a rule without a function.
func TestPanicOfTheLanguage(t *testing.T) {
	var none map[string]int
	var list []int
	for name, f := range map[string]func(*Pass){
		"map":   func(*Pass) { none["a"] = 1 },
		"index": func(p *Pass) { _ = list[len(p.findings)] },
		"nil":   func(p *Pass) { _ = p.Facts.Environments[0].Units },
		"none":  nil,
	} {
		r := run(t, &Rule{ID: "TG9001", Run: f})
		if len(r.Findings) != 1 || !strings.Contains(r.Findings[0].Message, "panicked") {
			t.Errorf("%s: %v", name, told(r.Findings))
		}
	}
}

func TestRunEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ran := 0
	var rules []*Rule
	for range 5 {
		rules = append(rules, &Rule{Run: func(*Pass) { ran++; cancel() }})
	}
	if _, err := Run(ctx, rules, &facts.Index{}, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if ran != 1 {
		t.Errorf("%d rules ran after the end", ran-1)
	}
}
