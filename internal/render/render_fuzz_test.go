package render

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/tidegate/tidegate/internal/flux"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/oracle"
)

// FuzzRender derives a small repository from its bytes and compares the whole render, from files to what is applied,
// with Flux's own packages, strict and lax.
func FuzzRender(f *testing.F) {
	f.Add([]byte{})
	for seed := range uint64(12) {
		f.Add(randomBytes(seed, 300))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<11 {
			t.Skip("more choices than a repository has")
		}
		holdRender(t, data)
	})
}

// TestRandomRepositories is FuzzRender over fixed repositories.
func TestRandomRepositories(t *testing.T) {
	n := uint64(60)
	if testing.Short() {
		n = 10
	}
	built, failed := 0, 0
	for seed := range n {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			ok, bad := holdRender(t, randomBytes(1000+seed, 400))
			built, failed = built+ok, failed+bad
		})
	}
	t.Logf("%d builds compared byte for byte, %d failures", built, failed)
	if built < failed {
		t.Errorf("of these repositories %d build and %d do not: the comparison says little", built, failed)
	}
}

func randomBytes(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 7))
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	return data
}

// clusterVars is what the cluster holds for substituteFrom.
var clusterVars = oracle.Objects{
	"ConfigMap/flux-system/vars": {"A": "from-cm", "C": "cm\nlines", "E": "1"},
	"Secret/flux-system/vars":    {"C": "secret", "F": "on"},
}

func lookupClusterVars(kind, namespace, name string) *DataSource {
	data, ok := clusterVars[kind+"/"+namespace+"/"+name]
	if !ok {
		return nil
	}
	src := &DataSource{Ref: model.Ref{APIVersion: "v1", Kind: kind, Namespace: namespace, Name: name}, Data: map[string]Value{}}
	for k, v := range data {
		src.Data[k] = Value{Text: v}
	}
	return src
}

// holdRender compares one repository and says how many of the two modes built and how many failed alike.
func holdRender(t *testing.T, data []byte) (built, failed int) {
	t.Helper()
	files, spec := (&dice{data}).repository()
	for _, text := range files {
		if checkAliases([]byte(text)) != nil {
			t.Skip("Flux does not survive it")
		}
	}
	b := behaviour(t, "2.9")
	ks, err := decodeUnit(spec, b)
	if err != nil {
		t.Fatalf("the generator makes a spec that is refused: %v\n%s", err, spec)
	}
	unit := oracle.Unit{Object: untyped(t, ks).Object}
	builder, tracing := &Builder{Flux: b}, &Builder{Flux: b, Trace: true}
	var want [2][]byte
	var wantErr [2]error
	// The judge first, all of it: it empties kustomize's schema while it works, and its Close fills it again.
	a, err := oracle.Open(files.write(t))
	if err != nil {
		t.Fatal(err)
	}
	for i, strict := range []bool{true, false} {
		want[i], wantErr[i] = a.Build(context.Background(), unit, clusterVars, oracle.Options{Strict: strict})
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	for i, strict := range []bool{true, false} {
		out := builder.Render(Input{Files: files, Dir: cleanPath(ks.Spec.Path), Spec: ks, Lookup: lookupClusterVars, Strict: strict})
		where := func() string { return fmt.Sprintf("strict %t\n%s", strict, describe(files, spec)) }
		holdTraced(t, out, tracing.Render(Input{Files: files, Dir: cleanPath(ks.Spec.Path), Spec: ks, Lookup: lookupClusterVars, Strict: strict}), where)
		switch {
		case len(out.Unverified) > 0:
			t.Fatalf("unverified: %+v\n%s", out.Unverified, where())
		case wantErr[i] != nil && len(out.Failures) == 0:
			t.Fatalf("Flux fails and we do not: %v\n%s", wantErr[i], where())
		case wantErr[i] == nil && len(out.Failures) > 0:
			t.Fatalf("we fail and Flux does not: %s\n%s", out.Failures[0].Message, where())
		case wantErr[i] != nil:
			failed++
			continue
		}
		built++
		got := streamOf(out.Objects)
		if got != string(want[i]) {
			t.Fatalf("%s\n%s\ngot:\n%s\nwant:\n%s", firstDifference(got, string(want[i])), where(), got, want[i])
		}
		for _, o := range out.Objects {
			holdObject(t, o)
		}
		holdApplied(t, ks, unit, out.Objects, want[i])
	}
	return built, failed
}

// holdTraced: a build that keeps where values come from gives what any other gives, and says the same where it fails.
func holdTraced(t *testing.T, plain, traced Output, where func() string) {
	t.Helper()
	if got, want := streamOf(traced.Objects), streamOf(plain.Objects); got != want {
		t.Fatalf("traced: %s\n%s", firstDifference(got, want), where())
	}
	if !reflect.DeepEqual(traced.Failures, plain.Failures) || !reflect.DeepEqual(traced.Unverified, plain.Unverified) || !reflect.DeepEqual(traced.Files, plain.Files) {
		t.Fatalf("traced: failures %+v, unverified %+v, files %v\nuntraced: failures %+v, unverified %+v, files %v\n%s",
			traced.Failures, traced.Unverified, traced.Files, plain.Failures, plain.Unverified, plain.Files, where())
	}
	if len(traced.Objects) > 0 && len(traced.Built) == 0 {
		t.Fatalf("nothing was traced\n%s", where())
	}
}

// holdObject: nothing is masked where nothing is secret, and the reference names the object.
func holdObject(t *testing.T, o *model.Object) {
	t.Helper()
	if o.Display != o.YAML || len(o.Unverified) > 0 {
		t.Fatalf("%s is masked or unverified: %+v\n%s", o.Ref, o.Unverified, o.Display)
	}
	var obj map[string]any
	if err := sigsyaml.Unmarshal([]byte(o.YAML), &obj); err != nil {
		t.Fatal(err)
	}
	if id := identityOf(obj); id.Kind != o.Ref.Kind || id.Name != o.Ref.Name || id.Namespace != o.Ref.Namespace {
		t.Fatalf("the reference is %+v\n%s", o.Ref, o.YAML)
	}
}

func holdApplied(t *testing.T, ks *flux.Kustomization, unit oracle.Unit, objects []*model.Object, built []byte) {
	t.Helper()
	want, wantErr := oracle.Applied(built, unit)
	got, failure := Applied(ks, nil, objects, false)
	if wantErr == nil {
		wantErr = oracle.Guard(want)
	}
	if (failure != nil) != (wantErr != nil) {
		t.Fatalf("applied: we say %+v, Flux %v\n%s", failure, wantErr, built)
	}
	if failure != nil {
		return
	}
	text := ""
	for _, o := range got {
		text += "---\n" + o.YAML
	}
	if text != string(want) {
		t.Fatalf("applied: %s\n%s", firstDifference(text, string(want)), built)
	}
}

func streamOf(objects []*model.Object) string {
	var texts []string
	for _, o := range objects {
		texts = append(texts, o.YAML)
	}
	return strings.Join(texts, "---\n")
}

func describe(files mapFiles, spec string) string {
	var b strings.Builder
	for _, p := range sortedKeys(files) {
		fmt.Fprintf(&b, "-- %s --\n%s", p, files[p])
	}
	return b.String() + "-- spec --\n" + spec
}
