package sops

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-viper/mapstructure/v2"
)

// metadata is what a document says about its own encryption (stores/stores.go and
// stores/metadata.go in SOPS). The fields are decoded loosely, numbers from strings and the like,
// because dotenv and INI have only strings; the same decoder as in SOPS makes the same choices.
type metadata struct {
	keyLists `mapstructure:",squash"`

	ShamirThreshold         int        `mapstructure:"shamir_threshold"`
	KeyGroups               []keyLists `mapstructure:"key_groups"`
	LastModified            string     `mapstructure:"lastmodified"`
	MAC                     string     `mapstructure:"mac"`
	UnencryptedSuffix       string     `mapstructure:"unencrypted_suffix"`
	EncryptedSuffix         string     `mapstructure:"encrypted_suffix"`
	UnencryptedRegex        string     `mapstructure:"unencrypted_regex"`
	EncryptedRegex          string     `mapstructure:"encrypted_regex"`
	UnencryptedCommentRegex string     `mapstructure:"unencrypted_comment_regex"`
	EncryptedCommentRegex   string     `mapstructure:"encrypted_comment_regex"`
	MACOnlyEncrypted        bool       `mapstructure:"mac_only_encrypted"`
	Version                 string     `mapstructure:"version"`
}

// keyLists are the keys of one group: each of them opens the same (part of the) data key.
type keyLists struct {
	PGP   []pgpKey   `mapstructure:"pgp"`
	AWS   []awsKey   `mapstructure:"kms"`
	GCP   []gcpKey   `mapstructure:"gcp_kms"`
	HC    []hcKey    `mapstructure:"hckms"`
	Azure []azureKey `mapstructure:"azure_kv"`
	Vault []vaultKey `mapstructure:"hc_vault"`
	Age   []ageKey   `mapstructure:"age"`
}

// The key kinds that are not age are decoded whole, although only their dates are used: what SOPS
// cannot decode makes it refuse the document, and so it must here.
type (
	ageKey struct {
		Recipient string `mapstructure:"recipient"`
		Enc       string `mapstructure:"enc"`
	}
	pgpKey struct {
		CreatedAt   string `mapstructure:"created_at"`
		Enc         string `mapstructure:"enc"`
		Fingerprint string `mapstructure:"fp"`
	}
	awsKey struct {
		ARN       string             `mapstructure:"arn"`
		Role      string             `mapstructure:"role"`
		Context   map[string]*string `mapstructure:"context"`
		CreatedAt string             `mapstructure:"created_at"`
		Enc       string             `mapstructure:"enc"`
		Profile   string             `mapstructure:"aws_profile"`
	}
	gcpKey struct {
		ResourceID string `mapstructure:"resource_id"`
		CreatedAt  string `mapstructure:"created_at"`
		Enc        string `mapstructure:"enc"`
	}
	vaultKey struct {
		Address   string `mapstructure:"vault_address"`
		Engine    string `mapstructure:"engine_path"`
		Name      string `mapstructure:"key_name"`
		CreatedAt string `mapstructure:"created_at"`
		Enc       string `mapstructure:"enc"`
	}
	azureKey struct {
		URL       string `mapstructure:"vault_url"`
		Name      string `mapstructure:"name"`
		Version   string `mapstructure:"version"`
		CreatedAt string `mapstructure:"created_at"`
		Enc       string `mapstructure:"enc"`
	}
	hcKey struct {
		ID        string `mapstructure:"key_id"`
		CreatedAt string `mapstructure:"created_at"`
		Enc       string `mapstructure:"enc"`
	}
)

const (
	metadataKey    = "sops"
	metadataPrefix = metadataKey + "_"
)

// nestedMetadata takes the metadata out of documents that hold it under a `sops` key at the top
// of the first table (JSON, YAML, INI). Entries of that name go from the other tables too.
func nestedMetadata(docs []table) (table, error) {
	var (
		found table
		seen  bool
	)
	for i, doc := range docs {
		kept := doc[:0]
		for _, e := range doc {
			if e.Key != any(metadataKey) {
				kept = append(kept, e)
				continue
			}
			if i > 0 {
				continue
			}
			if seen {
				return nil, malformed("it has more than one `sops` entry: keep the one that belongs to its values")
			}
			seen = true
			t, ok := e.Val.(table)
			if !ok {
				return nil, malformed("its `sops` entry is not a mapping: encrypt the file again")
			}
			found = t
		}
		docs[i] = kept
	}
	if found == nil {
		return nil, malformed("it has no sops metadata: either it is not encrypted or the metadata was removed")
	}
	return found, nil
}

// prefixedMetadata takes the metadata out of a dotenv document, where it is the entries whose name
// begins with sops_.
func prefixedMetadata(doc table) (rest, found table, err error) {
	rest = doc[:0]
	for _, e := range doc {
		if name, ok := e.Key.(string); ok && strings.HasPrefix(name, metadataPrefix) {
			found = append(found, entry{Key: name[len(metadataPrefix):], Val: e.Val})
			continue
		}
		rest = append(rest, e)
	}
	if found == nil {
		return nil, nil, malformed("it has no sops metadata: either it is not encrypted or the metadata was removed")
	}
	return rest, found, nil
}

// decodeMetadata reads metadata and refuses what SOPS refuses.
func decodeMetadata(t table) (*metadata, error) {
	plain, err := plainTable(t)
	if err != nil {
		return nil, err
	}
	m := &metadata{}
	dec, err := mapstructure.NewDecoder(&mapstructure.DecoderConfig{Result: m, WeaklyTypedInput: true})
	if err != nil {
		return nil, fmt.Errorf("preparing to read sops metadata: %w", err)
	}
	if err := dec.Decode(plain); err != nil {
		// The decoder's error quotes what it read.
		return nil, malformed("its sops metadata has a field of the wrong type: encrypt the file again")
	}
	if _, err := time.Parse(time.RFC3339, m.LastModified); err != nil {
		return nil, malformed("`lastmodified` in its sops metadata is no RFC 3339 time: encrypt the file again")
	}
	groups := m.groups()
	if len(groups) == 0 {
		return nil, malformed("its sops metadata names no key: encrypt the file again")
	}
	for _, g := range groups {
		if err := g.check(); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// groups gives the key groups. Keys outside of any group make one of their own and hide the others.
func (m *metadata) groups() []keyLists {
	if m.keyLists.count() > 0 {
		return []keyLists{m.keyLists}
	}
	return m.KeyGroups
}

func (k *keyLists) count() int {
	return len(k.PGP) + len(k.AWS) + len(k.GCP) + len(k.HC) + len(k.Azure) + len(k.Vault) + len(k.Age)
}

// check refuses what SOPS refuses in keys of the kinds that are not used here.
func (k *keyLists) check() error {
	var dates []string
	for _, key := range k.PGP {
		dates = append(dates, key.CreatedAt)
	}
	for _, key := range k.AWS {
		dates = append(dates, key.CreatedAt)
	}
	for _, key := range k.GCP {
		dates = append(dates, key.CreatedAt)
	}
	for _, key := range k.Azure {
		dates = append(dates, key.CreatedAt)
	}
	for _, key := range k.Vault {
		dates = append(dates, key.CreatedAt)
	}
	for _, key := range k.HC {
		dates = append(dates, key.CreatedAt)
		region, id, ok := strings.Cut(key.ID, ":")
		if !ok || strings.TrimSpace(region) == "" || strings.TrimSpace(id) == "" {
			return malformed("a Huawei Cloud KMS key in its sops metadata is not written region:id")
		}
	}
	for _, d := range dates {
		if _, err := time.Parse(time.RFC3339, d); err != nil {
			return malformed("`created_at` of a key in its sops metadata is no RFC 3339 time: encrypt the file again")
		}
	}
	return nil
}

// rule gives the one rule that tells what is encrypted. Without any, everything is except below
// keys that end in _unencrypted.
func (m *metadata) rule() (rule, error) {
	var (
		rules []rule
		first error
	)
	suffix := func(s string, inverted bool) {
		if s != "" {
			rules = append(rules, suffixRule(s, inverted))
		}
	}
	regex := func(expr string, byComment, inverted bool) {
		if expr == "" {
			return
		}
		r, err := regexRule(expr, byComment, inverted)
		if err != nil && first == nil {
			first = err
		}
		rules = append(rules, r)
	}
	suffix(m.UnencryptedSuffix, true)
	suffix(m.EncryptedSuffix, false)
	regex(m.UnencryptedRegex, false, true)
	regex(m.EncryptedRegex, false, false)
	regex(m.UnencryptedCommentRegex, true, true)
	regex(m.EncryptedCommentRegex, true, false)
	if first != nil {
		return rule{}, first
	}
	switch len(rules) {
	case 0:
		return suffixRule("_unencrypted", true), nil
	case 1:
		return rules[0], nil
	}
	return rule{}, malformed("its sops metadata has more than one of encrypted_suffix, unencrypted_suffix, encrypted_regex, unencrypted_regex, encrypted_comment_regex and unencrypted_comment_regex: keep one")
}

// plainTable gives a table as a Go map, for the decoder.
func plainTable(t table) (map[string]any, error) {
	out := make(map[string]any, len(t))
	for _, e := range t {
		if _, ok := e.Key.(comment); ok {
			continue
		}
		key, ok := e.Key.(string)
		if !ok {
			return nil, malformed("its sops metadata has a key that is no string")
		}
		v, err := plainValue(e.Val)
		if err != nil {
			return nil, err
		}
		out[key] = v
	}
	return out, nil
}

func plainValue(v any) (any, error) {
	switch v := v.(type) {
	case table:
		return plainTable(v)
	case []any:
		out := make([]any, 0, len(v))
		for _, e := range v {
			if _, ok := e.(comment); ok {
				continue
			}
			p, err := plainValue(e)
			if err != nil {
				return nil, err
			}
			out = append(out, p)
		}
		return out, nil
	}
	return v, nil
}
