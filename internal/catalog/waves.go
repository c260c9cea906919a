package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/model"
)

// waves computes each app's wave: one more than the highest of the apps that it needs; what the tiers provide is before
// wave 0. It says which needs lead nowhere, and which in a circle. broken: a file could not be read, so that an unknown
// name says little.
func (c *Catalog) waves(broken bool) (out []Problem) {
	const busy = -1
	state := map[string]int{} // wave + 2, or busy
	var trail []string
	circles := 0
	var visit func(a *App) int
	visit = func(a *App) int {
		switch s := state[a.Name]; {
		case s == busy:
			return 0
		case s > 0:
			return s - 2
		}
		state[a.Name] = busy
		trail = append(trail, a.Name)
		wave := 0
		for i, n := range c.Needs(a) {
			other := c.App(n)
			if other == nil {
				continue
			}
			if state[n] == busy {
				if circles++; circles > maxCircles {
					continue
				}
				circle := append(slices.Clone(trail[slices.Index(trail, n):]), n)
				out = append(out, Problem{Place: a.place(fmt.Sprintf("needs[%d]", i)),
					Message: "apps need each other in a circle, so that none could be first: " + chain(circle),
					Fix:     "take one of these needs away"})
				continue
			}
			wave = max(wave, visit(other)+1)
		}
		trail = trail[:len(trail)-1]
		state[a.Name] = wave + 2
		a.Wave = wave
		return wave
	}
	for _, a := range c.Apps {
		for i, n := range a.Needs {
			if c.App(n) == nil && !slices.Contains(c.Provided, n) {
				out = append(out, c.nowhere(a, i, n, broken)...)
			}
			if slices.Contains(a.Needs[:i], n) {
				out = append(out, Problem{Place: a.place(fmt.Sprintf("needs[%d]", i)), Message: fmt.Sprintf("needs lists %s twice", quoteKey(n)), Fix: "keep one of them"})
			}
		}
		visit(a)
	}
	return out
}

// maxCircles bounds the circles that are told: mending these changes the others.
const maxCircles = 10

// chain writes a circle, cut where it is long.
func chain(names []string) string {
	if n := len(names); n > 12 {
		names = slices.Concat(names[:6], []string{fmt.Sprintf("… (%d more)", n-11)}, names[n-5:])
	}
	return strings.Join(names, " needs ")
}

// Needs is what an app needs, with what follows from its fields.
func (c *Catalog) Needs(a *App) []string {
	out := slices.Clone(a.Needs)
	if a.Login != nil && c.Settings.LoginNeeds != "" && !slices.Contains(out, c.Settings.LoginNeeds) {
		out = append(out, c.Settings.LoginNeeds)
	}
	return out
}

func (c *Catalog) nowhere(a *App, i int, name string, broken bool) []Problem {
	names := slices.Clone(c.Provided)
	for _, o := range c.Apps {
		names = append(names, o.Name)
	}
	p := Problem{Place: a.place(fmt.Sprintf("needs[%d]", i)), Message: fmt.Sprintf("needs %s, which is no app of the catalog and nothing that the tiers provide", quoteKey(name))}
	switch near := nearest(name, names); {
	case near != "":
		p.Fix = "write " + near
	case broken:
		return nil // its file may be one of those that could not be read
	default:
		p.Fix = "add " + c.Settings.Dir + "/" + name + ".yaml, or take it away; the tiers provide " + strings.Join(c.Provided, ", ")
	}
	return []Problem{p}
}

// inWave gives the apps that run in a wave, by name.
func (c *Catalog) inWave(n int, wave func(*App) int) (out []*App) {
	for _, a := range c.Apps {
		if wave(a) == n {
			out = append(out, a)
		}
	}
	return out
}

// unique finds apps that have the same name, host or address.
func (c *Catalog) unique() (out []Problem) {
	type holder struct {
		app *App
		at  model.Place
	}
	seen := map[string]holder{}
	hold := func(a *App, what, value, at, fix string) {
		if value == "" {
			return
		}
		key := what + "\x00" + value
		if first, ok := seen[key]; ok {
			out = append(out, Problem{Place: a.place(at), Message: fmt.Sprintf("%s %s is also that of %s (%s:%d)", what, value, first.app.Name, first.at.File, first.at.Line), Fix: fix})
			return
		}
		seen[key] = holder{a, a.place(at)}
	}
	for _, a := range c.Apps {
		hold(a, "the name", a.Name, "name", "each app has a name of its own")
		if a.Route != nil {
			hold(a, "the host", strings.ToLower(strings.TrimSuffix(a.Route.Host, ".")), "route.host", "the Gateway serves a host from one app: give one of them another")
		}
		for _, v := range a.Storage {
			if v.Local != nil {
				hold(a, "the volume", a.Name+"-"+v.Name, join("storage", v.Name), "volumes of nodes are the cluster's, and called by app and name: give one of them another")
			}
		}
		if a.L4 != nil {
			hold(a, "the address", a.L4.Address, "l4.address", "each L4 Service has an address of its own: make another knob")
		}
	}
	return out
}
