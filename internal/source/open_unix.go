//go:build unix

package source

import (
	"os"
	"syscall"
)

// openNoFollow opens a file that was regular when it was listed. Should it be a symbolic link by now, opening fails; should it be a pipe,
// opening does not wait.
func openNoFollow(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}
