package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/tidegate/tidegate/internal/cli"
)

// Colour is for terminals, and for those alone who did not say NO_COLOR. Objects are never coloured.
func TestColour(t *testing.T) {
	for _, c := range []struct {
		name   string
		env    map[string]string
		colour bool
	}{
		{"terminal", nil, true},
		{"NO_COLOR", map[string]string{"NO_COLOR": "1"}, false},
		{"empty NO_COLOR counts as unset", map[string]string{"NO_COLOR": ""}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var stdout bytes.Buffer
			stderr := onTerminal(t, func(tty *os.File) {
				command := &cli.Command{
					Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: tty, Dir: t.TempDir(),
					Getenv: func(k string) string { return c.env[k] },
				}
				if code := command.Main(context.Background(), []string{"render", "--env", "dev"}); code != cli.ExitOK {
					t.Errorf("exit code %d", code)
				}
			})
			if !strings.Contains(stderr, "1 environment of the embedded reference platform") {
				t.Errorf("no summary: %q", stderr)
			}
			if got := strings.Contains(stderr, "\x1b[33munverified\x1b[0m"); got != c.colour {
				t.Errorf("coloured %t, want %t: %q", got, c.colour, stderr)
			}
			if strings.Contains(stdout.String(), "\x1b") {
				t.Error("the objects are coloured")
			}
		})
	}

	var stderr bytes.Buffer
	code, text := run(context.Background(), t.TempDir(), nil, io.Discard, "render", "--env", "dev")
	stderr.WriteString(text)
	if code != cli.ExitOK || strings.Contains(stderr.String(), "\x1b") {
		t.Errorf("exit code %d; coloured where there is no terminal: %q", code, stderr.String())
	}
}

// onTerminal calls write with a pseudo-terminal and gives what it showed.
func onTerminal(t *testing.T, write func(tty *os.File)) string {
	t.Helper()
	control, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("this machine has no pseudo-terminals: %v", err)
	}
	defer control.Close()
	var number, unlock uint32
	for _, call := range []struct {
		request uintptr
		value   *uint32
	}{{syscall.TIOCSPTLCK, &unlock}, {syscall.TIOCGPTN, &number}} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, control.Fd(), call.request, uintptr(unsafe.Pointer(call.value))); errno != 0 {
			t.Fatalf("opening a pseudo-terminal: %v", errno)
		}
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	shown := make(chan string)
	go func() {
		// Reading ends with an error when the other side closes.
		data, _ := io.ReadAll(control)
		shown <- string(data)
	}()
	write(tty)
	if err := tty.Close(); err != nil {
		t.Fatal(err)
	}
	return <-shown
}
