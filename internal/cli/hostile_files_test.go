//go:build unix

package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/cli"
)

// What the command line names may be no file at all, or never end. It is said, by name, and soon.
func TestFilesThatAreNone(t *testing.T) {
	repo := hostile(t, map[string]string{"app/a.yaml": hostileObject})
	junk := filepath.Join(t.TempDir(), "junk")
	if err := os.WriteFile(junk, bytes.Repeat([]byte{0, 0xff, ':', '\n'}, 1000), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, flag := range []string{"--vars=dev=", "--cluster-objects=", "--age-key-file=", "--entry=dev="} {
		for what, name := range map[string]string{"a folder": t.TempDir(), "a device": "/dev/zero", "binary": junk, "missing": junk + "-not"} {
			t.Run(flag+what, func(t *testing.T) {
				code, stdout, stderr := runProgram(t, "render", repo, flag+name)
				// An entry that is a file which cannot be read as objects fails in the report; all else is a mistake of usage.
				if want := cli.ExitUsage; code != want && !(strings.HasPrefix(flag, "--entry") && code == cli.ExitFailed) {
					t.Errorf("exit %d, want %d\n%.600s", code, want, stderr)
				}
				if !strings.Contains(stderr, name) || strings.Contains(stdout, "ConfigMap") || strings.ContainsAny(stderr, "\x00\x1b") {
					t.Errorf("the message lacks %s, or something was rendered\n%.600q", name, stderr)
				}
			})
		}
	}
}

// A pipe that nobody writes to, or a build that takes for ever, ends when the user says so.
func TestInterrupted(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip("no named pipes here")
	}
	slow := hostile(t, map[string]string{"app/a.yaml": repeat(3000, func(i int) string {
		return strings.Replace(hostileObject, "name: a", "name: a"+strings.Repeat("x", i%200)+"-"+string(rune('a'+i/200%26))+string(rune('a'+i/5200)), 1) + "---\n"
	})})
	for name, args := range map[string][]string{
		"pipe of variables": {"render", slow, "--vars", "dev=" + pipe},
		"pipe of keys":      {"render", slow, "--age-key-file", pipe},
		"pipe of objects":   {"render", slow, "--cluster-objects", pipe},
		"slow build":        {"render", slow, "--out", filepath.Join(t.TempDir(), "out")},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), 150*time.Millisecond)
			defer cancel()
			var out, errs bytes.Buffer
			c := &cli.Command{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }, Dir: t.TempDir()}
			start := time.Now()
			code := c.Main(ctx, args)
			if took := time.Since(start); code != cli.ExitCouldNot || took > 3*time.Second || out.Len() > 0 {
				t.Errorf("exit %d after %s with %d bytes of output: %s", code, took, out.Len(), errs.String())
			}
			if name == "slow build" {
				if _, err := os.Lstat(args[len(args)-1]); err == nil {
					t.Error("an output directory was made")
				}
			}
		})
	}
}

// The list of an earlier render that is no file is refused, and not waited for.
func TestOutListIsAPipe(t *testing.T) {
	repo, out := hostile(t, map[string]string{"app/a.yaml": hostileObject}), t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(out, ".tidegate-rendered"), 0o600); err != nil {
		t.Skip("no named pipes here")
	}
	if code, _, stderr := runProgram(t, "render", repo, "--out", out); code != cli.ExitCouldNot || !strings.Contains(stderr, ".tidegate-rendered") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
