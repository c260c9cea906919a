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
	fluxversion "github.com/tidegate/tidegate/internal/flux"
	"github.com/tidegate/tidegate/internal/render"
	"github.com/tidegate/tidegate/internal/scan"
	"github.com/tidegate/tidegate/internal/source"
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

// synthetic gives the generated repository: 300 Kustomizations of 20 objects, two environments.
func synthetic(b *testing.B) string {
	b.Helper()
	if dir := os.Getenv("TIDEGATE_BENCH_REPO"); dir != "" {
		return dir
	}
	dir := b.TempDir()
	if err := bench.Write(dir, bench.Options{Units: 300, ObjectsPerUnit: 20, Environments: 2}); err != nil {
		b.Fatal(err)
	}
	return dir
}

// environments are the ways to ask for the generated repository.
var environments = []struct {
	name string
	envs []string
}{{"one", []string{"dev"}}, {"two", []string{"dev", "prod"}}}

// BenchmarkTracing scans one environment of the generated repository without and with keeping where values come from,
// which is the whole of the difference.
func BenchmarkTracing(b *testing.B) {
	tree, err := source.OpenDir(synthetic(b))
	if err != nil {
		b.Fatal(err)
	}
	behaviour, err := fluxversion.For(fluxversion.DefaultVersion)
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		trace bool
	}{{"off", false}, {"on", true}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				o := scan.Options{Tree: tree, Only: []string{"dev"}, Builder: &render.Builder{Flux: behaviour, Trace: c.trace}}
				if _, err := scan.Scan(context.Background(), o); err != nil {
					b.Fatal(err)
				}
			}
			usage(b)
		})
	}
}

// BenchmarkCheck checks the generated repository.
func BenchmarkCheck(b *testing.B) {
	dir := synthetic(b)
	for _, c := range environments {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r, err := engine.Check(context.Background(), engine.CheckRequest{Request: engine.Request{Repo: dir, Environments: c.envs}})
				if err != nil {
					b.Fatal(err)
				}
				if err := view.Check(discard{}, r, view.Style{}, false); err != nil {
					b.Fatal(err)
				}
			}
			usage(b)
		})
	}
}

// BenchmarkSynthetic renders the generated repository: 300 Kustomizations of 20 objects, one environment and two.
func BenchmarkSynthetic(b *testing.B) {
	dir := synthetic(b)
	for _, c := range environments {
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
