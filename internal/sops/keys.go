package sops

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"
)

const (
	envKey     = "SOPS_AGE_KEY"
	envKeyFile = "SOPS_AGE_KEY_FILE"

	maxKeyFile = 1 << 20
)

// Keys holds age identities. However it is printed or marshalled it shows only "<age keys>". The
// zero value and nil hold none. It is read-only once made and may be shared between goroutines.
type Keys struct {
	ids []age.Identity
}

const keysText = "<age keys>"

// String hides the keys.
func (Keys) String() string { return keysText }

// GoString hides the keys.
func (Keys) GoString() string { return keysText }

// Format hides the keys from every verb of package fmt.
func (Keys) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, keysText) }

// MarshalJSON hides the keys.
func (Keys) MarshalJSON() ([]byte, error) { return []byte(`"` + keysText + `"`), nil }

// MarshalText hides the keys.
func (Keys) MarshalText() ([]byte, error) { return []byte(keysText), nil }

// Empty tells whether there is no identity. A nil *Keys is empty.
func (k *Keys) Empty() bool { return k == nil || len(k.ids) == 0 }

// ParseKeys reads an age key file as the controller imports one: an identity a line, empty lines
// and lines that begin with # ignored. X25519 and hybrid (post-quantum) identities are taken;
// plugin and SSH identities are refused, as is text without any identity. The error names the
// line and never holds its text.
func ParseKeys(text []byte) (*Keys, error) {
	if len(text) > maxKeyFile {
		return nil, fmt.Errorf("an age key file has at most %d bytes and this has %d: is it a key file?", maxKeyFile, len(text))
	}
	if bytes.HasPrefix(text, []byte("age-encryption")) || bytes.HasPrefix(text, []byte("-----BEGIN AGE")) {
		return nil, fmt.Errorf("the age key file is itself encrypted: decrypt it first, no passphrase is asked here")
	}
	keys := &Keys{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, maxKeyFile+1)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		id, problem := parseIdentity(line)
		if problem != "" {
			return nil, fmt.Errorf("line %d of the age key file %s", n, problem)
		}
		keys.ids = append(keys.ids, id)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("the age key file cannot be read as lines of text")
	}
	if keys.Empty() {
		return nil, fmt.Errorf("the age key file holds no identity: expected a line AGE-SECRET-KEY-1…")
	}
	return keys, nil
}

// parseIdentity gives the identity of one line, or what is wrong with it in words without the line.
func parseIdentity(line string) (age.Identity, string) {
	const broken = "is not a valid age identity: copy it again"
	switch {
	case strings.HasPrefix(line, "AGE-SECRET-KEY-1"):
		id, err := age.ParseX25519Identity(line)
		if err != nil {
			return nil, broken
		}
		return id, ""
	case strings.HasPrefix(line, "AGE-SECRET-KEY-PQ-1"):
		id, err := age.ParseHybridIdentity(line)
		if err != nil {
			return nil, broken
		}
		return id, ""
	case strings.HasPrefix(line, "AGE-PLUGIN-"):
		return nil, "is a plugin identity: plugins are not run, use a plain identity"
	case strings.HasPrefix(line, "-----BEGIN"):
		return nil, "begins an SSH or PEM key: only age identities are read"
	}
	return nil, "is no age identity: expected AGE-SECRET-KEY-1… or AGE-SECRET-KEY-PQ-1…"
}

// LoadKeys gives the identities that the user names, and a text that says where they come from.
//
// explicitFile (--age-key-file) wins when it is not empty. Otherwise the identities of SOPS_AGE_KEY
// (one or more, separated by white space) and those of the file named in SOPS_AGE_KEY_FILE are put
// together, as sops does. With none of them set, the keys are nil and the source is empty; the key
// file in the user's configuration directory, SSH keys and key commands are never looked at.
func LoadKeys(explicitFile string, getenv func(string) string, readFile func(string) ([]byte, error)) (*Keys, string, error) {
	if explicitFile != "" {
		keys, err := fromFile("--age-key-file", explicitFile, readFile)
		if err != nil {
			return nil, "", err
		}
		return keys, "--age-key-file", nil
	}
	var (
		all     Keys
		sources []string
	)
	if words := strings.Fields(withoutComments(getenv(envKey))); len(words) > 0 {
		keys, err := ParseKeys([]byte(strings.Join(words, "\n")))
		if err != nil {
			return nil, "", fmt.Errorf("%s: its value is not a list of age identities (AGE-SECRET-KEY-1…): check or unset it", envKey)
		}
		all.ids = append(all.ids, keys.ids...)
		sources = append(sources, envKey)
	}
	if path := getenv(envKeyFile); path != "" {
		keys, err := fromFile(envKeyFile, path, readFile)
		if err != nil {
			return nil, "", err
		}
		all.ids = append(all.ids, keys.ids...)
		sources = append(sources, envKeyFile)
	}
	if all.Empty() {
		return nil, "", nil
	}
	return &all, strings.Join(sources, " and "), nil
}

// withoutComments drops the lines that begin with #.
func withoutComments(text string) string {
	var kept []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// fromFile reads and parses the key file that setting names. A path that holds a private key (a
// key was given where its file is meant) appears in no error, and neither does the reader's own
// error then, which would quote it.
func fromFile(setting, path string, readFile func(string) ([]byte, error)) (*Keys, error) {
	if strings.Contains(strings.ToUpper(path), "AGE-SECRET-KEY-") || strings.Contains(strings.ToUpper(path), "AGE-PLUGIN-") {
		return nil, fmt.Errorf("%s holds an age identity: it must hold the path of a key file (identities themselves go into %s)", setting, envKey)
	}
	text, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot read the age key file: %w", setting, err)
	}
	keys, err := ParseKeys(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", setting, path, err)
	}
	return keys, nil
}
