package source

import (
	"path"
	"strings"
)

// JoinSecure returns the path inside the artifact that p, a spec.path, leads to: clean, relative, and "." for the root. A ".." above the
// root stays at the root, and a leading slash means the root. It is SecureJoin of filepath-securejoin, which kustomize-controller uses,
// for a root without symbolic links; an artifact has none.
func JoinSecure(p string) string {
	if p = path.Clean("/" + p)[1:]; p != "" {
		return p
	}
	return "."
}

// parentDir returns the directory of a clean relative path, "." for the root.
func parentDir(p string) string {
	if i := strings.LastIndexByte(p, '/'); i >= 0 {
		return p[:i]
	}
	return "."
}

// joinRel joins a clean directory, "." for the root, and a name.
func joinRel(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// cleanRel cleans a path inside a tree. ok is false for one that leads out of it.
func cleanRel(p string) (clean string, ok bool) {
	clean = path.Clean(p)
	return clean, p != "" && clean[0] != '/' && clean != ".." && !strings.HasPrefix(clean, "../")
}
