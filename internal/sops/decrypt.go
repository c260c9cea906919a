package sops

import "fmt"

// document is an encrypted document that has been read, its metadata apart.
type document struct {
	tables []table
	meta   *metadata
	rule   rule
}

// errNothing is for documents without any content, which some formats cannot write.
var errNothing = malformed("it has no content")

// Decrypt opens an encrypted document of format in and gives its content in format out. data and
// keys are not changed.
//
// The error is ErrNoKey (with a *NoKeyError that names the recipients) when no identity in keys
// opens it or when it is not encrypted for age at all; ErrLimit when it is too large; ErrMalformed
// when the controller, with whatever keys, would fail as well.
func Decrypt(data []byte, in, out Format, keys *Keys) ([]byte, error) {
	return decrypt(data, in, out, keys, MaxFileSize)
}

func decrypt(data []byte, in, out Format, keys *Keys, size int) ([]byte, error) {
	return guarded(in, out, func() ([]byte, error) {
		doc, err := load(data, in, size)
		if err != nil {
			return nil, err
		}
		key, err := doc.meta.dataKey(keys)
		if err != nil {
			return nil, err
		}
		v := newVault(key)
		clear(key)
		return doc.finish(v.open, out)
	})
}

// Mask gives what Decrypt would give to somebody with the key, except that mask stands, as text, in
// the place of each value and comment that is encrypted. Empty and null values are never encrypted
// and show as they are. For the format Binary the result is the mask alone. It fails as Decrypt
// does, but for the key and for ciphertext that was tampered with, which cannot be known.
func Mask(data []byte, in, out Format, mask string) ([]byte, error) {
	return maskAs(data, in, out, mask, MaxFileSize)
}

func maskAs(data []byte, in, out Format, mask string, size int) ([]byte, error) {
	return guarded(in, out, func() ([]byte, error) {
		doc, err := load(data, in, size)
		if err != nil {
			return nil, err
		}
		return doc.finish(masked(mask), out)
	})
}

// DecryptFile does what the controller does with a file that a kustomization names, of which f is
// the format by name: a file above MaxFileSize is an error, one without the marker of f is given
// back as it is (changed is false), and the others are decrypted in place.
func DecryptFile(data []byte, f Format, keys *Keys) (out []byte, changed bool, err error) {
	return inPlace(data, f, func() ([]byte, error) { return Decrypt(data, f, f, keys) })
}

// MaskFile is DecryptFile without a key, as Mask is to Decrypt.
func MaskFile(data []byte, f Format, mask string) (out []byte, changed bool, err error) {
	return inPlace(data, f, func() ([]byte, error) { return Mask(data, f, f, mask) })
}

func inPlace(data []byte, f Format, open func() ([]byte, error)) ([]byte, bool, error) {
	// In this order: the controller refuses large files before it knows what they are.
	if len(data) > MaxFileSize {
		return nil, false, limit("the file has %d bytes, the controller refuses files of more than %d where it decrypts", len(data), MaxFileSize)
	}
	if !HasMarker(data, f) {
		return data, false, nil
	}
	out, err := open()
	if err != nil {
		return nil, false, err
	}
	return out, true, nil
}

// guarded runs a reading and writing, says in its error of which formats, and makes an error of a
// panic: parsers are not proof against all that an attacker writes, and the controller guards them
// too. What was panicked with may hold plaintext and is dropped.
func guarded(in, out Format, f func() ([]byte, error)) (res []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			res, err = nil, malformed("reading SOPS %s and writing %s broke down: it is no document that sops wrote", in, out)
		}
	}()
	if res, err = f(); err != nil {
		return nil, fmt.Errorf("SOPS document (%s): %w", in, err)
	}
	return res, nil
}

// load reads a document and its metadata. It gives a fresh document: walking it in place changes
// no input.
func load(data []byte, in Format, size int) (*document, error) {
	if len(data) > size {
		return nil, limit("it has %d bytes, at most %d are decrypted", len(data), size)
	}
	var (
		doc  = &document{}
		meta table
		err  error
	)
	switch in {
	case Binary, JSON:
		doc.tables, err = readJSON(data)
	case YAML:
		doc.tables, err = readYAML(data)
	case INI:
		doc.tables, err = readINI(data)
	case Dotenv:
		doc.tables, err = readDotenv(data)
	default:
		return nil, malformed("there is no such format")
	}
	if err != nil {
		return nil, err
	}
	if in == Dotenv {
		doc.tables[0], meta, err = prefixedMetadata(doc.tables[0])
	} else {
		meta, err = nestedMetadata(doc.tables)
	}
	if err != nil {
		return nil, err
	}
	if in == Dotenv || in == INI {
		if in == INI {
			unescape(meta)
		}
		if meta, err = unflatten(meta); err != nil {
			return nil, err
		}
	}
	if doc.meta, err = decodeMetadata(meta); err != nil {
		return nil, err
	}
	doc.rule, err = doc.meta.rule()
	return doc, err
}

// finish replaces what is encrypted and writes the document.
func (d *document) finish(open opener, out Format) ([]byte, error) {
	w := walker{rule: d.rule, open: open, clearTimes: !d.meta.MACOnlyEncrypted}
	for _, t := range d.tables {
		if err := w.table(t, scope{}); err != nil {
			return nil, err
		}
	}
	switch out {
	case Binary:
		return writeBinary(d.tables)
	case Dotenv:
		return writeDotenv(d.tables)
	case INI:
		return writeINI(d.tables)
	case JSON:
		return writeJSON(d.tables)
	case YAML:
		return writeYAML(d.tables)
	}
	return nil, malformed("there is no such format")
}
