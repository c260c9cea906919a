package render

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	fluxkustomize "github.com/fluxcd/pkg/apis/kustomize"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/openapi"

	"github.com/tidegate/tidegate/internal/flux"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/sops"
	"github.com/tidegate/tidegate/internal/trace"
)

// BuildSpec is what a build depends on besides the files it reads: the part of a Kustomization's spec that acts
// before substitution. Name, variables and commonMetadata are not in it, so environments can share a build.
type BuildSpec struct {
	Dir                     string // spec.path, cleaned, in the artifact
	TargetNamespace         string
	NamePrefix, NameSuffix  string
	Patches                 []fluxkustomize.Patch
	Components              []string
	IgnoreMissingComponents bool
	Images                  []fluxkustomize.Image
	BuildMetadata           []string
	Decrypt                 bool // spec.decryption names provider sops
}

// SpecOf takes the build's part of a Kustomization. dir is spec.path after source.JoinSecure.
func SpecOf(ks *flux.Kustomization, dir string) BuildSpec {
	s := BuildSpec{
		Dir:             dir,
		TargetNamespace: ks.Spec.TargetNamespace,
		NamePrefix:      ks.Spec.NamePrefix, NameSuffix: ks.Spec.NameSuffix,
		Patches:                 ks.Spec.Patches,
		Components:              ks.Spec.Components,
		IgnoreMissingComponents: ks.Spec.IgnoreMissingComponents,
		Images:                  ks.Spec.Images,
		Decrypt:                 ks.Spec.Decryption != nil && ks.Spec.Decryption.Provider == "sops",
	}
	for _, m := range ks.Spec.BuildMetadata {
		s.BuildMetadata = append(s.BuildMetadata, string(m))
	}
	return s
}

// Builder runs kustomize builds: warm, in parallel, each once. It is safe for concurrent use.
//
// fluxcd/pkg resets kustomize's global OpenAPI schema for each build, because a custom `openapi:` once leaked into
// later builds (fluxcd/flux2#5972), and that reset is nearly all a small build costs. Here the schema is made once,
// builds share a read lock, and one that has `openapi:` anywhere takes the write lock, resets, builds, resets, and
// warms the schema again.
//
// A build is keyed by its spec, the Flux version, and the bytes of everything it read: each file, each look-up that
// failed, each directory that was listed. Another environment, or another revision, that gives the same answers gets
// the same result.
type Builder struct {
	Flux flux.Behaviour
	Keys *sops.Keys // nil when none is held
	// Trace keeps where values come from.
	Trace bool

	mu     sync.Mutex
	slots  map[string]*slot
	others map[flux.Behaviour]*Builder
	forms  forms
	hits   int
	builds int

	sources map[string]*trace.Sources // by artifact
}

// slot holds the results of one spec; its lock makes the second asker wait for the first.
type slot struct {
	mu      sync.Mutex
	results []*Built
}

// With gives a builder for another Flux version that holds the same keys.
func (b *Builder) With(v flux.Behaviour) *Builder {
	if v == b.Flux {
		return b
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.others == nil {
		b.others = map[flux.Behaviour]*Builder{}
	}
	if b.others[v] == nil {
		b.others[v] = &Builder{Flux: v, Keys: b.Keys, Trace: b.Trace}
	}
	return b.others[v]
}

// Stats tells how many builds ran and how many were answered from earlier ones.
func (b *Builder) Stats() (builds, shared int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.builds, b.hits
}

// Build gives the result of building spec from files. It never fails: what went wrong is in the result.
func (b *Builder) Build(files Files, spec BuildSpec) *Built {
	key, err := json.Marshal(struct {
		Spec BuildSpec
		Flux flux.Behaviour
	}{spec, b.Flux})
	if err != nil {
		return &Built{Err: err}
	}
	b.mu.Lock()
	if b.slots == nil {
		b.slots = map[string]*slot{}
	}
	s := b.slots[string(key)]
	if s == nil {
		s = &slot{}
		b.slots[string(key)] = s
	}
	b.mu.Unlock()

	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.results {
		if r.filesID == files.ID() || sameAnswers(r.trace, files) {
			b.count(&b.hits)
			return r
		}
	}
	r := b.build(files, spec)
	r.filesID = files.ID()
	s.results = append(s.results, r)
	b.count(&b.builds)
	return r
}

func (b *Builder) count(n *int) {
	b.mu.Lock()
	*n++
	b.mu.Unlock()
}

// sameAnswers tells whether files would have answered a build in the way that the trace says.
func sameAnswers(trace map[string]traced, files Files) bool {
	if len(trace) == 0 {
		return false
	}
	for p, t := range trace {
		isDir, ok := files.Stat(p)
		switch t.kind {
		case 'n':
			if ok {
				return false
			}
		case 'd':
			names, ok := files.ReadDir(p)
			if !ok || digest([]byte(strings.Join(names, "\x00"))) != t.sum {
				return false
			}
		case 'f':
			if !ok || isDir {
				return false
			}
			data, err := files.ReadFile(p)
			if err != nil || digest(data) != t.sum {
				return false
			}
		}
	}
	return true
}

// build runs the steps of a build: generate, decrypt the sources, kustomize, decrypt the resources. Where encrypted
// sources take part it runs kustomize again with masks in their place (mask.go says what for).
func (b *Builder) build(files Files, spec BuildSpec) *Built {
	first := b.tracedPass(files, spec, reading{b.Keys, sops.DefaultMask})
	var shown, other *pass
	if first.fs.secretSources {
		shown = b.pass(files, spec, reading{nil, sops.DefaultMask})
	}
	if len(first.fs.opaqueSources) > 0 && first.err == nil {
		other = b.pass(files, spec, reading{b.Keys, otherMask})
	}
	schemaLock.RLock()
	defer schemaLock.RUnlock()
	out := finish(first, shown, other, spec.Decrypt, &b.forms)
	if first.fs.record != nil && out.Err == nil {
		out.origins = first.fs.record.Finish(b.sourcesOf(files))
	}
	return out
}

// sourcesOf gives the positions of an artifact's files, which all its builds share.
func (b *Builder) sourcesOf(files Files) *trace.Sources {
	b.mu.Lock()
	defer b.mu.Unlock()
	id := files.ID()
	if b.sources == nil {
		b.sources = map[string]*trace.Sources{}
	}
	if b.sources[id] == nil {
		b.sources[id] = trace.NewSources(files)
	}
	return b.sources[id]
}

// tracedPass runs a pass that keeps where values come from. One that fails is run again without, since messages quote
// what kustomize read.
func (b *Builder) tracedPass(files Files, spec BuildSpec, how reading) *pass {
	if b.Trace {
		if p := b.attempt(files, spec, how, false, trace.NewRecorder()); p.err == nil && p.fs.limit == nil {
			return p
		} else if p.fs.needAlone {
			if p = b.attempt(files, spec, how, true, trace.NewRecorder()); p.err == nil && p.fs.limit == nil {
				return p
			}
		}
	}
	return b.pass(files, spec, how)
}

// pass is one run of kustomize over one reading of the encrypted content.
type pass struct {
	fs      *buildFS
	reading reading
	made    generated
	res     resmap.ResMap
	err     error
	code    model.Code
}

func (b *Builder) pass(files Files, spec BuildSpec, how reading) *pass {
	p := b.attempt(files, spec, how, false, nil)
	if p.fs.needAlone {
		p = b.attempt(files, spec, how, true, nil)
	}
	return p
}

func (b *Builder) attempt(files Files, spec BuildSpec, how reading, alone bool, record *trace.Recorder) *pass {
	p := &pass{fs: newBuildFS(files), reading: how}
	p.fs.exclusive, p.fs.record = alone, record
	if _, ok := p.fs.stat(abs(spec.Dir)); !ok {
		p.code, p.err = model.CodePath, fmt.Errorf("kustomization path not found: %s is not in the artifact", spec.Dir)
		return p
	}
	if p.made, p.err = generate(p.fs, spec.Dir, &spec, b.Flux); p.err != nil {
		p.code = model.CodeGenerate
		if p.made.made && p.fs.limit == nil {
			if why := explainGenerated(p.fs, spec.Dir); why != nil {
				p.err = why
			}
		}
		return p
	}
	if spec.Decrypt {
		if p.err = decryptSources(p.fs, spec.Dir, how, b.Flux); p.err != nil {
			p.code = model.CodeDecrypt
			return p
		}
	}
	warm.Do(func() {
		jsonpatch.AccumulatedCopySizeLimit = maxCopied
		warmSchema()
	})
	if alone {
		schemaLock.Lock()
		warmSchema()
		defer func() { warmSchema(); schemaLock.Unlock() }()
	} else {
		schemaLock.RLock()
		defer schemaLock.RUnlock()
	}
	if p.res, p.err = kustomize(p.fs, spec.Dir); p.fs.refused != nil {
		p.err = p.fs.refused
	} else if url, ok := refusedFetch(p.err); ok {
		p.fs.remotes = append(p.fs.remotes, Remote{File: spec.Dir, URL: url})
	}
	var copied *jsonpatch.AccumulatedCopySizeError
	if p.fs.limit == nil && p.err != nil && (errors.As(p.err, &copied) || strings.Contains(p.err.Error(), "accumulated size increase of copy")) {
		p.fs.limit = fmt.Errorf("the JSON patches of %s copy more than %d MiB", spec.Dir, maxCopied>>20)
	}
	if p.err != nil {
		p.code = model.CodeBuild
		if p.made.made && p.fs.limit == nil && !p.fs.needAlone {
			if why := explainGenerated(p.fs, spec.Dir); why != nil {
				p.code, p.err = model.CodeGenerate, why
			}
		}
		return p
	}
	return p
}

// kustomize's schema is a global of the process, so what guards it is one too.
var (
	schemaLock sync.RWMutex
	warm       sync.Once
)

// warmSchema parses the built-in schema, which builds then only read.
func warmSchema() {
	openapi.ResetOpenAPI()
	_ = openapi.Schema()
}

// kustomize runs a build with the options of fluxcd/pkg kustomize_generator.go Build. kustomize panics on some
// malformed objects; that is a failure of the build.
func kustomize(b *buildFS, dir string) (m resmap.ResMap, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("recovered from kustomize build panic: %v", r)
		}
	}()
	k := krusty.MakeKustomizer(&krusty.Options{
		LoadRestrictions: types.LoadRestrictionsNone,
		PluginConfig:     types.DisabledPluginConfig(),
	})
	m, err = k.Run(b, abs(dir))
	if err != nil {
		return nil, err
	}
	return m, nil
}
