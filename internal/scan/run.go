package scan

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/tidegate/tidegate/internal/config"
	"github.com/tidegate/tidegate/internal/flux"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/render"
	"github.com/tidegate/tidegate/internal/sops"
	"github.com/tidegate/tidegate/internal/source"
)

// run is one render of one environment, under an assumption about its sources.
type run struct {
	opts  *Options
	entry Entry
	env   *model.Environment
	flux  flux.Behaviour
	conf  config.Environment
	base  *source.Artifact
	root  string
	known map[model.SourceRef]source.ArtifactOptions

	store *store
	units map[model.UnitID]*unit
	order []*unit
	arts  map[model.SourceRef]*artifact

	mu   sync.Mutex
	done int
}

// unit is a Kustomization or HelmRelease at work.
type unit struct {
	id       model.UnitID
	parent   *unit
	spec     *flux.Kustomization
	shown    *flux.Kustomization // spec with secrets masked; nil when it has none
	specPath string
	src      model.SourceRef
	dirKnown bool
	blocked  []model.Reason // why it cannot be rendered
	foreign  *model.Reason  // why its files are not here, as far as the sources that are known tell
	failed   []model.Reason // why the API server never takes it
	doubt    []model.Reason // what of its spec is unknown
	notes    []model.Reason // of the last time it was rendered
	doc      map[string]any
	self     *model.Object // the object that describes it; nil for an entry that none does

	rendered bool
	read     string // what its variables' sources were when it was rendered
	out      render.Output
}

// maxUnits and maxRounds bound a repository that makes Kustomizations without end.
const (
	maxUnits  = 20000
	maxRounds = 50
)

var errTooManyUnits = fmt.Errorf("more than %d units in one environment", maxUnits)

// all renders the environment from its entry on.
func (r *run) all(ctx context.Context) error {
	r.assume()
	if r.entry.File != nil {
		r.applied()
	} else {
		isDir, ok := r.base.Stat(r.entry.Path)
		r.bootstrap(ok && isDir)
	}
	if err := r.work(ctx); err != nil {
		return err
	}
	// What a unit read may have been made after it; render those again until nothing changes.
	for round := 0; round < maxRounds; round++ {
		if !r.invalidate() {
			return nil
		}
		if err := r.work(ctx); err != nil {
			return err
		}
	}
	r.env.Reasons = append(r.env.Reasons, model.Reason{Code: model.CodeUnsettled,
		Message: fmt.Sprintf("units read each other's ConfigMaps and do not settle within %d rounds", maxRounds)})
	return nil
}

// assume puts into the store what the user says the cluster holds.
func (r *run) assume() {
	for _, list := range [][]ClusterObject{r.opts.Assumed[""], r.opts.Assumed[r.env.Name], r.opts.Cluster} {
		for _, c := range list {
			if interesting(c.Ref) {
				r.store.put(&held{ref: c.Ref, label: c.Ref, obj: c.Object, shown: hidden(c), file: c.File})
			}
		}
	}
}

// hidden is how an object that the user gave may be shown: a Secret's values are not.
func hidden(c ClusterObject) map[string]any {
	if c.Ref.Kind != "Secret" {
		return c.Object
	}
	out := map[string]any{}
	for k, v := range c.Object {
		out[k] = v
		if values, ok := v.(map[string]any); ok && (k == "data" || k == "stringData") {
			masked := map[string]any{}
			for name := range values {
				masked[name] = sops.DefaultMask
			}
			out[k] = masked
		}
	}
	return out
}

// work renders units in rounds until all are rendered.
func (r *run) work(ctx context.Context) error {
	final := false
	for {
		var ready, waiting []*unit
		for _, u := range r.order {
			switch {
			case u.rendered:
			case final || r.sourcesThere(u):
				ready = append(ready, u)
			default:
				waiting = append(waiting, u)
			}
		}
		if len(ready) == 0 && len(waiting) == 0 {
			return nil
		}
		if len(ready) == 0 {
			// Nobody is left who could make what they wait for: it is missing.
			final = true
			continue
		}
		final = false
		if err := r.round(ctx, ready); err != nil {
			return err
		}
		if len(r.order) > maxUnits {
			return errTooManyUnits
		}
	}
}

// sourcesThere tells whether each source of a unit's variables is in the store.
func (r *run) sourcesThere(u *unit) bool {
	if u.spec == nil || u.spec.Spec.PostBuild == nil {
		return true
	}
	for _, f := range u.spec.Spec.PostBuild.SubstituteFrom {
		if r.store.get("", f.Kind, u.spec.Namespace, f.Name) == nil {
			return false
		}
	}
	return true
}

// round renders units in parallel, then takes in what they made, in order.
func (r *run) round(ctx context.Context, ready []*unit) error {
	for _, u := range ready {
		r.prepare(u)
	}
	g, group := errgroup.WithContext(ctx)
	g.SetLimit(r.opts.Workers)
	for _, u := range ready {
		g.Go(func() error {
			if err := group.Err(); err != nil {
				return err
			}
			r.render(u)
			r.progress()
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for _, u := range ready {
		u.rendered = true
		r.take(u)
	}
	return nil
}

func (r *run) progress() {
	if r.opts.Progress == nil {
		return
	}
	r.mu.Lock()
	r.done++
	n := r.done
	r.mu.Unlock()
	r.opts.Progress(r.env.Name, n)
}

// prepare finds a unit's artifact before units run in parallel, and notes what it will read.
func (r *run) prepare(u *unit) {
	u.read = r.reads(u)
	if u.spec == nil || len(u.blocked) > 0 || len(u.failed) > 0 {
		return
	}
	a := r.artifactOf(u.src)
	u.foreign = a.foreign
	if a.broken != nil {
		u.failed = append(u.failed, *a.broken)
	}
}

// render renders one unit. It only reads the store.
func (r *run) render(u *unit) {
	u.out = render.Output{}
	if u.spec == nil || len(u.blocked) > 0 || len(u.failed) > 0 || u.foreign != nil {
		return
	}
	defer func() {
		// A defect in one unit's rendering must not take the others down. What panicked may hold a secret.
		if p := recover(); p != nil {
			u.out = render.Output{Failures: []model.Reason{{Code: model.CodeInternal, Subject: u.id.String(),
				Message: fmt.Sprintf("rendering it panicked (%T): a defect of tidegate, which says nothing about Flux", p)}}}
		}
	}()
	b := r.opts.Builder.With(r.flux)
	u.out = b.Render(render.Input{
		Files: r.arts[u.src].files, Dir: source.JoinSecure(u.spec.Spec.Path), Spec: u.spec, Display: u.shown,
		Lookup: r.store.source, Given: r.opts.Given[r.env.Name], Strict: r.flux.Strict, ShowSecrets: r.opts.ShowSecrets,
		Self: u.selfTrace(), Root: r.root, Doubt: u.doubtful(),
	})
	if u.doubtful() != nil {
		u.waive()
	}
}

// doubtful is why some of a unit's spec is not the cluster's; nil when all of it is.
func (u *unit) doubtful() *model.Reason {
	if len(u.doubt) == 0 {
		return nil
	}
	return &u.doubt[0]
}

// waive takes back failures that another spec could spare the unit: what its patches, images or metadata hold in the
// cluster is not known, and they change what is built and substituted. That its folder does not exist stands.
func (u *unit) waive() {
	var stand []model.Reason
	for _, f := range u.out.Failures {
		if f.Code == model.CodePath || f.Code == model.CodeInternal {
			stand = append(stand, f)
			continue
		}
		f.Code = model.CodeParentUnknown
		f.Message = "with the spec as far as it is known, it fails: " + f.Message
		u.out.Unverified = append(u.out.Unverified, f)
	}
	u.out.Failures = stand
}

// selfTrace traces the object that describes a unit; nil when none does, or nothing is traced.
func (u *unit) selfTrace() model.Tracer {
	if u.self == nil {
		return nil
	}
	return u.self.Trace
}

// reads describes the sources of a unit's variables as they are in the store, so that a change is seen.
func (r *run) reads(u *unit) string {
	if u.spec == nil || u.spec.Spec.PostBuild == nil {
		return ""
	}
	var b strings.Builder
	for _, f := range u.spec.Spec.PostBuild.SubstituteFrom {
		digest := "none"
		if h := r.store.get("", f.Kind, u.spec.Namespace, f.Name); h != nil {
			h.source(f.Kind)
			digest = h.digest
		}
		fmt.Fprintf(&b, "%s/%s:%x;", f.Kind, f.Name, digest)
	}
	return b.String()
}

// invalidate marks units whose sources changed since they were rendered, with everything below them.
func (r *run) invalidate() bool {
	changed := map[*unit]bool{}
	for _, u := range r.order {
		if u.rendered && (u.read != r.reads(u) || r.isHereAfterAll(u)) {
			changed[u] = true
		}
	}
	if len(changed) == 0 {
		return false
	}
	// Objects of a changed unit may differ now, and so may what they brought. Start again from a store without them.
	var keep []*unit
	for _, u := range r.order {
		drop := false
		for p := u.parent; p != nil; p = p.parent {
			drop = drop || changed[p]
		}
		if drop {
			delete(r.units, u.id)
			r.store.forget(u.id)
			continue
		}
		keep = append(keep, u)
		if changed[u] {
			u.rendered = false
			u.notes = nil
			r.store.forget(u.id)
		}
	}
	r.order = keep
	return true
}

// isHereAfterAll tells whether a unit was taken for one of another repository before the source object was met that
// says it is of this one.
func (r *run) isHereAfterAll(u *unit) bool {
	if u.foreign == nil || u.foreign.Code != model.CodeForeignSource || !r.sameRepository(r.sourceObject(u.src)) {
		return false
	}
	if a := r.arts[u.src]; a != nil && a.foreign != nil {
		delete(r.arts, u.src)
	}
	return true
}

// take puts what a unit made into the store and finds the units in it.
func (r *run) take(u *unit) {
	for _, o := range u.out.Objects {
		if !interesting(o.Ref) {
			continue
		}
		h, err := hold(o, &u.id)
		if err != nil {
			continue
		}
		if u.spec != nil && u.spec.Spec.KubeConfig != nil {
			r.elsewhere(u, h)
			continue
		}
		r.store.put(h)
		r.discover(u, h)
	}
}

// elsewhere notes a Flux object that goes to another cluster, whose own Flux, if it has one, acts on it.
func (r *run) elsewhere(u *unit, h *held) {
	if flux.IsGroup(h.ref.APIVersion, flux.KustomizeGroup) || flux.IsGroup(h.ref.APIVersion, flux.HelmGroup) {
		u.notes = append(u.notes, model.Reason{Code: model.CodeRemoteCluster, Subject: h.label.String(),
			Message: fmt.Sprintf("%s goes to another cluster by spec.kubeConfig and is not followed", h.label)})
	}
}

// discover adds the unit that an object is.
func (r *run) discover(parent *unit, h *held) {
	switch {
	case flux.IsGroup(h.ref.APIVersion, flux.KustomizeGroup) && h.ref.Kind == "Kustomization":
		r.addKustomization(parent, h)
	case flux.IsGroup(h.ref.APIVersion, flux.HelmGroup) && h.ref.Kind == "HelmRelease":
		r.addHelmRelease(parent, h)
	case flux.IsGroup(h.ref.APIVersion, flux.OperatorGroup) && h.ref.Kind == "ResourceSet":
		r.env.Reasons = append(r.env.Reasons, model.Reason{Code: model.CodeTemplate, Subject: h.label.String(),
			Message: fmt.Sprintf("%s makes further objects from a template, which are not rendered", h.label)})
	case flux.IsGroup(h.ref.APIVersion, flux.ExtensionsGroup) && h.ref.Kind == "ArtifactGenerator":
		r.env.Reasons = append(r.env.Reasons, model.Reason{Code: model.CodeTemplate, Subject: h.label.String(),
			Message: fmt.Sprintf("%s makes artifacts of other sources, which are not rendered", h.label)})
	}
}

func (r *run) add(u *unit) {
	if _, ok := r.units[u.id]; ok {
		return
	}
	r.units[u.id] = u
	r.order = append(r.order, u)
}

func (r *run) addHelmRelease(parent *unit, h *held) {
	u := &unit{
		id: model.UnitID{Kind: "HelmRelease", Namespace: h.ref.Namespace, Name: h.ref.Name}, parent: parent, doc: h.shown, self: h.object,
		blocked: []model.Reason{{Code: model.CodeChart, Subject: h.label.String(), Message: "its chart is not rendered"}},
	}
	if r.disguised(h) {
		u = r.disguise(u, h)
	}
	r.add(u)
}

// disguised tells whether who a Flux object is, or where its files are, comes from decrypted content. Names and paths
// stand in every message, so such a unit is followed only where secrets may be shown.
func (r *run) disguised(h *held) bool {
	if !h.secret || r.opts.ShowSecrets {
		return false
	}
	same := func(keys ...string) bool { return sameYAML(dig(h.obj, keys...), dig(h.shown, keys...)) }
	return h.ref != h.label || !same("spec", "path") || !same("spec", "sourceRef") || !same("spec", "components")
}

// disguise makes of a unit one of which only what is public is told.
func (r *run) disguise(u *unit, h *held) *unit {
	id := model.UnitID{Kind: u.id.Kind, Namespace: h.label.Namespace, Name: h.label.Name}
	for n := 2; r.units[id] != nil; n++ {
		id.Name = fmt.Sprintf("%s-%d", h.label.Name, n)
	}
	return &unit{id: id, parent: u.parent, specPath: sops.DefaultMask, blocked: []model.Reason{{
		Code: model.CodeEncrypted, Subject: h.label.String(),
		Message: "its name, path or source comes from decrypted content, so it is not followed", Fix: "render it with --show-secrets"}}}
}

// addKustomization reads a rendered Flux Kustomization.
func (r *run) addKustomization(parent *unit, h *held) {
	u := &unit{
		id: model.UnitID{Kind: "Kustomization", Namespace: h.ref.Namespace, Name: h.ref.Name}, parent: parent, doc: h.obj, self: h.object,
		specPath: source.JoinSecure(text(h.obj, "spec", "path")),
	}
	u.src = sourceOf(h.obj)
	if r.disguised(h) {
		r.add(r.disguise(u, h))
		return
	}
	if h.ref.Namespace == "" {
		u.failed = append(u.failed, model.Reason{Code: model.CodeRefused, Subject: h.label.String(),
			Message: "metadata.namespace is not set, so kustomize-controller cannot apply it: namespace not specified",
			Fix:     "set metadata.namespace, or targetNamespace on the Kustomization that applies it"})
		r.add(u)
		return
	}
	spec, err := flux.DecodeKustomization(h.obj, r.flux)
	if err != nil {
		if len(h.unverified) > 0 && unsure(h.obj["spec"], h.ref.Name, h.ref.Namespace) {
			u.blocked = append(u.blocked, model.Reason{Code: model.CodeParentUnknown, Subject: h.label.String(),
				Message: "its spec depends on what is not known: " + h.unverified[0].Message})
		} else {
			u.failed = append(u.failed, r.refusal(h, err))
		}
		r.add(u)
		return
	}
	u.spec = spec
	u.shown = r.masked(h)
	u.dirKnown = true
	r.doubts(u, h)
	r.add(u)
}

// masked gives a Kustomization as it may be shown; nil when all of it may be.
func (r *run) masked(h *held) *flux.Kustomization {
	if !h.secret {
		return nil
	}
	shown, err := flux.DecodeKustomization(h.shown, r.flux)
	if err != nil {
		// A mask stands where it may not. Nothing is shown then: every inline value counts as a secret.
		shown = &flux.Kustomization{}
		shown.Name, shown.Namespace = h.label.Name, h.label.Namespace
		shown.Spec.PostBuild = &flux.PostBuild{}
	}
	return shown
}

// refusal says why the API server does not take a Kustomization.
func (r *run) refusal(h *held, err error) model.Reason {
	msg := err.Error()
	if h.secret && !r.opts.ShowSecrets {
		msg = "a value that comes from decrypted content is not valid"
	}
	return model.Reason{Code: model.CodeRefused, Subject: h.label.String(), Message: "the API server refuses it: " + msg}
}

// doubts says what of a unit's own spec is unknown: without its path, source or target nothing can be built; with the
// rest it can, and is unverified.
func (r *run) doubts(u *unit, h *held) {
	if len(h.unverified) == 0 {
		return
	}
	spec, _ := h.obj["spec"].(map[string]any)
	reason := model.Reason{Code: model.CodeParentUnknown, Subject: h.label.String(),
		Message: "its spec depends on what is not known: " + h.unverified[0].Message, Fix: h.unverified[0].Fix}
	if unsure(spec["path"], spec["sourceRef"], spec["targetNamespace"], spec["components"]) {
		u.dirKnown = false
		u.blocked = append(u.blocked, reason)
		return
	}
	u.doubt = append(u.doubt, reason)
}

// unsure tells whether values hold what could not be evaluated or decrypted.
func unsure(values ...any) bool {
	text := fmt.Sprint(values...)
	return strings.Contains(text, "${") || strings.Contains(text, sops.DefaultMask)
}

func sortedNames(m map[string]render.Value) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	sortStrings(names)
	return names
}
