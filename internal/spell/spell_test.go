package spell_test

import (
	"testing"

	"github.com/tidegate/tidegate/internal/spell"
)

func TestNearest(t *testing.T) {
	names := []string{"platform", "platform-config", "apps", "storage", "storages"}
	for name, want := range map[string]string{
		"plattform": "platform", "PLATFORM": "platform", "platform-confg": "platform-config",
		"ap": "", "xyz": "", "": "", "storagee": "", // storage and storages are as near
		"databases": "",
	} {
		if got := spell.Nearest(name, names, 2); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b        string
		limit, want int
	}{{"", "", 0, 0}, {"abc", "", 0, 3}, {"abc", "acb", 0, 1}, {"abc", "abd", 0, 1}, {"kitten", "sitting", 0, 3}, {"a", "abcdef", 2, 3}} {
		if got := spell.Distance(c.a, c.b, c.limit); got != c.want {
			t.Errorf("%q to %q: got %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
