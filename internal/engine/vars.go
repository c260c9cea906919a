package engine

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/tidegate/tidegate/internal/render"
	"github.com/tidegate/tidegate/internal/scan"
)

// vars reads one --vars ENV=FILE. FILE holds ConfigMaps and Secrets, which then count as objects of that environment's
// cluster; or a YAML map of names to values, or KEY=VALUE lines, which fill whatever variable is otherwise unknown.
func (r *Request) vars(ctx context.Context, o *scan.Options, arg string) error {
	env, file, ok := strings.Cut(arg, "=")
	if !ok || env == "" || file == "" {
		return usage("--vars %q: write it as ENV=FILE", arg)
	}
	data, err := readFile(ctx, r.path(file))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return usage("--vars: %v", err)
	}
	if err := render.CheckAliases(data); err != nil {
		return usage("--vars %s: %v", file, err)
	}
	if objects, err := scan.ParseObjects(file, data); err == nil && len(objects) > 0 {
		for _, c := range objects {
			if c.Ref.Kind != "ConfigMap" && c.Ref.Kind != "Secret" {
				return usage("--vars %s: %s is no source of variables; --cluster-objects takes other objects", file, c.Ref)
			}
		}
		o.Assumed[env] = append(o.Assumed[env], objects...)
		return nil
	}
	values, err := parseValues(data)
	if err != nil {
		return usage("--vars %s: %v", file, err)
	}
	for k, v := range values {
		give(o.Given, env, k, v, "--vars "+arg)
	}
	return nil
}

func parseValues(data []byte) (map[string]string, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if values, ok, err := keyValues(data); ok || err != nil {
		return values, err
	}
	var m map[string]any
	if err := sigsyaml.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("it is neither Kubernetes objects, nor a map of names to values, nor KEY=VALUE lines")
	}
	out := map[string]string{}
	for k, v := range m {
		s, ok := v.(string)
		if !ok {
			return nil, fmt.Errorf("%s is no string: quote it, so that its text is the value", k)
		}
		out[k] = s
	}
	return out, nil
}

// keyValues reads KEY=VALUE lines; ok is false when the text is something else.
func keyValues(data []byte) (values map[string]string, ok bool, err error) {
	values = map[string]string{}
	for _, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSuffix(line, "\r")
		if t := strings.TrimSpace(line); t == "" || strings.HasPrefix(t, "#") {
			continue
		}
		k, v, found := strings.Cut(line, "=")
		if !found || strings.ContainsAny(k, ": \t\"'{") {
			return nil, false, nil
		}
		values[k] = v
	}
	return values, len(values) > 0, nil
}
