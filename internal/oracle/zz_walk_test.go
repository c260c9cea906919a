package oracle

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"sort"
	"strings"
	"testing"

	ssautil "github.com/fluxcd/pkg/ssa/utils"
)

func TestZZWalk(t *testing.T) {
	base := "/work/.mirror-checkouts/"
	type env struct{ repo, sub, path, src string }
	for _, e := range []env{
		{"joryirving+home-ops", "", "kubernetes/clusters/main", "flux-system"},
		{"joryirving+home-ops", "", "kubernetes/clusters/test", "flux-system"},
		{"joryirving+home-ops", "", "kubernetes/clusters/utility", "flux-system"},
		{"onedr0p+home-ops", "", "kubernetes/flux/cluster", "flux-system"},
		{"bjw-s-labs+home-ops", "", "kubernetes/flux/cluster", "flux-system"},
		{"angelnu+k8s-gitops", "", "clusters/prod/config", "cluster-repository"},
		{"equinor+radix-flux", "", "clusters/production", "flux-system"},
		{"ionfury+homelab", "", "kubernetes/clusters/live", "flux-system"},
		{"devantler-tech+platform", "k8s", "clusters/prod", "flux-system"},
		{"fluxcd+flux2-hub-spoke-example", "", "hub", "flux-system"},
	} {
		if f := os.Getenv("ONLY"); f != "" && !strings.Contains(e.repo+"/"+e.path, f) {
			continue
		}
		dir := base + e.repo
		if e.sub != "" {
			dir += "/" + e.sub
		}
		a, err := Open(dir)
		if err != nil {
			fmt.Println(e, err)
			continue
		}
		os.RemoveAll(a.root + "/.git")
		objs := Objects{}
		seen := map[string]bool{}
		queue := []Unit{{Object: map[string]any{"metadata": map[string]any{"name": e.src, "namespace": "flux-system"}, "spec": map[string]any{"path": "./" + e.path, "sourceRef": map[string]any{"kind": "any", "name": e.src}}}}}
		n, objects := 0, 0
		errs := map[string]int{}
		var list []string
		foreign := map[string]int{}
		for pass := 0; pass < 3; pass++ {
			// several passes so that ConfigMaps rendered later are seen
			queue2 := queue
			n, objects = 0, 0
			errs = map[string]int{}
			list = nil
			foreign = map[string]int{}
			seen = map[string]bool{}
			for len(queue2) > 0 {
				u := queue2[0]
				queue2 = queue2[1:]
				ks, _, terr := u.typed()
				key := u.Name()
				if terr == nil {
					key = ks.Namespace + "/" + ks.Name
					if seen[key] {
						continue
					}
					seen[key] = true
					if ks.Spec.SourceRef.Name != e.src {
						foreign[string(ks.Spec.SourceRef.Kind)+"/"+ks.Spec.SourceRef.Name]++
						continue
					}
				}
				n++
				b, err := a.Build(context.Background(), u, objs, Options{Strict: true})
				if err != nil {
					m := err.Error()
					if len(m) > 230 {
						m = m[:230]
					}
					list = append(list, key+": "+m)
					errs[m]++
					continue
				}
				os_, _ := ssautil.ReadObjects(bytes.NewReader(b))
				objects += len(os_)
				for _, o := range os_ {
					if o.GetKind() == "Kustomization" && strings.HasPrefix(o.GetAPIVersion(), "kustomize.toolkit") {
						queue2 = append(queue2, Unit{Object: o.Object})
					}
					if o.GetAPIVersion() == "v1" && (o.GetKind() == "ConfigMap" || o.GetKind() == "Secret") {
						d, _ := o.Object["data"].(map[string]any)
						m := map[string]string{}
						for k, v := range d {
							m[k] = fmt.Sprint(v)
						}
						d, _ = o.Object["stringData"].(map[string]any)
						for k, v := range d {
							m[k] = fmt.Sprint(v)
						}
						objs[o.GetKind()+"/"+o.GetNamespace()+"/"+o.GetName()] = m
					}
				}
			}
			if len(errs) == 0 {
				break
			}
		}
		fmt.Printf("== %s %s: units=%d objects=%d errors=%d foreign=%v\n", e.repo, e.path, n, objects, len(list), foreign)
		sort.Strings(list)
		for _, l := range list {
			fmt.Println("   ", l)
		}
		a.Close()
	}
}
