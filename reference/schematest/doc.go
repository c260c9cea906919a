// Package schematest holds every object of the reference platform against the schema of its kind: Kubernetes' own OpenAPI for
// built-in kinds, and for others the CustomResourceDefinitions in the Go modules of those who define them, in the versions
// that the platform installs where they are known. It is tests only.
//
// The schemas are read from the modules' archives, which the go command downloads and verifies; nothing of them is in this
// repository, and none of the modules is a requirement of it.
package schematest
