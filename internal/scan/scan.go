// Package scan turns a repository into environments with everything in them rendered. It is a worklist: an
// environment's entry is rendered, the Flux Kustomizations in what was rendered are rendered, and so on until none is
// left. A child's spec is what its rendered parent says, never what its file says.
//
// The rules are:
//   - Units are rendered in rounds; within a round in parallel. A unit is in a round when the ConfigMaps and Secrets
//     that its variables come from are known. Those that nothing makes are missing once no other unit is left.
//   - What a unit reads is the settled state: a source that some unit makes counts wherever that unit stands, since
//     kustomize-controller reads it again at each interval. Units are rendered again until nothing changes.
//   - One environment's units never see another's objects. Builds are shared (render.Builder).
package scan

import (
	"context"
	"fmt"
	"path"
	"runtime"
	"sort"
	"strings"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/tidegate/tidegate/internal/config"
	"github.com/tidegate/tidegate/internal/flux"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/render"
	"github.com/tidegate/tidegate/internal/source"
)

// Options is what a scan works on.
type Options struct {
	Tree   source.Tree
	Config *config.Config // nil when there is no tidegate.yaml
	// Entries are named by the user; they replace those that are found.
	Entries []Entry
	// Only selects environments by name; empty selects all.
	Only []string
	// Builder builds; its Flux is the version of the command line, or the default one.
	Builder *render.Builder
	// FluxGiven: the user chose the version, so no environment's configuration changes it.
	FluxGiven bool
	// Cluster are objects that every selected cluster holds before Flux, Assumed those of one environment; "" in
	// Assumed stands for all.
	Cluster []ClusterObject
	Assumed map[string][]ClusterObject
	// Given are values, by environment, for variables that the repository does not hold.
	Given       map[string]map[string]render.Value
	ShowSecrets bool
	Workers     int // parallel builds; 0 means one for each processor
	// Progress hears of each unit that was rendered. It may be called from several goroutines; nil is silent.
	Progress func(env string, done int)
}

// ClusterObject is an object that a user says the cluster holds.
type ClusterObject struct {
	Ref    model.Ref
	Object map[string]any
	File   string
}

// Result is what a scan found.
type Result struct {
	Environments []*model.Environment
	// Names are those of all environments that there are, of which only some may have been asked for.
	Names    []string
	Warnings []string
}

// NoEnvironmentError says that a repository has no environment, or not the one that was asked for.
type NoEnvironmentError struct {
	Label string
	Asked string   // the name that was asked for; empty when there is none at all
	Have  []string // the names there are
}

func (e *NoEnvironmentError) Error() string {
	if e.Asked != "" {
		if len(e.Have) == 0 {
			return fmt.Sprintf("no environment %q in %s", e.Asked, e.Label)
		}
		return fmt.Sprintf("no environment %q in %s: there are %s", e.Asked, e.Label, strings.Join(e.Have, ", "))
	}
	return fmt.Sprintf("%s holds no Flux environment: no gotk-sync.yaml, no FluxInstance with a sync path, and no folder of Flux Kustomizations; name one with --entry NAME=PATH", e.Label)
}

// Scan renders the environments of a repository. With a *NoEnvironmentError comes a result that has warnings alone. It fails only when there is nothing to render or ctx ends; what goes
// wrong in a unit is in that unit.
func Scan(ctx context.Context, o Options) (*Result, error) {
	base, err := source.NewArtifact(o.Tree, source.ArtifactOptions{})
	if err != nil {
		return nil, err
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	res := &Result{}
	entries, err := o.entries(base, res)
	if err != nil {
		return res, err
	}
	for _, e := range entries {
		env, err := o.environment(ctx, base, e, res)
		if err != nil {
			return nil, err
		}
		res.Environments = append(res.Environments, env)
	}
	return res, nil
}

// entries gives what the user named, else what tidegate.yaml names, else what is found; less what Only leaves out.
func (o *Options) entries(base *source.Artifact, res *Result) ([]Entry, error) {
	entries := o.Entries
	if len(entries) == 0 && o.Config != nil {
		for _, name := range o.Config.Names() {
			if c := o.Config.Environments[name]; c.Path != "" {
				e := Entry{Name: name, Path: path.Clean("./" + c.Path), Root: c.Root, How: config.FileName}
				if isDir, ok := base.Stat(e.Path); !ok || !isDir {
					if data, err := o.Tree.ReadFile(e.Path); err == nil {
						e.File = data
					}
				}
				entries = append(entries, e)
			}
		}
	}
	if len(entries) == 0 {
		var warnings []string
		entries, warnings = Discover(base)
		res.Warnings = append(res.Warnings, warnings...)
	} else {
		enrich(base, entries)
	}
	have := make([]string, 0, len(entries))
	for _, e := range entries {
		have = append(have, e.Name)
	}
	res.Names = have
	if len(entries) == 0 {
		return nil, &NoEnvironmentError{Label: o.Tree.Label()}
	}
	if len(o.Only) == 0 {
		return entries, nil
	}
	var out []Entry
	for _, want := range o.Only {
		i := indexOf(have, want)
		if i < 0 {
			return nil, &NoEnvironmentError{Label: o.Tree.Label(), Asked: want, Have: have}
		}
		out = append(out, entries[i])
	}
	sort.SliceStable(out, func(i, j int) bool { return indexOf(have, out[i].Name) < indexOf(have, out[j].Name) })
	return out, nil
}

// enrich takes what the repository says of the source and version of an entry that was named.
func enrich(base *source.Artifact, entries []Entry) {
	for i := range entries {
		e := &entries[i]
		if isDir, ok := base.Stat(e.Path); !ok || !isDir {
			continue
		}
		for _, p := range base.Files() {
			if !strings.HasPrefix(p, e.Path+"/") && e.Path != "." || path.Base(p) != "gotk-sync.yaml" && !strings.Contains(path.Base(p), "instance") && !strings.Contains(path.Base(p), "flux") {
				continue
			}
			d := &discovery{files: base, kustomizations: map[string]*kustomizationFile{}, fluxDocs: map[string][]string{}, fluxDirs: map[string]bool{}}
			d.file(p)
			for _, found := range d.declared {
				if found.Path == e.Path {
					e.Source, e.Unit, e.Version = found.Source, found.Unit, found.Version
				}
			}
		}
	}
}

// otherVersion warns where an environment installs a Flux that treats variables otherwise than the one it is rendered as: a
// FluxInstance (fluxcd.controlplane.io/v1) without a sync path says nothing of the environment but this.
func otherVersion(env *model.Environment, behaviour flux.Behaviour) []string {
	for _, u := range env.Units {
		for _, obj := range u.Objects {
			if obj.Ref.Kind != "FluxInstance" || !flux.IsGroup(obj.Ref.APIVersion, flux.OperatorGroup) {
				continue
			}
			var doc map[string]any
			if sigsyaml.Unmarshal([]byte(obj.Display), &doc) != nil {
				continue
			}
			version := text(doc, "spec", "distribution", "version")
			if b, err := flux.For(version); version != "" && err == nil && b.Strict != behaviour.Strict {
				return []string{fmt.Sprintf("%s: %s installs Flux %s, which treats undefined variables otherwise than Flux %s does: --flux-version %s renders as it", env.Name, obj.Ref, version, behaviour.Version, b.Version)}
			}
		}
	}
	return nil
}

func indexOf(list []string, s string) int {
	for i, l := range list {
		if l == s {
			return i
		}
	}
	return -1
}

// environment renders one environment. The options of its sources stand in objects that the render itself brings, so
// it runs again when they turn out to be others than it assumed.
func (o *Options) environment(ctx context.Context, base *source.Artifact, e Entry, res *Result) (*model.Environment, error) {
	env := &model.Environment{Name: e.Name, Entry: e.Path, Root: ".", Found: e.How}
	behaviour := o.Builder.Flux
	var conf config.Environment
	if o.Config != nil {
		conf = o.Config.Environments[e.Name]
	}
	if conf.FluxVersion != "" && !o.FluxGiven {
		b, err := flux.For(conf.FluxVersion)
		if err != nil {
			return nil, err
		}
		behaviour = b
	} else if e.Version != "" && !o.FluxGiven {
		if b, err := flux.For(e.Version); err == nil && b.Strict != behaviour.Strict {
			res.Warnings = append(res.Warnings, fmt.Sprintf("%s: the repository says Flux %s, which treats undefined variables otherwise than Flux %s does: --flux-version %s renders as it", e.Name, b.Version, behaviour.Version, b.Version))
		}
	}
	env.FluxVersion, env.Strict = behaviour.Version, behaviour.Strict
	defer func() {
		if e.Version == "" && conf.FluxVersion == "" && !o.FluxGiven {
			res.Warnings = append(res.Warnings, otherVersion(env, behaviour)...)
		}
	}()

	known := map[model.SourceRef]source.ArtifactOptions{}
	if e.Root == "" {
		e.Root = conf.Root
	}
	root := path.Clean("./" + e.Root)
	rootKnown := e.Root != ""
	for try := 0; ; try++ {
		r := &run{
			opts: o, entry: e, env: env, flux: behaviour, base: base, known: known, root: root,
			conf: conf, store: newStore(), units: map[model.UnitID]*unit{}, arts: map[model.SourceRef]*artifact{},
		}
		if err := r.all(ctx); err != nil {
			return nil, err
		}
		again := false
		if !rootKnown && try == 0 {
			if better := r.betterRoot(); better != root {
				root, again = better, true
				res.Warnings = append(res.Warnings, fmt.Sprintf("%s: the paths of its Kustomizations are those of %s, so that is taken for the artifact's root: say so in %s with environments.%s.root", e.Name, better, config.FileName, e.Name))
			}
		}
		next := r.sourceOptions()
		again = again || !sameOptions(known, next)
		known = next
		if !again || try >= 4 {
			r.finish(again)
			return env, nil
		}
		env.Units, env.Applied, env.Reasons = nil, nil, nil
	}
}
