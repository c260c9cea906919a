package render

import (
	"bytes"
	"fmt"
)

// This file bounds what a build may cost. Flux has no such limits; its pod runs out of memory or time. What is beyond
// them is unverified, since it says nothing about what the cluster would do.
//
// The rules are:
//   - A file is at most 16 MiB and has at most two million marks of YAML structure, which bounds the nodes that it
//     becomes: a manifest of that size is far beyond what an API server takes.
//   - A build reads at most 128 MiB in at most 100,000 reads. Folders that include each other twice over and over
//     would read for ever.
//   - What it reads names apiVersion at most 10,000 times, which bounds the objects: kustomize compares each with all
//     others, and takes half a minute for so many.
const (
	maxFileBytes  = 16 << 20
	maxFileMarks  = 2_000_000
	maxBuildBytes = 128 << 20
	maxBuildReads = 100_000

	maxBuildObjects = 10_000

	maxCopied = 16 << 20 // by the copy operations of one JSON patch; each may double what the last one made
)

// within counts a read, and refuses it when the build is beyond its limits.
func (b *buildFS) within(p string, data []byte) error {
	b.reads++
	b.readBytes += len(data)
	b.objects += bytes.Count(data, []byte("apiVersion"))
	switch {
	case len(data) > maxFileBytes:
		b.limit = fmt.Errorf("%s has %d bytes, and a build reads files of at most %d", p, len(data), maxFileBytes)
	case b.readBytes > maxBuildBytes:
		b.limit = fmt.Errorf("the build reads more than %d bytes, the last of them in %s", maxBuildBytes, p)
	case b.reads > maxBuildReads:
		b.limit = fmt.Errorf("the build reads files more than %d times, the last of them %s: do folders include each other over and over?", maxBuildReads, p)
	case b.objects > maxBuildObjects:
		b.limit = fmt.Errorf("the build reads more than %d objects, the last of them in %s", maxBuildObjects, p)
	case len(data) > maxFileMarks && marks(data) > maxFileMarks:
		b.limit = fmt.Errorf("%s has more than %d marks of YAML structure", p, maxFileMarks)
	}
	return b.limit
}

// marks counts the bytes that begin a node of YAML: at least one stands for each key, item and flow collection.
func marks(data []byte) int {
	n := 0
	for _, m := range []string{":", "-", ",", "[", "{"} {
		n += bytes.Count(data, []byte(m))
	}
	return n
}
