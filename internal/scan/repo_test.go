package scan_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tidegate/tidegate/internal/flux"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/render"
	"github.com/tidegate/tidegate/internal/scan"
	"github.com/tidegate/tidegate/internal/source"
)

// kustomization writes a Flux Kustomization of flux-system. Lines are of its spec, and stand before those that are required.
func kustomization(name string, lines ...string) string {
	return kustomizationIn("flux-system", name, lines...)
}

// kustomizationIn writes one of a namespace; "" leaves it out. A line of sourceRef replaces the required one.
func kustomizationIn(namespace, name string, lines ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: %s\n", name)
	if namespace != "" {
		fmt.Fprintf(&b, "  namespace: %s\n", namespace)
	}
	b.WriteString("spec:\n  interval: 10m\n  prune: true\n")
	hasSource := false
	for _, l := range lines {
		hasSource = hasSource || strings.HasPrefix(l, "sourceRef:")
		b.WriteString("  " + strings.ReplaceAll(l, "\n", "\n  ") + "\n")
	}
	if !hasSource {
		b.WriteString("  sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}\n")
	}
	return b.String()
}

// configMap writes one with its data as YAML flow text.
func configMap(namespace, name, data string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: %s}\ndata: {%s}\n", name, namespace, data)
}

// stack joins documents.
func stack(docs ...string) string { return strings.Join(docs, "---\n") }

// tree reads a txtar archive as a repository. A line "@ks NAME | spec line | spec line" in a file stands for a
// Kustomization of flux-system, and "@cm NAMESPACE NAME data" for a ConfigMap, each a document of its own.
func tree(t testing.TB, archive string) source.Tree {
	t.Helper()
	files := filesOf(txtar.Parse([]byte(archive)))
	if len(files) == 0 {
		t.Fatal("no files in the archive")
	}
	for name, data := range files {
		if strings.Contains(data, "@ks ") || strings.Contains(data, "@cm ") {
			files[name] = expand(t, data)
		}
	}
	return source.FromMap("repo", files)
}

func expand(t testing.TB, data string) string {
	t.Helper()
	var docs []string
	for _, line := range strings.Split(strings.TrimSpace(data), "\n") {
		switch {
		case strings.HasPrefix(line, "@ks "):
			parts := strings.Split(strings.TrimPrefix(line, "@ks "), " | ")
			docs = append(docs, kustomization(parts[0], parts[1:]...))
		case strings.HasPrefix(line, "@cm "):
			parts := strings.SplitN(strings.TrimPrefix(line, "@cm "), " ", 3)
			if len(parts) != 3 {
				t.Fatalf("bad line %q", line)
			}
			docs = append(docs, configMap(parts[0], parts[1], parts[2]))
		case len(docs) == 0 || line == "---":
			docs = append(docs, "")
			if line != "---" {
				docs[len(docs)-1] = line + "\n"
			}
		default:
			docs[len(docs)-1] += line + "\n"
		}
	}
	return stack(docs...)
}

func options(t testing.TB, tree source.Tree) scan.Options {
	t.Helper()
	b, err := flux.For(flux.DefaultVersion)
	if err != nil {
		t.Fatal(err)
	}
	return scan.Options{Tree: tree, Builder: &render.Builder{Flux: b}, Workers: 2}
}

// one scans a repository of one environment.
func one(t *testing.T, o scan.Options) *model.Environment {
	t.Helper()
	res, err := scan.Scan(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Environments) != 1 {
		t.Fatalf("%d environments", len(res.Environments))
	}
	return res.Environments[0]
}

// judged scans a repository of one environment, and holds each unit against Flux's own packages, of which as many as
// equal must come out byte for byte.
func judged(t *testing.T, archive string, equal int) *model.Environment {
	t.Helper()
	repo := tree(t, archive)
	env := one(t, options(t, repo))
	v := judge(t, repo, env, nil, env.Strict)
	for _, d := range v.differences {
		t.Error(d)
	}
	if v.equal != equal {
		t.Errorf("%d units are byte for byte those of Flux, want %d (%+v)\n%s", v.equal, equal, v, outline(env))
	}
	return env
}

// outline writes an environment a line a unit and reason, for a message.
func outline(env *model.Environment) string {
	var b strings.Builder
	for _, r := range env.Reasons {
		fmt.Fprintf(&b, "%s: %s\n", r.Code, r.Message)
	}
	for _, u := range env.Units {
		fmt.Fprintf(&b, "%s %s path %q source %s: %d objects\n", u.ID, u.Status, u.Path, u.Source, len(u.Objects))
		for _, r := range u.Reasons {
			fmt.Fprintf(&b, "    %s: %s\n", r.Code, r.Message)
		}
	}
	return b.String()
}

// wantUnit finds a unit by NAMESPACE/NAME and checks its outcome. code is of one of its reasons; "" wants none.
func wantUnit(t *testing.T, env *model.Environment, id string, status model.Status, code model.Code, words string) *model.Unit {
	t.Helper()
	for _, u := range env.Units {
		if u.ID.Short() != id {
			continue
		}
		if u.Status != status {
			t.Errorf("%s is %s, want %s\n%s", id, u.Status, status, outline(env))
		}
		if code == "" {
			if len(u.Reasons) > 0 {
				t.Errorf("%s has reasons: %+v", id, u.Reasons)
			}
			return u
		}
		for _, r := range u.Reasons {
			if r.Code == code && strings.Contains(r.Message, words) {
				return u
			}
		}
		t.Errorf("%s has no reason %s with %q: %+v", id, code, words, u.Reasons)
		return u
	}
	t.Fatalf("no unit %s\n%s", id, outline(env))
	return nil
}
