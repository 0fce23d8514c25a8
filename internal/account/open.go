package account

import (
	"context"

	"cloudburst/wsse"
)

// OpenByURL lets a reader in by the secret in an address. Errors: fault.Refused, in the
// same words whatever was wrong; TooMany; Unavailable.
func (a *Accounts) OpenByURL(ctx context.Context, user, feed, selector, secret string, from Caller) (Secret, error) {
	return Secret{}, errTodo
}

// OpenByBasic lets a reader in by HTTP Basic: name is the user's, the reader's or the
// secret's selector; password is the secret, or selector and secret with a dot between.
// Errors as of OpenByURL.
func (a *Accounts) OpenByBasic(ctx context.Context, user, feed, name, password string, from Caller) (Secret, error) {
	return Secret{}, errTodo
}

// OpenByWSSE is OpenByBasic by WSSE. A header is good once, for five minutes around the
// time in it; that it was used is on disk before the answer.
func (a *Accounts) OpenByWSSE(ctx context.Context, user, feed string, t wsse.Token, from Caller) (Secret, error) {
	return Secret{}, errTodo
}
