// Package model holds the words that every other room speaks in: environments, units, objects, and what could not be
// known about them. It is a leaf: it imports the standard library alone, and nothing in it does work.
package model

import "strings"

// Ref names one object of a cluster.
type Ref struct {
	APIVersion string
	Kind       string
	Namespace  string // empty for cluster-scoped objects, and where a manifest leaves it out
	Name       string
}

// Group is the API group of the object; empty for the core group.
func (r Ref) Group() string {
	if group, _, ok := strings.Cut(r.APIVersion, "/"); ok {
		return group
	}
	return ""
}

// String gives KIND/NAMESPACE/NAME, or KIND/NAME where there is no namespace.
func (r Ref) String() string {
	if r.Namespace == "" {
		return r.Kind + "/" + r.Name
	}
	return r.Kind + "/" + r.Namespace + "/" + r.Name
}

// UnitID names a unit within one environment.
type UnitID struct {
	Kind      string // "Kustomization" or "HelmRelease"
	Namespace string
	Name      string
}

// String gives KIND/NAMESPACE/NAME.
func (id UnitID) String() string { return id.Kind + "/" + id.Namespace + "/" + id.Name }

// Short gives NAMESPACE/NAME.
func (id UnitID) Short() string { return id.Namespace + "/" + id.Name }

// Status is the outcome of rendering a unit. The order is that of gravity.
type Status string

const (
	// StatusOK: every byte is what the cluster would get.
	StatusOK Status = "ok"
	// StatusUnverified: nothing is known to be wrong, but part or all of the result could not be known.
	StatusUnverified Status = "unverified"
	// StatusFailed: Flux would refuse or fail to build this unit.
	StatusFailed Status = "failed"
)

// Code says, for machines, why something is unverified or failed. The set is closed and documented in docs/architecture.md.
type Code string

// The codes of what could not be known.
const (
	CodeForeignSource   Code = "foreign-source" // the unit's files are in another repository or artifact
	CodeRemoteBase      Code = "remote-base"    // a kustomization refers to something that must be fetched
	CodeMissingVariable Code = "missing-source" // a ConfigMap or Secret of substituteFrom is not in the repository
	CodeEncrypted       Code = "encrypted"      // content is encrypted and no key is held
	CodeOpaqueName      Code = "opaque-name"    // a generated name depends on encrypted content
	CodeChart           Code = "chart"          // a HelmRelease whose chart is not rendered
	CodeTemplate        Code = "template"       // an object whose controller makes further objects (ResourceSet)
	CodeSourceDetail    Code = "source-detail"  // the source object changes the artifact in a way that is not modelled
	CodeRemoteCluster   Code = "remote-cluster" // what was rendered goes to another cluster
	CodeUnsettled       Code = "unsettled"      // units read each other's output and never settle
	CodeParentUnknown   Code = "parent-unknown" // the unit's own spec depends on what is unknown
)

// The codes of failures.
const (
	CodeRefused      Code = "refused"    // the API server would refuse the Flux object
	CodePath         Code = "path"       // spec.path is not in the artifact
	CodeGenerate     Code = "generate"   // no kustomization.yaml could be made
	CodeDecrypt      Code = "decrypt"    // decryption failed
	CodeBuild        Code = "build"      // kustomize build failed
	CodeSubstitute   Code = "substitute" // post-build substitution failed
	CodeEntry        Code = "entry"      // the entry of an environment is not usable
	CodeTooLarge     Code = "too-large"  // a limit of tidegate was reached
	CodeInternal     Code = "internal"   // a defect of tidegate
	CodeReadFailure  Code = "read"       // a file could not be read
	CodeDuplicateOwn Code = "duplicate"  // two units with one identity
	CodeApply        Code = "apply"      // the step after the build failed
)

// Place is a position in a repository file. Line and Column count from 1; 0 means unknown.
type Place struct {
	File   string
	Line   int
	Column int
}

// Reason is one thing that failed or could not be known.
type Reason struct {
	Code    Code
	Message string  // one sentence for a person: what, and what it means
	Subject string  // what it is about: an object, a source, a URL; may be empty
	Fix     string  // what to do; may be empty
	Places  []Place // where to look, best first
}

// Object is one rendered object of a unit.
type Object struct {
	// Ref is the object's name as it may be shown: parts that come from ciphertext are masked, unless the user asked
	// for secrets. YAML has the true one.
	Ref Ref
	// YAML is the document as kustomize-controller would apply it, without a separator line. It may hold
	// decrypted secrets, so a view must never print it unless Display is equal to it or the user asked for secrets.
	YAML string
	// Display is YAML with everything that came from ciphertext masked. Equal to YAML when nothing did.
	Display string
	// Unverified lists why YAML may differ from what the cluster gets. Empty means: byte for byte.
	Unverified []Reason
	// Trace tells where the values of Display come from; nil unless the render was asked to trace.
	Trace Tracer
}

// Secret tells whether YAML holds something that Display masks.
func (o *Object) Secret() bool { return o.YAML != o.Display }

// SourceRef names the source of a unit.
type SourceRef struct {
	Kind      string
	Namespace string
	Name      string
}

// String gives KIND/NAMESPACE/NAME.
func (s SourceRef) String() string { return s.Kind + "/" + s.Namespace + "/" + s.Name }

// Unit is a Flux Kustomization or HelmRelease of one environment, as its rendered parent says it is.
type Unit struct {
	ID        UnitID
	Parent    *UnitID // nil for the entry, and for what was applied by hand
	Path      string  // cleaned path in the artifact; empty for a HelmRelease
	Source    SourceRef
	DependsOn []UnitID
	Suspended bool
	// Remote names the kubeconfig when the unit's objects go to another cluster; empty otherwise.
	Remote string

	Status  Status
	Reasons []Reason // failures first
	Objects []*Object
	Files   []string // what the build read, sorted
	// Spec is the typed Flux object (*flux.Kustomization), for the steps that follow a render; nil where it is not
	// known. It may hold decrypted values: a view must not print it.
	Spec any
	// Display is Spec with decrypted values masked; nil when Spec holds none.
	Display any

	// The following are there when the render was asked to trace.

	// Built are the objects before substitution, in build order; also where the unit fails after its build.
	Built []*Built
	// Substitution is nil without postBuild.
	Substitution *Substitution
	// Self is the unit's own object, and traces its spec; nil for an entry that no object describes.
	Self *Object
	// Wait: the unit is Ready only when what it applies is healthy.
	Wait bool
}

// Environment is one cluster's entrypoint and everything that follows from it.
type Environment struct {
	Name  string
	Entry string // directory or file in the repository
	// Root is the folder of the repository that is the artifact's root; "." nearly always.
	Root string
	// Found says how the environment was found, for a person.
	Found       string
	FluxVersion string
	Strict      bool
	Source      SourceRef // the repository's own source; zero when nothing names one
	Units       []*Unit   // in order of discovery, parents first
	// Applied are the objects of an entry that is a file: somebody applies them by hand.
	Applied []*Object
	// Reasons concern the environment as a whole.
	Reasons []Reason
}
