package oracle

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The archives hold real ciphertext; this test is about what AgeKeys leaves alone and refuses.
func TestAgeKeys(t *testing.T) {
	var encrypted Case
	for _, c := range Cases(t) {
		if strings.HasPrefix(c.Name, "46-") {
			encrypted = c
		}
	}
	env, ok := encrypted.File("comp/tok.env")
	if !ok {
		t.Fatal("case 46 has no encrypted file")
	}
	text, _ := encrypted.File("age.key")
	keys, err := ParseAgeKeys(string(text))
	if err != nil {
		t.Fatal(err)
	}
	other, err := ParseAgeKeys("AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX")
	if err != nil {
		t.Fatal(err)
	}
	const generator = "secretGenerator:\n- name: tok\n"
	for _, tt := range []struct {
		name, kustomization, file string
		data                      []byte
		keys                      AgeKeys
		want, wantErr             string
	}{
		{"envs", generator + "  envs: [a.env]\n", "a.env", env, keys, "TOKEN: dDBw\n", ""},
		{"envs in a file without extension are dotenv", generator + "  envs: [a]\n", "a", env, keys, "TOKEN: dDBw\n", ""},
		{"a file keeps its format", generator + "  files: [a.env]\n", "a.env", env, keys, "a.env: VE9LRU49dDBwClVSTD1odHRwczovL2V4YW1wbGUub3JnCg==\n", ""},
		{"an extension that lies is left alone", generator + "  envs: [a.yaml]\n", "a.yaml", env, keys, "sops_mac: ", ""},
		{"a ConfigMap generator is left alone", "configMapGenerator: [{name: tok, envs: [a.env]}]\n", "a.env", env, keys, "sops_mac: ENC[", ""},
		{"another key", generator + "  envs: [a.env]\n", "a.env", env, other, "", "error decrypting sources: cannot get sops data key"},
		{"broken", generator + "  envs: [a.env]\n", "a.env", []byte("T=1\nsops_mac=ENC[\n"), keys, "", "error decrypting sources: failed to load encrypted dotenv data"},
		{"too large", generator + "  envs: [a.env]\n", "a.env", make([]byte, maxEncryptedFile+1), keys, "", "error decrypting sources: cannot decrypt file with size"},
		{"missing", generator + "  envs: [b.env]\n", "a.env", env, keys, "", "error decrypting sources: lstat <artifact>/app/b.env"},
		{"a resource without kustomization", "resources: [../none]\n", "../none/x", nil, keys, "", "error decrypting sources: no kustomization file found"},
		{"out of the root", generator + "  envs: [../../../a.env]\n", "a.env", env, keys, "", "error decrypting sources: lstat <artifact>/a.env"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := tree(t, map[string]string{"app/kustomization.yaml": tt.kustomization})
			path := filepath.Join(dir, "app", tt.file)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, tt.data, 0o644); err != nil {
				t.Fatal(err)
			}
			out, err := Build(context.Background(), dir, unit(t, `{path: ./app, decryption: {provider: sops}}`), nil, tt.keys.Hooks(Options{}))
			if tt.wantErr != "" {
				if err == nil || !strings.HasPrefix(err.Error(), tt.wantErr) {
					t.Errorf("got %v, want %s", err, tt.wantErr)
				}
				return
			}
			if err != nil || !strings.Contains(string(out), tt.want) {
				t.Errorf("got %v, %s\nwant %q in it", err, out, tt.want)
			}
		})
	}
	if _, err := ParseAgeKeys("AGE-SECRET-KEY-1SPOILT"); err == nil || strings.Contains(err.Error(), "SPOILT") {
		t.Errorf("got %v", err)
	}
}
