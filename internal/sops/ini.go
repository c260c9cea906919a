package sops

import (
	"bytes"
	"strings"

	"gopkg.in/ini.v1"
)

// maxINILines bounds INI documents: the parser looks at every earlier name of a section for each
// new one. A file of MaxFileSize in which every value is encrypted has fewer lines.
const maxINILines = 50_000

// readINI reads sections as tables (stores/ini/store.go). The comment of a section stands first in
// it, the comment of a key after the key.
func readINI(data []byte) ([]table, error) {
	if n := bytes.Count(data, []byte("\n")) + bytes.Count(data, []byte("\r")); n > maxINILines {
		return nil, limit("it has %d lines, at most %d are read of INI", n, maxINILines)
	}
	file, err := ini.LoadSources(ini.LoadOptions{AllowNonUniqueSections: true}, data)
	if err != nil {
		// The parser's error quotes the line.
		return nil, malformed("it is not INI that SOPS reads")
	}
	var doc table
	for _, section := range file.Sections() {
		var t table
		if section.Comment != "" {
			t = append(t, entry{Key: comment{Value: iniComment(section.Comment)}})
		}
		for _, key := range section.Keys() {
			t = append(t, entry{Key: key.Name(), Val: key.Value()})
			if key.Comment != "" {
				t = append(t, entry{Key: comment{Value: iniComment(key.Comment)}})
			}
		}
		doc = append(doc, entry{Key: section.Name(), Val: t})
	}
	return []table{doc}, nil
}

// iniComment takes the sign, repeated or not, and blanks from the front of a comment.
func iniComment(text string) string {
	switch {
	case strings.HasPrefix(text, ";"):
		return strings.TrimLeft(text, "; ")
	case strings.HasPrefix(text, "#"):
		return strings.TrimLeft(text, "# ")
	}
	return text
}

// writeINI writes the entries of all tables as sections. What a section holds is written as text.
func writeINI(docs []table) ([]byte, error) {
	file := ini.Empty(ini.LoadOptions{AllowNonUniqueSections: true})
	file.DeleteSection(ini.DefaultSection)
	for _, doc := range docs {
		for _, e := range doc {
			name, ok := e.Key.(string)
			if !ok {
				continue // a comment outside of any section
			}
			section, err := file.NewSection(name)
			if err != nil {
				return nil, malformed("it has a section without a name and cannot be written as INI")
			}
			content, ok := e.Val.(table)
			if !ok {
				return nil, malformed("the value at %s is no mapping and cannot be written as INI, which has sections at the top", showPath([]string{name}))
			}
			if err := fillSection(section, content); err != nil {
				return nil, err
			}
		}
	}
	var out bytes.Buffer
	if _, err := file.WriteTo(&out); err != nil {
		return nil, malformed("its values cannot be written as INI")
	}
	return out.Bytes(), nil
}

func fillSection(section *ini.Section, content table) error {
	if len(content) > maxINILines {
		return limit("a section has %d keys, at most %d are written as INI", len(content), maxINILines)
	}
	if len(content) > 0 {
		if c, ok := content[0].Key.(comment); ok {
			section.Comment = c.Value
			content = content[1:]
		}
	}
	var last *ini.Key
	for _, e := range content {
		if c, ok := e.Key.(comment); ok {
			if last != nil {
				last.Comment = c.Value
			}
			continue
		}
		name, ok := e.Key.(string)
		if !ok {
			return malformed("it has a key that is no string and cannot be written as INI")
		}
		key, err := section.NewKey(name, plainText(e.Val))
		if err != nil {
			return malformed("it has a key without a name and cannot be written as INI")
		}
		last = key
	}
	return nil
}

// unescape puts line breaks back into metadata, where INI cannot hold them.
func unescape(meta table) {
	for i, e := range meta {
		if text, ok := e.Val.(string); ok {
			meta[i].Val = strings.ReplaceAll(text, `\n`, "\n")
		}
	}
}
