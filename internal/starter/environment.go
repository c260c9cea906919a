package starter

import (
	"fmt"
	"maps"
	"net/netip"
	"path"
	"regexp"
	"slices"
	"sort"
	"strings"

	yaml3 "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Like is an environment that another is made like.
type Like struct {
	Name  string
	Entry string // its folder
	LAN   string // its network; empty when tidegate.yaml does not say
	Nodes []string
	Knobs []string // those that every overlay sets itself
	// Values are what all its knobs have, also those that it takes from the base.
	Values map[string]string
}

// AddEnvironment gives the files of a new environment: its folder, and tidegate.yaml with it. files are those of the
// repository. Without a LAN the values that belong to a network are placeholders. undecided are the knobs that have one.
func AddEnvironment(files map[string][]byte, like Like, name, lan string) (out map[string][]byte, undecided []string, err error) {
	if len(validation.IsDNS1123Label(name)) > 0 {
		return nil, nil, fmt.Errorf("%q cannot be the name of an environment: write small letters, digits and dashes", name)
	}
	entry := path.Join(path.Dir(like.Entry), name)
	for p := range files {
		if strings.HasPrefix(p, entry+"/") || p == entry {
			return nil, nil, fmt.Errorf("%s exists", entry)
		}
	}
	e := &newcomer{like: like, name: name, entry: entry, set: map[string]bool{}}
	if lan != "" {
		if like.LAN == "" {
			return nil, nil, fmt.Errorf("tidegate.yaml does not say which network %s has (environments.%s.lan), so its addresses cannot be moved to %s", like.Name, like.Name, lan)
		}
		m, err := moveOf("--lan", like.LAN, lan)
		if err != nil {
			return nil, nil, err
		}
		if m.to.Overlaps(m.from) {
			return nil, nil, fmt.Errorf("--lan %s overlaps %s's network %s: each environment has one of its own", lan, like.Name, like.LAN)
		}
		e.move = &m
	}
	out = map[string][]byte{}
	last := ""
	for _, p := range slices.Sorted(maps.Keys(files)) {
		data := files[p]
		rest, ok := strings.CutPrefix(p, like.Entry+"/")
		if !ok || strings.HasPrefix(rest, "flux-system/") {
			continue // flux bootstrap writes that folder for each cluster
		}
		text, err := e.overlay(string(data))
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", p, err)
		}
		out[path.Join(entry, rest)] = []byte(text)
		if e.lastLine >= 0 {
			last = path.Join(entry, rest)
		}
	}
	if last != "" {
		text, err := e.inherited(string(out[last]))
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", last, err)
		}
		out[last] = []byte(text)
	}
	if len(out) == 0 {
		return nil, nil, fmt.Errorf("%s holds no file that an environment could be made of", like.Entry)
	}
	if data, ok := files["tidegate.yaml"]; ok {
		text, err := e.settings(string(data))
		if err != nil {
			return nil, nil, fmt.Errorf("tidegate.yaml: %w", err)
		}
		out["tidegate.yaml"] = []byte(text)
	}
	sort.Strings(e.undecided)
	return out, slices.Compact(e.undecided), nil
}

type newcomer struct {
	like        Like
	name, entry string
	move        *move
	undecided   []string
	set         map[string]bool // knobs that the overlay sets
	lastLine    int             // of the last of them, in the file that was read last; -1 for none
}

// setting is a line that gives a value to a name.
var setting = regexp.MustCompile(`^(\s*)([A-Za-z_][A-Za-z0-9_]*):[ \t]+(\S.*?)([ \t]+#.*)?$`)

// overlay makes the new environment's file of the other's: its values with addresses moved, and placeholders for what
// only a person can say.
func (e *newcomer) overlay(text string) (string, error) {
	lines := strings.SplitAfter(text, "\n")
	for len(lines) > 0 && strings.HasPrefix(lines[0], "#") {
		lines = lines[1:] // what it says of the other environment
	}
	for i, l := range lines {
		line := strings.TrimRight(l, "\r\n")
		m := setting.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		value, err := e.value(m[2], m[3])
		if err != nil {
			return "", err
		}
		lines[i] = m[1] + m[2] + ": " + value + m[4] + l[len(line):]
	}
	e.lastLine = -1
	for i, l := range lines {
		if m := setting.FindStringSubmatch(strings.TrimRight(l, "\r\n")); m != nil {
			if _, knob := e.like.Values[m[2]]; knob {
				e.set[m[2]] = true
				e.lastLine = i
			}
		}
	}
	head := fmt.Sprintf("# %s: made like %s by `tidegate env add`. It sets values in cluster-vars and does nothing else.\n", e.name, e.like.Name)
	return head + strings.Join(lines, ""), nil
}

// inherited adds to the overlay what it would take from the base and is the other environment's own: its nodes, and
// addresses of its network. The base's default is some environment's value.
func (e *newcomer) inherited(text string) (string, error) {
	lines := strings.SplitAfter(text, "\n")
	at, indent := -1, ""
	for i, l := range lines {
		if m := setting.FindStringSubmatch(strings.TrimRight(l, "\r\n")); m != nil && e.set[m[2]] {
			at, indent = i, m[1]
		}
	}
	if at < 0 {
		return text, nil
	}
	var more []string
	for _, name := range slices.Sorted(maps.Keys(e.like.Values)) {
		value := e.like.Values[name]
		if e.set[name] || !slices.Contains(e.like.Nodes, value) && !inLAN(value, e.like.LAN) {
			continue
		}
		to, err := e.value(name, value)
		if err != nil {
			return "", err
		}
		more = append(more, indent+name+": "+to+"\n")
	}
	if !strings.HasSuffix(lines[at], "\n") {
		lines[at] += "\n"
	}
	return strings.Join(slices.Concat(lines[:at+1], more, lines[at+1:]), ""), nil
}

// value gives a knob's value in the new environment.
func (e *newcomer) value(name, value string) (string, error) {
	bare := strings.Trim(value, `"'`)
	placeholder := "TBD-" + strings.ToUpper(e.name) + "-" + strings.ReplaceAll(strings.ToUpper(name), "_", "-")
	decide := func() (string, error) {
		e.undecided = append(e.undecided, name)
		return placeholder, nil
	}
	switch {
	case strings.HasPrefix(bare, "TBD-"):
		return decide()
	case slices.Contains(e.like.Nodes, bare):
		if renamed := strings.ReplaceAll(bare, e.like.Name, e.name); renamed != bare && e.move != nil {
			return renamed, nil // as its node is called in tidegate.yaml
		}
		return decide()
	case e.move == nil && (slices.Contains(e.like.Knobs, name) || inLAN(value, e.like.LAN)):
		return decide()
	case e.move != nil:
		return moved(value, []move{*e.move})
	}
	return value, nil
}

// settings puts the environment into tidegate.yaml, behind the one that it is like, and leaves every other line as it is.
func (e *newcomer) settings(text string) (string, error) {
	var doc yaml3.Node
	if err := yaml3.Unmarshal([]byte(text), &doc); err != nil {
		return "", err
	}
	if len(doc.Content) == 0 {
		return text, nil
	}
	environments := child(doc.Content[0], "environments")
	if environments == nil || environments.Kind != yaml3.MappingNode || len(environments.Content) == 0 {
		return text, nil // environments are found by what is there
	}
	if environments.Style&yaml3.FlowStyle != 0 {
		return "", fmt.Errorf("line %d: environments is written in braces: write one environment a line, so that one can be added", environments.Line)
	}
	if child(environments, e.name) != nil {
		return "", fmt.Errorf("it has an environment %s already", e.name)
	}
	lines := strings.SplitAfter(text, "\n")
	if !strings.HasSuffix(text, "\n") {
		lines[len(lines)-1] += "\n"
	}
	start, end := -1, len(lines)
	for i := 0; i+1 < len(environments.Content); i += 2 {
		k := environments.Content[i]
		switch {
		case k.Value == e.like.Name:
			start = k.Line - 1
		case start >= 0 && k.Line-1 < end:
			end = k.Line - 1
		}
	}
	if start < 0 {
		return "", fmt.Errorf("environments has no %s, so nothing says what %s is like", e.like.Name, e.name)
	}
	indent := environments.Content[0].Column - 1
	for i := start + 1; i < end; i++ {
		if l := strings.TrimRight(lines[i], "\r\n"); strings.TrimSpace(l) != "" && len(l)-len(strings.TrimLeft(l, " ")) <= indent {
			end = i // a comment or a key that is no longer the environment's
		}
	}
	for end > start+1 && strings.TrimSpace(lines[end-1]) == "" {
		end--
	}
	block, err := e.block(environments, lines[start:end])
	if err != nil {
		return "", err
	}
	return strings.Join(slices.Concat(lines[:end], []string{block}, lines[end:]), ""), nil
}

func child(n *yaml3.Node, name string) *yaml3.Node {
	if n.Kind != yaml3.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i+1]
		}
	}
	return nil
}

// block writes the environment as tidegate.yaml has it: what is known of its machines, and otherwise only its path.
func (e *newcomer) block(environments *yaml3.Node, of []string) (string, error) {
	indent := strings.Repeat(" ", environments.Content[0].Column-1)
	step := "  "
	if like := child(environments, e.like.Name); like != nil && len(like.Content) > 0 && like.Content[0].Column > environments.Content[0].Column {
		step = strings.Repeat(" ", like.Content[0].Column-environments.Content[0].Column)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s:\n%s%spath: %s\n", indent, e.name, indent, step, e.entry)
	if e.move == nil {
		fmt.Fprintf(&b, "%s%s# lan, controlPlaneVIP and nodes: when they are decided.\n", indent, step)
		return b.String(), nil
	}
	for _, l := range of[1:] {
		line := strings.TrimSpace(l)
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "path:") || line == "" {
			continue
		}
		text, err := moved(l, []move{*e.move})
		if err != nil {
			return "", err
		}
		for _, n := range e.like.Nodes {
			if renamed := strings.ReplaceAll(n, e.like.Name, e.name); renamed != n {
				text = strings.ReplaceAll(text, n, renamed)
			}
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

// inLAN tells whether a text holds an address of a network.
func inLAN(text, lan string) bool {
	p, err := netip.ParsePrefix(lan)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(address.FindAllString(text, -1), func(s string) bool {
		bare, _, _ := strings.Cut(s, "/")
		a, err := netip.ParseAddr(bare)
		return err == nil && p.Contains(a)
	})
}
