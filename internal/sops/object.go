package sops

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

const (
	decryptAnnotation = "kustomize.toolkit.fluxcd.io/decrypt"
	disabled          = "disabled"
)

// DecryptionDisabled tells whether an object's annotations keep the controller from decrypting it.
func DecryptionDisabled(annotations map[string]string) bool {
	return strings.EqualFold(annotations[decryptAnnotation], disabled)
}

// IsEncryptedObject tells whether an object is a SOPS document as a whole: whether it has .sops.mac.
// As in the controller (isSOPSEncryptedResource), an empty string counts; null, an empty mapping
// and an empty list do not.
func IsEncryptedObject(obj map[string]any) bool {
	meta, ok := obj[metadataKey].(map[string]any)
	if !ok {
		return false
	}
	switch mac := meta["mac"].(type) {
	case nil:
		return false
	case map[string]any:
		return len(mac) > 0
	case []any:
		return len(mac) > 0
	}
	return true
}

// DecryptObject does to one object what the controller does between building and substituting
// (DecryptResource). jsonObj is the object as resource.MarshalJSON gives it. Whether decryption is
// configured and not disabled by annotation is the caller's to know.
//
// An object that IsEncryptedObject is decrypted as a JSON document, and out is what the controller
// hands to resource.UnmarshalJSON. Of any other object of kind Secret each base64 value of `data`
// that contains a marker is decrypted, and written in the format of its key's name.
//
// changed is false, and out is jsonObj, when nothing came of it. It may be true for a Secret
// without anything encrypted: the controller rewrites the `data` of every Secret as strings, so
// that null becomes "" and an empty `data` goes. (A number that is no string is written as JSON
// writes it; the controller has its text from YAML.)
//
// Errors are those of Decrypt, with the object and the key of the value named.
func DecryptObject(jsonObj []byte, keys *Keys) (out []byte, changed bool, err error) {
	return object(jsonObj, func(data []byte, in, out Format) ([]byte, error) {
		return decrypt(data, in, out, keys, maxObjectSize)
	})
}

// MaskObject is DecryptObject without a key, as Mask is to Decrypt.
func MaskObject(jsonObj []byte, mask string) (out []byte, changed bool, err error) {
	return object(jsonObj, func(data []byte, in, out Format) ([]byte, error) {
		return maskAs(data, in, out, mask, maxObjectSize)
	})
}

// object finds the encrypted parts of an object and has them opened.
func object(jsonObj []byte, open func(data []byte, in, out Format) ([]byte, error)) ([]byte, bool, error) {
	if !concerned(jsonObj) {
		return jsonObj, false, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(jsonObj, &fields); err != nil {
		// The decoder's error quotes the text.
		return nil, false, malformed("an object to be decrypted is not a JSON object")
	}
	if raw, ok := fields[metadataKey]; ok {
		var meta any
		if err := json.Unmarshal(raw, &meta); err == nil && IsEncryptedObject(map[string]any{metadataKey: meta}) {
			out, err := open(jsonObj, JSON, JSON)
			if err != nil {
				return nil, false, fmt.Errorf("%s: %w", nameOf(fields), err)
			}
			return out, true, nil
		}
	}
	if text(fields["kind"]) != "Secret" {
		return jsonObj, false, nil
	}
	changed, err := secretData(fields, open)
	if err != nil {
		return nil, false, err
	}
	if !changed {
		return jsonObj, false, nil
	}
	out, err := json.Marshal(fields)
	if err != nil {
		return nil, false, malformed("%s cannot be written as JSON again", nameOf(fields))
	}
	return out, true, nil
}

// concerned spares parsing the objects that cannot be encrypted: most of them. An escape may hide a
// word, so what has one is parsed.
func concerned(jsonObj []byte) bool {
	for _, word := range []string{`"sops"`, `"Secret"`, `\u`} {
		if bytes.Contains(jsonObj, []byte(word)) {
			return true
		}
	}
	return false
}

// secretData rewrites the `data` of a Secret as the controller does and tells whether it changed.
func secretData(fields map[string]json.RawMessage, open func(data []byte, in, out Format) ([]byte, error)) (bool, error) {
	raw, ok := fields["data"]
	if !ok {
		return false, nil
	}
	var data map[string]json.RawMessage
	if err := json.Unmarshal(raw, &data); err != nil || len(data) == 0 {
		// No mapping, or an empty one: the controller finds no values and sets none.
		delete(fields, "data")
		return true, nil
	}
	var (
		values  = make(map[string]string, len(data))
		names   = make([]string, 0, len(data))
		changed bool
	)
	for name, v := range data {
		values[name] = text(v)
		names = append(names, name)
		changed = changed || !bytes.HasPrefix(v, []byte(`"`))
	}
	slices.Sort(names) // so that of several errors it is always the same
	for _, name := range names {
		plain, err := base64.StdEncoding.DecodeString(values[name])
		if err != nil {
			continue // not the decryptor's business: the API server will say so
		}
		in, ok := DetectMarker(plain)
		if !ok {
			continue
		}
		opened, err := open(plain, in, FormatForPath(name))
		if err != nil {
			return false, fmt.Errorf("%s, data key %q: %w", nameOf(fields), name, err)
		}
		values[name] = base64.StdEncoding.EncodeToString(opened)
		changed = true
	}
	if !changed {
		return false, nil
	}
	out, err := json.Marshal(values)
	if err != nil {
		return false, malformed("the data of %s cannot be written as JSON again", nameOf(fields))
	}
	fields["data"] = out
	return true, nil
}

// text gives a scalar as kustomize has it: a string as it is, a number or boolean as it is
// written, and nothing for null and for what is no scalar.
func text(raw json.RawMessage) string {
	var s string
	switch {
	case len(raw) == 0:
	case raw[0] == '"':
		if err := json.Unmarshal(raw, &s); err != nil {
			return ""
		}
	case raw[0] == '{', raw[0] == '[', string(raw) == "null":
	default:
		s = string(raw)
	}
	return s
}

// nameOf names an object for a message, as "Secret apps/db".
func nameOf(fields map[string]json.RawMessage) string {
	var meta map[string]json.RawMessage
	if err := json.Unmarshal(fields["metadata"], &meta); err != nil {
		meta = nil
	}
	name := text(meta["name"])
	if ns := text(meta["namespace"]); ns != "" {
		name = ns + "/" + name
	}
	kind := text(fields["kind"])
	if kind == "" {
		kind = "object"
	}
	return kind + " " + name
}
