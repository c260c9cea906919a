//go:build unix

package engine_test

import (
	"context"
	"os"
	"runtime"
	"syscall"
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
	usage(b)
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
	for _, c := range []struct {
		name string
		envs []string
	}{{"one", []string{"dev"}}, {"two", []string{"dev", "prod"}}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r, err := engine.Render(context.Background(), engine.Request{Repo: dir, Environments: c.envs})
				if err != nil || r.Summary.Failed > 0 {
					b.Fatal(err)
				}
				if err := view.Manifests(discard{}, r); err != nil {
					b.Fatal(err)
				}
			}
			usage(b)
		})
	}
}

// usage reports the peak of the process's memory so far.
func usage(b *testing.B) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) == nil {
		unit := float64(1024) // Linux counts in KiB, macOS in bytes
		if runtime.GOOS == "darwin" {
			unit = 1
		}
		b.ReportMetric(float64(u.Maxrss)*unit/1e6, "peak-MB")
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
