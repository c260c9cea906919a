package model

// Span is a piece of a file of the repository. Lines and columns count from 1, columns in characters (Unicode code
// points); EndColumn is the column after the last character. A zero Line means that only the file is known.
type Span struct {
	File               string
	Line, Column       int
	EndLine, EndColumn int
}

// Known tells whether there is a position.
func (s Span) Known() bool { return s.File != "" && s.Line > 0 }

// Place is the span's beginning.
func (s Span) Place() Place { return Place{s.File, s.Line, s.Column} }

// Certainty says how sure it is that a value comes from where its origin says.
type Certainty string

const (
	// CertaintyExact: the position was carried through the build, and the value there is the value here.
	CertaintyExact Certainty = "exact"
	// CertaintyAttributed: found by what the build was told to do: a transformer's field, an operation of a patch, the
	// same path and value in the object's manifest.
	CertaintyAttributed Certainty = "attributed"
	// CertaintyObject: only the manifest, or the folder, that the object comes from is known.
	CertaintyObject Certainty = "object"
)

// Step says what put a value where it is.
type Step string

const (
	StepManifest   Step = "manifest"   // it stands in a resource file
	StepPatch      Step = "patch"      // in a patch, strategic merge or JSON 6902
	StepGenerator  Step = "generator"  // in an input of a ConfigMap or Secret generator, or a literal
	StepTransform  Step = "transform"  // a field of a kustomization.yaml or of a Kustomization made it: namespace, images, …
	StepReplace    Step = "replace"    // a replacement copied it
	StepDecrypt    Step = "decrypt"    // it was decrypted
	StepUnresolved Step = "unresolved" // it could not be found out
)

// Origin says where a value of a rendered object comes from.
type Origin struct {
	Span      Span
	Certainty Certainty
	Step      Step
	// Text is what stands at Span, decoded, before substitution; masked where it is a secret.
	Text string
	// By names the field that acted, for StepTransform, StepReplace and StepPatch: "namespace", "patches[0]", "images[1]";
	// ByAt is where it stands.
	By   string
	ByAt Span
	// Overrides is what stood there in the object's own manifest before a patch replaced it: the base default.
	Overrides *Origin
	// Uses are the expressions of postBuild that took part in the value, in order.
	Uses []Use
	// Via is set where the value stands in text that another object holds (a patch in the spec of a Kustomization): that
	// object.
	Via *Ref
}

// Use is one ${…} in a value and what it became.
type Use struct {
	Text     string // the expression as it is written
	Span     Span   // where it stands; of the whole scalar where no more is known
	Names    []string
	Became   string // masked where it is a secret
	Default  bool   // the default that the expression brings was taken
	Opaque   bool   // its value is not known, so it stays as it is written
	Variable []Variable
}

// Variable is a variable of postBuild as a unit has it.
type Variable struct {
	Name  string
	Value string // masked where Secret
	// Secret: Value is a mask. Unknown: why it is not known, nil when it is. Undefined: nothing defines it.
	Secret    bool
	Unknown   *Reason
	Undefined bool
	// Lines: the value has line feeds where it is written, which substitution takes out of Value.
	Lines bool
	// Source is what defines it: "ConfigMap/flux-system/cluster-vars", "postBuild.substitute", "--vars". Holder is the
	// object, when there is one.
	Source string
	Holder Ref
	// Set is where its value is written; nil when that is not in the repository.
	Set func() Origin `json:"-"`
}

// Tracer tells where the values of one object come from. It is safe for concurrent use, and does its work when asked.
type Tracer interface {
	// Origin gives the origin of the value at a path. A mapping or sequence has the span of its key.
	Origin(Path) Origin
	// Key gives the span of the key at a path.
	Key(Path) Span
	// Within gives the span of a part of the scalar at a path: the bytes [from, to) of its text.
	Within(p Path, from, to int) (Span, Certainty)
}

// Built is an object of a unit as kustomize built it, before substitution.
type Built struct {
	Ref  Ref    // as it may be shown
	Text string // as it may be shown: what comes from ciphertext is masked
	// Secret: plaintext took part, so Text is not the true one.
	Secret bool
	// OptedOut: a label or annotation of the object keeps substitution from it.
	OptedOut bool
	// Hidden are values whose plaintext, which Text masks, holds something that substitution acts upon: ${ or $$.
	Hidden []Path
	// Trace speaks of Text's paths.
	Trace Tracer
	// Object is what became of it; nil where the unit failed.
	Object *Object
}

// Substitution is what postBuild gives to the objects of a unit.
type Substitution struct {
	// Runs: there is a variable, or the strategy is Always. Doubt: whether it runs is not known.
	Runs, Doubt bool
	Strict      bool
	// NegativeLength is a behaviour of Flux's version: see subst.Options.
	NegativeLength bool
	Variables      map[string]Variable
	// Missing are the sources that nothing in the repository makes: any name may be defined there.
	Missing []Reason
}
