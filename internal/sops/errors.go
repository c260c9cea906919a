package sops

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrNoKey says that no held identity opens the document. Whether it opens in the cluster is
	// not known.
	ErrNoKey = errors.New("no held age key opens it")
	// ErrMalformed says that the document cannot be decrypted by anybody, whatever keys they hold:
	// the controller fails too.
	ErrMalformed = errors.New("not a sound SOPS document")
	// ErrLimit says that the document is larger, deeper or more entangled than this package reads.
	// The controller has the same limit for the size of files and no other.
	ErrLimit = errors.New("beyond what is read of a SOPS document")
)

// fault is an error of one of the kinds above whose text is safe to show.
type fault struct {
	kind error
	text string
}

func (f *fault) Error() string        { return f.text }
func (f *fault) Is(target error) bool { return target == f.kind }

// malformed and limit make errors. Arguments must be safe to show: formats, line numbers, mapping
// keys, type names; never values or messages of a parser, which quote them.
func malformed(format string, args ...any) error {
	return &fault{kind: ErrMalformed, text: fmt.Sprintf(format, args...)}
}

func limit(format string, args ...any) error {
	return &fault{kind: ErrLimit, text: fmt.Sprintf(format, args...)}
}

// NoKeyError is the ErrNoKey of one document. Its fields are safe to show.
type NoKeyError struct {
	// Recipients are the age recipients the data key is encrypted for, long ones shortened.
	Recipients []string
	// Kinds are the other kinds of key it is encrypted for: "PGP", "AWS KMS" …
	Kinds []string
	// Held is how many identities were tried.
	Held int
}

// Is makes errors.Is(err, ErrNoKey) true.
func (e *NoKeyError) Is(target error) bool { return target == ErrNoKey }

// Error names whom the document is encrypted for and how to give a key.
func (e *NoKeyError) Error() string {
	const shown = 5
	to := e.Recipients
	if n := len(to); n > shown {
		to = append(append([]string(nil), to[:shown]...), fmt.Sprintf("%d more", n-shown))
	}
	to = append(append([]string(nil), to...), e.Kinds...)
	whom := "no key at all"
	if len(to) > 0 {
		whom = strings.Join(to, ", ")
	}
	switch {
	case len(e.Recipients) == 0:
		return fmt.Sprintf("it is encrypted for %s: only age keys can be used here", whom)
	case e.Held == 0:
		return fmt.Sprintf("it is encrypted for %s and no age key is held: name a key file with --age-key-file or SOPS_AGE_KEY_FILE", whom)
	}
	return fmt.Sprintf("it is encrypted for %s and none of the held age keys (%d) opens it: add the key file of one of these recipients", whom, e.Held)
}

// showRecipient gives a recipient as it may be shown. What does not look like a public key is not:
// a private key may have been put in its place.
func showRecipient(r string) string {
	r = strings.TrimSpace(r)
	if !strings.HasPrefix(r, "age1") && !strings.HasPrefix(r, "ssh-") {
		return "an unknown recipient"
	}
	for _, c := range r {
		if c < ' ' || c > '~' {
			return "an unknown recipient"
		}
	}
	if len(r) > 80 {
		return r[:24] + "…" + r[len(r)-8:]
	}
	return r
}

// showPath gives the keys that lead to a value, bounded in length. A key that is not a plain name
// is left out: in a file read in the wrong format, what stands before the first sign may be a value.
func showPath(path []string) string {
	if len(path) == 0 {
		return "the top level"
	}
	shown := make([]string, 0, len(path))
	for _, key := range path {
		if !plainName(key) {
			key = "…"
		}
		shown = append(shown, key)
	}
	const most = 8
	if n := len(shown); n > most {
		shown = append(append(shown[:most/2:most/2], "…"), shown[n-most/2:]...)
	}
	return `"` + strings.Join(shown, ".") + `"`
}

func plainName(key string) bool {
	if key == "" || len(key) > 63 {
		return false
	}
	for _, c := range key {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' && c != '.' && c != '/' {
			return false
		}
	}
	return true
}
