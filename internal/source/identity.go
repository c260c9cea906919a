package source

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strconv"
)

// artifactID identifies the tree instance and the options.
func artifactID(t Tree, o ArtifactOptions) (string, error) {
	h := sha256.New()
	if i, ok := t.(interface{ Identity() string }); ok {
		hashStrings(h, "identity", i.Identity())
	} else {
		// Without an identity, equal content under an equal label is the same tree.
		hashStrings(h, "content", t.Label())
		for _, e := range t.Entries() {
			hashStrings(h, e.Path, e.Kind.String(), e.Target)
			if e.Kind != Regular {
				continue
			}
			data, err := t.ReadFile(e.Path)
			if err != nil {
				return "", err
			}
			hashStrings(h, string(data))
		}
	}
	if o.Ignore != nil {
		hashStrings(h, "ignore", *o.Ignore)
	}
	hashStrings(h, "sparse")
	hashStrings(h, o.SparseCheckout...)
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

// hashStrings writes strings so that no two lists of strings write the same bytes.
func hashStrings(w io.Writer, list ...string) {
	for _, s := range list {
		// A hash never fails to be written to.
		_, _ = io.WriteString(w, strconv.Itoa(len(s))+":"+s)
	}
}
