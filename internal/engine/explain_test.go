package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/engine"
)

// Each rule is explained by ID and name, in any case, with what its example gives.
func TestExplain(t *testing.T) {
	all := engine.Rules()
	if len(all.Rules) < 12 {
		t.Fatalf("only %d rules", len(all.Rules))
	}
	for _, r := range all.Rules {
		if len(r.Found) > 0 {
			t.Errorf("%s: the list runs examples", r.ID)
		}
		for _, name := range []string{r.ID, strings.ToLower(r.ID), r.Name, strings.ToUpper(r.Name)} {
			got, err := engine.Explain(context.Background(), name)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Rules) != 1 || got.Rules[0].ID != r.ID || len(got.Rules[0].Found) == 0 || got.Rules[0].Found[0].Rule != r.ID {
				t.Errorf("%s: %+v", name, got.Rules)
			}
		}
	}
}

// An unknown rule is a mistake in the command line, and those that are spelt nearly so are named.
func TestExplainUnknown(t *testing.T) {
	for name, want := range map[string]string{
		"TG302":              "did you mean TG0302 undefined-variable",
		"tg0309":             "did you mean TG0301 unresolved-token, TG0302",
		"undefned-variable":  "did you mean TG0302 undefined-variable?",
		"variable":           "did you mean TG0302 undefined-variable?",
		"supression":         "did you mean TG0002 suppression?", //nolint:misspell // the mistake is what is looked up
		"":                   "see tidegate rules",
		"TG":                 "see tidegate rules",
		"nothing-like-this":  "see tidegate rules",
		"\x1b[2J":            "see tidegate rules",
		"TG0301 ":            "did you mean TG0301",
		longName:             "see tidegate rules",
		"../../rules/TG0301": "see tidegate rules",
	} {
		_, err := engine.Explain(context.Background(), name)
		var wrong *engine.UsageError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.50q: %v", name, err)
		}
	}
}

var longName = strings.Repeat("unresolved-token", 10_000)
