package render

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/api/resource"
	sigsyaml "sigs.k8s.io/yaml"
)

// The judge of this file is kustomize itself: Resource.AsYAML for encodeNode, and the literal chain of calls in
// fluxcd/pkg's SubstituteVariables for reparse.

func TestEncodeEqualsKustomize(t *testing.T) {
	for _, scalar := range nastyScalars {
		for _, place := range places {
			t.Run(place.name+"/"+scalar, func(t *testing.T) {
				holdEncode(t, []byte(place.with(scalar)))
			})
		}
	}
	for _, doc := range nastyDocuments {
		t.Run("document/"+doc, func(t *testing.T) { holdEncode(t, []byte(head+doc)) })
	}
}

func TestReparseEqualsFlux(t *testing.T) {
	for _, scalar := range nastyScalars {
		for _, place := range places {
			t.Run(place.name+"/"+scalar, func(t *testing.T) {
				holdReparse(t, place.with(scalar))
			})
		}
	}
	for _, doc := range nastyDocuments {
		t.Run("document/"+doc, func(t *testing.T) { holdReparse(t, head+doc) })
	}
	for _, text := range []string{"", "---\n", "null\n", "[]\n", "[a, b]\n", "x\n", "{}\n", "a: b\n---\nc: d\n", "a: b\n...\n", "\ufeffa: b\n", "a: \x00\n", "a: [\n"} {
		t.Run("whole/"+text, func(t *testing.T) { holdReparse(t, text) })
	}
}

// TestIdentityAfterReparse holds the identity that substitution compares, for names that are no strings any more.
func TestIdentityAfterReparse(t *testing.T) {
	for _, name := range []string{
		"x", "123", "0123", "1.10", "1e3", "1e21", "12345678901234567890", "true", "yes", "null", "~", `""`, "-0", "2026-01-02", "1_000", ".5", "0.1",
		"100000000000000000000000", "1.0", "6.02e-7", "[]", "{}", "[a]", "{a: b}", "!x", "0x1F", ".inf", "'5'",
	} {
		for _, field := range []string{"apiVersion", "kind", "name", "namespace"} {
			t.Run(field+"/"+name, func(t *testing.T) {
				fields := map[string]string{"apiVersion": "v1", "kind": "T", "name": "n", "namespace": "s"}
				fields[field] = name
				text := fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n  namespace: %s\n",
					fields["apiVersion"], fields["kind"], fields["name"], fields["namespace"])
				got, err := reparse(text)
				res := blankResource(t)
				_, wantErr := fluxHops(res, text)
				if (err == nil) != (wantErr == nil) {
					t.Fatalf("reparse says %v, Flux %v", err, wantErr)
				}
				if err != nil {
					return
				}
				if got, want := keyOf(identityOf(got.obj)), keyOf(res.CurId()); got != want {
					t.Errorf("identity %+v, want %+v", got, want)
				}
			})
		}
	}
}

// holdEncode compares encodeNode with kustomize for each resource in data, and says how many there were.
func holdEncode(t *testing.T, data []byte) int {
	t.Helper()
	list, err := resourcesOf(data)
	if err != nil {
		return 0
	}
	for _, res := range list {
		holdResource(t, res)
	}
	return len(list)
}

func holdResource(t *testing.T, res *resource.Resource) {
	t.Helper()
	want, wantErr := res.AsYAML()
	got, stable, err := encodeNode(&res.RNode)
	if errText(err) != errText(wantErr) {
		t.Fatalf("encodeNode says %v, kustomize %v\nof %s", err, wantErr, res.MustString())
	}
	if err != nil {
		return
	}
	if got != string(want) {
		t.Fatalf("encodeNode differs at %s\ngot:\n%q\nwant:\n%q", firstDifference(got, string(want)), got, want)
	}
	if again := holdReparse(t, got); stable && again != got {
		t.Fatalf("said to be stable and is not\ngot:\n%q\nagain:\n%q", got, again)
	}
}

// holdReparse compares reparse with Flux's hops, errors and all, and gives the text.
func holdReparse(t *testing.T, text string) string {
	t.Helper()
	want, wantErr := fluxHops(blankResource(t), text)
	got, err := reparse(text)
	if errText(err) != errText(wantErr) {
		t.Fatalf("reparse says %v, Flux %v\nof %q", err, wantErr, text)
	}
	if err != nil {
		return ""
	}
	if got.text != want && fluxMayGive(t, text, got.text) {
		return got.text
	}
	if got.text != want {
		t.Fatalf("reparse differs at %s\nof   %q\ngot  %q\nwant %q", firstDifference(got.text, want), text, got.text, want)
	}
	var tree map[string]any
	if err := sigsyaml.Unmarshal([]byte(want), &tree); err != nil {
		t.Fatalf("Flux's text cannot be read: %v\n%q", err, want)
	}
	if !reflect.DeepEqual(floats(got.obj), floats(tree)) {
		t.Fatalf("the tree is not that of the text\ntree %v\ntext %q", got.obj, want)
	}
	return got.text
}

// fluxHops is what follows envsubst in fluxcd/pkg kustomize_varsub.go, and the AsYAML of the build's result, called on
// Flux's own types. Errors bear the prefixes that kustomize-controller shows.
func fluxHops(res *resource.Resource, text string) (string, error) {
	j, err := sigsyaml.YAMLToJSON([]byte(text))
	if err != nil {
		return "", fmt.Errorf("YAMLToJSON: %w", err)
	}
	if err := res.UnmarshalJSON(j); err != nil {
		return "", fmt.Errorf("UnmarshalJSON: %w", err)
	}
	out, err := res.AsYAML()
	if err != nil {
		return "", fmt.Errorf("AsYAML: %w", err)
	}
	return string(out), nil
}

// fluxMayGive tells whether Flux itself gives got at times: two keys that are one in JSON (1 and "1") overwrite each
// other in the order of a Go map.
func fluxMayGive(t *testing.T, text, got string) bool {
	for range 50 {
		if again, err := fluxHops(blankResource(t), text); err == nil && again == got {
			return true
		}
	}
	return false
}

func resourcesOf(data []byte) (list []*resource.Resource, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("kustomize panics: %v", r)
		}
	}()
	if err := checkAliases(data); err != nil {
		return nil, err // kustomize would not come back
	}
	return provider.NewDefaultDepProvider().GetResourceFactory().SliceFromBytes(data)
}

func blankResource(t *testing.T) *resource.Resource {
	t.Helper()
	list, err := resourcesOf([]byte("apiVersion: v1\nkind: T\nmetadata:\n  name: blank\n"))
	if err != nil || len(list) != 1 {
		t.Fatalf("%d resources, %v", len(list), err)
	}
	return list[0]
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// floats gives a tree with every number as a float64: the trees compared here differ in how they hold integers.
func floats(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = floats(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = floats(e)
		}
		return out
	case int:
		return float64(v)
	case int64:
		return float64(v)
	}
	return v
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := 0; i < len(g) || i < len(w); i++ {
		a, b := "<end>", "<end>"
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			return fmt.Sprintf("line %d: got %q, want %q", i+1, a, b)
		}
	}
	return "no line"
}

func BenchmarkEncode(b *testing.B) {
	list, err := resourcesOf([]byte(plainDeployment))
	if err != nil || len(list) != 1 {
		b.Fatalf("%d resources, %v", len(list), err)
	}
	b.Run("fast", func(b *testing.B) {
		for b.Loop() {
			if _, stable, err := encodeNode(&list[0].RNode); err != nil || !stable {
				b.Fatal("not plain", err)
			}
		}
	})
	b.Run("kustomize", func(b *testing.B) {
		for b.Loop() {
			if _, err := list[0].AsYAML(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkReparse(b *testing.B) {
	b.Run("fast", func(b *testing.B) {
		for b.Loop() {
			if _, err := reparse(plainDeployment); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("flux", func(b *testing.B) {
		for b.Loop() {
			if _, err := reparseLong(plainDeployment); err != nil {
				b.Fatal(err)
			}
		}
	})
}
