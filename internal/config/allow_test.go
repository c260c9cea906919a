package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAllow(t *testing.T) {
	got, err := Parse(FileName, []byte(`allow:
  - rule: TG0203
    path: "apps/legacy/**"
    object: Deployment/web/site
    environment: prod
    reason: it goes away
  # a comment
  - {rule: hard-coded-address}
  - &same
    reason: ä
    rule: TG0304
  - *same
  - ? "rule"
    : TG0305
`))
	if err != nil {
		t.Fatal(err)
	}
	want := AllowList{
		{Rule: "TG0203", Path: "apps/legacy/**", Object: "Deployment/web/site", Environment: "prod", Reason: "it goes away", Line: 2, Column: 5, EndColumn: 9},
		{Rule: "hard-coded-address", Line: 8, Column: 6, EndColumn: 10},
		{Rule: "TG0304", Reason: "ä", Line: 10, Column: 5, EndColumn: 11},
		{Rule: "TG0304", Reason: "ä", Line: 12, Column: 5, EndColumn: 6},
		{Rule: "TG0305", Line: 13, Column: 7, EndColumn: 11},
	}
	if diff := cmp.Diff(want, got.Allow); diff != "" {
		t.Error(diff)
	}
}

func TestNothingAllowed(t *testing.T) {
	for _, text := range []string{"allow:", "allow: []", "allow: ~", "environments:"} {
		if c, err := Parse(FileName, []byte(text)); err != nil || len(c.Allow) != 0 {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestAllowRefused(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"allow: TG0203", "line 1: allow is no list"},
		{"allow: {rule: TG0203}", "line 1: allow is no list"},
		{"allow:\n- TG0203", "line 2: an entry of allow has the fields rule, path"},
		{"allow:\n- {}", "line 2: an entry of allow has the fields"},
		{"allow:\n-\n- rule: x", "line 2: an entry of allow has the fields"},
		{"allow:\n- rule: x\n  pth: y", "line 3: field pth not found in an entry of allow"},
		{"allow:\n- rule: x\n  Reason: y", "line 3: field Reason not found"},
		{"allow:\n- rule: [x]", "line 2: cannot unmarshal"},
		{"allow:\n- rule: x\n  rule: y", "already defined"},
		{"allow: &a [*a]", "tidegate.yaml: "},
		{"allow: [{rule: *none}]", "tidegate.yaml: "},
		{"allow:\n- <<: {rule: x}", "field << not found"},
	} {
		got, err := Parse(FileName, []byte(c.text))
		if err == nil {
			t.Errorf("%q: taken as %+v", c.text, got.Allow)
		} else if !strings.HasPrefix(err.Error(), FileName+": ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
}
