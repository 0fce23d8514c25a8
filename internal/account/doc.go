// Package account authenticates users: passwords, sessions, API tokens, and the secrets by which
// readers open private feeds.
//
// All endpoints use this package, so failures at one endpoint count at all of them. Start with
// [Accounts] and its Check; [Store] is the database interface.
//
// Passwords are stored as argon2id hashes, sessions and tokens as SHA-256 of random values. A
// reader's secret is encrypted with a key that is not in the database. For five minutes, a verified
// password is accepted without a new argon2id hash; the memory contains only a keyed digest of the
// password.
//
// A log-in with an unknown name and a log-in with a wrong password get the same error after the
// same time. Limits are checked before any password is hashed, for existing and for unknown names.
package account
