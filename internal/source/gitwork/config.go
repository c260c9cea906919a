package gitwork

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// Config is the part of git's configuration that decides which files a work tree lists.
type Config struct {
	ExcludesFile string // absolute; "" for none
	IgnoreCase   bool   // core.ignoreCase
	HashSize     int    // bytes in an object name
}

const maxIncludeDepth = 10 // as in git's config.c

// ReadConfig reads the configuration files that apply to the repository, least specific first: system, global, the repository's, the work
// tree's. lookup is os.LookupEnv but in tests. A file that cannot be read or understood becomes a warning; what precedes the mistake counts.
func (r *Repo) ReadConfig(lookup func(string) (string, bool)) (Config, []string) {
	getenv := func(key string) string {
		value, _ := lookup(key)
		return value
	}
	home := getenv("HOME")
	xdg := getenv("XDG_CONFIG_HOME")
	if xdg == "" && home != "" {
		xdg = filepath.Join(home, ".config")
	}
	cr := configReader{repo: r, home: home, out: Config{HashSize: 20}}
	if xdg != "" {
		cr.out.ExcludesFile = filepath.Join(xdg, "git", "ignore")
	}
	if !gitTrue(getenv("GIT_CONFIG_NOSYSTEM"), false) {
		if path, set := lookup("GIT_CONFIG_SYSTEM"); set {
			cr.file(path, 0)
		} else {
			cr.file("/etc/gitconfig", 0)
		}
	}
	if path, set := lookup("GIT_CONFIG_GLOBAL"); set {
		cr.file(path, 0)
	} else {
		if xdg != "" {
			cr.file(filepath.Join(xdg, "git", "config"), 0)
		}
		if home != "" {
			cr.file(filepath.Join(home, ".gitconfig"), 0)
		}
	}
	cr.file(filepath.Join(r.CommonDir, "config"), 0)
	if cr.worktreeConfig {
		cr.file(filepath.Join(r.GitDir, "config.worktree"), 0)
	}
	if f := cr.out.ExcludesFile; f != "" && !filepath.IsAbs(f) {
		cr.out.ExcludesFile = filepath.Join(r.Root, f) // git runs with the root as its working directory
	}
	return cr.out, cr.warnings
}

type configReader struct {
	repo           *Repo
	home           string
	out            Config
	worktreeConfig bool
	warnings       []string
}

func (cr *configReader) warnf(format string, args ...any) {
	cr.warnings = append(cr.warnings, fmt.Sprintf(format, args...))
}

func (cr *configReader) file(path string, depth int) {
	data, err := readRegular(path, maxConfigFile)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errNotRegular) {
			cr.warnf("git configuration %s is not read: %v", path, cause(err))
		}
		return
	}
	err = parseConfig(string(data), func(v configVar) { cr.apply(path, depth, v) })
	if err != nil {
		cr.warnf("git configuration %s is read up to a mistake only: %v", path, err)
	}
}

func (cr *configReader) apply(file string, depth int, v configVar) {
	switch v.section + "." + v.key {
	case "core.excludesfile":
		if v.subsection != "" {
			return
		}
		if path, ok := cr.expand(v.value); ok {
			cr.out.ExcludesFile = path
		} else {
			cr.warnf("%s: core.excludesFile %q names a user's home that is not looked up: write the path out", file, v.value)
		}
	case "core.ignorecase":
		cr.out.IgnoreCase = gitTrue(v.value, !v.hasValue)
	case "extensions.objectformat":
		if strings.EqualFold(v.value, "sha256") {
			cr.out.HashSize = 32
		}
	case "extensions.worktreeconfig":
		cr.worktreeConfig = gitTrue(v.value, !v.hasValue)
	case "include.path":
		if v.subsection == "" {
			cr.include(file, depth, v.value)
		}
	case "includeif.path":
		if cr.condition(file, v.subsection) {
			cr.include(file, depth, v.value)
		}
	}
}

func (cr *configReader) include(file string, depth int, target string) {
	path, ok := cr.expand(target)
	if !ok || path == "" {
		return
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(file), path)
	}
	if depth >= maxIncludeDepth {
		cr.warnf("git configuration %s is not included: more than %d levels", path, maxIncludeDepth)
		return
	}
	cr.file(path, depth+1)
}

// expand replaces a leading "~/". ok is false for "~user/".
func (cr *configReader) expand(path string) (string, bool) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && cr.home != "" {
		return filepath.Join(cr.home, rest), true
	}
	return path, !strings.HasPrefix(path, "~")
}

// condition evaluates the subsection of an includeIf.
func (cr *configReader) condition(file, cond string) bool {
	pattern, fold := "", false
	if p, ok := strings.CutPrefix(cond, "gitdir:"); ok {
		pattern = p
	} else if p, ok := strings.CutPrefix(cond, "gitdir/i:"); ok {
		pattern, fold = p, true
	} else {
		return false
	}
	pattern, ok := cr.expand(pattern)
	if !ok || pattern == "" {
		return false
	}
	// A trailing slash is lost in expand when the pattern is "~/dir/".
	if strings.HasSuffix(cond, "/") && !strings.HasSuffix(pattern, "/") {
		pattern += "/"
	}
	switch {
	case strings.HasPrefix(pattern, "./"):
		pattern = filepath.ToSlash(filepath.Dir(file)) + pattern[1:]
	case !filepath.IsAbs(pattern):
		pattern = "**/" + pattern
	}
	if strings.HasSuffix(pattern, "/") {
		pattern += "**"
	}
	g := compileGlob(pattern, fold)
	if g.match(cr.repo.GitDir) {
		return true
	}
	real, err := filepath.EvalSymlinks(cr.repo.GitDir)
	return err == nil && g.match(real)
}

func gitTrue(value string, bare bool) bool {
	switch strings.ToLower(value) {
	case "true", "yes", "on", "1":
		return true
	}
	return bare
}
