// Package schematest holds every object of the reference platform against the schema of its kind: Kubernetes' own OpenAPI
// for built-in kinds, and for others the CustomResourceDefinitions in the Go modules of those who define them, in the
// versions that the platform installs where they are known. It is tests only.
//
// The rules are: a field that no schema has is a fault, for Flux applies with server-side apply, which refuses it; what
// the API server adds before it validates, the defaults of a CustomResourceDefinition, is not missed; every kind has a
// schema or stands in a list with the reason; a definition that is not served counts for nothing.
//
// The schemas are read from the modules' files, which the go command downloads and verifies; nothing of them is in this
// repository, and none of the modules is a requirement of it. What is not held here: the CEL rules of definitions, what
// admission of built-in kinds says beyond types and enums (the form of quantities and names, uniqueness in lists), and
// the values of HelmReleases, whose schema is their chart's.
package schematest
