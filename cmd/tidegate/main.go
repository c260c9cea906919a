// Command tidegate renders and checks Flux repositories offline.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/tidegate/tidegate/internal/cli"
)

func main() {
	// kustomize writes warnings to os.Stderr and the standard logger; they belong to nobody's output.
	stderr := os.Stderr
	if null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0); err == nil {
		os.Stderr = null
	}
	log.SetOutput(io.Discard)
	// A render is short and allocates much: fewer collections cost memory that it gives back at once.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(300)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once, whatever it waits for
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	c := &cli.Command{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: stderr, Getenv: os.Getenv, Dir: dir}
	code := c.Main(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}
