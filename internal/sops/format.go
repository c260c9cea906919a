package sops

import (
	"bytes"
	"strings"

	"github.com/getsops/sops/v3/cmd/sops/formats"
)

// MaxFileSize is the size in bytes above which the controller refuses to look at a file that it
// would decrypt, encrypted or not (maxEncryptedFileSize in kustomize-controller's decryptor.go).
const MaxFileSize = 5 << 20

// maxObjectSize bounds objects, for which the controller has no limit. No API server stores an
// object of even a tenth of it.
const maxObjectSize = 8 * MaxFileSize

// DefaultMask is what `flux build` shows in the place of a secret value.
const DefaultMask = "**SOPS**"

// Format is how a document is written. The zero value is Binary.
type Format int

// The formats that SOPS knows. Binary holds any bytes; its encrypted form is a JSON envelope.
const (
	Binary Format = iota
	Dotenv
	INI
	JSON
	YAML
)

// String gives the format's name as the controller's messages have it.
func (f Format) String() string {
	switch f {
	case Binary:
		return "binary"
	case Dotenv:
		return "dotenv"
	case INI:
		return "INI"
	case JSON:
		return "JSON"
	case YAML:
		return "YAML"
	}
	return "unknown format"
}

// marker is the text that every encrypted document of the format contains, as
// sopsFormatToMarkerBytes in kustomize-controller's decryptor.go has it.
func (f Format) marker() string {
	switch f {
	case Binary, JSON:
		return `"mac": "ENC[`
	case Dotenv:
		return "sops_mac=ENC["
	case INI:
		return "[sops]"
	case YAML:
		return "mac: ENC["
	}
	return ""
}

// FormatForPath gives the format that a file name, or a key of a Secret, stands for. What has no
// known extension is Binary; a name ending in .dockerconfigjson is JSON.
func FormatForPath(path string) Format {
	if strings.HasSuffix(path, ".dockerconfigjson") {
		return JSON
	}
	switch formats.FormatForPath(path) {
	case formats.Dotenv:
		return Dotenv
	case formats.Ini:
		return INI
	case formats.Json:
		return JSON
	case formats.Yaml:
		return YAML
	}
	return Binary
}

// FormatForEnvFile gives the format of a file named in `secretGenerator.envs`: what has no known
// extension is Dotenv there.
func FormatForEnvFile(path string) Format {
	if f := FormatForPath(path); f != Binary {
		return f
	}
	return Dotenv
}

// HasMarker tells whether data contains the marker of format f. It says nothing about whether the
// rest of the document is sound.
func HasMarker(data []byte, f Format) bool {
	m := f.marker()
	return m != "" && bytes.Contains(data, []byte(m))
}

// DetectMarker gives the format whose marker data contains. Binary is never given: its encrypted
// form is JSON, and is read as JSON.
//
// With the markers of several formats in one text the controller takes any of them (it ranges over
// a Go map), and fails when that is the wrong one. Here the first that reads as an encrypted
// document is taken, in the order JSON, dotenv, YAML, INI; if none does, the first marker decides.
func DetectMarker(data []byte) (Format, bool) {
	var found []Format
	for _, f := range []Format{JSON, Dotenv, YAML, INI} {
		if HasMarker(data, f) {
			found = append(found, f)
		}
	}
	if len(found) == 0 {
		return Binary, false
	}
	if len(found) > 1 {
		for _, f := range found {
			if _, err := guarded(f, f, func() ([]byte, error) {
				_, err := load(data, f, maxObjectSize)
				return nil, err
			}); err == nil {
				return f, true
			}
		}
	}
	return found[0], true
}
