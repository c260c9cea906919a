package cli_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/tidegate/tidegate/internal/cli"
)

var update = flag.Bool("update", false, "write what the program prints into the golden sections and files")

// TestMain lets scripts run the program as a process of its own: this binary, as cmd/tidegate/main.go would start it.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"tidegate": program})
}

// program is main of cmd/tidegate. TestREADME runs the real one.
func program() {
	stderr := os.Stderr
	if null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0); err == nil {
		os.Stderr = null
	}
	log.SetOutput(io.Discard)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	c := &cli.Command{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: stderr, Getenv: os.Getenv, Dir: dir}
	code := c.Main(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// TestScripts runs testdata/script: what a user types, and what the program prints, writes and exits with.
// -update rewrites the golden sections of the scripts.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", Cmds: commands, UpdateScripts: *update, RequireExplicitExec: true, RequireUniqueNames: true,
	})
}

// run is the program within this process, in dir, with an environment of its own.
func run(ctx context.Context, dir string, env map[string]string, stdout io.Writer, args ...string) (code int, stderr string) {
	var errs bytes.Buffer
	c := &cli.Command{
		Stdin: strings.NewReader(""), Stdout: stdout, Stderr: &errs, Dir: dir,
		Getenv: func(k string) string { return env[k] },
	}
	code = c.Main(ctx, args)
	return code, errs.String()
}

// An interrupt before or within a render ends it with a word on stderr and the code of what could not run.
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out bytes.Buffer
	code, stderr := run(ctx, t.TempDir(), nil, &out, "render")
	if code != cli.ExitCouldNot || stderr != "tidegate: interrupted\n" || out.Len() > 0 {
		t.Errorf("exit code %d, %d bytes of objects, stderr %q", code, out.Len(), stderr)
	}
}

// A standard output that takes no more (a full disk, a closed pipe) is an error, never a short result with code 0.
func TestBrokenOutput(t *testing.T) {
	for _, format := range []string{"yaml", "json"} {
		code, stderr := run(context.Background(), t.TempDir(), nil, &full{room: 10_000}, "render", "-o", format)
		if code != cli.ExitCouldNot || !strings.Contains(stderr, "writing the result: no room") {
			t.Errorf("-o %s: exit code %d, stderr %q", format, code, stderr)
		}
	}
}

type full struct{ room int }

func (f *full) Write(p []byte) (int, error) {
	if len(p) > f.room {
		return 0, errors.New("no room")
	}
	f.room -= len(p)
	return len(p), nil
}
