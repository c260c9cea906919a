package engine_test

import (
	"context"
	"os"
	"testing"

	"github.com/tidegate/tidegate/internal/bench"
	"github.com/tidegate/tidegate/internal/engine"
	"github.com/tidegate/tidegate/internal/view"
)

// BenchmarkReference renders both environments of the embedded reference platform.
func BenchmarkReference(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		r, err := engine.Render(context.Background(), engine.Request{})
		if err != nil || r.Summary.Failed > 0 {
			b.Fatal(err, r)
		}
	}
}

// BenchmarkSynthetic renders the generated repository: 300 Kustomizations of 20 objects, one environment and two.
func BenchmarkSynthetic(b *testing.B) {
	dir := os.Getenv("TIDEGATE_BENCH_REPO")
	if dir == "" {
		dir = b.TempDir()
		if err := bench.Write(dir, bench.Options{Units: 300, ObjectsPerUnit: 20, Environments: 2}); err != nil {
			b.Fatal(err)
		}
	}
	for name, envs := range map[string][]string{"one": {"dev"}, "two": {"dev", "prod"}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r, err := engine.Render(context.Background(), engine.Request{Repo: dir, Environments: envs})
				if err != nil || r.Summary.Failed > 0 {
					b.Fatal(err)
				}
				if err := view.Manifests(discard{}, r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
