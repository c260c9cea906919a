package catalog

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	yaml3 "go.yaml.in/yaml/v3"

	"github.com/tidegate/tidegate/internal/model"
)

// An app that changes its wave changes its owner. The old Kustomization prunes what it no longer renders
// (kustomize-controller internal/controller/kustomization_controller.go, prune), and it reconciles before the new one
// when the app moves to a later wave: the app's claims and database would be gone before the new owner applies them. What bears
// prune: disabled in the cluster is left out. So a move takes two commits, with a reconciliation between them:
//
//  1. everything of the app gets the annotation, in its old wave;
//  2. the app is in its new wave, with the annotation.
//
// A third takes the annotation off what never needed it; nothing depends on when.
//
// In which step a move is stands in catalog/moves.yaml, so that the output goes on being made of the catalog alone. What that
// file says is not believed, since merges and editors change it: an app leaves a wave only if the committed tree has it there with the
// annotation (guard).

const movesFile = "moves.yaml"

// Moves are the apps that change their wave together.
type Moves struct {
	Step int    `yaml:"step"` // 1: let go by the old wave. 2: in the new one
	Apps []Move `yaml:"moves"`
}

// Move is an app's change.
type Move struct {
	App  string `yaml:"app"`
	From int    `yaml:"from"`
	To   int    `yaml:"to"`
}

func (m Move) String() string { return fmt.Sprintf("%s from wave %d to %d", m.App, m.From, m.To) }

// The steps.
const (
	LetGo   = 1
	Settled = 2
)

func (m *Moves) of(app string) *Move {
	if m == nil {
		return nil
	}
	for i := range m.Apps {
		if m.Apps[i].App == app {
			return &m.Apps[i]
		}
	}
	return nil
}

// wave is where an app is now.
func (m *Moves) wave(a *App) int {
	if mv := m.of(a.Name); mv != nil && m.Step == LetGo {
		return mv.From
	}
	return a.Wave
}

func (m *Moves) holds(a *App) bool { return m.of(a.Name) != nil }

func (c *Catalog) movesPath() string { return path.Join(c.Settings.Dir, movesFile) }

func (m *Moves) encode() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%s--cutover: a change of waves that is under way. docs/waves.md says what to do when.\n", header)
	fmt.Fprintf(&b, "step: %d\nmoves:\n", m.Step)
	for _, mv := range m.Apps {
		fmt.Fprintf(&b, "  - app: %s\n    from: %d\n    to: %d\n", mv.App, mv.From, mv.To)
	}
	return []byte(b.String())
}

// readMoves gives the moves that a tree is in the midst of; nil when it is in none.
func (c *Catalog) readMoves(files Files) (*Moves, []Problem) {
	data, err := files.ReadFile(c.movesPath())
	if missing(err) {
		return nil, nil
	}
	bad := func(message string) (*Moves, []Problem) {
		return nil, []Problem{{Place: model.Place{File: c.movesPath(), Line: 1, Column: 1}, Message: message, Fix: "it is generated: take it from git, or remove it if no app is between two waves"}}
	}
	if err != nil {
		return bad(err.Error())
	}
	var m Moves
	if len(data) > maxFile {
		return bad("it is larger than 1 MiB")
	}
	if err := safely(func() error { return yaml3.Unmarshal(data, &m) }); err != nil {
		return bad("it is no YAML")
	}
	if m.Step != LetGo && m.Step != Settled || len(m.Apps) == 0 {
		return bad(fmt.Sprintf("it is in step %d with %d apps, and there are steps 1 and 2", m.Step, len(m.Apps)))
	}
	for i, mv := range m.Apps {
		if mv.From < 0 || mv.To < 0 || mv.From > 999 || mv.To > 999 || m.of(mv.App) != &m.Apps[i] {
			return bad("it moves " + quote(mv.App) + " twice, or from or to a wave that cannot be")
		}
	}
	return &m, nil
}

var appFile = regexp.MustCompile(`^wave-(\d{1,3})/([^/]+)/kustomization\.ya?ml$`)

// placed is an app in a wave of a tree. held: everything of it bears the annotation there.
type placed struct {
	wave int
	held bool
}

// placedIn tells in which waves a tree has each app: in one, unless somebody wrote files by hand.
func (c *Catalog) placedIn(files Files) map[string][]placed {
	out := map[string][]placed{}
	for _, p := range files.Paths() {
		rest, ok := strings.CutPrefix(p, c.Settings.Apps+"/")
		m := appFile.FindStringSubmatch(rest)
		if !ok || m == nil {
			continue
		}
		n, _ := strconv.Atoi(m[1])
		data, err := files.ReadFile(p)
		out[m[2]] = append(out[m[2]], placed{n, err == nil && Generated(p, data) && bytes.Contains(data, []byte(heldComment))})
	}
	return out
}

// decide says in which step of a cutover the output is, and refuses what would delete an app.
func (c *Catalog) decide(committed Files, cutover bool) (moves *Moves, next []string, problems []Problem) {
	if moves, next, problems = c.step(committed, cutover); len(problems) > 0 {
		return nil, nil, problems
	}
	if problems = c.guard(committed, moves); len(problems) > 0 {
		return nil, nil, problems
	}
	return moves, next, nil
}

// guard refuses each app that would leave a wave in which the committed tree has it without the annotation.
func (c *Catalog) guard(committed Files, moves *Moves) (out []Problem) {
	was := c.placedIn(committed)
	for _, a := range c.Apps {
		for _, at := range was[a.Name] {
			if now := moves.wave(a); at.wave != now && !at.held {
				out = append(out, Problem{Place: model.Place{File: c.movesPath(), Line: 1, Column: 1},
					Message: fmt.Sprintf("%s would leave wave %d for wave %d, and in what is committed it is not marked there: step 1 of its cutover is not in git, so Flux would delete it", a.Name, at.wave, now),
					Fix:     "take " + c.movesPath() + " and " + c.Settings.Apps + "/ from git, and begin with step 1: catalog render --cutover; each step is a commit that every environment applies before the next"})
			}
		}
		if moves.of(a.Name) != nil {
			out = append(out, c.unmarkable(a)...)
		}
	}
	return out
}

// createdOnce is an object that kustomize-controller makes and never touches again (fluxcd/pkg ssa shouldSkipApply): a mark that is
// added later does not reach the cluster, and its owner stays the old one.
var createdOnce = regexp.MustCompile(`(?im)kustomize\.toolkit\.fluxcd\.io/ssa["']?\s*:\s*["']?IfNotPresent`)

// unmarkable finds manifests of an app that a cutover cannot protect.
func (c *Catalog) unmarkable(a *App) (out []Problem) {
	for i, name := range a.Manifests {
		data, at, err := c.own(a, name)
		if err == nil && createdOnce.Match(data) {
			out = append(out, Problem{Place: a.place(fmt.Sprintf("manifests[%d]", i)),
				Message: at + " has an object with ssa: IfNotPresent, which Flux never changes: it would not be marked, and the old wave would delete it",
				Fix:     "annotate it in the cluster by hand (" + pruneAnnotation + "=disabled), take ssa: IfNotPresent out of the manifest, and move the app then"})
		}
	}
	return out
}

// step says in which step of a cutover the output is: nil for none. committed is the tree that Flux has, or may have.
// next is what the user does with the result.
func (c *Catalog) step(committed Files, cutover bool) (moves *Moves, next []string, problems []Problem) {
	state, problems := c.readMoves(c.files)
	if len(problems) > 0 {
		return nil, nil, problems
	}
	before, problems := c.readMoves(committed)
	if len(problems) > 0 {
		before = nil
	}
	moved := c.moved(committed)
	switch {
	case state == nil && before != nil && before.Step == LetGo:
		// The file was taken away by hand in the midst of it.
		return nil, nil, []Problem{{Place: model.Place{File: c.movesPath(), Line: 1, Column: 1}, Message: "a cutover is under way in git, and this file of it is gone", Fix: "git checkout -- " + c.movesPath() + ", and finish it with --cutover"}}
	case len(moved) == 0 && (state == nil || state.Step == LetGo && before == nil):
		return nil, nil, nil // nothing moves, or no longer: the file of it goes
	case state == nil && !cutover, state != nil && state.Step == LetGo && before == nil && !cutover && !sameMoves(state.Apps, moved):
		return nil, nil, c.refuse(moved)
	case state == nil, state.Step == LetGo && before == nil:
		return &Moves{Step: LetGo, Apps: moved}, stepOne(moved, c.Settings.Apps), nil
	}
	if p := c.changed(state, moved); len(p) > 0 {
		return nil, nil, p
	}
	if before != nil && (!slices.Equal(state.Apps, before.Apps) || state.Step < before.Step) {
		return nil, nil, []Problem{{Place: model.Place{File: c.movesPath(), Line: 1, Column: 1}, Message: "it says otherwise than what is committed of the cutover that is under way", Fix: "git checkout -- " + c.movesPath() + ", and go on from there"}}
	}
	switch {
	case !cutover:
		return state, nil, nil
	case state.Step == LetGo:
		return &Moves{Step: Settled, Apps: state.Apps}, stepTwo(), nil
	case before == nil || before.Step == LetGo:
		return state, stepTwo(), nil // written, and not committed yet
	}
	return nil, []string{"The cutover is over: commit this. It takes the annotation off what keeps no data."}, nil
}

// moved gives the apps whose wave differs from the one that a tree has them in.
func (c *Catalog) moved(committed Files) (out []Move) {
	was := c.placedIn(committed)
	for _, a := range c.Apps {
		for _, at := range was[a.Name] {
			if at.wave != a.Wave {
				out = append(out, Move{App: a.Name, From: at.wave, To: a.Wave})
				break
			}
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].App < out[j].App })
	return out
}

func sameMoves(a, b []Move) bool { return slices.Equal(a, b) }

// refuse says why a move is none that a render makes by the way.
func (c *Catalog) refuse(moved []Move) (out []Problem) {
	for _, mv := range moved {
		a := c.App(mv.App)
		loss := "its pods"
		if a.stateful() {
			loss = "its volumes and its database"
			if a.Database == nil {
				loss = "its volumes"
			} else if !a.keeps() {
				loss = "its database"
			}
		}
		out = append(out, Problem{Place: a.place("needs"),
			Message: fmt.Sprintf("%s would move from wave %d to wave %d. A wave prunes what leaves it: the old one would delete the app, and what of %s is not protected, before the new one applies it", mv.App, mv.From, mv.To, loss),
			Fix:     "run it with --cutover, which makes two commits of it that delete nothing; or undo the change of needs"})
	}
	return out
}

// changed refuses needs that changed in the midst of a cutover.
func (c *Catalog) changed(state *Moves, moved []Move) (out []Problem) {
	bad := func(a *App, message string) {
		out = append(out, Problem{Place: a.place("needs"), Message: message, Fix: "undo the change of needs, finish the cutover that is under way with --cutover, and change them then"})
	}
	for _, mv := range state.Apps {
		if c.App(mv.App) == nil {
			out = append(out, Problem{Place: model.Place{File: c.movesPath(), Line: 1, Column: 1}, Message: fmt.Sprintf("%s is on its way from wave %d to %d, and its file is gone: everything of it would stay in the cluster, marked not to be pruned", mv.App, mv.From, mv.To),
				Fix: "take the file back from git, finish the cutover with --cutover, and remove the app then"})
		}
		if a := c.App(mv.App); a != nil && a.Wave != mv.To {
			bad(a, fmt.Sprintf("%s is on its way from wave %d to %d, and its needs now put it into wave %d", mv.App, mv.From, mv.To, a.Wave))
		}
	}
	for _, mv := range moved {
		if state.of(mv.App) == nil {
			bad(c.App(mv.App), fmt.Sprintf("%s would move from wave %d to %d while other apps are on their way", mv.App, mv.From, mv.To))
		}
	}
	return out
}

func stepOne(moved []Move, apps string) []string {
	var names, waves, shown []string
	for _, mv := range moved {
		names = append(names, mv.String())
		if w := waveName(apps, mv.From); !slices.Contains(waves, w) {
			waves = append(waves, w)
			shown = append(shown, "`flux get kustomization "+w+"`")
		}
	}
	return []string{
		"Step 1 of 2 moves " + strings.Join(names, ", ") + ": it stays where it is, and is no longer pruned.",
		"Commit and push this. Wait in every environment until " + strings.Join(shown, " and ") + " shows this revision as applied.",
		"Then run it with --cutover again, for step 2.",
	}
}

func stepTwo() []string {
	return []string{
		"Step 2 of 2: the apps are in their new waves. Commit and push this only after step 1 was applied in every environment.",
		"When the new waves are ready everywhere, run it with --cutover once more: that takes the annotation off what keeps no data.",
	}
}
