// Package account knows who people are: users and their passwords, sessions, API
// tokens, and the secrets by which readers open private feeds.
package account
