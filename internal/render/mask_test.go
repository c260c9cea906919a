package render

import (
	"fmt"
	"strings"
	"testing"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/tidegate/tidegate/internal/sops"
)

// maskCase is a tree with plaintext in it and the tree of the same build over masks.
type maskCase struct {
	plain, masked any
	secrets       []string // leaves that the masked tree does not confirm
	public        []string // leaves that it does
}

// trees grows both trees at once: each leaf is public, or plaintext in one and something else in the other, as a mask,
// in base64, cut, joined, of another type, or gone with the shape that it stood in.
func (c *maskCase) trees(d *dice, depth int) (plain, masked any) {
	switch n := d.roll(8); {
	case n < 2 && depth < 6:
		p, m := map[string]any{}, map[string]any{}
		for i := range 1 + d.roll(4) {
			key := fmt.Sprint("k", i)
			a, b := c.trees(d, depth+1)
			switch d.roll(12) {
			case 10:
				c.hide(a)
				p[key] = a // the masked build has no such key
			case 11:
				m[key], p[key+"-2456789bcd"] = b, a
				c.hide(a)
			default:
				p[key], m[key] = a, b
			}
		}
		return p, m
	case n == 2 && depth < 6:
		var p, m []any
		for range 1 + d.roll(3) {
			a, b := c.trees(d, depth+1)
			p, m = append(p, a), append(m, b)
		}
		if d.one(6) {
			c.hide(any(p))
			return p, m[:len(m)-1]
		}
		return p, m
	case n < 5:
		text := fmt.Sprint("public", len(c.public))
		c.public = append(c.public, text)
		return text, text
	}
	text := fmt.Sprintf("plaintext%dx", len(c.secrets))
	c.secrets = append(c.secrets, text)
	switch d.roll(8) {
	case 0:
		return b64(text), b64(sops.DefaultMask)
	case 1:
		return "a-" + text + "-b", "a-" + sops.DefaultMask + "-b"
	case 2:
		return text, map[string]any{"a": sops.DefaultMask}
	case 3:
		return map[string]any{"a": text}, sops.DefaultMask
	case 4:
		return []any{text}, nil
	case 5:
		return text, "another"
	case 6:
		return text, 5
	}
	return text, sops.DefaultMask
}

// hide moves the public leaves of a value to the secrets: the masked tree no longer confirms them.
func (c *maskCase) hide(v any) {
	text := fmt.Sprint(v)
	kept := c.public[:0:0]
	for _, p := range c.public {
		if strings.Contains(text+" ", p+" ") || strings.Contains(text, p+"]") {
			c.secrets = append(c.secrets, p)
		} else {
			kept = append(kept, p)
		}
	}
	c.public = kept
}

// holdMask: no leaf of the plaintext tree survives where the masked tree differs.
func holdMask(t *testing.T, data []byte) {
	t.Helper()
	c := &maskCase{}
	c.plain, c.masked = c.trees(&dice{data}, 0)
	out, err := sigsyaml.Marshal(maskTree(c.plain, c.masked, 0))
	if err != nil {
		t.Fatal(err)
	}
	text := decoded64(string(out))
	for _, s := range c.secrets {
		if strings.HasPrefix(s, "plaintext") && strings.Contains(text, s) {
			t.Fatalf("%s is shown\nplain  %v\nmasked %v\nshown\n%s", s, c.plain, c.masked, out)
		}
	}
	for _, p := range c.public {
		if !strings.Contains(text, p) {
			t.Fatalf("%s is not shown, and is no secret\nplain  %v\nmasked %v\nshown\n%s", p, c.plain, c.masked, out)
		}
	}
}

func FuzzMaskTree(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(randomBytes(seed, 60))
	}
	f.Fuzz(func(t *testing.T, data []byte) { holdMask(t, data) })
}

func TestMaskTreeOfRandomTrees(t *testing.T) {
	for seed := range uint64(5000) {
		holdMask(t, randomBytes(seed, 80))
	}
}

// TestOnlyHashesPass: a text that differs is shown only if it differs by what kustomize's hash is made of, in one place,
// behind a dash.
func TestOnlyHashesPass(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"gen-2456789bcd", "gen-dcb9876542", true},
		{"gen-2456789bcd", "gen-2456789bcf", true},
		{"volume-gen-2456789bcd-x", "volume-gen-dcb9876542-x", true},
		{"gen-2456789bcd", "gen-2456789bcd", false},
		{"gen-2456789bcd", "gen-dcb987654", false},
		{"gen-2456789bca", "gen-dcb9876542", false},
		{"gen.2456789bcd", "gen.dcb9876542", false},
		{"2456789bcd", "dcb9876542", false},
		{"-2456789bcd", "-dcb9876542", true},
		{"gen-2456789bcd-2456789bcd", "gen-dcb9876542-dcb9876542", false},
		{"hunter2", "**SOPS**", false},
		{"a-2456789bcdhunter2", "a-dcb9876542hunter3", false},
		{"", "", false},
		{"a", "b", false},
	} {
		if got := differByHash(c.a, c.b); got != c.want {
			t.Errorf("%q and %q: %t", c.a, c.b, got)
		}
		if got := differByHash(c.b, c.a); got != c.want {
			t.Errorf("%q and %q: %t", c.b, c.a, got)
		}
	}
}
