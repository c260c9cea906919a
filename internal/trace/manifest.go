package trace

import (
	"github.com/tidegate/tidegate/internal/model"
)

// NewManifest traces an object that stands in a file as it is, which somebody applies: no build reads it.
func NewManifest(file string, files Files, ref model.Ref, text string) *Object {
	b := &Build{files: NewSources(files), texts: []Text{{File: file, Spec: -1}}}
	o := NewObject(b, &Unit{Root: "."}, ref, text, nil)
	o.plain = true
	return o
}
