package render

import (
	"bytes"
	"errors"
	"io"
	"path"
	"regexp"
	"strconv"
	"strings"

	yaml3 "go.yaml.in/yaml/v3"

	"github.com/tidegate/tidegate/internal/model"
)

// This file finds where a text stands that a failure is about. Flux gives no position; the files that the build read
// are searched for it.

// maxPlaces bounds how many places a reason lists.
const maxPlaces = 5

// locate finds where a variable is used as an expression.
func locate(files Files, read []string, name string) []model.Place {
	return search(files, read, func(line string) int {
		for from := 0; ; {
			i := strings.Index(line[from:], "${")
			if i < 0 {
				return -1
			}
			i += from
			rest := strings.TrimLeft(line[i+2:], "#")
			if strings.HasPrefix(rest, name) && !isNameByte(rest[len(name):]) && !escaped(line, i) {
				return i
			}
			from = i + 2
		}
	})
}

// locateText finds where a piece of text stands.
func locateText(files Files, read []string, text string) []model.Place {
	if len(text) < 3 {
		return nil
	}
	return search(files, read, func(line string) int { return strings.Index(line, text) })
}

func search(files Files, read []string, find func(string) int) []model.Place {
	var out []model.Place
	for _, p := range read {
		data, err := files.ReadFile(p)
		if err != nil || !strings.Contains(string(data), "${") {
			continue
		}
		for n, line := range strings.Split(string(data), "\n") {
			if i := find(line); i >= 0 {
				out = append(out, model.Place{File: p, Line: n + 1, Column: i + 1})
				if len(out) == maxPlaces {
					return out
				}
			}
		}
	}
	return out
}

// yamlFault is what the YAML library says of a text that it refuses: a line, of the document or of the file, and why.
var yamlFault = regexp.MustCompile(`line (\d+): ([^\n]+)`)

// locateYAML finds the file that a YAML error is about. kustomize tells the line and often not the file; the file is the one
// that gives the same error when it is read again.
func locateYAML(files Files, read []string, message string) []model.Place {
	want := yamlFault.FindStringSubmatch(message)
	if want == nil || strings.Contains(message, "in File:") {
		return nil
	}
	said := lineNumbers.ReplaceAllString(want[2], "")
	for _, p := range read {
		if ext := path.Ext(p); ext != ".yaml" && ext != ".yml" && ext != ".json" {
			continue
		}
		data, err := files.ReadFile(p)
		if err != nil || CheckAliases(data) != nil {
			continue
		}
		dec := yaml3.NewDecoder(bytes.NewReader(data))
		for {
			var v map[string]any
			err := dec.Decode(&v)
			if errors.Is(err, io.EOF) {
				break
			}
			if err == nil {
				continue
			}
			if m := yamlFault.FindStringSubmatch(err.Error()); m != nil && lineNumbers.ReplaceAllString(m[2], "") == said {
				line, _ := strconv.Atoi(m[1])
				return []model.Place{{File: p, Line: line, Column: 1}}
			}
			break
		}
	}
	return nil
}

// lineNumbers are those within a message, which differ between a document and its file.
var lineNumbers = regexp.MustCompile(`line \d+`)

// escaped tells whether the dollar at i is the second of a `$$`.
func escaped(line string, i int) bool {
	n := 0
	for i-1-n >= 0 && line[i-1-n] == '$' {
		n++
	}
	return n%2 == 1
}

func isNameByte(rest string) bool {
	if rest == "" {
		return false
	}
	c := rest[0]
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// excerpt quotes the text at an offset, to the end of its line and no more than fits a message.
func excerpt(text string, offset int) string {
	if offset < 0 || offset > len(text) {
		return ""
	}
	line, _, _ := strings.Cut(text[offset:], "\n")
	if len(line) > 40 {
		line = strings.ToValidUTF8(line[:40], "") + "…"
	}
	return line
}

// excerptKey is what of an excerpt is likely to stand in the source as it is: up to the end of the expression.
func excerptKey(text string, offset int) string {
	line := strings.TrimSuffix(excerpt(text, offset), "…")
	if i := strings.IndexByte(line, '}'); i >= 0 {
		return line[:i+1]
	}
	return strings.TrimRight(line, `"' `)
}
