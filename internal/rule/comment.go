package rule

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/model"
)

// marker is what every suppression in a file holds. A file without it is not looked at any further.
const marker = "tidegate:"

// comment is a suppression in a file.
type comment struct {
	rules  []string
	reason string
	span   model.Span
	used   map[string]bool // by rule
}

// file is one of the repository as suppressions see it.
type file struct {
	lines    [][]byte
	comments map[int]*comment // by line
	parents  []int            // for each line the nearest one above it that is indented less; 0 where there is none
}

// ignore is a suppression, in a comment of YAML and scripts, of JSON with comments, or of XML and Markdown. In YAML a # in
// the middle of a word begins no comment.
var ignore = regexp.MustCompile(`(?:^|\s)((?:#+|//|<!--)\s*tidegate:\s*ignore)(?:[\s:,]([^\n]*))?$`)

// inQuotes is a line up to a sign within a quoted text: there it begins no comment.
var inQuotes = regexp.MustCompile(`(?:^\s*|[:\-]\s+)(?:"(?:[^"\\]|\\.)*|'(?:[^']|'')*)$`)

var idPattern = regexp.MustCompile(`^TG\d{4}$`)

// parse finds the suppressions of a file; nil when it has none. ids are the IDs of the rules by their names.
func parse(name string, data []byte, ids map[string]string) *file {
	if !bytes.Contains(data, []byte(marker)) {
		return nil
	}
	f := &file{lines: bytes.Split(data, []byte("\n")), comments: map[int]*comment{}}
	for i, line := range f.lines {
		line = bytes.TrimRight(line, " \t\r")
		if !bytes.Contains(line, []byte(marker)) {
			continue
		}
		m := ignore.FindSubmatchIndex(line)
		if m == nil || inQuotes.Match(line[:m[2]]) {
			continue
		}
		c := &comment{used: map[string]bool{}, span: model.Span{File: name, Line: i + 1, Column: utf8.RuneCount(line[:m[2]]) + 1, EndLine: i + 1,
			EndColumn: utf8.RuneCount(line) + 1}}
		if m[4] >= 0 {
			c.rules, c.reason = said(string(line[m[4]:m[5]]), ids)
		}
		f.comments[i+1] = c
	}
	if len(f.comments) == 0 {
		return nil
	}
	f.parents = parents(f.lines)
	return f
}

// said reads what stands behind the marker: IDs or names, separated by commas or spaces, and a reason.
func said(text string, ids map[string]string) (rules []string, reason string) {
	words := strings.FieldsFunc(strings.TrimSuffix(strings.TrimSpace(text), "-->"), func(r rune) bool { return r == ' ' || r == '\t' || r == ',' })
	for len(words) > 0 {
		id := strings.TrimRight(words[0], ":;")
		if byName, ok := ids[id]; ok {
			id = byName
		}
		if !idPattern.MatchString(id) {
			break
		}
		if !slices.Contains(rules, id) {
			rules = append(rules, id)
		}
		words = words[1:]
	}
	// The reason as it is written, with its commas.
	if len(words) > 0 {
		reason = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text[strings.Index(text, words[0]):]), "-->"))
	}
	return rules, strings.TrimSpace(strings.TrimLeft(reason, "-–—:;. "))
}

// parents finds, in one pass, the line that each line is below. Empty lines are below none, and nothing is below them.
func parents(lines [][]byte) []int {
	type open struct{ line, indent int }
	var stack []open
	out := make([]int, len(lines))
	for i, line := range lines {
		text := bytes.TrimLeft(line, " ")
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		indent := len(line) - len(text)
		if text[0] == '#' {
			// A comment is the head of nothing and ends nothing, whatever it was once; it may itself be a line of a text.
			for j := len(stack) - 1; j >= 0 && out[i] == 0; j-- {
				if stack[j].indent < indent {
					out[i] = stack[j].line
				}
			}
			continue
		}
		for len(stack) > 0 && stack[len(stack)-1].indent >= indent {
			stack = stack[:len(stack)-1]
		}
		if len(stack) > 0 {
			out[i] = stack[len(stack)-1].line
		}
		stack = append(stack, open{i + 1, indent})
	}
	return out
}

// blockScalar is a line that begins a block of text: literal or folded, with whatever YAML lets stand around the sign.
var blockScalar = regexp.MustCompile(`(?:^|[:\-?]\s+)(?:[&!]\S*\s+)*[|>][0-9+-]*\s*(?:#.*)?$`)

// covering gives the suppressions that reach a line, nearest first: on the line, in the comments right above it, and
// the same for every line that begins a block of text that the line is in.
func (f *file) covering(line int) []*comment {
	if f == nil || line < 1 || line > len(f.lines) {
		return nil
	}
	out := f.at(nil, line)
	for head := f.parents[line-1]; head > 0; head = f.parents[head-1] {
		if blockScalar.Match(bytes.TrimSpace(f.lines[head-1])) {
			out = f.at(out, head)
		}
	}
	return out
}

// maxAbove bounds the comments above a line that are asked: more of them are a text of its own.
const maxAbove = 100

// at adds the suppressions on a line and in the comments right above it.
func (f *file) at(list []*comment, line int) []*comment {
	for at := line; at >= 1 && line-at <= maxAbove && (at == line || onlyComment(f.lines[at-1])); at-- {
		if c := f.comments[at]; c != nil {
			list = append(list, c)
		}
	}
	return list
}

func onlyComment(line []byte) bool {
	line = bytes.TrimSpace(line)
	return bytes.HasPrefix(line, []byte("#")) || bytes.HasPrefix(line, []byte("//")) || bytes.HasPrefix(line, []byte("<!--"))
}
