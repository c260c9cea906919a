//go:build !unix

package source

import (
	"io/fs"
	"os"
)

// openNoFollow opens a file that was regular when it was listed, if it still is.
func openNoFollow(path string) (*os.File, error) {
	fi, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrInvalid}
	}
	return os.Open(path)
}
