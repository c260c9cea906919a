package trace_test

import (
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	yaml3 "go.yaml.in/yaml/v3"

	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/source"
	"github.com/tidegate/tidegate/reference"
)

// The second oracle: change the text at the place that an origin claims, render again, and the value at its path must
// be another. What the first oracle cannot see, a place that happens to hold the same value, it does.

// perturbed gives a scalar's text another value of the same kind; false where there is none to give.
func perturbed(text string, tag string) (string, bool) {
	switch {
	case text == "":
		return "", false
	case tag == "!!int":
		last := text[len(text)-1]
		if last < '0' || last > '9' {
			return "", false
		}
		return text[:len(text)-1] + string('0'+(last-'0'+1)%10), true
	case tag == "!!bool":
		return map[string]string{"true": "false", "false": "true"}[text], text == "true" || text == "false"
	case tag != "!!str":
		return "", false
	case text[0] == '"' || text[0] == '\'':
		return text[:len(text)-1] + "x7" + text[len(text)-1:], true
	case text[0] == '&' || text[0] == '*' || text[0] == '!':
		return "", false
	}
	return text + "x7", true
}

// perturb changes the file at each exact origin of an environment, one at a time, and counts what moved. every is how
// many are left out between two, since each costs a render.
func perturb(t *testing.T, files fstest.MapFS, env string, every uint32) (moved, undecided int) {
	t.Helper()
	scanned := func(files fstest.MapFS) *model.Environment {
		tree, err := source.FromFS("perturbed", files)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range scanTree(t, tree, nil, true) {
			if e.Name == env {
				return e
			}
		}
		return nil
	}
	before := scanned(files)
	tree, err := source.FromFS("as it is", files)
	if err != nil {
		t.Fatal(err)
	}
	v := newSurveyor(tree)
	done := map[model.Span]bool{}
	for _, u := range before.Units {
		for i, b := range u.Built {
			eachScalar(b.Text, func(p model.Path, n *yaml3.Node) {
				o := b.Trace.Origin(p)
				h := fnv.New32a()
				fmt.Fprint(h, o.Span)
				if o.Certainty != model.CertaintyExact || done[o.Span] || h.Sum32()%every != 0 {
					return
				}
				done[o.Span] = true
				text, err := v.spanText(o.Span)
				if err != nil {
					t.Fatal(err)
				}
				changed, ok := perturbed(text, n.ShortTag())
				if o.Step == model.StepGenerator && ok {
					changed = "x7" + text
				}
				if !ok {
					return
				}
				data := string(files[o.Span.File].Data)
				from, _ := v.files[o.Span.File].Offset(o.Span.Line, o.Span.Column)
				other := fstest.MapFS{}
				for name, f := range files {
					other[name] = f
				}
				other[o.Span.File] = &fstest.MapFile{Data: []byte(data[:from] + changed + data[from+len(text):])}
				after := scanned(other)
				value, known := scalarAt(after, u.ID, i, len(u.Built), p)
				switch {
				case !known:
					undecided++ // the unit fails, or the object is another, since the value was what names it
				case value == n.Value:
					t.Errorf("%s %s:%s stays %q when %s:%d:%d becomes %q", u.ID, b.Ref, p, short(value), o.Span.File, o.Span.Line, o.Span.Column, short(changed))
				default:
					moved++
				}
			})
		}
	}
	return moved, undecided
}

// scalarAt finds a value of the object at an index of a unit; known is false where the unit has another shape.
func scalarAt(env *model.Environment, id model.UnitID, i, size int, path model.Path) (value string, known bool) {
	if env == nil {
		return "", false
	}
	for _, u := range env.Units {
		if u.ID != id || len(u.Built) != size {
			continue
		}
		eachScalar(u.Built[i].Text, func(p model.Path, n *yaml3.Node) {
			if p.Equal(path) {
				value, known = n.Value, true
			}
		})
	}
	return value, known
}

// TestPerturbedReference changes the reference platform; TIDEGATE_PERTURB=1 changes all of it, which takes minutes.
func TestPerturbedReference(t *testing.T) {
	every := uint32(12)
	if os.Getenv("TIDEGATE_PERTURB") != "" {
		every = 1
	}
	files := fstest.MapFS{}
	if err := fs.WalkDir(reference.FS, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := reference.FS.ReadFile(p)
		files[p] = &fstest.MapFile{Data: data}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	moved, undecided := perturb(t, files, "dev", every)
	t.Logf("%d values moved with their place, %d could not be followed", moved, undecided)
	if moved < 50 || undecided > moved/2 {
		t.Errorf("%d moved, %d could not be followed: the test says little", moved, undecided)
	}
}

// TestPerturbedRepositories changes one value in a hundred of the repositories that TIDEGATE_REPOS names, or one in
// TIDEGATE_PERTURB.
func TestPerturbedRepositories(t *testing.T) {
	list := os.Getenv("TIDEGATE_REPOS")
	if list == "" {
		t.Skip("TIDEGATE_REPOS names no repository")
	}
	every := uint64(100)
	if n, err := strconv.ParseUint(os.Getenv("TIDEGATE_PERTURB"), 10, 32); err == nil && n > 0 {
		every = n
	}
	for _, dir := range filepath.SplitList(list) {
		tree, err := source.OpenDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		files := fstest.MapFS{}
		for _, e := range tree.Entries() {
			if data, err := tree.ReadFile(e.Path); err == nil {
				files[e.Path] = &fstest.MapFile{Data: data}
			}
		}
		for _, env := range scanTree(t, tree, nil, false) {
			moved, undecided := perturb(t, files, env.Name, uint32(every))
			t.Logf("%s %s: %d values moved with their place, %d could not be followed", filepath.Base(dir), env.Name, moved, undecided)
		}
	}
}

// TestPerturbedShapes changes a repository that has every way in which a value comes to an object.
func TestPerturbedShapes(t *testing.T) {
	files := fstest.MapFS{}
	for _, f := range strings.Split(shapes, "-- ")[1:] {
		name, text, _ := strings.Cut(f, " --\n")
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	moved, undecided := perturb(t, files, "home", 1)
	t.Logf("%d values moved with their place, %d could not be followed", moved, undecided)
	if moved < 30 {
		t.Errorf("only %d moved", moved)
	}
}

const shapes = `-- clusters/home/app.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: app
  namespace: flux-system
spec:
  interval: 10m
  path: ./app
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
  patches:
    - target: {kind: Deployment}
      patch: |
        apiVersion: apps/v1
        kind: Deployment
        metadata:
          name: any
        spec:
          template:
            spec:
              priorityClassName: high
-- app/kustomization.yaml --
resources:
  - deployment.yaml
  - more.yaml
components:
  - component
configMapGenerator:
  - name: generated
    files: [script.sh, other=data.txt]
    literals: [COLOUR=red, "QUOTED='a b'"]
    envs: [settings.env]
patches:
  - path: patch.yaml
  - patch: |-
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: more
      data:
        patched: here
        block: |
          of
          text
  - target: {kind: ConfigMap, name: rewritten}
    patch: |
      - op: add
        path: /data/added
        value: by an operation
-- app/component/kustomization.yaml --
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
patches:
  - patch: |
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: more
      data:
        component: "yes it is"
-- app/deployment.yaml --
# a comment first
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: app
  namespace: default
  annotations:
    note: of the manifest
spec:
  replicas: 2
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec:
      containers:
        - name: one
          image: example.net/one:1
          args: ['single', "double", plain]
        - name: two
          image: example.net/two:1
-- app/patch.yaml --
apiVersion: apps/v1
kind: Deployment
metadata:
  name: app
  namespace: default
spec:
  template:
    spec:
      containers:
        - name: two
          env:
            - {name: FROM, value: patch}
        - name: three
          image: example.net/three:1
-- app/more.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: more
data:
  folded: >-
    two
    lines
  anchored: &a anchored text
  aliased: *a
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: rewritten
data:
  kept: as it was
-- app/script.sh --
#!/bin/sh
echo one
-- app/data.txt --
data
-- app/settings.env --
SIZE=big
`
