// Package sops decrypts SOPS documents as Flux's kustomize-controller does, with age
// identities only, and masks them when no identity opens them.
//
// The rules are:
//
//   - What is encrypted is told by a marker in the bytes, one for each format; a file is looked at
//     for the marker of the format that its name gives and for no other, so a file with the wrong
//     extension stays as it is, silently, as in the cluster.
//   - A document is read in one format, opened value by value, and written in another, which may
//     be the same. The `sops` metadata goes; order and comments stay where the output format has them.
//   - The message authentication code is not verified: the controller does not either, because
//     kustomize has usually added fields by then.
//   - Only age opens anything. Other key kinds (PGP, cloud KMS, Vault) and age files for somebody
//     else give ErrNoKey, which means "not known here", never "broken".
//   - An error never holds a decrypted value, a key, or text of the input other than recipients and
//     mapping keys that are plain names.
//   - Nothing here reads a file, an environment variable or the network by itself, or runs a
//     program. Keys come from the caller.
//
// The document model, the walk, the cipher and the stores are written here rather than taken from
// github.com/getsops/sops/v3. Its stores and its root package link the SDKs of every cloud (47 MB
// on top of a 19 MB program), and its audit package reads /etc/sops/audit.yaml in an init function
// and may open a database from there. What they produce is nevertheless the standard: the tests
// hold this package to the real library, byte for byte, success and failure. The two parts of the
// library that have no dependencies, file formats and secret sharing, are used as they are.
package sops
