package cli_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate/reference"
)

const readme = "../../README.md"

// block is a fenced block of shell in the README, and the block of text after it, which is what it prints.
type block struct {
	line       int // of the fence
	sh, text   string
	start, end int // of text in the file; 0 when nothing is promised
}

var fenced = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")

// blocks finds the README's commands. Every fenced block is one, or what the one before it prints, or a file.
func blocks(t *testing.T, file string) []block {
	t.Helper()
	var out []block
	for _, m := range fenced.FindAllStringSubmatchIndex(file, -1) {
		switch lang := file[m[2]:m[3]]; lang {
		case "sh":
			out = append(out, block{line: strings.Count(file[:m[0]], "\n") + 1, sh: file[m[4]:m[5]]})
		case "text":
			if len(out) == 0 || out[len(out)-1].end > 0 {
				t.Fatalf("README.md: output that belongs to no command: %q", file[m[4]:m[5]])
			}
			b := &out[len(out)-1]
			b.text, b.start, b.end = file[m[4]:m[5]], m[4], m[5]
		default:
			t.Fatalf("README.md: a block of %q: commands are sh, and what they print is text", lang)
		}
	}
	return out
}

// TestREADME runs every command of the README with the real program, in the order in which they stand there, and holds
// what they print. A line "..." stands for any lines; how long something took is not compared. The first two blocks are
// run as they stand, in the root of the repository, except that make only says what it would do: the tests are running.
// -update writes what is printed, except where lines are left out.
func TestREADME(t *testing.T) {
	raw, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	file := string(raw)
	all := blocks(t, file)
	if len(all) < 3 || strings.TrimSpace(all[0].sh) != "go run ./cmd/tidegate check" || strings.TrimSpace(all[1].sh) != "make test" {
		t.Fatal("README.md begins with two commands: go run ./cmd/tidegate check, and make test")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	if err := os.CopyFS(filepath.Join(work, "reference"), reference.FS); err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(work, "reference/testdata/for-tests-only.agekey")
	if err := errors.Join(os.Mkdir(filepath.Dir(key), 0o755), os.WriteFile(key, []byte(reference.TestAgeKey()), 0o600)); err != nil {
		t.Fatal(err)
	}
	r := reader{work: work, bin: t.TempDir()}
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].sh == "" {
			t.Fatalf("README.md:%d: an empty block", all[i].line)
		}
	}
	outputs := make([]string, len(all))
	for i, b := range all {
		switch strings.TrimSpace(b.sh) {
		case "make test":
			if _, err := exec.LookPath("make"); err != nil {
				t.Log("make is not here; its recipe is not looked at")
				continue
			}
			got := r.run(t, root, "make -n test", b.line)
			for _, want := range []string{"go vet ./...\n", "go test ./...\n"} {
				if !strings.Contains(got, want) {
					t.Errorf("make test does not run %q but %q", want, got)
				}
			}
			continue
		case "go run ./cmd/tidegate check":
			// What it finds is meant to be found, so it fails: go run says with which code.
			outputs[i] = r.run(t, root, b.sh+"\ntest $? = 1", b.line)
		case "go build -o tidegate ./cmd/tidegate":
			outputs[i] = r.run(t, root, "go build -o '"+filepath.Join(r.bin, "tidegate")+"' ./cmd/tidegate", b.line)
		default:
			outputs[i] = r.run(t, work, b.sh, b.line)
		}
		if b.end > 0 && !promised(b.text, outputs[i]) && !(*update && !elided(b.text)) {
			t.Errorf("README.md:%d: %s prints (-promised +printed):\n%s", b.line, strings.TrimSpace(b.sh), cmp.Diff(b.text, outputs[i]))
		}
	}
	if *update && !t.Failed() {
		for i := len(all) - 1; i >= 0; i-- {
			if b := all[i]; b.end > 0 && !promised(b.text, outputs[i]) {
				file = file[:b.start] + outputs[i] + file[b.end:]
			}
		}
		if err := os.WriteFile(readme, []byte(file), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// reader is somebody who follows the README.
type reader struct{ work, bin string }

// run runs one block and gives what it prints, standard output and error together.
func (r reader) run(t *testing.T, dir, script string, line int) string {
	t.Helper()
	flags := "-ec"
	if strings.Contains(script, "test $? =") {
		flags = "-c"
	}
	cmd := exec.CommandContext(t.Context(), "sh", flags, script)
	cmd.Dir = dir
	for _, e := range os.Environ() {
		if name, _, _ := strings.Cut(e, "="); !strings.HasPrefix(name, "SOPS_") && !strings.HasPrefix(name, "MAKE") && name != "MFLAGS" {
			cmd.Env = append(cmd.Env, e)
		}
	}
	cmd.Env = append(cmd.Env, "PATH="+r.bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "NO_COLOR=1", "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("README.md:%d: %s: %v\n%s", line, strings.TrimSpace(script), err, out)
	}
	return strings.ReplaceAll(string(out), r.work+"/", "/home/me/")
}

func elided(text string) bool {
	return strings.HasPrefix(text, "...\n") || strings.Contains(text, "\n...\n")
}

// promised tells whether got is text, where a line "..." of text stands for any lines.
func promised(text, got string) bool {
	parts := strings.Split("\n"+maskSeconds(text), "\n...\n")
	rest := "\n" + maskSeconds(got)
	for i, part := range parts {
		if i > 0 {
			part = "\n" + part
		}
		switch {
		case i == 0 && len(parts) == 1:
			return rest == part
		case i == 0:
			if !strings.HasPrefix(rest, part+"\n") {
				return false
			}
			rest = rest[len(part):]
		case i == len(parts)-1:
			return strings.HasSuffix(rest, part)
		default:
			at := strings.Index(rest, part+"\n")
			if at < 0 {
				return false
			}
			rest = rest[at+len(part):]
		}
	}
	return true
}

// What holds the README must itself tell a right output from a wrong one.
func TestPromised(t *testing.T) {
	for _, c := range []struct {
		text, got string
		want      bool
	}{
		{"a\nb\n", "a\nb\n", true},
		{"a\nb\n", "a\nc\n", false},
		{"a\nb\n", "a\nb\nc\n", false},
		{"", "", true},
		{"", "a\n", false},
		{"...\nb\n", "x\ny\nb\n", true},
		{"...\nb\n", "x\nab\n", false},
		{"...\nb\n", "x\nb\ny\n", false},
		{"a\n...\n", "a\nx\n", true},
		{"a\n...\n", "ab\nx\n", false},
		{"a\n...\nm\n...\nz\n", "a\nx\nm\ny\nz\n", true},
		{"a\n...\nm\n...\nz\n", "a\nx\ny\nz\n", false},
		{"took 0.10 s\n", "took 12.34 s\n", true},
	} {
		if got := promised(c.text, c.got); got != c.want {
			t.Errorf("promised(%q, %q) = %t", c.text, c.got, got)
		}
	}
}
