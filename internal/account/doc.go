// Package account authenticates users: passwords, sessions, API tokens, and the secrets by which
// readers open private feeds.
//
// All endpoints use this package, so failures at one endpoint count at all of them. Start with
// [Accounts] and its Check; [Store] is the database interface.
//
// Passwords are stored as argon2id hashes, sessions and tokens as SHA-256 of random values. A
// reader's secret is encrypted with a key that is not in the database. A verified password is
// accepted for five minutes without another hash; only a keyed digest of it is kept, in memory.
//
// A refusal has the same text and the same cost for a wrong name and a wrong password. Limits are
// checked before any work, for existing and for unknown names.
package account
