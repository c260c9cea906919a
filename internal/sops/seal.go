package sops

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// sealed is one encrypted value: AES-GCM over the value's text, with the path that leads to it as
// additional data, and the kind of value that the text stands for.
type sealed struct {
	data, nonce, tag []byte
	kind             string
}

// sealedForm is how SOPS writes a sealed value (aes/cipher.go). It is greedy and does not care for
// what follows the last bracket, as SOPS's own reading does not.
var sealedForm = regexp.MustCompile(`^ENC\[AES256_GCM,data:(.+),iv:(.+),tag:(.+),type:(.+)\]`)

func parseSealed(text string) (sealed, bool) {
	if !strings.HasPrefix(text, "ENC[") {
		return sealed{}, false
	}
	m := sealedForm.FindStringSubmatch(text)
	if m == nil {
		return sealed{}, false
	}
	s := sealed{kind: m[4]}
	for i, into := range []*[]byte{&s.data, &s.nonce, &s.tag} {
		raw, err := base64.StdEncoding.DecodeString(m[i+1])
		if err != nil {
			return sealed{}, false
		}
		*into = raw
	}
	return s, true
}

// known tells whether SOPS has the kind.
func (s sealed) known() bool {
	switch s.kind {
	case "str", "int", "float", "bool", "time", "comment", "bytes":
		return true
	}
	return false
}

// errBytes is for the kind "bytes": SOPS panics on it (it uses the value as a map key), and the
// controller makes an error of that.
var errBytes = malformed(`a value has the type "bytes", which SOPS itself cannot read: encrypt the file again`)

// vault opens sealed values with a data key.
type vault struct {
	block         cipher.Block
	common        cipher.AEAD // for the nonce size that SOPS writes
	authenticated int
}

// usualNonce is the nonce size that SOPS writes, in bytes; it reads any.
const usualNonce = 32

// newVault takes a data key of any length. One that AES does not take opens nothing, which shows
// when a value is opened, as in SOPS.
func newVault(key []byte) *vault {
	v := &vault{}
	block, err := aes.NewCipher(key)
	if err != nil {
		return v
	}
	v.block = block
	if aead, err := cipher.NewGCMWithNonceSize(block, usualNonce); err == nil {
		v.common = aead
	}
	return v
}

func (v *vault) open(s sealed, path []string) (any, error) {
	shut := func() error {
		return malformed("the value at %s does not open with the file's own data key: it was changed, moved or copied after it was encrypted", showPath(path))
	}
	if v.block == nil {
		return nil, malformed("the file's data key has a length that AES does not take: encrypt the file again")
	}
	aead := v.common
	if aead == nil || len(s.nonce) != usualNonce {
		var err error
		if aead, err = cipher.NewGCMWithNonceSize(v.block, len(s.nonce)); err != nil {
			return nil, shut()
		}
	}
	place := strings.Join(path, ":") + ":"
	if v.authenticated += len(place); v.authenticated > maxAuthenticated {
		return nil, limit("the paths of the encrypted values add up to more than %d bytes", maxAuthenticated)
	}
	text, err := aead.Open(nil, s.nonce, append(s.data, s.tag...), []byte(place))
	if err != nil {
		return nil, shut()
	}
	if !s.known() {
		return nil, errType(path)
	}
	val, err := s.interpret(text)
	if err == errBytes {
		return nil, err
	}
	if err != nil {
		// The parser's error quotes the plaintext.
		return nil, malformed("the value at %s is encrypted as %q and is none: encrypt the file again", showPath(path), s.kind)
	}
	return val, nil
}

// interpret gives the value that an opened text stands for.
func (s sealed) interpret(text []byte) (any, error) {
	switch s.kind {
	case "str":
		return string(text), nil
	case "int":
		return strconv.Atoi(string(text))
	case "float":
		return strconv.ParseFloat(string(text), 64)
	case "bool":
		return strconv.ParseBool(string(text))
	case "time":
		var t time.Time
		err := t.UnmarshalText(text)
		return t, err
	case "comment":
		return comment{Value: string(text)}, nil
	case "bytes":
		return nil, errBytes
	}
	return nil, errType(nil)
}

func errType(path []string) error {
	return malformed("the value at %s is encrypted as a type that SOPS does not have", showPath(path))
}

// masked gives the opener that shows mask for every value, as text, whatever the value's type is.
func masked(mask string) opener {
	return func(s sealed, path []string) (any, error) {
		switch {
		case s.kind == "bytes":
			return nil, errBytes
		case s.kind == "comment":
			return comment{Value: mask}, nil
		case !s.known():
			return nil, errType(path)
		}
		return mask, nil
	}
}
