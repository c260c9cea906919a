package catalog

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
)

// Page is the documentation of the format, in Markdown, made of the tags that the reader goes by.
func Page() []byte {
	var b bytes.Buffer
	b.WriteString(`<!-- Written by go generate ./internal/rules: change internal/catalog/format.go, not this file. -->

# The catalog

An app is one file, ` + "`catalog/<app>.yaml`" + `. ` + "`tidegate catalog render`" + ` makes of it ` + "`apps/wave-N/<app>/`" + ` and the Kustomizations of the waves;
` + "`tidegate catalog add NAME`" + ` writes a file to start from. Encrypted Secrets, and manifests that the format has no words for, are in ` + "`catalog/<app>/`" + ` and are
copied. Any text that reaches a manifest may hold ` + "`${TOKEN}`" + `s. A field that is not below is a mistake, and so is a wave: it follows from what an app needs.
The JSON Schema for editors is [catalog.schema.json](catalog.schema.json).

`)
	table(&b, reflect.TypeFor[App](), "", "An app")
	return b.Bytes()
}

// table writes the fields of a type, and then the tables of what they hold.
func table(b *bytes.Buffer, t reflect.Type, prefix, title string) {
	fmt.Fprintf(b, "## %s\n\n| field | | such as |\n|---|---|---|\n", title)
	type further struct {
		t    reflect.Type
		name string
	}
	var more []further
	for _, f := range fieldsOf(t) {
		if f.key {
			continue
		}
		name := "`" + prefix + f.name + "`"
		if f.name == "" {
			name = "a text"
		} else if f.scalar {
			name += ", or alone"
		}
		if f.needed {
			name += " (needed)"
		}
		fmt.Fprintf(b, "| %s | %s | `%s` |\n", name, cell(f.doc), cell(f.example))
		ft := t.Field(f.index).Type
		below := prefix + f.name + "."
		if ft.Kind() == reflect.Slice && keyed(ft.Elem()) {
			below += "NAME."
		}
		for ft.Kind() == reflect.Pointer || ft.Kind() == reflect.Slice {
			ft = ft.Elem()
		}
		if ft.Kind() == reflect.Struct && f.name != "" {
			more = append(more, further{ft, below})
		}
	}
	b.WriteByte('\n')
	for _, m := range more {
		table(b, m.t, m.name, "`"+strings.TrimSuffix(m.name, ".")+"`")
	}
}

func cell(s string) string { return strings.ReplaceAll(s, "|", "\\|") }
