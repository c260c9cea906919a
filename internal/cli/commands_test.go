package cli_test

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"filippo.io/age"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/tidegate/tidegate/reference"
)

// The commands of the scripts besides testscript's own.
var commands = map[string]func(*testscript.TestScript, bool, []string){
	"exits":      exits,
	"platform":   platform,
	"agekey":     agekey,
	"masked":     masked,
	"snapshot":   snapshot,
	"shape":      shape,
	"mode":       mode,
	"plaintexts": plaintexts,
	"holdsnone":  holdsNone,
}

// exits CODE PROGRAM ARGS... runs a program and holds its exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d\n[stderr]\n%s", got, want, ts.ReadFile("stderr"))
	}
}

// platform DIR writes the embedded reference platform into a directory.
func platform(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: platform DIR")
	}
	ts.Check(os.CopyFS(ts.MkAbs(args[0]), reference.FS))
}

// agekey [-fresh] FILE writes the key file that opens the reference platform's secrets; with -fresh, one that opens
// nothing.
func agekey(ts *testscript.TestScript, neg bool, args []string) {
	text := reference.TestAgeKey()
	if len(args) == 2 && args[0] == "-fresh" {
		id, err := age.GenerateX25519Identity()
		ts.Check(err)
		text, args = id.String()+"\n", args[1:]
	}
	if neg || len(args) != 1 {
		ts.Fatalf("usage: agekey [-fresh] FILE")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

var seconds = regexp.MustCompile(`\d+\.\d\d s\b|"seconds": [0-9.e-]+`)

// maskSeconds replaces how long a render took, which differs each time.
func maskSeconds(text string) string {
	return seconds.ReplaceAllStringFunc(text, func(s string) string {
		if strings.HasPrefix(s, `"`) {
			return `"seconds": N`
		}
		return "N s"
	})
}

// masked stdout|stderr FILE writes a stream of the last program to a file, with the seconds and the work directory
// replaced.
func masked(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: masked stdout|stderr FILE")
	}
	text := strings.ReplaceAll(ts.ReadFile(args[0]), ts.Getenv("WORK"), "$WORK")
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(maskSeconds(text)), 0o644))
}

// snapshot DIR FILE writes what is in a directory: kind, mode, time of change and digest of everything.
func snapshot(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: snapshot DIR FILE")
	}
	root := ts.MkAbs(args[0])
	var b strings.Builder
	ts.Check(filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %v %d", rel, fi.Mode(), fi.ModTime().UnixNano())
		switch {
		case fi.Mode().IsRegular():
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %x", sha256.Sum256(data))
		case fi.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(p)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " -> %s", target)
		}
		b.WriteByte('\n')
		return nil
	}))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(b.String()), 0o644))
}

// shape JSON FILE writes the paths of a JSON document with the types of what is there, each once, sorted.
func shape(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: shape JSON FILE")
	}
	dec := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	var doc any
	ts.Check(dec.Decode(&doc))
	if dec.More() {
		ts.Fatalf("%s holds more than one document", args[0])
	}
	paths := map[string]bool{}
	shapeOf(doc, "", paths)
	lines := make([]string, 0, len(paths))
	for p := range paths {
		lines = append(lines, p+"\n")
	}
	sort.Strings(lines)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(strings.Join(lines, "")), 0o644))
}

func shapeOf(v any, at string, paths map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			shapeOf(e, at+"."+k, paths)
		}
		return
	case []any:
		for _, e := range v {
			shapeOf(e, at+"[]", paths)
		}
		if len(v) > 0 {
			return
		}
	}
	paths[strings.TrimPrefix(at, ".")+" "+strings.TrimPrefix(fmt.Sprintf("%T", v), "[]interface {}")] = true
}

// mode PERM FILE... holds the permissions of files.
func mode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: mode PERM FILE...")
	}
	for _, file := range args[1:] {
		fi, err := os.Stat(ts.MkAbs(file))
		ts.Check(err)
		if got := fmt.Sprintf("%03o", fi.Mode().Perm()); got != args[0] {
			ts.Fatalf("%s has mode %s, want %s", file, got, args[0])
		}
	}
}
