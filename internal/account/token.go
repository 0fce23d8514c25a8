package account

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/text"
)

// Token lets a program act for a user.
type Token struct {
	ID, User, Label string
	Scopes          []string
	Client          string // URL of the program that requested the token by IndieAuth; "": the user created the token
	CreatedAt       time.Time
	UsedAt          time.Time // approximate time of the last use; zero: never used
}

// ErrScope is in the chain of a fault.Refused if the token is valid but lacks the scope.
var ErrScope = errors.New("the token does not have this scope")

const (
	tokenPrefix = "cb_" // prefix by which people and secret scanners recognize a token
	maxTokens   = 100   // maximum tokens of a user
	maxLabel    = 100   // maximum characters of a label
)

// Scopes returns the scopes that a token can have.
func Scopes() []string { return []string{"create", "update", "delete", "media", "read"} }

// NewToken creates a token. Only NewToken returns plain, the text of the token. label is a
// description for the user, at most 100 characters. Errors: fault.Invalid (the label or a scope is
// invalid), fault.NotFound (the user does not exist), fault.Conflict (the user has 100 tokens).
func (a *Accounts) NewToken(ctx context.Context, user, label string, scopes []string) (plain string, t Token, err error) {
	if err := checkText("label", label, maxLabel); err != nil {
		return "", Token{}, err
	}
	return a.newToken(ctx, Token{ID: newSelector(), User: user, Label: label}, scopes)
}

// newToken creates the token t with scopes.
func (a *Accounts) newToken(ctx context.Context, t Token, scopes []string) (plain string, _ Token, err error) {
	t.CreatedAt = stamp(a.now())
	for _, s := range scopes {
		if !slices.Contains(Scopes(), s) {
			return "", Token{}, fault.New(fault.Invalid, "%q is not a scope: choose from %s.", text.Clip(s, 40), strings.Join(Scopes(), ", "))
		}
	}
	for _, s := range Scopes() {
		if slices.Contains(scopes, s) {
			t.Scopes = append(t.Scopes, s)
		}
	}
	if t.Scopes == nil {
		return "", Token{}, fault.New(fault.Invalid, "The token has no scope: choose from %s.", strings.Join(Scopes(), ", "))
	}
	plain = tokenPrefix + newToken()
	app := ""
	if slices.Contains(t.Scopes, "read") {
		app = hashOf(appKey(t.User, plain))
	}
	if err := a.Store.AddToken(ctx, t, hashOf(plain), app, maxTokens); err != nil {
		return "", Token{}, err
	}
	return plain, t, nil
}

// IsToken reports whether s has the form of a token. Some programs send a token instead of a
// password.
func IsToken(s string) bool { return strings.HasPrefix(s, tokenPrefix) && len(s) == 46 }

// Token authenticates a client that sends the token plain, for an action that needs scope ("": any
// scope). Errors: fault.Refused (the token does not exist, or lacks the scope; [ErrScope] is then
// in the chain), fault.TooMany, fault.Unavailable.
func (a *Accounts) Token(ctx context.Context, plain, scope string, from Caller) (Token, error) {
	const refusal = "There is no such token, or it was revoked."
	a.init()
	body, ok := strings.CutPrefix(plain, tokenPrefix)
	if !ok || !isToken(body) {
		return Token{}, a.refuseAndCount(ctx, from, refusal)
	}
	t, err := a.Store.TokenByHash(ctx, hashOf(plain))
	return a.finishTokenLogin(ctx, t, err, scope, from, refusal)
}

// finishTokenLogin completes a log-in by token. t and err are the results of the query for the
// token.
func (a *Accounts) finishTokenLogin(ctx context.Context, t Token, err error, scope string, from Caller, refusal string) (Token, error) {
	if err != nil && fault.CodeOf(err) == fault.NotFound {
		return Token{}, a.refuseAndCount(ctx, from, refusal)
	}
	if err != nil {
		return Token{}, err
	}
	if scope != "" && !slices.Contains(t.Scopes, scope) {
		return Token{}, fault.Wrap(fault.Refused, ErrScope, "This token is for %s, and this needs %s.", strings.Join(t.Scopes, ", "), scope)
	}
	if now := stamp(a.now()); now.Sub(t.UsedAt) >= time.Minute {
		t.UsedAt = now
		a.logUseError("token", a.Store.TouchToken(ctx, t.ID, now))
	}
	return t, nil
}

// Tokens lists the tokens of a user, oldest first.
func (a *Accounts) Tokens(ctx context.Context, user string) ([]Token, error) {
	return a.Store.Tokens(ctx, user)
}

// RevokeToken deletes a token. Programs cannot use the token from then on. fault.NotFound: the user
// has no such token.
func (a *Accounts) RevokeToken(ctx context.Context, user, id string) error {
	return a.Store.RemoveToken(ctx, user, id)
}
