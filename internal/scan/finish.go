package scan

import (
	"path"
	"slices"
	"sort"

	"github.com/tidegate/tidegate/internal/flux"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/render"
)

// forget takes a unit's objects out of the store.
func (s *store) forget(id model.UnitID) {
	for k, h := range s.objects {
		if h.unit != nil && *h.unit == id {
			delete(s.objects, k)
		}
	}
}

// finish turns the run into the environment's result.
func (r *run) finish(unsettled bool) {
	if unsettled {
		r.env.Reasons = append(r.env.Reasons, model.Reason{Code: model.CodeUnsettled,
			Message: "the source object changes with the artifact that it makes, and does not settle"})
	}
	r.env.Root = r.root
	r.env.Reasons = once(append(r.env.Reasons, r.store.twice...))
	for _, u := range r.order {
		r.tellSource(u)
		r.env.Units = append(r.env.Units, r.inRepository(u.result()))
	}
}

// tellSource says of a unit's source what only the whole render tells: objects that name it may come after the unit.
func (r *run) tellSource(u *unit) {
	switch {
	case u.foreign != nil && u.foreign.Code == model.CodeForeignSource:
		u.blocked = append(u.blocked, *foreign(u.src, r.shownSource(u.src)))
	case u.foreign != nil:
		u.blocked = append(u.blocked, *u.foreign)
	case u.spec != nil && len(u.blocked) == 0:
		u.notes = append(u.notes, sourceNotes(u.src, r.sourceObject(u.src))...)
	}
}

// once drops reasons that say the same of the same subject: a unit that was rendered again says them again.
func once(list []model.Reason) []model.Reason {
	var out []model.Reason
	seen := map[string]bool{}
	for _, r := range list {
		if key := string(r.Code) + "\x00" + r.Subject + "\x00" + r.Message; !seen[key] {
			seen[key] = true
			out = append(out, r)
		}
	}
	return out
}

// inRepository turns the artifact's paths of a unit into the repository's, where the artifact's root is a folder of it.
func (r *run) inRepository(u *model.Unit) *model.Unit {
	if r.root == "." {
		return u
	}
	move := func(list []model.Reason) []model.Reason {
		out := make([]model.Reason, len(list))
		for i, reason := range list {
			places := make([]model.Place, len(reason.Places))
			for j, p := range reason.Places {
				p.File = path.Join(r.root, p.File)
				places[j] = p
			}
			reason.Places = places
			out[i] = reason
		}
		return out
	}
	u.Reasons = move(u.Reasons)
	files := make([]string, len(u.Files))
	for i, f := range u.Files {
		files[i] = path.Join(r.root, f)
	}
	u.Files = files
	for _, o := range u.Objects {
		if len(o.Unverified) > 0 {
			o.Unverified = move(o.Unverified)
		}
	}
	return u
}

// Apply takes an environment's units on to what is sent to the API server. show lets messages hold plaintext.
func Apply(env *model.Environment, show bool) {
	for _, u := range env.Units {
		if u.Spec == nil || u.Status == model.StatusFailed {
			continue
		}
		shown, _ := u.Display.(*flux.Kustomization)
		objects, failure := render.Applied(u.Spec.(*flux.Kustomization), shown, u.Objects, show)
		u.Objects = objects
		if failure != nil {
			u.Status = model.StatusFailed
			u.Reasons = append([]model.Reason{*failure}, u.Reasons...)
		}
	}
}

// result is a unit as a view sees it.
func (u *unit) result() *model.Unit {
	m := &model.Unit{ID: u.id, Path: "", Source: u.src, Files: u.out.Files, Objects: u.out.Objects,
		Built: u.out.Built, Substitution: u.out.Substitution, Self: u.self}
	if u.parent != nil {
		id := u.parent.id
		m.Parent = &id
	}
	if u.id.Kind == "Kustomization" {
		m.Path = u.specPath
	}
	if u.spec != nil {
		m.Spec = u.spec
		m.Suspended = u.spec.Spec.Suspend
		m.Wait = u.spec.Spec.Wait
		public := u.spec
		if u.shown != nil {
			m.Display, public = u.shown, u.shown
		}
		for _, d := range public.Spec.DependsOn {
			ns := d.Namespace
			if ns == "" {
				ns = u.id.Namespace
			}
			m.DependsOn = append(m.DependsOn, model.UnitID{Kind: u.id.Kind, Namespace: ns, Name: d.Name})
		}
		if u.spec.Spec.KubeConfig != nil {
			m.Remote = "kubeConfig"
		}
		if k := public.Spec.KubeConfig; k != nil {
			if k.SecretRef != nil {
				m.Remote = "Secret " + k.SecretRef.Name
			} else if k.ConfigMapRef != nil {
				m.Remote = "ConfigMap " + k.ConfigMapRef.Name
			}
		}
	}
	if u.id.Kind == "HelmRelease" && u.self != nil {
		m.DependsOn = helmDependencies(u)
		m.Suspended = dig(u.doc, "spec", "suspend") == true
	}
	m.Status = model.StatusOK
	failures := slices.Concat(u.failed, u.out.Failures)
	unverified := slices.Concat(u.blocked, u.doubt, u.notes, u.out.Unverified)
	unverified = append(unverified, objectReasons(m.Objects, unverified)...)
	switch {
	case len(failures) > 0:
		m.Status = model.StatusFailed
	case len(unverified) > 0:
		m.Status = model.StatusUnverified
	}
	m.Reasons = append(failures, unverified...)
	return m
}

// helmDependencies reads spec.dependsOn of a HelmRelease, which names HelmReleases (helm-controller api/v2).
func helmDependencies(u *unit) []model.UnitID {
	list, _ := dig(u.doc, "spec", "dependsOn").([]any)
	var out []model.UnitID
	for _, e := range list {
		ns := text(e, "namespace")
		if ns == "" {
			ns = u.id.Namespace
		}
		out = append(out, model.UnitID{Kind: u.id.Kind, Namespace: ns, Name: text(e, "name")})
	}
	return out
}

// objectReasons gathers why objects are unverified, each subject once, less what the unit says already.
func objectReasons(objects []*model.Object, have []model.Reason) []model.Reason {
	type key struct {
		code    model.Code
		subject string
	}
	seen := map[key]bool{}
	for _, r := range have {
		seen[key{r.Code, r.Subject}] = true
	}
	var out []model.Reason
	for _, o := range objects {
		for _, r := range o.Unverified {
			if k := (key{r.Code, r.Subject}); !seen[k] {
				seen[k] = true
				out = append(out, r)
			}
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Code < out[j].Code })
	return out
}
