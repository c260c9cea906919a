package flux

import (
	"strings"
	"testing"
)

// TestVersions: each row of the table holds from its version on and not before.
func TestVersions(t *testing.T) {
	rows := []struct {
		name          string
		before, since string
		holds         func(Behaviour) bool
	}{
		{"names get a prefix", "2.2.9", "2.3.0", func(b Behaviour) bool { return b.NameAffixes }},
		{"components are decrypted", "2.4", "2.5", func(b Behaviour) bool { return b.DecryptComponents }},
		{"components may be missing", "2.6.4", "2.7.0", func(b Behaviour) bool { return b.IgnoreMissingComponents }},
		{"ExternalArtifact is a source", "2.6.4", "2.7.0", func(b Behaviour) bool { return b.ExternalArtifact }},
		{"undefined variables fail", "2.8.8", "2.9.0", func(b Behaviour) bool { return b.Strict }},
		{"substituteStrategy", "2.8.8", "2.9.0", func(b Behaviour) bool { return b.SubstituteStrategy }},
		{"buildMetadata", "2.8.8", "2.9.0", func(b Behaviour) bool { return b.BuildMetadata }},
		{"images are merged", "2.8.8", "2.9.0", func(b Behaviour) bool { return b.MergeImages }},
		{"negative lengths", "2.8.8", "2.9.0", func(b Behaviour) bool { return b.NegativeLength }},
	}
	for _, row := range rows {
		if b := version(t, row.before); row.holds(b) {
			t.Errorf("%s: holds in %s", row.name, row.before)
		}
		for _, v := range []string{row.since, "2.99", "3.0"} {
			if b := version(t, v); !row.holds(b) {
				t.Errorf("%s: does not hold in %s", row.name, v)
			}
		}
	}
}

// Every field of the newest version is on, so that a field nobody's table switches on is found.
func TestNewestHasAll(t *testing.T) {
	newest, all := version(t, "2.99"), Behaviour{
		Version: "2.99", Strict: true, SubstituteStrategy: true, BuildMetadata: true, MergeImages: true, NegativeLength: true,
		NameAffixes: true, ExternalArtifact: true, IgnoreMissingComponents: true, DecryptComponents: true,
	}
	if newest != all {
		t.Errorf("got %+v", newest)
	}
	if oldest := version(t, "2.0"); oldest != (Behaviour{Version: "2.0"}) {
		t.Errorf("2.0 has %+v", oldest)
	}
}

func TestForReads(t *testing.T) {
	for text, want := range map[string]string{
		"2.9": "2.9", "v2.8.3": "2.8.3", " 2.9.x ": "2.9.x", "2.9.0-rc.1": "2.9.0-rc.1", "2.10": "2.10",
	} {
		if b := version(t, text); b.Version != want {
			t.Errorf("%q is version %q, want %q", text, b.Version, want)
		}
	}
	if !version(t, "2.10").Strict {
		t.Error("2.10 counts as older than 2.9")
	}
}

func TestForRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"": "is not a Flux version", "2": "is not a Flux version", "two.nine": "is not a Flux version", "2.x": "is not a Flux version",
		"latest": "is not a Flux version", "-2.9": "is not a Flux version", "2.-9": "is not a Flux version",
		"1.9": "older than 2.0", "0.41.2": "older than 2.0", "99999999999999999999.1": "is not a Flux version",
	} {
		_, err := For(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestIsGroup(t *testing.T) {
	for _, c := range []struct {
		apiVersion string
		want       bool
	}{
		{"kustomize.toolkit.fluxcd.io/v1", true}, {"kustomize.toolkit.fluxcd.io/v1beta2", true}, {"kustomize.toolkit.fluxcd.io", false},
		{"kustomize.config.k8s.io/v1beta1", false}, {"v1", false}, {"", false},
	} {
		if got := IsGroup(c.apiVersion, KustomizeGroup); got != c.want {
			t.Errorf("%q: %t", c.apiVersion, got)
		}
	}
}

func version(t *testing.T, text string) Behaviour {
	t.Helper()
	b, err := For(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
