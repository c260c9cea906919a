package gitwork

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// requireGit skips without git, and cuts git and us off from the configuration of the machine. It returns a home directory.
func requireGit(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	for _, key := range []string{"XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"} {
		t.Setenv(key, "")
		os.Unsetenv(key)
	}
	return home
}

func git(t *testing.T, dir, stdin string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		// check-ignore exits 1 when nothing is ignored.
		if ee, ok := err.(*exec.ExitError); !ok || args[0] != "check-ignore" || ee.ExitCode() != 1 {
			t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, errs.String())
		}
	}
	return out.String()
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// patternFrom makes a random pattern from pieces that interact.
func patternFrom(r *rand.Rand) string {
	pieces := []string{"a", "b", "ab", "*", "*", "**", "**/", "/", "/", "?", "[ab]", "[!a]", "[a-c]", `\a`, `\*`, ".", " ", "é", "x y", "[[:alpha:]]", "[]a]", "[", `\`, "#", "+", "@", "-"}
	var b strings.Builder
	if r.IntN(5) == 0 {
		b.WriteString("!")
	}
	if r.IntN(20) == 0 {
		b.WriteString(`\`)
	}
	for range 1 + r.IntN(6) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	if r.IntN(5) == 0 {
		b.WriteString("/")
	}
	if r.IntN(10) == 0 {
		b.WriteString("  ")
	}
	return b.String()
}

// ambiguous reports whether git's meaning of the pattern depends on its version: before 2.52, "**" behind literal bytes could be taken for
// one at the start of a path element.
func ambiguous(pattern string) bool {
	p := strings.TrimPrefix(strings.TrimPrefix(pattern, "!"), "/")
	i := strings.IndexAny(p, globSpecial)
	return i > 0 && p[i-1] != '/' && strings.HasPrefix(p[i:], "**")
}

func pathFrom(r *rand.Rand) string {
	names := []string{"a", "b", "ab", "ba", "abc", "a.b", ".a", "x y", "*", "é", "a+b", "@", "#", `a\`, "-", "a ", "[", "!a"}
	elems := make([]string, 1+r.IntN(4))
	for i := range elems {
		elems[i] = names[r.IntN(len(names))]
	}
	return strings.Join(elems, "/")
}

// TestAgainstCheckIgnore asks git about thousands of pairs of pattern and path. Each directory has one pattern in its .gitignore; the paths
// need not exist.
func TestAgainstCheckIgnore(t *testing.T) {
	for _, fold := range []bool{false, true} {
		t.Run(fmt.Sprintf("ignorecase=%v", fold), func(t *testing.T) {
			requireGit(t)
			dir := t.TempDir()
			git(t, dir, "", "init", "-q")
			git(t, dir, "", "config", "core.ignorecase", fmt.Sprint(fold))
			r := rand.New(rand.NewPCG(1, 2))
			var ask strings.Builder
			var asked []string
			scopes := make(map[string]*Scope)
			for i := range 1500 {
				var lines []string
				for len(lines) < 1+i%3 {
					if p := patternFrom(r); !ambiguous(p) {
						lines = append(lines, p)
					}
				}
				content := strings.Join(lines, "\n")
				if r.IntN(10) == 0 {
					content = "\xef\xbb\xbf" + strings.ReplaceAll(content, "\n", "\r\n") + "\r\n"
				}
				sub := fmt.Sprintf("d%d", i)
				write(t, filepath.Join(dir, sub, ".gitignore"), content)
				scopes[sub] = (*Scope)(nil).With(ParseRules([]byte(content), sub+"/.gitignore", sub, fold))
				for range 12 {
					p := sub + "/" + pathFrom(r)
					if fold && r.IntN(2) == 0 {
						p = sub + strings.ToUpper(strings.TrimPrefix(p, sub))
					}
					asked = append(asked, p)
					ask.WriteString(p + "\x00")
				}
			}
			out := git(t, dir, ask.String(), "check-ignore", "--no-index", "--stdin", "-z", "-v", "-n")
			fields := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
			if len(fields) != 4*len(asked) {
				t.Fatalf("%d fields for %d paths", len(fields), len(asked))
			}
			matched := 0
			for i, p := range asked {
				want := fields[4*i+2]
				sub, _, _ := strings.Cut(p, "/")
				if got := verdict(scopes[sub], p); got != want {
					content, _ := os.ReadFile(filepath.Join(dir, sub, ".gitignore"))
					t.Errorf("%q with %q: %q, git %q", p, content, got, want)
				}
				if want != "" {
					matched++
				}
			}
			if matched < len(asked)/10 {
				t.Errorf("only %d of %d paths are matched: the generator has gone blunt", matched, len(asked))
			}
		})
	}
}

// verdict is the text of the rule that check-ignore -v names: the first directory on the way that is ignored decides, else the path.
func verdict(s *Scope, path string) string {
	for i := range len(path) {
		if path[i] != '/' {
			continue
		}
		if out, r := s.Ignored(path[:i], true); out {
			return r.Text
		}
	}
	if _, r := s.Ignored(path, false); r != nil {
		return r.Text
	}
	return ""
}

func TestIndexAgainstGit(t *testing.T) {
	requireGit(t)
	long := strings.Repeat("d", 200) + "/" + strings.Repeat("e", 200)
	files := []string{"a", "a.b", "a/b.yaml", "b c/é.yaml", "z\nz", long, "a-b/c", "@+", "deep/" + strings.Repeat("x/", 60) + "y"}
	for _, format := range []string{"sha1", "sha256"} {
		for _, version := range []string{"2", "3", "4"} {
			t.Run(format+"-v"+version, func(t *testing.T) {
				dir := t.TempDir()
				git(t, dir, "", "init", "-q", "--object-format="+format)
				for _, f := range files[2:] {
					write(t, filepath.Join(dir, f), f)
				}
				write(t, filepath.Join(dir, "a.b"), "x")
				git(t, dir, "", "add", "-A")
				write(t, filepath.Join(dir, "later"), "x")
				git(t, dir, "", "add", "-N", "later") // needs version 3
				zero := strings.Repeat("1", map[string]int{"sha1": 40, "sha256": 64}[format])
				git(t, dir, "160000 "+zero+"\tmods/one\n", "update-index", "--index-info")
				// A path in conflict has several entries.
				git(t, dir, fmt.Sprintf("100644 %s 1\tconflict\n100644 %s 2\tconflict\n100644 %s 3\tconflict\n", zero, zero, zero), "update-index", "--index-info")
				if version != "3" {
					git(t, dir, "", "update-index", "--index-version", version)
				}
				r, err := Find(dir)
				if err != nil || r == nil {
					t.Fatalf("Find: %v, %v", r, err)
				}
				c, warnings := r.ReadConfig(os.LookupEnv)
				if len(warnings) > 0 {
					t.Error(warnings)
				}
				ix, err := r.ReadIndex(c)
				if err != nil {
					t.Fatal(err)
				}
				want := strings.Split(strings.TrimSuffix(git(t, dir, "", "ls-files", "-c", "-z"), "\x00"), "\x00")
				want = slices.Compact(slices.DeleteFunc(want, func(s string) bool { return s == "mods/one" }))
				if !slices.Equal(ix.files, want) {
					t.Errorf("files %q, git %q", ix.files, want)
				}
				if !ix.IsSubmodule("mods/one") || ix.Contains("mods/one") || !ix.HasDir("mods") || !ix.HasDir("a") || ix.HasDir("a.b") || ix.HasDir("b") || !ix.Contains(long) || !ix.Contains("later") {
					t.Error("the index answers wrongly")
				}
			})
		}
	}
}

func TestSplitIndexIsRefused(t *testing.T) {
	requireGit(t)
	dir := t.TempDir()
	git(t, dir, "", "init", "-q")
	write(t, filepath.Join(dir, "a"), "a")
	git(t, dir, "", "add", "a")
	git(t, dir, "", "update-index", "--split-index")
	r, _ := Find(dir)
	if _, err := r.ReadIndex(Config{HashSize: 20}); err == nil || !strings.Contains(err.Error(), "no-split-index") {
		t.Errorf("error %v", err)
	}
}

func FuzzParseIndex(f *testing.F) {
	entry := func(flags byte, name string) string {
		e := strings.Repeat("\x00", 61) + string(rune(flags)) + name
		return e + strings.Repeat("\x00", 8-len(e)%8)
	}
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x01" + entry(1, "a") + strings.Repeat("\x00", 20)))
	f.Add([]byte("DIRC\x00\x00\x00\x04\x00\x00\x00\x02" + strings.Repeat("\x00", 62) + "\x00abc\x00" + strings.Repeat("\x00", 62) + "\x01d\x00" + strings.Repeat("\x00", 20)))
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x00link\x00\x00\x00\x00" + strings.Repeat("\x00", 20)))
	f.Add([]byte("DIRC\x00\x00\x00\x02\xff\xff\xff\xff" + strings.Repeat("\x00", 40)))
	f.Fuzz(func(t *testing.T, data []byte) {
		ix, err := ParseIndex(data, 20)
		if err != nil {
			return
		}
		if !slices.IsSorted(ix.files) || len(ix.files) > len(data)/62 {
			t.Errorf("%d files, sorted %v, from %d bytes", len(ix.files), slices.IsSorted(ix.files), len(data))
		}
		for _, f := range ix.files {
			if !ix.Contains(f) {
				t.Errorf("does not contain %q", f)
			}
		}
	})
}

func FuzzParseRules(f *testing.F) {
	f.Add([]byte("a\n!b/\n\\#c\n**/d \\ \n/e/*\r\n"), "a/b/c")
	f.Add([]byte("\xef\xbb\xbf*a*a*a*a*b\n[[:x"), "aaaaaaaa")
	f.Add([]byte("#\n\n \n!\n/\n//\n\x00"), "x")
	f.Fuzz(func(t *testing.T, data []byte, path string) {
		s := (*Scope)(nil).With(ParseRules(data, "f", "", false)).With(ParseRules(data, "g", "a", true))
		out, rule := s.Ignored(path, false)
		if out && rule == nil {
			t.Error("ignored without a rule")
		}
	})
}
