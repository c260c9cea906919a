package engine

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/report"
)

// Why tells where the values of an object come from. what is [ENV:]KIND/[NAMESPACE/]NAME[:FIELD.PATH]. The error is a
// *UsageError when nothing is called so.
func Why(ctx context.Context, req Request, what string) (*report.Why, error) {
	r, err := scanned(ctx, req, true)
	if err != nil {
		return nil, err
	}
	out := &report.Why{Version: report.WhyVersion, Repository: r.tree.Label(), Answers: []report.Answer{}}
	env, rest := "", what
	if before, after, ok := strings.Cut(what, ":"); ok && !strings.Contains(before, "/") {
		env, rest = before, after
	}
	if !strings.Contains(rest, "/") {
		return nil, usage("--why %q: write it as [ENVIRONMENT:]KIND/[NAMESPACE/]NAME[:FIELD.PATH], such as prod:HTTPRoute/web/site:spec.hostnames[0]", what)
	}
	known := false
	missing := ""
	for _, e := range r.Environments {
		if env != "" && e.Name != env {
			continue
		}
		known = true
		for _, u := range e.Units {
			for _, o := range u.Objects {
				field, ok := selects(rest, o.Ref)
				if !ok || o.Trace == nil {
					continue
				}
				a, err := r.answer(e, u, o, field)
				if err != nil {
					missing = err.Error()
					continue
				}
				out.Answers = append(out.Answers, *a)
			}
		}
	}
	switch {
	case !known:
		return nil, usage("--why %q: there is no environment %q: there are %s", what, env, strings.Join(r.Names, ", "))
	case len(out.Answers) == 0 && missing != "":
		return nil, usage("--why %q: %s", what, missing)
	case len(out.Answers) == 0:
		return nil, usage("--why %q: no such object is rendered%s", what, r.similar(rest))
	}
	return out, nil
}

// selects tells whether KIND/[NAMESPACE/]NAME[:FIELD] names an object, and gives FIELD. Names may hold colons.
func selects(what string, ref model.Ref) (field string, ok bool) {
	kind, rest, _ := strings.Cut(what, "/")
	if !strings.EqualFold(kind, ref.Kind) {
		return "", false
	}
	for _, name := range []string{ref.Namespace + "/" + ref.Name, ref.Name} {
		if rest == name {
			return "", true
		}
		if field, ok := strings.CutPrefix(rest, name+":"); ok {
			return field, true
		}
	}
	return "", false
}

func (r *repository) answer(e *model.Environment, u *model.Unit, o *model.Object, field string) (*report.Answer, error) {
	a := &report.Answer{Environment: e.Name, Unit: u.ID.String(), UnitPath: u.Path, Object: o.Ref.String(), Path: field, Status: string(model.StatusOK), Origins: []report.Origin{}}
	if len(o.Unverified) > 0 {
		a.Status = string(model.StatusUnverified)
	}
	path, err := model.ParsePath(field)
	if err != nil {
		return nil, err
	}
	source := &lines{read: r.tree.ReadFile}
	report.Scalars(o.Display, func(p model.Path, value string) {
		if !p.HasPrefix(path) {
			return
		}
		origin := report.NewOrigin(o.Trace.Origin(p))
		origin.Path, origin.Value = p.String(), value
		origin.Source = source.around(model.Span{File: origin.File, Line: origin.Line, Column: origin.Column, EndLine: origin.EndLine})
		a.Origins = append(a.Origins, origin)
	})
	if len(a.Origins) == 0 {
		return nil, fmt.Errorf("%s of %s has no field %s%s", o.Ref, e.Name, field, nearField(o, path))
	}
	return a, nil
}

// nearField names what there is where a path goes astray.
func nearField(o *model.Object, path model.Path) string {
	for n := len(path) - 1; n >= 0; n-- {
		isList, most := false, -1
		seen := map[string]bool{}
		var names []string
		report.Scalars(o.Display, func(p model.Path, _ string) {
			if !p.HasPrefix(path[:n]) || len(p) <= n {
				return
			}
			if i, ok := p[n].(int); ok {
				isList, most = true, max(most, i)
			}
			if s := fmt.Sprint(p[n]); !seen[s] {
				seen[s] = true
				names = append(names, s)
			}
		})
		if isList {
			return fmt.Sprintf(": %s is a list: write [0] to [%d]", path[:n], most)
		}
		if len(names) > 0 {
			sort.Strings(names)
			if len(names) > 8 {
				names = append(names[:8], "…")
			}
			at := "it"
			if n > 0 {
				at = path[:n].String()
			}
			return fmt.Sprintf(": %s has %s", at, strings.Join(names, ", "))
		}
	}
	return ""
}

// similar names objects of the same name or kind.
func (r *repository) similar(what string) string {
	kind, rest, _ := strings.Cut(what, "/")
	rest, _, _ = strings.Cut(rest, ":")
	name := rest[strings.LastIndexByte(rest, '/')+1:]
	seen := map[string]bool{}
	var byName, byKind []string
	for _, e := range r.Environments {
		for _, u := range e.Units {
			for _, o := range u.Objects {
				s := o.Ref.String()
				switch {
				case seen[s]:
				case o.Ref.Name == name:
					byName = append(byName, s)
				case strings.EqualFold(o.Ref.Kind, kind):
					byKind = append(byKind, s)
				}
				seen[s] = true
			}
		}
	}
	list := append(byName, byKind...)
	if len(list) == 0 {
		return ""
	}
	if len(list) > 6 {
		list = append(list[:6], "…")
	}
	return ": there are " + strings.Join(list, ", ")
}
