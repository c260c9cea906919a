package rules_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/tidegate/tidegate/internal/report"
	"github.com/tidegate/tidegate/internal/rule"
	"github.com/tidegate/tidegate/internal/rules"
	"github.com/tidegate/tidegate/internal/ruletest"
)

var ruleName = regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)

func archives(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(list) == 0 {
		t.Fatal("there are no archives", err)
	}
	return list
}

// TestRules holds every archive against what it wants: see package ruletest.
func TestRules(t *testing.T) {
	for _, file := range archives(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { ruletest.Run(t, file) })
	}
}

// Every rule has all that is told of it, an archive that it fires on, and one that it nearly does.
func TestRulesAreWhole(t *testing.T) {
	fires, near := map[string]bool{}, map[string]bool{}
	for _, file := range archives(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".txtar"), "-")
		wanted := strings.Contains(string(data), name+` "`)
		fires[name] = fires[name] || wanted
		if strings.Contains(file, "near") {
			near[name] = true
			if wanted {
				t.Errorf("%s is a near miss, and wants its rule", file)
			}
		}
	}
	last, names := "", map[string]bool{}
	for _, r := range rules.All() {
		if r.ID <= last {
			t.Errorf("%s comes after %s", r.ID, last)
		}
		last = r.ID
		if names[r.Name] || !ruleName.MatchString(r.Name) || r.Severity != rule.Error && r.Severity != rule.Warning {
			t.Errorf("%s: name %q, severity %q", r.ID, r.Name, r.Severity)
		}
		names[r.Name] = true
		if r.Name == "" || r.Severity == "" || r.Run == nil || r.Doc.What == "" || r.Doc.Why == "" || r.Doc.Bad == "" || r.Doc.Good == "" || r.Doc.Misses == "" || r.Doc.Since == "" {
			t.Errorf("%s is not told wholly", r.ID)
		}
		if !fires[r.ID] || !near[r.ID] {
			t.Errorf("%s: an archive that it fires on: %v; one that it nearly fires on: %v", r.ID, fires[r.ID], near[r.ID])
		}
		if rules.ByID(r.Name) != r || rules.ByID(r.ID) != r {
			t.Errorf("%s is not found", r.ID)
		}
	}
}

// The examples of the documentation do what they say: the bad one fires its rule and no other, the good one none.
func TestExamples(t *testing.T) {
	for _, r := range rules.All() {
		t.Run(r.ID, func(t *testing.T) {
			check := func(text string) []report.Finding {
				a := txtar.Parse([]byte(text))
				dir := t.TempDir()
				ruletest.Write(t, dir, a, false)
				r := ruletest.Check(t, dir, a)
				ruletest.Rendered(t, r)
				found := r.Findings
				for _, f := range found {
					ruletest.Sound(t, dir, f)
				}
				return found
			}
			bad := check(r.Doc.Bad)
			if len(bad) == 0 {
				t.Error("the bad example has no finding")
			}
			for _, f := range bad {
				if f.Rule != r.ID {
					t.Errorf("the bad example has %s: %s", f.Rule, f.Message)
				}
			}
			for _, f := range check(r.Doc.Good) {
				t.Errorf("the good example has %s %s:%d: %s", f.Rule, f.File, f.Line, f.Message)
			}
		})
	}
}
