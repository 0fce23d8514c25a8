// Package wsse is the UsernameToken log-in of Atom's early days, both sides: a
// digest of nonce, time and password in a header of its own.
//
// Start with [Parse] and [Header].
package wsse
