// Package flux knows the Flux kinds that tidegate looks at, through Flux's own API types, and in one table what
// differs between Flux versions. It reads no files and builds nothing.
package flux

import (
	"fmt"
	"strconv"
	"strings"
)

// DefaultVersion is the Flux version that is assumed when nobody names one.
const DefaultVersion = "2.9"

// Behaviour is what a render must know about a Flux version.
type Behaviour struct {
	// Version as it was given, without a leading v.
	Version string
	// Strict: an undefined variable without a default fails the Kustomization. The feature gate
	// StrictPostBuildSubstitutions is on by default since kustomize-controller 1.9.0 (internal/features/features.go).
	Strict bool
	// SubstituteStrategy: spec.postBuild.substituteStrategy exists (kustomize-controller 1.9.0).
	SubstituteStrategy bool
	// BuildMetadata: spec.buildMetadata exists (kustomize-controller 1.9.0).
	BuildMetadata bool
	// MergeImages: an entry of spec.images is merged field by field into the one of the same name in
	// kustomization.yaml (kustomize-controller 1.9.4); before, it replaced that entry whole.
	MergeImages bool
	// NegativeLength: ${VAR:2:-1} counts from the end (envsubst 1.8, kustomize-controller 1.9.5); before, it panicked.
	NegativeLength bool
	// NameAffixes: spec.namePrefix and spec.nameSuffix exist (kustomize-controller 1.3.0).
	NameAffixes bool
	// ExternalArtifact: spec.sourceRef may name one (kustomize-controller 1.7.0).
	ExternalArtifact bool
	// IgnoreMissingComponents: the field of that name exists (kustomize-controller 1.7.0).
	IgnoreMissingComponents bool
	// DecryptComponents: sources of generators within components, and patches, are decrypted
	// (kustomize-controller 1.5.0).
	DecryptComponents bool
}

// changes is the table of what differs by version: from the Flux minor on, the change holds. A minor stands for its
// newest patch release.
var changes = []struct {
	major, minor int
	apply        func(*Behaviour)
}{
	{2, 3, func(b *Behaviour) { b.NameAffixes = true }},
	{2, 5, func(b *Behaviour) { b.DecryptComponents = true }},
	{2, 7, func(b *Behaviour) { b.IgnoreMissingComponents, b.ExternalArtifact = true, true }},
	{2, 9, func(b *Behaviour) {
		b.Strict, b.SubstituteStrategy, b.BuildMetadata, b.MergeImages, b.NegativeLength = true, true, true, true, true
	}},
}

// For gives the behaviour of a Flux version such as "2.9", "v2.8.3" or "2.9.x". It fails when the text is no version,
// or one before 2.0, whose APIs tidegate does not read.
func For(version string) (Behaviour, error) {
	v := strings.TrimPrefix(strings.TrimSpace(version), "v")
	parts := strings.SplitN(v, ".", 3)
	bad := fmt.Errorf("%q is not a Flux version: write it as 2.9 or 2.8.3", version)
	if len(parts) < 2 {
		return Behaviour{}, bad
	}
	major, err1 := strconv.Atoi(parts[0])
	minor, err2 := strconv.Atoi(parts[1])
	if err1 != nil || err2 != nil || major < 0 || minor < 0 {
		return Behaviour{}, bad
	}
	if major < 2 {
		return Behaviour{}, fmt.Errorf("Flux %s is older than 2.0, whose APIs tidegate does not read", v)
	}
	b := Behaviour{Version: v}
	for _, c := range changes {
		if major > c.major || major == c.major && minor >= c.minor {
			c.apply(&b)
		}
	}
	return b, nil
}
