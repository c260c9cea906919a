package sops

import (
	"bytes"
	"errors"
	"io"

	"filippo.io/age"
	"filippo.io/age/armor"
	"github.com/getsops/sops/v3/shamir"
)

// dataKey recovers the key that the values are encrypted with (sops.go,
// GetDataKeyWithKeyServices). With one key group any of its keys gives it. With several, each
// group gives a part, and as many parts as the threshold says are needed.
func (m *metadata) dataKey(keys *Keys) ([]byte, error) {
	groups := m.groups()
	var (
		parts   [][]byte
		foreign bool // somebody with other keys may get further
	)
	for i := range groups {
		part, other := groups[i].part(keys)
		if part != nil {
			parts = append(parts, part)
		}
		foreign = foreign || (part == nil && other)
	}
	if len(groups) == 1 {
		if len(parts) == 1 {
			return parts[0], nil
		}
		return nil, m.noKey(keys, foreign)
	}
	if len(parts) < m.ShamirThreshold {
		return nil, m.noKey(keys, foreign)
	}
	key, err := shamir.Combine(parts)
	if err != nil {
		return nil, m.noKey(keys, foreign)
	}
	return key, nil
}

func (m *metadata) noKey(keys *Keys, foreign bool) error {
	if foreign {
		return m.keyError(keys)
	}
	return malformed("the encrypted data key in its sops metadata is damaged: encrypt the file again")
}

// part opens the (part of the) data key that the group's keys share, with the first age key that
// one of the identities opens. It is nil when there is none; other then tells whether there is a
// key in the group that somebody else might open.
func (k *keyLists) part(keys *Keys) (part []byte, other bool) {
	other = k.count() > len(k.Age)
	if keys.Empty() {
		return nil, other || len(k.Age) > 0
	}
	for _, key := range k.Age {
		plain, err := openAge(key.Enc, keys)
		if err == nil {
			return plain, false
		}
		var mismatch *age.NoIdentityMatchError
		other = other || errors.As(err, &mismatch)
	}
	return nil, other
}

func openAge(enc string, keys *Keys) ([]byte, error) {
	r, err := age.Decrypt(armor.NewReader(bytes.NewReader([]byte(enc))), keys.ids...)
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	if plain == nil {
		plain = []byte{}
	}
	return plain, nil
}

// keyError says whom the document is encrypted for.
func (m *metadata) keyError(keys *Keys) error {
	e := &NoKeyError{}
	if keys != nil {
		e.Held = len(keys.ids)
	}
	groups := m.groups()
	kinds := []struct {
		name string
		has  func(*keyLists) bool
	}{
		{"PGP", func(k *keyLists) bool { return len(k.PGP) > 0 }},
		{"AWS KMS", func(k *keyLists) bool { return len(k.AWS) > 0 }},
		{"GCP KMS", func(k *keyLists) bool { return len(k.GCP) > 0 }},
		{"Huawei Cloud KMS", func(k *keyLists) bool { return len(k.HC) > 0 }},
		{"Azure Key Vault", func(k *keyLists) bool { return len(k.Azure) > 0 }},
		{"HashiCorp Vault or OpenBao", func(k *keyLists) bool { return len(k.Vault) > 0 }},
	}
	seen := map[string]bool{}
	for i := range groups {
		for _, key := range groups[i].Age {
			if r := showRecipient(key.Recipient); !seen[r] {
				seen[r] = true
				e.Recipients = append(e.Recipients, r)
			}
		}
	}
	for _, kind := range kinds {
		for i := range groups {
			if kind.has(&groups[i]) {
				e.Kinds = append(e.Kinds, kind.name)
				break
			}
		}
	}
	return e
}
