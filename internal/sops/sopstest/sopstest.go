package sopstest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	upstream "github.com/getsops/sops/v3"
	"github.com/getsops/sops/v3/aes"
	"github.com/getsops/sops/v3/age"
	"github.com/getsops/sops/v3/config"
	"github.com/getsops/sops/v3/keyservice"
	"github.com/getsops/sops/v3/logging"
	"github.com/getsops/sops/v3/stores/dotenv"
	"github.com/getsops/sops/v3/stores/ini"
	"github.com/getsops/sops/v3/stores/json"
	"github.com/getsops/sops/v3/stores/yaml"
	"github.com/sirupsen/logrus"

	"github.com/tidegate/tidegate/internal/sops"
)

// Options says how a document is to be encrypted. Without a rule everything is encrypted but what
// is below keys ending in _unencrypted. Without recipients it is encrypted for Recipient.
type Options struct {
	Recipients []string
	// Groups are key groups, of which Threshold must agree; they take the place of Recipients.
	Groups    [][]string
	Threshold int

	// At most one of these rules.
	EncryptedRegex          string
	UnencryptedRegex        string
	EncryptedSuffix         string
	UnencryptedSuffix       string
	EncryptedCommentRegex   string
	UnencryptedCommentRegex string

	MACOnlyEncrypted bool
}

// Encrypt gives plaintext, in format f, encrypted for recipient. encryptedRegex may be empty.
func Encrypt(tb testing.TB, f sops.Format, plaintext []byte, recipient, encryptedRegex string) []byte {
	tb.Helper()
	return EncryptWith(tb, f, f, plaintext, Options{Recipients: []string{recipient}, EncryptedRegex: encryptedRegex})
}

// EncryptWith gives plaintext, in format in, encrypted and written in format out.
func EncryptWith(tb testing.TB, in, out sops.Format, plaintext []byte, o Options) []byte {
	tb.Helper()
	enc, err := TryEncrypt(in, out, plaintext, o)
	if err != nil {
		tb.Fatalf("encrypting a %s fixture: %v", in, err)
	}
	return enc
}

// TryEncrypt is EncryptWith for plaintext that may not be encryptable. It makes an error of the
// library's panics.
func TryEncrypt(in, out sops.Format, plaintext []byte, o Options) (enc []byte, err error) {
	logging.SetLevel(logrus.PanicLevel)
	defer func() {
		if r := recover(); r != nil {
			enc, err = nil, fmt.Errorf("encrypting: panic: %v", r)
		}
	}()
	branches, err := store(in).LoadPlainFile(plaintext)
	if err != nil {
		return nil, err
	}
	tree := upstream.Tree{Branches: branches, Metadata: upstream.Metadata{
		UnencryptedSuffix:       o.UnencryptedSuffix,
		EncryptedSuffix:         o.EncryptedSuffix,
		UnencryptedRegex:        o.UnencryptedRegex,
		EncryptedRegex:          o.EncryptedRegex,
		UnencryptedCommentRegex: o.UnencryptedCommentRegex,
		EncryptedCommentRegex:   o.EncryptedCommentRegex,
		MACOnlyEncrypted:        o.MACOnlyEncrypted,
		ShamirThreshold:         o.Threshold,
		Version:                 "3.13.3",
	}}
	m := &tree.Metadata
	if m.UnencryptedSuffix+m.EncryptedSuffix+m.UnencryptedRegex+m.EncryptedRegex+m.UnencryptedCommentRegex+m.EncryptedCommentRegex == "" {
		m.UnencryptedSuffix = upstream.DefaultUnencryptedSuffix
	}
	groups := o.Groups
	if len(groups) == 0 {
		groups = [][]string{o.Recipients}
		if len(o.Recipients) == 0 {
			groups = [][]string{{Recipient}}
		}
	}
	for _, recipients := range groups {
		var group upstream.KeyGroup
		for _, r := range recipients {
			key, err := age.MasterKeyFromRecipient(r)
			if err != nil {
				return nil, err
			}
			group = append(group, key)
		}
		m.KeyGroups = append(m.KeyGroups, group)
	}
	key, errs := tree.GenerateDataKeyWithKeyServices(service{}.clients())
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	cipher := aes.NewCipher()
	mac, err := tree.Encrypt(key, cipher)
	if err != nil {
		return nil, err
	}
	m.LastModified = time.Now().UTC()
	if m.MessageAuthenticationCode, err = cipher.Encrypt(mac, key, m.LastModified.Format(time.RFC3339)); err != nil {
		return nil, err
	}
	return store(out).EmitEncryptedFile(tree)
}

// Reference decrypts as the controller does with the age identities of the text, which may be
// empty. It makes an error of the library's panics. Documents that exhaust the stack of the real
// library (YAML with an alias to itself, tens of thousands of levels) must not be given to it.
func Reference(data []byte, in, out sops.Format, identities string) (plain []byte, err error) {
	logging.SetLevel(logrus.PanicLevel)
	defer func() {
		if r := recover(); r != nil {
			plain, err = nil, fmt.Errorf("decrypting: panic: %v", r)
		}
	}()
	var ids age.ParsedIdentities
	if err := ids.Import(identities); err != nil {
		return nil, err
	}
	tree, err := store(in).LoadEncryptedFile(data)
	if err != nil {
		return nil, err
	}
	key, err := tree.Metadata.GetDataKeyWithKeyServices(service{ids: ids}.clients(), upstream.DefaultDecryptionOrder)
	if err != nil {
		return nil, err
	}
	if _, err := tree.Decrypt(key, aes.NewCipher()); err != nil {
		return nil, err
	}
	return store(out).EmitPlainFile(tree.Branches)
}

func store(f sops.Format) upstream.Store {
	c := config.NewStoresConfig()
	switch f {
	case sops.Dotenv:
		return dotenv.NewStore(&c.Dotenv)
	case sops.INI:
		return ini.NewStore(&c.INI)
	case sops.JSON:
		return json.NewStore(&c.JSON)
	case sops.YAML:
		return yaml.NewStore(&c.YAML)
	}
	return json.NewBinaryStore(&c.JSONBinary)
}

// service is a key service for age alone. Without identities it opens nothing: the library would
// go and look for some.
type service struct {
	ids age.ParsedIdentities
	keyservice.UnimplementedKeyServiceServer
}

func (s service) clients() []keyservice.KeyServiceClient {
	return []keyservice.KeyServiceClient{keyservice.NewCustomLocalClient(s)}
}

func ageKey(key *keyservice.Key) (*age.MasterKey, error) {
	k, ok := key.GetKeyType().(*keyservice.Key_AgeKey)
	if !ok {
		return nil, fmt.Errorf("no age key but %T", key.GetKeyType())
	}
	return &age.MasterKey{Recipient: k.AgeKey.GetRecipient()}, nil
}

func (s service) Encrypt(_ context.Context, r *keyservice.EncryptRequest) (*keyservice.EncryptResponse, error) {
	key, err := ageKey(r.GetKey())
	if err != nil {
		return nil, err
	}
	if err := key.Encrypt(r.GetPlaintext()); err != nil {
		return nil, err
	}
	return &keyservice.EncryptResponse{Ciphertext: []byte(key.EncryptedKey)}, nil
}

func (s service) Decrypt(_ context.Context, r *keyservice.DecryptRequest) (*keyservice.DecryptResponse, error) {
	key, err := ageKey(r.GetKey())
	if err != nil {
		return nil, err
	}
	if len(s.ids) == 0 {
		return nil, errors.New("no age identity")
	}
	s.ids.ApplyToMasterKey(key)
	key.EncryptedKey = string(r.GetCiphertext())
	plain, err := key.Decrypt()
	if err != nil {
		return nil, err
	}
	return &keyservice.DecryptResponse{Plaintext: plain}, nil
}
