package engine

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/tidegate/tidegate/internal/source"
)

// readFile reads a file that the command line names, which may be a pipe such as <(sops -d …), but no more of it than
// source.MaxFileSize: a device never ends. Nobody may ever write into a pipe, so it gives up when ctx ends.
func readFile(ctx context.Context, name string) ([]byte, error) {
	type result struct {
		data []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		data, err := readBounded(name)
		done <- result{data, err}
	}()
	select {
	case r := <-done:
		return r.data, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func readBounded(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, source.MaxFileSize+1))
	if err == nil && len(data) > source.MaxFileSize {
		err = &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("%w: more than %d bytes", source.ErrTooLarge, source.MaxFileSize)}
	}
	return data, err
}
