// Package oracle is the judge of the renderer: it builds one Flux Kustomization with Flux's own
// packages, in the order and with the options of kustomize-controller, so that a test can hold our
// result against it byte for byte.
//
// It is for tests and test binaries only. It pulls in most of a Kubernetes client, runs one build at a
// time, and copies the artifact for each, all of which the renderer exists to avoid. It shares no code
// with the renderer: two readings of the same rule that agree are worth more than one.
//
// The rules are:
//   - The order is that of reconcile and build in kustomize-controller,
//     internal/controller/kustomization_controller.go: generate, decrypt sources, build, then for each
//     resource decrypt and substitute, then print. [Applied] goes on to where the API server would be.
//   - What the API server would have refused or dropped from the Kustomization is refused or dropped here
//     too: the object passes through its Go type on the way in.
//   - Remote bases are refused (--no-remote-bases). kustomize still tries to reach them before Flux's file
//     system refuses what it got, so give the judge no unit that has one: its error depends on the machine.
//   - Errors are the controller's own text, with the temporary directory written as <artifact>.
//   - Nothing may build with kustomize in the same process while a build runs here: Flux empties
//     kustomize's global schema before and after each. See [Artifact.Close].
package oracle
