package render

import (
	"reflect"
	"sync"
	"testing"

	"github.com/tidegate/tidegate/internal/sops"
	"github.com/tidegate/tidegate/internal/sops/sopstest"
)

// cached is an artifact whose build reads files, looks for some that are not there, and lists folders.
var cached = mapFiles{
	"app/kustomization.yaml":  "resources: [cm.yaml, ../base, ../generated]\nconfigMapGenerator: [{name: g, files: [f.txt]}]\n",
	"app/cm.yaml":             cmA,
	"app/f.txt":               "text",
	"base/kustomization.yml":  "resources: [b.yaml]\n",
	"base/b.yaml":             cmB,
	"base/unused.yaml":        "unused",
	"generated/Kustomization": "resources: []\nnamePrefix: x-\n",
	"other/x.yaml":            cmA,
}

// walked is an artifact whose folder has no kustomization, so that the build depends on what lies in it.
var walked = mapFiles{"app/a.yaml": cmA, "app/sub/b.yaml": cmB, "app/notes.txt": "x", "other/x.yaml": cmA}

// TestCacheMissesAndHits: a build is shared exactly when its files would give the same answers again.
func TestCacheMissesAndHits(t *testing.T) {
	for _, c := range []struct {
		name   string
		base   mapFiles
		change []string
		hit    bool
	}{
		{"the same bytes", cached, nil, true},
		{"a file that is not read", cached, []string{"other/x.yaml", cmB}, true},
		{"a new file elsewhere", cached, []string{"new/y.yaml", cmB}, true},
		{"a file beside that is not listed", cached, []string{"base/more.yaml", "x"}, true},
		{"an unread file beside", cached, []string{"base/unused.yaml", "changed"}, true},
		{"a manifest", cached, []string{"app/cm.yaml", cmA + "data: {a: b}\n"}, false},
		{"a manifest of a base", cached, []string{"base/b.yaml", cmB + "data: {a: b}\n"}, false},
		{"the kustomization", cached, []string{"app/kustomization.yaml", "resources: [cm.yaml]\n"}, false},
		{"a base's kustomization", cached, []string{"base/kustomization.yml", "resources: [b.yaml]\nnamePrefix: a-\n"}, false},
		{"a generator's input", cached, []string{"app/f.txt", "other text"}, false},
		{"a comment", cached, []string{"app/cm.yaml", "# c\n" + cmA}, false},
		{"a file goes", cached, []string{"app/f.txt", absent}, false},
		{"a second kustomization appears", cached, []string{"base/kustomization.yaml", "resources: [b.yaml]\n"}, false},
		{"a second one in the root folder", cached, []string{"app/Kustomization", "resources: []\n"}, false},
		{"a file becomes a folder", cached, []string{"app/f.txt", absent, "app/f.txt/x", "y"}, false},
		{"walked: the same bytes", walked, nil, true},
		{"walked: elsewhere", walked, []string{"other/x.yaml", cmB}, true},
		{"walked: a new manifest", walked, []string{"app/c.yaml", cmA}, false},
		{"walked: a new manifest below", walked, []string{"app/sub/c.yaml", cmA}, false},
		{"walked: a new folder", walked, []string{"app/more/c.yaml", "---\n"}, false},
		{"walked: a kustomization appears", walked, []string{"app/sub/kustomization.yaml", "resources: [b.yaml]\n"}, false},
		{"walked: a kustomization in the root folder", walked, []string{"app/kustomization.yaml", "resources: [a.yaml]\n"}, false},
		{"walked: a manifest goes", walked, []string{"app/sub/b.yaml", absent}, false},
		{"walked: bytes of a text beside", walked, []string{"app/notes.txt", "y"}, true},
		{"walked: a new text beside", walked, []string{"app/more.txt", "y"}, false},
		{"failed: the path appears", mapFiles{"other/x.yaml": cmA}, []string{"app/a.yaml", cmA}, false},
		{"failed: still not there", mapFiles{"other/x.yaml": cmA}, []string{"more/a.yaml", cmA}, true},
		{"failed: a resource appears", mapFiles{"app/kustomization.yaml": "resources: [a.yaml]\n"}, []string{"app/a.yaml", cmA}, false},
		{"failed: a component appears", mapFiles{"app/kustomization.yaml": "components: [../c]\n"}, []string{"c/kustomization.yaml", "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\n"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &Builder{Flux: behaviour(t, "2.9")}
			spec := SpecOf(unitOf(t, ""), "app")
			first := b.Build(c.base, spec)
			changed := c.base.with(c.change...)
			second := b.Build(changed, spec)
			builds, hits := b.Stats()
			if (hits == 1) != c.hit || builds+hits != 2 {
				t.Fatalf("%d builds, %d hits; want a hit: %t", builds, hits, c.hit)
			}
			if (first == second) != c.hit {
				t.Fatal("what is counted and what is given do not agree")
			}
			// What was given is what a builder without a memory gives.
			fresh := (&Builder{Flux: b.Flux}).Build(changed, spec)
			if textsOf(second) != textsOf(fresh) || errText(second.Err) != errText(fresh.Err) {
				t.Fatalf("got %s %v\nwant %s %v", textsOf(second), second.Err, textsOf(fresh), fresh.Err)
			}
		})
	}
}

func textsOf(b *Built) string {
	text := ""
	for _, o := range b.Objects {
		text += "---\n" + o.Text
	}
	return text
}

// TestCacheReturns: going back to the first files hits the first result, however many lie between.
func TestCacheReturns(t *testing.T) {
	b := &Builder{Flux: behaviour(t, "2.9")}
	spec := SpecOf(unitOf(t, ""), "app")
	versions := []mapFiles{cached, cached.with("app/f.txt", "1"), cached.with("app/f.txt", "2")}
	var results []*Built
	for _, v := range versions {
		results = append(results, b.Build(v, spec))
	}
	for i, v := range versions {
		if b.Build(v, spec) != results[i] {
			t.Errorf("version %d is built again", i)
		}
	}
	if builds, hits := b.Stats(); builds != 3 || hits != 3 {
		t.Errorf("%d builds, %d hits", builds, hits)
	}
}

// TestCacheKeyHasEveryField: two specs that differ in any field, however deep, are two builds.
func TestCacheKeyHasEveryField(t *testing.T) {
	base := BuildSpec{}
	fillAll(reflect.ValueOf(&base).Elem())
	base.Dir = "app"
	paths := 0
	changeEach(reflect.TypeOf(base), nil, func(path []int, name string) {
		if name == "Dir" {
			return
		}
		paths++
		other := BuildSpec{}
		fillAll(reflect.ValueOf(&other).Elem())
		other.Dir = "app"
		change(reflect.ValueOf(&other).Elem(), path)
		if reflect.DeepEqual(base, other) {
			t.Fatalf("%s was not changed: the test does not test", name)
		}
		b := &Builder{Flux: behaviour(t, "2.9")}
		if b.Build(cached, base) == b.Build(cached, other) {
			t.Errorf("%s is not in the key", name)
		}
	})
	if paths < 18 {
		t.Errorf("only %d fields were found in a BuildSpec", paths)
	}
	b := &Builder{Flux: behaviour(t, "2.9")}
	if dir := base; b.Build(cached, base) == b.Build(cached, func() BuildSpec { dir.Dir = "base"; return dir }()) {
		t.Error("Dir is not in the key")
	}
	if b.Build(cached, BuildSpec{Dir: "app"}) == b.With(behaviour(t, "2.8")).Build(cached, BuildSpec{Dir: "app"}) {
		t.Error("the Flux version is not in the key")
	}
	keys, err := sops.ParseKeys([]byte(sopstest.Identity))
	if err != nil {
		t.Fatal(err)
	}
	with := &Builder{Flux: b.Flux, Keys: keys}
	if with.With(behaviour(t, "2.8")).Keys != keys {
		t.Error("another version's builder does not hold the keys")
	}
}

// fillAll sets every field to something, one element in each list.
func fillAll(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fillAll(v.Field(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fillAll(v.Index(0))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillAll(v.Elem())
	case reflect.String:
		v.SetString("x")
	}
}

// changeEach visits every leaf of a type by its path of fields; -1 stands for an element or what a pointer points to.
func changeEach(typ reflect.Type, path []int, visit func(path []int, name string)) {
	for i := range typ.NumField() {
		f := typ.Field(i)
		p := append(path[:len(path):len(path)], i)
		in := f.Type
		for in.Kind() == reflect.Slice || in.Kind() == reflect.Pointer {
			in, p = in.Elem(), append(p, -1)
		}
		if in.Kind() == reflect.Struct {
			changeEach(in, p, visit)
			continue
		}
		visit(p, f.Name)
	}
}

func change(v reflect.Value, path []int) {
	for _, i := range path {
		switch {
		case i >= 0:
			v = v.Field(i)
		case v.Kind() == reflect.Slice:
			v = v.Index(0)
		default:
			v = v.Elem()
		}
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("y")
	case reflect.Bool:
		v.SetBool(!v.Bool())
	}
}

// TestCacheBuildsOnce: many who ask at once get one build.
func TestCacheBuildsOnce(t *testing.T) {
	b := &Builder{Flux: behaviour(t, "2.9")}
	spec := SpecOf(unitOf(t, ""), "app")
	var wg sync.WaitGroup
	results := make([]*Built, 20)
	for i := range results {
		wg.Go(func() { results[i] = b.Build(cached, spec) })
	}
	wg.Wait()
	for _, r := range results {
		if r != results[0] || r.Err != nil {
			t.Fatalf("several results, or %v", r.Err)
		}
	}
	if builds, hits := b.Stats(); builds != 1 || hits != 19 {
		t.Errorf("%d builds, %d hits", builds, hits)
	}
}

// TestCacheAndCiphertext: another ciphertext of the same plaintext is another file.
func TestCacheAndCiphertext(t *testing.T) {
	keys, err := sops.ParseKeys([]byte(sopstest.Identity))
	if err != nil {
		t.Fatal(err)
	}
	b := &Builder{Flux: behaviour(t, "2.9"), Keys: keys}
	spec := SpecOf(unitOf(t, "decryption: {provider: sops}"), "app")
	files := mapFiles{"app/kustomization.yaml": "secretGenerator: [{name: g, files: [p.txt]}]\n"}
	encrypt := func(s string) mapFiles {
		return files.with("app/p.txt", string(sopstest.Encrypt(t, sops.Binary, []byte(s), sopstest.Recipient, "")))
	}
	one := encrypt("x")
	first, again, other, changed := b.Build(one, spec), b.Build(one, spec), b.Build(encrypt("x"), spec), b.Build(encrypt("y"), spec)
	if first != again || first == other || other == changed {
		t.Error("results are shared wrongly")
	}
	if textsOf(first) != textsOf(other) || textsOf(other) == textsOf(changed) {
		t.Error("the results do not depend on the plaintext alone")
	}
}
