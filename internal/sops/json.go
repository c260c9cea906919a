package sops

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// errEnd is the end of the text in the middle of a JSON document. SOPS takes an object that ends
// right after a key's colon, or within an array, as complete up to there, and so does this reader.
var errEnd = errors.New("end of the text")

// jsonReader builds tables from JSON tokens (stores/json/store.go). Keys may repeat; all are kept.
type jsonReader struct {
	dec   *json.Decoder
	depth int
}

func readJSON(data []byte) ([]table, error) {
	r := &jsonReader{dec: json.NewDecoder(bytes.NewReader(data))}
	r.dec.UseNumber()
	first, err := r.token()
	if err != nil {
		return nil, r.broken()
	}
	if first != json.Delim('{') {
		return nil, malformed("SOPS reads JSON only when it is an object, and this begins otherwise")
	}
	// What follows the object is not looked at.
	t, err := r.object()
	if err != nil {
		return nil, err
	}
	return []table{t}, nil
}

func (r *jsonReader) broken() error {
	return malformed("it is not JSON at byte %d", r.dec.InputOffset())
}

// token gives the next token, errEnd at the end of the text, or a safe error.
func (r *jsonReader) token() (json.Token, error) {
	t, err := r.dec.Token()
	if err == io.EOF {
		return nil, errEnd
	}
	if err != nil {
		return nil, r.broken()
	}
	return t, nil
}

func (r *jsonReader) object() (table, error) {
	var t table
	for {
		tok, err := r.token()
		if err != nil {
			// Also the end of the text: only after a colon may the text end.
			return nil, r.broken()
		}
		key, ok := tok.(string)
		if !ok {
			return t, nil // the closing brace: the decoder gives nothing else here
		}
		if tok, err = r.token(); err == nil {
			var v any
			if v, err = r.value(tok); err == nil {
				t = append(t, entry{Key: key, Val: v})
				continue
			}
		}
		if err == errEnd {
			return t, nil
		}
		return nil, err
	}
}

func (r *jsonReader) array() ([]any, error) {
	var out []any
	for {
		tok, err := r.token()
		if err != nil {
			return nil, err
		}
		if tok == json.Delim(']') {
			return out, nil
		}
		v, err := r.value(tok)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
}

// value gives the value that begins with tok. Integers of 64 bits stay integers, other numbers
// become floating-point.
func (r *jsonReader) value(tok json.Token) (any, error) {
	switch tok := tok.(type) {
	case json.Delim:
		if r.depth++; r.depth > maxDepth {
			return nil, limit("it nests deeper than %d levels", maxDepth)
		}
		defer func() { r.depth-- }()
		if tok == '[' {
			list, err := r.array()
			return list, err
		}
		t, err := r.object()
		return t, err
	case json.Number:
		if i, err := tok.Int64(); err == nil {
			return int(i), nil
		}
		f, err := tok.Float64()
		if err != nil {
			return nil, malformed("it has a number at byte %d that fits no floating-point number", r.dec.InputOffset())
		}
		return f, nil
	}
	return tok, nil
}

// writeJSON writes the first table, indented by tabs. Comments go.
func writeJSON(docs []table) ([]byte, error) {
	if len(docs) == 0 {
		return nil, errNothing
	}
	var compact bytes.Buffer
	if err := jsonTable(&compact, docs[0]); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, compact.Bytes(), "", "\t"); err != nil {
		return nil, malformed("its values cannot be written as JSON")
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

func jsonTable(w *bytes.Buffer, t table) error {
	w.WriteByte('{')
	sep := ""
	for _, e := range t {
		key, ok := e.Key.(string)
		if !ok {
			continue // a comment: the walk has let through nothing else
		}
		w.WriteString(sep)
		sep = ","
		if err := jsonValue(w, key); err != nil {
			return err
		}
		w.WriteByte(':')
		if err := jsonValue(w, e.Val); err != nil {
			return err
		}
	}
	w.WriteByte('}')
	return nil
}

func jsonValue(w *bytes.Buffer, v any) error {
	switch v := v.(type) {
	case table:
		return jsonTable(w, v)
	case []any:
		w.WriteByte('[')
		sep := ""
		for _, e := range v {
			if _, ok := e.(comment); ok {
				continue
			}
			w.WriteString(sep)
			sep = ","
			if err := jsonValue(w, e); err != nil {
				return err
			}
		}
		w.WriteByte(']')
		return nil
	}
	text, err := json.Marshal(v)
	if err != nil {
		// The encoder's error may quote the value.
		return malformed("it has a value that JSON cannot hold (an infinite number or the like)")
	}
	w.Write(text)
	return nil
}

// writeBinary gives the one value of a binary document.
func writeBinary(docs []table) ([]byte, error) {
	if len(docs) != 1 {
		return nil, malformed("only a single document can be written as binary, and it has %d", len(docs))
	}
	for _, e := range docs[0] {
		if e.Key != any("data") {
			continue
		}
		text, ok := e.Val.(string)
		if !ok {
			return nil, malformed("its `data` entry is no string and cannot be written as binary")
		}
		return []byte(text), nil
	}
	return nil, malformed("it has no `data` entry to be written as binary: it was encrypted in another format than the name of the file or Secret key says")
}
