package catalog_test

import (
	"fmt"
	"testing"

	"github.com/tidegate/tidegate/internal/catalog"
)

// BenchmarkRender renders a catalog of 300 apps, each of which needs the three before it, against its own output.
func BenchmarkRender(b *testing.B) {
	files := start.with(nil)
	for i := range 300 {
		needs := "cnpg"
		for j := max(0, i-3); j < i; j++ {
			if j/30 < i/30 {
				needs += fmt.Sprintf(", app-%d", j)
			}
		}
		name := fmt.Sprintf("app-%d", i)
		files["catalog/"+name+".yaml"] = app(name, `storage: {data: {mount: /data, size: "${SIZE}"}}`, "database: {size: 1Gi}", "backup: {database: never}",
			fmt.Sprintf("route: {host: %s.example.net, port: http}", name), "needs: ["+needs+"]")
	}
	p, problems, err := catalog.Render(files, tree{}, settings, false)
	if err != nil || len(problems) > 0 {
		b.Fatal(problems, err)
	}
	files = files.with(p.Changes)
	b.ReportAllocs()
	for b.Loop() {
		p, _, err := catalog.Render(files, files, settings, false)
		if err != nil || len(p.Changes) > 0 {
			b.Fatal(err)
		}
	}
}
