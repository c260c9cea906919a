package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	yaml3 "go.yaml.in/yaml/v3"

	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/spell"
)

// The YAML library decodes strictly, and then says no column, stops at the first mistake, and takes `no` and 0123 for
// text. Each mistake of a file that a person writes should come with its place and with what to write instead, so the nodes are
// walked here, by the same tags that make the format's schema.

// maxFile is the largest file that is read, in bytes: it is written by hand.
const maxFile = 1 << 20

type decoder struct {
	file     string
	places   map[string]model.Place
	problems []Problem
}

// decode reads a file of the catalog. The app is nil when it is no mapping at all.
func decode(file string, data []byte) (*App, []Problem) {
	d := &decoder{file: file, places: map[string]model.Place{}}
	if len(data) > maxFile {
		d.add(nil, "the file is larger than 1 MiB", "a catalog file is short: move what it holds elsewhere")
		return nil, d.problems
	}
	if !utf8.Valid(data) {
		d.add(nil, "the file is no UTF-8 text", "")
		return nil, d.problems
	}
	if p, why := raw(data); why != "" {
		p.File = file
		d.problems = append(d.problems, Problem{Place: p, Message: "the file " + why, Fix: "take it out, or write it as an escape in double quotes where it is meant"})
		return nil, d.problems
	}
	dec := yaml3.NewDecoder(bytes.NewReader(data))
	var doc yaml3.Node
	if err := safely(func() error { return dec.Decode(&doc) }); err != nil {
		if errors.Is(err, io.EOF) {
			d.add(nil, "the file is empty", "tidegate catalog add NAME writes one to start from")
			return nil, d.problems
		}
		line, msg := yamlError(err)
		d.problems = append(d.problems, Problem{Place: model.Place{File: file, Line: line, Column: 1}, Message: "it is no YAML: " + msg})
		return nil, d.problems
	}
	var more yaml3.Node
	if err := safely(func() error { return dec.Decode(&more) }); !errors.Is(err, io.EOF) {
		d.add(&more, "there is more than one document", "one app, one file")
		return nil, d.problems
	}
	root := doc.Content[0]
	a := &App{File: file, places: d.places}
	if long := tooLong(root); long != nil {
		d.add(long, fmt.Sprintf("it has %d entries, and a catalog file at most %d", len(long.Content), maxEntries), "an app is described by a few lines")
		return nil, d.problems
	}
	if root.Kind != yaml3.MappingNode {
		d.add(root, fmt.Sprintf("an app is a mapping of fields, and this is %s", kindOf(root)), "tidegate catalog add NAME writes one to start from")
		return nil, d.problems
	}
	d.mapping(root, reflect.ValueOf(a).Elem(), "")
	return a, d.problems
}

// maxEntries bounds each list and mapping: what belongs to an app is counted on fingers, and checks compare all with all.
const maxEntries = 1000

func tooLong(n *yaml3.Node) *yaml3.Node {
	if len(n.Content) > 2*maxEntries || n.Kind == yaml3.SequenceNode && len(n.Content) > maxEntries {
		return n
	}
	for _, c := range n.Content {
		if long := tooLong(c); long != nil {
			return long
		}
	}
	return nil
}

// raw finds the first character of a file that readers of YAML disagree about, or refuse without saying where.
func raw(data []byte) (at model.Place, why string) {
	line, column := 1, 1
	for i, r := range string(data) {
		if r != '\n' && !(r == '\r' && strings.HasPrefix(string(data[i+1:min(i+2, len(data))]), "\n")) && !(r == 0xfeff && i == 0) {
			if why := unfit(string(r), true); why != "" {
				return model.Place{Line: line, Column: column}, why
			}
		}
		if column++; r == '\n' {
			line, column = line+1, 1
		}
	}
	return at, ""
}

// safely turns a panic of the YAML library into an error.
func safely(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it cannot be read (%v)", p)
		}
	}()
	return f()
}

var errorLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)`)

// yamlError takes the line out of the library's message.
func yamlError(err error) (line int, msg string) {
	m := errorLine.FindStringSubmatch(strings.SplitN(err.Error(), "\n", 2)[0])
	if m == nil {
		return 1, err.Error()
	}
	line, _ = strconv.Atoi(m[1])
	return max(line, 1), m[2]
}

func (d *decoder) placeOf(n *yaml3.Node) model.Place {
	if n == nil || n.Line == 0 {
		return model.Place{File: d.file, Line: 1, Column: 1}
	}
	return model.Place{File: d.file, Line: n.Line, Column: n.Column}
}

func (d *decoder) add(n *yaml3.Node, message, fix string) {
	d.problems = append(d.problems, Problem{Place: d.placeOf(n), Message: message, Fix: fix})
}

func kindOf(n *yaml3.Node) string {
	switch n.Kind {
	case yaml3.MappingNode:
		return "a mapping"
	case yaml3.SequenceNode:
		return "a list"
	case yaml3.AliasNode:
		return "an alias"
	}
	switch n.ShortTag() {
	case "!!str":
		return "the text " + quote(n.Value)
	case "!!int", "!!float":
		return "the number " + n.Value
	case "!!bool":
		return "the boolean " + n.Value
	case "!!null":
		return "empty"
	case "!!timestamp":
		return "the date " + n.Value
	}
	return "a " + n.ShortTag()
}

// quote shows a value within a message, cut where it is long.
func quote(s string) string {
	if r := []rune(s); len(r) > 60 {
		s = string(r[:60]) + "…"
	}
	return strconv.Quote(s)
}

// field is a field of a struct of the format.
type field struct {
	index               int
	name                string
	key, scalar, needed bool
	number              bool // a number is as good as its text
	lines               bool // it may be several lines
	example, doc        string
	enum                []string
}

func fieldsOf(t reflect.Type) (out []field) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, ok := f.Tag.Lookup("yaml")
		if !ok || tag == "-" {
			continue
		}
		name, flag, _ := strings.Cut(tag, ",")
		fl := field{index: i, name: name, key: flag == "key", scalar: flag == "scalar", needed: f.Tag.Get("need") == "yes", number: f.Tag.Get("number") == "yes", lines: f.Tag.Get("lines") == "yes", example: f.Tag.Get("example"), doc: f.Tag.Get("doc")}
		if e := f.Tag.Get("enum"); e != "" {
			fl.enum = strings.Split(e, ",")
		}
		out = append(out, fl)
	}
	return out
}

// keyed tells whether elements of a type stand in a mapping, under their names.
func keyed(t reflect.Type) bool {
	if t.Kind() != reflect.Struct {
		return false
	}
	for _, f := range fieldsOf(t) {
		if f.key {
			return true
		}
	}
	return false
}

// join leads from a field to one within it. A name with a dot in it cannot be taken for two.
func join(at, name string) string {
	switch {
	case strings.ContainsAny(name, ".[]\"") && at != "":
		return at + "[" + strconv.Quote(name) + "]"
	case at == "":
		return name
	}
	return at + "." + name
}

// value reads a node into a value of the format.
func (d *decoder) value(n *yaml3.Node, v reflect.Value, f field, at string) {
	if _, ok := d.places[at]; !ok {
		d.places[at] = d.placeOf(n)
	}
	if n.Kind == yaml3.AliasNode {
		d.add(n, at+" is an alias", "write the value out: a catalog file has no anchors")
		return
	}
	t := v.Type()
	switch {
	case t.Kind() == reflect.Pointer:
		if n.Kind == yaml3.ScalarNode && n.ShortTag() == "!!null" {
			d.wrong(n, f, at, "a mapping")
			return
		}
		v.Set(reflect.New(t.Elem()))
		d.structure(n, v.Elem(), f, at)
	case t.Kind() == reflect.Struct:
		d.structure(n, v, f, at)
	case t.Kind() == reflect.Slice && keyed(t.Elem()):
		d.named(n, v, f, at)
	case t.Kind() == reflect.Slice:
		if n.Kind != yaml3.SequenceNode {
			d.wrong(n, f, at, "a list")
			return
		}
		for i, c := range n.Content {
			e := reflect.New(t.Elem()).Elem()
			d.value(c, e, field{name: f.name, lines: f.lines}, fmt.Sprintf("%s[%d]", at, i))
			v.Set(reflect.Append(v, e))
		}
	default:
		d.scalar(n, v, f, at)
	}
}

func (d *decoder) wrong(n *yaml3.Node, f field, at, want string) {
	fix := ""
	if f.example != "" {
		fix = fmt.Sprintf("write %s, such as %s: %s", want, f.name, f.example)
		if f.name == "" {
			fix = fmt.Sprintf("write %s, such as %s", want, f.example)
		}
	} else {
		fix = "write " + want
	}
	d.add(n, fmt.Sprintf("%s is %s", at, kindOf(n)), fix)
}

// structure reads a mapping, or the scalar that stands for its main field.
func (d *decoder) structure(n *yaml3.Node, v reflect.Value, f field, at string) {
	if n.Kind == yaml3.MappingNode {
		d.mapping(n, v, at)
		return
	}
	for _, s := range fieldsOf(v.Type()) {
		if s.scalar {
			s.name = f.name
			d.scalar(n, v.Field(s.index), s, at)
			return
		}
	}
	d.wrong(n, f, at, "a mapping")
}

// named reads a mapping whose keys are the elements' names.
func (d *decoder) named(n *yaml3.Node, v reflect.Value, f field, at string) {
	if n.Kind != yaml3.MappingNode {
		d.wrong(n, f, at, "a mapping of names")
		return
	}
	d.unique(n, at)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, val := n.Content[i], n.Content[i+1]
		if k.Kind != yaml3.ScalarNode || unfit(k.Value, false) != "" {
			continue // unique has said so
		}
		e := reflect.New(v.Type().Elem()).Elem()
		for _, ef := range fieldsOf(e.Type()) {
			if ef.key {
				e.Field(ef.index).SetString(k.Value)
			}
		}
		here := join(at, k.Value)
		d.places[here] = d.placeOf(k)
		d.value(val, e, field{example: scalarExample(e.Type())}, here)
		v.Set(reflect.Append(v, e))
	}
}

func scalarExample(t reflect.Type) string {
	for _, f := range fieldsOf(t) {
		if f.scalar {
			return f.example
		}
	}
	return ""
}

func (d *decoder) unique(n *yaml3.Node, at string) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if why := unfit(n.Content[i].Value, false); why != "" || n.Content[i].Kind != yaml3.ScalarNode {
			d.add(n.Content[i], join(at, quoteKey(n.Content[i].Value))+" is no name that a field can have", "write a plain text")
		}
	}
	seen := map[string]*yaml3.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if first, ok := seen[k.Value]; ok {
			d.add(k, fmt.Sprintf("%s is there twice: first in line %d", join(at, k.Value), first.Line), "keep one of them")
			continue
		}
		seen[k.Value] = k
	}
}

// mapping reads the fields of a struct.
func (d *decoder) mapping(n *yaml3.Node, v reflect.Value, at string) {
	fields := fieldsOf(v.Type())
	d.unique(n, at)
	have := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, val := n.Content[i], n.Content[i+1]
		f, ok := find(fields, k.Value)
		switch {
		case k.Kind != yaml3.ScalarNode, unfit(k.Value, false) != "":
			continue
		case !ok:
			have[d.unknown(k, fields, at)] = true // that one is not missing, but misspelt
			continue
		case have[f.name]:
			continue
		}
		have[f.name] = true
		d.places[join(at, f.name)] = d.placeOf(k)
		d.value(val, v.Field(f.index), f, join(at, f.name))
	}
	for _, f := range fields {
		if f.needed && f.name != "" && !have[f.name] {
			d.add(n, fmt.Sprintf("%s is missing", join(at, f.name)), fmt.Sprintf("add %s: %s", f.name, f.example))
		}
	}
}

func find(fields []field, name string) (field, bool) {
	for _, f := range fields {
		if f.name == name && name != "" {
			return f, true
		}
	}
	return field{}, false
}

// unknown says of a key that the format does not have what was meant, as far as that can be guessed.
func (d *decoder) unknown(k *yaml3.Node, fields []field, at string) (meant string) {
	if at == "" && (k.Value == "wave" || k.Value == "order") {
		d.add(k, k.Value+" is not written by hand", "waves are computed from needs: list there what the app needs")
		return ""
	}
	var names []string
	for _, f := range fields {
		if f.name != "" {
			names = append(names, f.name)
		}
	}
	fix := "there are " + strings.Join(names, ", ")
	if meant = nearest(k.Value, names); meant != "" {
		fix = "write " + meant
	}
	d.add(k, fmt.Sprintf("there is no field %s", join(at, quoteKey(k.Value))), fix)
	return meant
}

func quoteKey(s string) string {
	if s == "" || len(s) > 60 || strings.ContainsAny(s, " \t\n\"'\x1b") {
		return quote(s)
	}
	return s
}

func (d *decoder) scalar(n *yaml3.Node, v reflect.Value, f field, at string) {
	want := map[reflect.Kind]string{reflect.String: "text", reflect.Int: "a number", reflect.Bool: "true or false"}[v.Kind()]
	if n.Kind != yaml3.ScalarNode {
		d.wrong(n, f, at, want)
		return
	}
	tag := n.ShortTag()
	switch v.Kind() {
	case reflect.String:
		switch {
		case tag == "!!str", f.number && (tag == "!!int" || tag == "!!float"):
		case tag == "!!int", tag == "!!float", tag == "!!bool", tag == "!!timestamp":
			d.add(n, fmt.Sprintf("%s is %s, where text is wanted", at, kindOf(n)), "quote it: "+strconv.Quote(n.Value))
			return
		default:
			d.wrong(n, f, at, want)
			return
		}
		if why := unfit(n.Value, f.lines); why != "" {
			d.add(n, at+" "+why, "")
			return
		}
		if len(f.enum) > 0 && !slices.Contains(f.enum, n.Value) {
			d.add(n, fmt.Sprintf("%s is %s", at, quote(n.Value)), "write one of "+strings.Join(f.enum, ", "))
			return
		}
		v.SetString(n.Value)
	case reflect.Int:
		i, err := strconv.Atoi(n.Value)
		if tag != "!!int" || err != nil {
			d.wrong(n, f, at, want)
			return
		}
		v.SetInt(int64(i))
	case reflect.Bool:
		if tag != "!!bool" {
			d.wrong(n, f, at, want)
			return
		}
		v.SetBool(strings.EqualFold(n.Value, "true"))
	}
}

// unfit says what of a text would not arrive as it is written, or makes of a comment something else: what YAML cannot hold or takes
// for the end of a line. lines: several lines are allowed.
func unfit(s string, lines bool) string {
	for _, r := range s {
		switch {
		case r == '\n' && lines, r == '\t':
		case r == '\n':
			return "has several lines"
		case r == '\r', r == 0x85, r == 0x2028, r == 0x2029:
			return fmt.Sprintf("holds the line break U+%04X, which YAML and programs read differently", r)
		case unicode.IsControl(r), r == 0xfeff, r == 0xfffe, r == 0xffff, unicode.Is(unicode.Cs, r):
			return fmt.Sprintf("holds the character U+%04X, which YAML cannot hold as it is", r)
		}
	}
	return ""
}

// nearest is the name that a mistyped one most likely means; empty when none is near.
func nearest(name string, names []string) string { return spell.Nearest(name, names, 2) }
