package sops

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// readDotenv reads NAME=value lines and # comments (stores/dotenv/store.go). \n in a value is a
// line break; there is no quoting.
func readDotenv(data []byte) ([]table, error) {
	var t table
	n := 0
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		n++
		switch {
		case len(line) == 0:
		case line[0] == '#':
			t = append(t, entry{Key: comment{Value: string(line[1:])}})
		default:
			name, value, ok := bytes.Cut(line, []byte("="))
			if !ok {
				return nil, malformed("line %d has no `=`: a dotenv file has lines NAME=value", n)
			}
			t = append(t, entry{Key: string(name), Val: strings.ReplaceAll(string(value), `\n`, "\n")})
		}
	}
	return []table{t}, nil
}

// writeDotenv writes the first table. It has to be flat.
func writeDotenv(docs []table) ([]byte, error) {
	if len(docs) == 0 {
		return nil, errNothing
	}
	var out bytes.Buffer
	for _, e := range docs[0] {
		switch e.Val.(type) {
		case table, []any:
			return nil, malformed("the value at %s is no plain value and cannot be written as dotenv", showPath([]string{fmt.Sprint(e.Key)}))
		}
		if c, ok := e.Key.(comment); ok {
			fmt.Fprintf(&out, "#%s\n", c.Value)
			continue
		}
		value, ok := e.Val.(string)
		if ok {
			value = strings.ReplaceAll(value, "\n", `\n`)
		} else {
			value = plainText(e.Val)
		}
		fmt.Fprintf(&out, "%s=%s\n", e.Key, value)
	}
	return out.Bytes(), nil
}

// plainText writes a value where the format has only strings (ValToString in stores/stores.go).
func plainText(v any) string {
	switch v := v.(type) {
	case float64:
		text := strconv.FormatFloat(v, 'G', -1, 64)
		if !strings.ContainsAny(text, ".E") {
			// It must not look like an integer.
			text = strconv.FormatFloat(v, 'f', 1, 64)
		}
		return text
	case time.Time:
		return v.Format(time.RFC3339)
	}
	return fmt.Sprint(v)
}
