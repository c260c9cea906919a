package render

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	yaml3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/provider"
	sigsyaml "sigs.k8s.io/yaml"
)

// Remote is something that a kustomization names and that is not in the repository.
type Remote struct {
	File string // the kustomization file that names it
	URL  string

	decrypted bool // the URL stands in plaintext of an encrypted file
}

// inspection is what must be known of a kustomization file before kustomize acts upon it.
type inspection struct {
	remotes []string
	openapi bool
	aliases error // what checkAliases says of YAML that stands in it as text
}

// The fields of a kustomization whose entries kustomize loads, by how it loads them
// (kustomize api/internal/target/kusttarget.go and api/internal/loader/fileloader.go).
var (
	// A file first, else a directory or a repository to clone.
	rootFields = []string{"resources", "bases", "components", "generators", "transformers", "validators"}
	// A file; over HTTP when it is a URL.
	fileFields = []string{"crds", "configurations", "patchesStrategicMerge"}
	// Lists of maps whose `path` is a file.
	pathFields = []string{"patches", "patchesJson6902", "replacements"}
	// Generators, whose inputs are files.
	generatorFields = []string{"configMapGenerator", "secretGenerator"}
)

// inspectKustomization finds what kustomize would fetch, and whether its schema would change. A file that cannot be
// parsed has nothing remote: kustomize stops at it.
func inspectKustomization(data []byte) inspection {
	if harmless(data) {
		return inspection{}
	}
	in := inspection{aliases: checkExpansion(data)}
	if in.aliases != nil {
		return in
	}
	var k map[string]any
	if sigsyaml.Unmarshal(data, &k) != nil {
		return inspection{}
	}
	for _, key := range sortedKeys(k) {
		v := k[key]
		in.texts(v)
		switch {
		case strings.EqualFold(key, "openapi"):
			m, _ := v.(map[string]any)
			in.openapi = in.openapi || len(m) > 0
			in.file(m["path"])
		case oneOf(rootFields, key):
			for _, s := range stringsOf(v) {
				in.root(s)
			}
		case oneOf(fileFields, key):
			for _, s := range stringsOf(v) {
				in.file(s)
			}
		case oneOf(pathFields, key):
			for _, m := range mapsOf(v) {
				in.file(valuesOf(m, "path")...)
			}
		case oneOf(generatorFields, key):
			for _, m := range mapsOf(v) {
				in.generator(m)
			}
		}
	}
	return in
}

// harmless tells, without parsing, that a kustomization file names nothing remote, has no openapi and no aliases in
// its texts: none of the words that any of these takes stands in it, nor anything that could spell them another way
// (an escape, a tag such as !!binary). Nearly all files are.
func harmless(data []byte) bool {
	// A NUL byte is UTF-16, which the parser reads too.
	if bytes.ContainsAny(data, "\\@&!\x00") {
		return false
	}
	lower := bytes.ToLower(data)
	for _, word := range [][]byte{[]byte("http"), []byte("github.com"), []byte("ssh:"), []byte("git:"), []byte("file:"), []byte("openapi")} {
		if bytes.Contains(lower, word) {
			return false
		}
	}
	return true
}

// mayBePlugin tells whether a file may configure a built-in plugin that loads files. The two words are looked for
// first, since every file of a build passes here.
func mayBePlugin(data []byte) bool {
	return (bytes.Contains(data, []byte("Transformer")) || bytes.Contains(data, []byte("Generator"))) && pluginKind.Match(data) ||
		bytes.IndexByte(data, 0) >= 0 || // UTF-16
		disguise.Match(data)
}

// disguise is how a word may stand in YAML without its letters: an escape, a line that is joined, a binary tag.
var disguise = regexp.MustCompile(`\\[xuU\r\n]|!<|!!`)

// root takes an entry that kustomize loads as a file, a directory or a repository, or that holds a plugin's
// configuration in line.
func (in *inspection) root(s string) {
	if isRemoteFile(s) || looksLikeRepository(s) {
		in.remotes = append(in.remotes, s)
		return
	}
	if strings.Contains(s, ":") {
		in.plugin([]byte(s))
	}
}

func (in *inspection) file(values ...any) {
	for _, v := range values {
		if s, ok := v.(string); ok && isRemoteFile(s) {
			in.remotes = append(in.remotes, s)
		}
	}
}

// generator takes the inputs of a ConfigMap or Secret generator: `files` may be KEY=PATH.
func (in *inspection) generator(m map[string]any) {
	in.file(valuesOf(m, "env")...)
	for _, field := range []string{"files", "envs"} {
		for _, v := range valuesOf(m, field) {
			for _, s := range stringsOf(v) {
				_, after, _ := strings.Cut(s, "=")
				in.file(s, after)
			}
		}
	}
}

// texts looks for YAML that stands in a kustomization as text, a patch or a plugin's configuration.
func (in *inspection) texts(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			in.texts(e)
		}
	case []any:
		for _, e := range v {
			in.texts(e)
		}
	case string:
		if in.aliases == nil {
			in.aliases = checkAliases([]byte(v))
		}
	}
}

// pluginKinds are the built-in generators and transformers that load files (kustomize api/internal/builtins), and
// pluginFields the fields in which they name them.
var (
	pluginKinds = []string{"PatchTransformer", "PatchJson6902Transformer", "PatchStrategicMergeTransformer",
		"ConfigMapGenerator", "SecretGenerator", "ReplacementTransformer", "ValueAddTransformer"}
	pluginFields = []string{"path", "paths", "files", "env", "envs", "targetFilePath"}
	pluginKind   = regexp.MustCompile(strings.Join(pluginKinds, "|"))
)

// plugin takes documents that may configure a built-in plugin, or be lists of such. Nodes are looked at, not values:
// kustomize reads documents that do not decode, such as those with a key twice.
func (in *inspection) plugin(data []byte) {
	if in.aliases == nil {
		in.aliases = checkAliases(data)
	}
	if in.aliases != nil {
		return
	}
	dec := yaml3.NewDecoder(bytes.NewReader(data))
	for {
		var doc yaml3.Node
		if dec.Decode(&doc) != nil {
			return
		}
		in.pluginNode(&doc, "", false, 0)
	}
}

// pluginNode looks at a node that stands under key. within tells that it is part of a plugin's configuration.
func (in *inspection) pluginNode(n *yaml3.Node, key string, within bool, depth int) {
	if n.Kind == yaml3.AliasNode {
		n = n.Alias
	}
	if depth > maxPlainDepth {
		return
	}
	switch n.Kind {
	case yaml3.DocumentNode, yaml3.SequenceNode:
		for _, c := range n.Content {
			in.pluginNode(c, key, within, depth+1)
		}
	case yaml3.MappingNode:
		within = within || isPlugin(n)
		for i := 0; i+1 < len(n.Content); i += 2 {
			in.pluginNode(n.Content[i+1], n.Content[i].Value, within, depth+1)
		}
	case yaml3.ScalarNode:
		if !within {
			return
		}
		if oneOf(pluginFields, key) {
			_, after, _ := strings.Cut(n.Value, "=")
			in.file(n.Value, after)
		}
		in.texts(n.Value)
	}
}

func isPlugin(n *yaml3.Node) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		v := n.Content[i+1]
		if v.Kind == yaml3.AliasNode {
			v = v.Alias
		}
		if n.Content[i].Value == "kind" && slices.Contains(pluginKinds, v.Value) {
			return true
		}
	}
	return false
}

// isRemoteFile is kustomize's own test for what it loads over HTTP.
func isRemoteFile(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https")
}

var userPrefix = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9-]*@`)

// hasScheme tells a URL from a path that only reads like a repository.
func hasScheme(s string) bool {
	lower := strings.ToLower(s)
	for _, p := range []string{"git::", "ssh://", "https://", "http://", "file://"} {
		if strings.HasPrefix(lower, p) {
			return true
		}
	}
	return false
}

// looksLikeRepository tells whether kustomize would clone s: a scheme, GitHub's host, or user@host followed by a
// path of two segments or a marker (kustomize api/internal/git/repospec.go NewRepoSpecFromURL). It errs on the side
// of yes.
func looksLikeRepository(s string) bool {
	if path.IsAbs(s) {
		return false
	}
	lower := strings.ToLower(s)
	if hasScheme(s) || strings.HasPrefix(lower, "github.com/") || strings.HasPrefix(lower, "github.com:") {
		return true
	}
	user := userPrefix.FindString(s)
	if user == "" {
		return false
	}
	host := strings.IndexAny(s[len(user):], "/:")
	if host < 0 {
		return false
	}
	rest, _, _ := strings.Cut(s[len(user)+host+1:], "?")
	return strings.Contains(rest, "/") || strings.Contains(rest, ".git") || strings.Contains(rest, "_git")
}

// isKustomizationFile tells whether kustomize reads a file of this name as a kustomization.
func isKustomizationFile(p string) bool {
	return oneOf(konfig.RecognizedKustomizationFileNames(), path.Base(p))
}

// parseObjects tells whether kustomize can read data as Kubernetes objects: nil, or the error it gives. kustomize's
// parser panics on some objects, as fluxcd/pkg kustomize_generator.go scanManifests knows; that is an error too.
func parseObjects(data []byte) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("recovered from panic while parsing YAML: %v", r)
		}
	}()
	if err := checkAliases(data); err != nil {
		return err
	}
	_, err = provider.NewDefaultDepProvider().GetResourceFactory().SliceFromBytes(data)
	return err
}

func oneOf(list []string, s string) bool {
	for _, l := range list {
		if strings.EqualFold(l, s) {
			return true
		}
	}
	return false
}

func stringsOf(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, e := range list {
		if s, ok := e.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// valuesOf gives the values of a field: encoding/json takes its name in any case, and so does kustomize.
func valuesOf(m map[string]any, field string) []any {
	var out []any
	for _, k := range sortedKeys(m) {
		if strings.EqualFold(k, field) {
			out = append(out, m[k])
		}
	}
	return out
}

func mapsOf(v any) []map[string]any {
	list, _ := v.([]any)
	var out []map[string]any
	for _, e := range list {
		if m, ok := e.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// digest tells contents apart. It is a cryptographic one, since builds of an untrusted tree may share a cache.
func digest(data []byte) [sha256.Size]byte { return sha256.Sum256(data) }

// ForbidFetching makes every HTTP request through net/http's default transport fail, which is the one that kustomize
// uses. Inspection refuses what a repository names; this holds where a name only comes to be within a build, such as
// a plugin's configuration that a patch rewrites. A program calls it once, at its start, and gives the clients that
// may fetch a transport of their own.
func ForbidFetching() { http.DefaultTransport = refuse{} }

type refuse struct{}

func (refuse) RoundTrip(r *http.Request) (*http.Response, error) {
	return nil, errors.New(refusal + r.URL.Redacted() + ">")
}

const refusal = "tidegate does not fetch during a build: <"

// refusedFetch gives the URL of a request that ForbidFetching stopped, from the error that a build ended with.
// kustomize keeps the text of its errors, not the errors.
func refusedFetch(err error) (string, bool) {
	if err == nil {
		return "", false
	}
	_, rest, stopped := strings.Cut(err.Error(), refusal)
	url, _, _ := strings.Cut(rest, ">")
	return url, stopped
}
