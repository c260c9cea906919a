package gitwork

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestParseConfig(t *testing.T) {
	text := "\xef\xbb\xbf# c\n[Core] ; x\n\tExcludesFile = ~/a b ; no\n ignorecase\n[includeIf \"gitdir:C\\\\x\\\"/\"] path = \"q # ;\" tail \\\n  more\t\n" +
		"[a.B]\nk=\\t\\n\\\"\\\\\nempty =\n[s]\r\nk = v\r\n"
	var got []configVar
	if err := parseConfig(text, func(v configVar) { got = append(got, v) }); err != nil {
		t.Fatal(err)
	}
	want := []configVar{
		{"core", "", "excludesfile", "~/a b", true},
		{"core", "", "ignorecase", "", false},
		{"includeif", `gitdir:C\x"/`, "path", "q # ; tail   more", true},
		{"a", "b", "k", "\t\n\"\\", true},
		{"a", "b", "empty", "", true},
		{"s", "", "k", "v", true},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for _, bad := range []string{"a = b", "[x", "[x \"y", "[x]\n= y", "[x]\nk \"v\"", "[x]\nk = \"v", "[x]\nk = \\q", "[]\n"} {
		if err := parseConfig(bad, func(configVar) {}); err == nil || !strings.HasPrefix(err.Error(), "line ") {
			t.Errorf("%q: error %v", bad, err)
		}
	}
}

func FuzzParseConfig(f *testing.F) {
	f.Add("[core]\n\tignorecase = true\n[a \"b\"] c = \"d\\n\" # e")
	f.Add("[x]\r\ny\\\n\x00z = \\\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		n := 0
		_ = parseConfig(text, func(v configVar) {
			if n++; v.section == "" || v.key == "" {
				t.Errorf("nameless: %+v", v)
			}
		})
		if n > len(text) {
			t.Errorf("%d assignments in %d bytes", n, len(text))
		}
	})
}

// TestConfigAgainstGit compares with what git config says after the same files.
func TestConfigAgainstGit(t *testing.T) {
	home := requireGit(t)
	dir := filepath.Join(home, "src", "repo")
	write(t, filepath.Join(dir, "x"), "")
	git(t, dir, "", "init", "-q")
	set := func(name, text string) { write(t, filepath.Join(home, name), text) }
	set("inc/ok", "[core]\n\texcludesFile = \"/from/inc\"\n")
	set("inc/no", "[core]\n\texcludesFile = /wrong\n")
	for _, tt := range []struct{ name, global string }{
		{"default", ""},
		{"plain", "[core]\nexcludesfile = ~/ignore # c\n"},
		{"empty", "[core]\nexcludesfile =\n"},
		{"include", "[core]\nexcludesfile=/first\n[include]\npath = inc/ok\n"},
		{"gitdir", "[includeIf \"gitdir:~/src/\"]\npath = inc/ok\n[includeIf \"gitdir:~/other/\"]\npath = inc/no\n"},
		{"gitdir name", "[includeIf \"gitdir:repo/\"]\npath = inc/ok\n[includeIf \"gitdir:rep/\"]\npath = inc/no\n"},
		{"gitdir case", "[includeIf \"gitdir/i:REPO/\"]\npath = inc/ok\n[includeIf \"gitdir:REPO/\"]\npath = inc/no\n"},
		{"gitdir here", "[includeIf \"gitdir:./src/**\"]\npath = inc/ok\n"},
		{"gitdir exact", "[includeIf \"gitdir:~/src/repo/.git\"]\npath = inc/ok\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			set(".gitconfig", tt.global)
			r, err := Find(dir)
			if err != nil {
				t.Fatal(err)
			}
			c, warnings := r.ReadConfig(os.LookupEnv)
			if len(warnings) > 0 {
				t.Error(warnings)
			}
			want := strings.TrimSuffix(git(t, dir, "", "config", "--path", "--default", home+"/.config/git/ignore", "core.excludesfile"), "\n")
			if c.ExcludesFile != want {
				t.Errorf("%q, git %q", c.ExcludesFile, want)
			}
		})
	}
}

func TestConfigWarnings(t *testing.T) {
	home := requireGit(t)
	dir := t.TempDir()
	git(t, dir, "", "init", "-q")
	git(t, dir, "", "config", "core.ignorecase", "false")
	write(t, filepath.Join(home, ".gitconfig"), "[core]\nignorecase = yes\nexcludesfile = ~bob/x\nbroken = \"\n")
	write(t, filepath.Join(home, ".config", "git", "config"), "[include]\npath = config\n")
	r, _ := Find(dir)
	c, warnings := r.ReadConfig(os.LookupEnv)
	text := strings.Join(warnings, "\n")
	for _, want := range []string{"more than 10 levels", "names a user's home", "line 4: a quote does not end"} {
		if !strings.Contains(text, want) {
			t.Errorf("no warning with %q in:\n%s", want, text)
		}
	}
	if c.IgnoreCase { // the repository's own file comes last
		t.Error("ignoreCase")
	}
}
