// Package reference holds the reference platform: a complete Flux repository for a small
// self-hosted Kubernetes platform with two environments. It is what every command runs on when no
// repository is named, what `tidegate init` writes, and what the tests of other packages use as a
// repository that is right.
//
// The rules are: nothing in it is copied from an upstream release; every version in it was seen in
// a public source; it renders without an error in both environments, and what prod has not decided
// is the only thing in it that a check may object to. reference_test.go holds it to that, with
// Flux's own packages.
package reference

import "embed"

// FS is the repository: paths are relative to its root, dotfiles included. It is read-only and
// safe for concurrent use. The private key of its example secrets is not in it: what `init` writes
// must not carry a key that is public.
//
//go:embed README.md tidegate.yaml .sops.yaml .gitignore
//go:embed all:clusters all:platform all:platform-config all:platform-config-cdi all:apps all:catalog all:docs
var FS embed.FS

//go:embed testdata/for-tests-only.agekey
var testAgeKey string

// TestAgeKey returns the text of the age key file that opens the example secrets in FS. The key is
// public and exists so that tests and rehearsals can decrypt them.
func TestAgeKey() string { return testAgeKey }
