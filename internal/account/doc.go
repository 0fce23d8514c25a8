// Package account knows who people are: users and their passwords, sessions, API
// tokens, and the secrets by which readers open private feeds.
//
// All that lets somebody in is here, for every door, so that what was tried at one
// counts at all of them. Start with [Accounts] and its Check; [Store] is what it needs
// of a database.
//
// Passwords are kept as argon2id hashes, sessions and tokens as SHA-256 of something
// random. A reader's secret is encrypted with a key that is not in the database.
//
// A refusal says the same, and takes the same work, whether the name or the password
// was wrong. What is limited is limited before any work, for names that exist and
// for names that do not.
package account
