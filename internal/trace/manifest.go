package trace

import (
	"github.com/tidegate/tidegate/internal/model"
)

// NewManifest traces an object that stands in a file as it is, which somebody applies: no build reads it. root is the
// folder that spans count from.
func NewManifest(file string, files Files, ref model.Ref, text string) *Object {
	b := &Build{files: NewSources(files), texts: []Text{{File: file, Spec: -1}}}
	return NewObject(b, &Unit{Root: "."}, ref, text, nil)
}
