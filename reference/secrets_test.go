package reference_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"path"
	"regexp"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/getsops/sops/v3/aes"
	"github.com/getsops/sops/v3/config"
	sopsyaml "github.com/getsops/sops/v3/stores/yaml"
	"sigs.k8s.io/yaml"

	"github.com/tidegate/tidegate/reference"
)

type secretFile struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   map[string]string `json:"metadata"`
	Type       string            `json:"type"`
	Data       map[string]string `json:"data"`
	SOPS       json.RawMessage   `json:"sops,omitempty"`
}

func encryptedFiles(t *testing.T) (files []string) {
	t.Helper()
	for _, f := range repositoryFiles(t) {
		if strings.HasSuffix(f, ".sops.yaml") && f != ".sops.yaml" {
			files = append(files, f)
		}
	}
	if len(files) == 0 {
		t.Fatal("the repository has no encrypted file")
	}
	return files
}

// open decrypts a SOPS file with the key in SOPS_AGE_KEY and checks its authentication code, with
// the sops library, so that what is committed is what `sops --decrypt` takes.
func open(text string) ([]byte, error) {
	store := sopsyaml.NewStore(&config.YAMLStoreConfig{Indent: 2})
	tree, err := store.LoadEncryptedFile([]byte(text))
	if err != nil {
		return nil, err
	}
	key, err := tree.Metadata.GetDataKey()
	if err != nil {
		return nil, err
	}
	cipher := aes.NewCipher()
	mac, err := tree.Decrypt(key, cipher)
	if err != nil {
		return nil, err
	}
	want, err := cipher.Decrypt(tree.Metadata.MessageAuthenticationCode, key, tree.Metadata.LastModified.Format(time.RFC3339))
	if err != nil {
		return nil, err
	}
	if want != mac {
		return nil, errors.New("the authentication code does not match")
	}
	return store.EmitPlainFile(tree.Branches)
}

// Every encrypted file is encrypted under the rules of .sops.yaml, opens with the test key, holds
// base64 data (which substitution leaves alone), and has an .example that says what goes in.
func TestEncryptedFiles(t *testing.T) {
	var rules struct {
		CreationRules []struct {
			PathRegex      string `json:"path_regex"`
			EncryptedRegex string `json:"encrypted_regex"`
			Age            string `json:"age"`
		} `json:"creation_rules"`
	}
	readYAML(t, ".sops.yaml", &rules)
	if len(rules.CreationRules) != 1 {
		t.Fatalf("want one creation rule, got %v", rules.CreationRules)
	}
	rule := rules.CreationRules[0]
	t.Setenv("SOPS_AGE_KEY", reference.TestAgeKey())
	for _, f := range encryptedFiles(t) {
		if !regexp.MustCompile(rule.PathRegex).MatchString(f) {
			t.Errorf("%s: no creation rule is for it", f)
		}
		var enc, plain, example secretFile
		readYAML(t, f, &enc)
		var meta struct {
			Age []struct {
				Recipient string `json:"recipient"`
			} `json:"age"`
			EncryptedRegex string `json:"encrypted_regex"`
		}
		if err := json.Unmarshal(enc.SOPS, &meta); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		if len(meta.Age) != 1 || meta.Age[0].Recipient != rule.Age || meta.EncryptedRegex != rule.EncryptedRegex {
			t.Errorf("%s is not encrypted as .sops.yaml says: %s", f, enc.SOPS)
		}
		for k, v := range enc.Data {
			if !strings.HasPrefix(v, "ENC[AES256_GCM,") {
				t.Errorf("%s: %s is not encrypted", f, k)
			}
		}
		text, err := open(read(t, f))
		if err != nil {
			t.Errorf("%s does not open with the test key: %v", f, err)
			continue
		}
		if err := yaml.UnmarshalStrict(text, &plain); err != nil {
			t.Errorf("%s: decrypted: %v", f, err)
			continue
		}
		if rest, ok := strings.CutPrefix(f, "apps/wave-"); ok {
			// A copy of the catalog's, which has the example beside it.
			_, rest, _ = strings.Cut(rest, "/")
			if source := "catalog/" + rest; read(t, source) != read(t, f) {
				t.Errorf("%s is not %s", f, source)
			}
			continue
		}
		readYAML(t, f+".example", &example)
		if example.Kind != "Secret" || example.Type != plain.Type || example.Metadata["name"] != plain.Metadata["name"] || example.Metadata["namespace"] != plain.Metadata["namespace"] {
			t.Errorf("%s.example is of another object: %+v", f, example.Metadata)
		}
		for k, v := range plain.Data {
			if b, err := base64.StdEncoding.DecodeString(v); err != nil || len(b) == 0 {
				t.Errorf("%s: %s is not base64 of something", f, k)
			}
			if _, ok := example.Data[k]; !ok {
				t.Errorf("%s.example does not have %s", f, k)
			}
		}
		for k, v := range example.Data {
			if b, _ := base64.StdEncoding.DecodeString(v); string(b) != "replace-me" {
				t.Errorf("%s.example holds a value for %s", f, k)
			}
			if _, ok := plain.Data[k]; !ok {
				t.Errorf("%s does not have %s of its example", f, k)
			}
		}
	}
}

// The key that opens the examples is not part of what `init` writes, and is the one in .sops.yaml.
func TestPrivateKeyIsNotInTheRepository(t *testing.T) {
	for _, f := range repositoryFiles(t) {
		if strings.Contains(read(t, f), "AGE-SECRET-KEY-") {
			t.Errorf("%s holds an age private key", f)
		}
		if ext := path.Ext(f); ext == ".agekey" || ext == ".key" || ext == ".pem" {
			t.Errorf("%s is in the embedded repository", f)
		}
	}
	ids, err := age.ParseIdentities(strings.NewReader(reference.TestAgeKey()))
	if err != nil || len(ids) != 1 {
		t.Fatalf("test key: %d identities, %v", len(ids), err)
	}
	recipient := ids[0].(*age.X25519Identity).Recipient().String()
	if !strings.Contains(read(t, ".sops.yaml"), "age: "+recipient) {
		t.Error(".sops.yaml names another recipient than the test key's")
	}
}
