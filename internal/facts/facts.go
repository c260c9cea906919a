// Package facts is what rules read: the rendered environments as an index that nobody changes any more. It imports the
// model alone, so that something other than a render, such as a live cluster, can fill one too.
package facts

import (
	"net/netip"
	"sort"
	"strconv"
	"sync"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/tidegate/tidegate/internal/model"
)

// Index is everything that a check knows. It is immutable and safe for concurrent use.
type Index struct {
	Environments []*Environment
	Settings     Settings
	// ReadFile gives the bytes of a file of the repository.
	ReadFile func(path string) ([]byte, error)
}

// Settings is what tidegate.yaml says beyond what a render needs. A nil pointer or an empty list means that it says
// nothing, and a rule that needs it is skipped.
type Settings struct {
	Knobs *Knobs
	LANs  []LAN // in order of their environments
	// Machines are those that stand around the clusters.
	Machines []Machine
	// Mirror is the file of values that installs the network before Flux is there.
	Mirror *Mirror
}

// Machine is a node, or the address of a control plane.
type Machine struct {
	Environment string
	Name        string // "node k3s-1", "controlPlaneVIP"
	Addr        netip.Addr
	Span        model.Span // in tidegate.yaml
}

// Mirror is a file of Helm values that repeats those of an object.
type Mirror struct {
	File   string
	Object model.Ref // Kind, Namespace and Name
	Text   string
	// Span gives the place of a value in the file, or of the nearest one around it.
	Span func(model.Path) model.Span
}

// Knobs names the object that holds the values that may differ between environments.
type Knobs struct {
	Source model.Ref // Kind, Namespace and Name
	LAN    []string  // the knobs that each overlay must set
}

// LAN is the network of an environment.
type LAN struct {
	Environment string
	Prefix      netip.Prefix
}

// Environment is one cluster.
type Environment struct {
	*model.Environment
	Units []*Unit
	// Applied are the objects of an entry that is a file: somebody applies them as they stand.
	Applied []*Object
	byID    map[model.UnitID]*Unit
}

// Unit is a Kustomization or HelmRelease.
type Unit struct {
	*model.Unit
	Env     *Environment
	Built   []*Object // before substitution
	Objects []*Object // as rendered; empty where the unit failed
}

// Object is one object of a unit, before or after substitution.
type Object struct {
	Ref  model.Ref
	Unit *Unit        // nil for one that somebody applies by hand
	Text string       // as it may be shown: what comes from ciphertext is masked
	From *model.Built // set when this is the object before substitution
	// Final is set when this is the object after substitution.
	Final *model.Object
	Trace model.Tracer

	once sync.Once
	tree map[string]any
}

// Build makes the index of rendered environments.
func Build(envs []*model.Environment, settings Settings, read func(string) ([]byte, error)) *Index {
	ix := &Index{Settings: settings, ReadFile: read}
	for _, e := range envs {
		env := &Environment{Environment: e, byID: map[model.UnitID]*Unit{}}
		for _, m := range e.Units {
			u := &Unit{Unit: m, Env: env}
			for _, b := range m.Built {
				u.Built = append(u.Built, &Object{Ref: b.Ref, Unit: u, Text: b.Text, From: b, Trace: b.Trace})
			}
			for _, o := range m.Objects {
				u.Objects = append(u.Objects, &Object{Ref: o.Ref, Unit: u, Text: o.Display, Final: o, Trace: o.Trace})
			}
			env.Units = append(env.Units, u)
			env.byID[m.ID] = u
		}
		for _, o := range e.Applied {
			env.Applied = append(env.Applied, &Object{Ref: o.Ref, Text: o.Display, Final: o, Trace: o.Trace})
		}
		ix.Environments = append(ix.Environments, env)
	}
	return ix
}

// Unit finds a unit; nil when there is none.
func (e *Environment) Unit(id model.UnitID) *Unit { return e.byID[id] }

// Complete tells whether everything that the environment applies is known: if not, what is missing may be there all
// the same. why names the first thing that is not known.
func (e *Environment) Complete() (why string, ok bool) { return e.CompleteBut(nil) }

// CompleteBut is Complete without one unit: what that one needs it does not bring itself.
func (e *Environment) CompleteBut(but *Unit) (why string, ok bool) {
	for _, u := range e.Units {
		if u != but && u.ID.Kind == "Kustomization" && len(u.Objects) == 0 && u.Status != model.StatusOK && len(u.Reasons) > 0 {
			return u.ID.String() + ": " + u.Reasons[0].Message, false
		}
	}
	for _, r := range e.Reasons {
		return r.Message, false
	}
	return "", true
}

// Tree gives the object as JSON would decode it: map[string]any, []any, string, float64, bool, nil. It must not be
// changed. It is nil where the text is no YAML mapping.
func (o *Object) Tree() map[string]any {
	o.once.Do(func() { _ = sigsyaml.Unmarshal([]byte(o.Text), &o.tree) })
	return o.tree
}

// Get gives the value at a path; nil when there is none.
func (o *Object) Get(path ...any) any {
	var v any = o.Tree()
	for _, step := range path {
		switch s := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[s]
		case int:
			l, _ := v.([]any)
			if s < 0 || s >= len(l) {
				return nil
			}
			v = l[s]
		}
	}
	return v
}

// Scalars visits every scalar of the object in a fixed order. The path is valid during the call only.
func (o *Object) Scalars(visit func(p model.Path, value any)) {
	walk(o.Tree(), nil, visit)
}

// Strings visits the scalars that are strings.
func (o *Object) Strings(visit func(p model.Path, value string)) {
	o.Scalars(func(p model.Path, v any) {
		if s, ok := v.(string); ok {
			visit(p, s)
		}
	})
}

func walk(v any, at model.Path, visit func(model.Path, any)) {
	switch v := v.(type) {
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		for _, k := range keys {
			walk(v[k], append(at, k), visit)
		}
	case []any:
		for i, e := range v {
			walk(e, append(at, i), visit)
		}
	default:
		visit(at, v)
	}
}

// Text writes a scalar as a person would: 8080, true, 1.1, the string itself.
func Text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	case nil:
		return "null"
	}
	return ""
}

// Variables gives every variable that some unit of the environment has, by name. Of several that have one name, the
// first unit's is taken.
func (e *Environment) Variables() map[string]model.Variable {
	out := map[string]model.Variable{}
	for _, u := range e.Units {
		if u.Substitution == nil {
			continue
		}
		for name, v := range u.Substitution.Variables {
			if _, ok := out[name]; !ok {
				out[name] = v
			}
		}
	}
	return out
}
