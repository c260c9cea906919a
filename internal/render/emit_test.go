package render

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	yaml2 "go.yaml.in/yaml/v2"
)

// holdEmit compares emit with the library for a plain tree, and says whether emit took it.
func holdEmit(t *testing.T, tree any, f *forms) bool {
	t.Helper()
	got, ok := emit(tree, f)
	if !ok {
		return false
	}
	want, err := yaml2.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Fatalf("emit gives\n%s\nyaml.v2 gives\n%s", got, want)
	}
	return true
}

// randomTree makes a tree of what encoding meets: nasty scalars, keys of every kind, blocks, nesting.
func randomTree(r *rand.Rand, depth int) any {
	words := []string{"a", "name", "kind", "x y", "yes", "true", "8080", "1.5", "", " lead", "trail ", "a: b", "a #b", "- x", "*x", "&x", "!x", "%x", "@x", "`x",
		"'q'", `"d"`, "[x", "{x", "x]", "x,y", "null", "~", "2026-01-02", "22:22", "0x1f", "1e3", "ä", "日本", "\tx", "x\ty", "line1\nline2", "line1\n", "line1\n\n", "a\n  b\n\nc", "a \nb",
		strings.Repeat("w", 100), strings.Repeat("word ", 8), strings.Repeat("word ", 30) + "end", "---", "...", "--- a", "?", "? a", "-", ":", "a:", "=", "<<", ".", "/", "$x", "${A}", "|", ">", "#", "x'y", "\\", "😀 x", "a\u00a0b"}
	switch n := r.IntN(12); {
	case depth > 0 && n < 4:
		m := map[string]any{}
		for i := r.IntN(5); i > 0; i-- {
			key := words[r.IntN(len(words))]
			if key == "<<" || len(key) > 90 {
				key = fmt.Sprintf("k-%c.%c/%d", 'a'+r.IntN(26), 'A'+r.IntN(26), r.IntN(3))
			}
			m[key] = randomTree(r, depth-1)
		}
		return m
	case depth > 0 && n < 6:
		list := make([]any, r.IntN(4))
		for i := range list {
			list[i] = randomTree(r, depth-1)
		}
		return list
	case n == 6:
		return r.IntN(1 << 30)
	case n == 7:
		return n == r.IntN(8)
	case n == 8:
		return nil
	}
	return words[r.IntN(len(words))]
}

func TestEmit(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	f := &forms{}
	taken, all := 0, 30000
	for range all {
		tree := map[string]any{"apiVersion": "v1", "spec": randomTree(r, 5), "data": randomTree(r, 3)}
		if holdEmit(t, tree, f) {
			taken++
		}
		holdEmit(t, tree, nil)
	}
	if taken < all/4 {
		t.Fatalf("emit took %d of %d trees: the test tests little", taken, all)
	}
}

func FuzzEmit(f *testing.F) {
	f.Add(`{"a":{"b":["x y",1,true,null,{"c":"l1\nl2"}]}}`)
	f.Add(`{"k1":"","k2":[[["a"]],{}],"K-a":"'"}`)
	f.Add(`{"a":[{"b":"` + strings.Repeat("x ", 60) + `"}]}`)
	f.Fuzz(func(t *testing.T, doc string) {
		var tree any
		if json.Unmarshal([]byte(doc), &tree) != nil {
			return
		}
		if tree, ok := plainJSON(tree); ok {
			holdEmit(t, tree, nil)
		}
	})
}

// plainJSON gives JSON as a plain tree, which has integers and no empty or hostile strings.
func plainJSON(v any) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			e, ok := plainJSON(e)
			if !ok || len(k) > 128 || !plainString(k) || k == "<<" {
				return nil, false
			}
			v[k] = e
		}
		return v, true
	case []any:
		for i, e := range v {
			e, ok := plainJSON(e)
			if !ok {
				return nil, false
			}
			v[i] = e
		}
		return v, true
	case string:
		return v, plainString(v) && !leadingSpace(v)
	case float64:
		return int(v), v == float64(int(v)) && v < maxExactInt && v > -maxExactInt
	}
	return v, true
}

func BenchmarkEmit(b *testing.B) {
	m := map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "web", "namespace": "shop", "labels": map[string]any{"app": "web"}},
		"spec": map[string]any{"replicas": 2, "template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "web", "image": "registry.example.org/web:1.2.3", "command": []any{"sh", "-c", "set -e\nexec web\n"}}}}}}}
	f := &forms{}
	b.Run("emit", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, ok := emit(m, f); !ok {
				b.Fatal("declined")
			}
		}
	})
	b.Run("yaml.v2", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := yaml2.Marshal(m); err != nil {
				b.Fatal(err)
			}
		}
	})
}
