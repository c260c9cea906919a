package render

import (
	"context"
	"fmt"
	"testing"

	generator "github.com/fluxcd/pkg/kustomize"
	"sigs.k8s.io/kustomize/api/resmap"

	"github.com/tidegate/tidegate/internal/flux"
	"github.com/tidegate/tidegate/internal/model"
)

// FuzzSubstitute takes one object, from text as kustomize reads it, through substitution, and compares with Flux's
// SubstituteVariables and what the controller does about it. It spares the build, which FuzzRender has, and so is
// quick enough to go deep.
func FuzzSubstitute(f *testing.F) {
	for i, e := range expressions {
		f.Add("v: \""+e+"\"\n", variableValues[i%len(variableValues)], "x", true, false)
	}
	for i, v := range variableValues {
		f.Add(fmt.Sprintf("a: ${A}\nb: [${A}, x${A}]\nc: {d: '${A}'}\ne: |\n  ${A}\n  ${B}\nf: pre ${A}\n${B}: ${A}\n%q: 1\n", expressions[i%len(expressions)]), v, "k", false, false)
	}
	for _, s := range nastyScalars {
		f.Add("v: "+s+"\nw: ${A}\n", "8080", "", true, true)
	}
	f.Add("x: ${A\ny: b}\n", "1", "2", false, false)
	f.Add("metadata:\n  name: ${A}\n  namespace: ${B}\n  labels: {a: ${A}}\n", "x", "1", false, false)
	f.Fuzz(func(t *testing.T, body, a, b string, strict, always bool) {
		if len(body)+len(a)+len(b) > 1<<12 {
			t.Skip("longer input finds nothing that shorter does not")
		}
		holdSubstitute(t, head+body, map[string]string{"A": a, "B": b}, strict, always)
	})
}

// TestSubstituteInPlaces puts every value in every place, alone and within text.
func TestSubstituteInPlaces(t *testing.T) {
	for _, value := range append(variableValues, nastyScalars[:120]...) {
		t.Run(fmt.Sprintf("%.30q", value), func(t *testing.T) {
			for _, p := range places {
				for _, form := range []string{"${A}", "'${A}'", `"${A}"`, "x${A}", "${A}x", "a ${A} b", "${A}${A}", "|\nx ${A}\ny", ">\nx ${A}\ny\n  z", `"a\n${A}"`, `"${A}\n"`, "'#${A}'", "${B:=${A}}"} {
					holdSubstitute(t, p.with(form), map[string]string{"A": value}, false, false)
				}
			}
		})
	}
}

// holdSubstitute compares for the first resource in text; more than one is another fuzz target's business.
func holdSubstitute(t *testing.T, text string, vars map[string]string, strict, always bool) {
	t.Helper()
	list, err := resourcesOf([]byte(text))
	if err != nil || len(list) != 1 || list[0].GetName() == "" {
		return
	}
	res := list[0]
	ks := unitOf(t, "postBuild: {}")
	ks.Spec.PostBuild.Substitute = vars
	if always {
		ks.Spec.PostBuild.SubstituteStrategy = "Always"
	}

	built := &Built{}
	o := &BuiltObject{}
	o.fill(res, reading{}, false, nil, false, &forms{})
	if o.Err != nil && o.ErrCode != model.CodeBuild {
		t.Fatalf("%s: %v", o.ErrCode, o.Err)
	}
	built.Objects = append(built.Objects, o)
	v := behaviour(t, "2.9")
	in := Input{Files: mapFiles{}, Spec: ks, Strict: strict, Lookup: func(string, string, string) *DataSource { return nil }}
	s := &substitution{in: in, built: built, vars: LoadVariables(in, always)}
	var out Output
	ok := s.run(&out, v)

	want, wantErr := fluxSubstitute(t, text, ks, strict, always)
	if ok != (wantErr == nil) {
		t.Fatalf("we say %+v, Flux %v\nvars %q strict %t\n%s", out.Failures, wantErr, vars, strict, text)
	}
	if !ok {
		return
	}
	got := out.Objects[0].YAML
	for i := 0; got != want && i < 50; i++ {
		// Two keys that are one in JSON (1 and "1") overwrite each other in the order of a Go map, in Flux too.
		want, _ = fluxSubstitute(t, text, ks, strict, always)
	}
	if got != want {
		t.Fatalf("%s\nvars %q strict %t\nof\n%s\ngot  %q\nwant %q", firstDifference(got, want), vars, strict, text, got, want)
	}
	holdObject(t, out.Objects[0])
}

// fluxSubstitute does what kustomize-controller does with the only resource in text, after the build.
func fluxSubstitute(t *testing.T, text string, ks *flux.Kustomization, strict, always bool) (string, error) {
	t.Helper()
	list, err := resourcesOf([]byte(text))
	if err != nil || len(list) != 1 {
		t.Fatalf("%d resources, %v", len(list), err)
	}
	m := resmap.New()
	if err := m.Append(list[0]); err != nil {
		t.Fatal(err)
	}
	changed, err := generator.SubstituteVariables(context.Background(), nil, untyped(t, ks), list[0],
		generator.SubstituteWithStrict(strict), generator.SubstituteWithAlways(always))
	if err != nil {
		return "", err
	}
	if changed != nil {
		if _, err := m.Replace(list[0]); err != nil {
			return "", err
		}
	}
	out, err := m.AsYaml()
	return string(out), err
}
