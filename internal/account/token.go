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
	Client          string // URL of the program that requested it by IndieAuth; "": created by the user
	CreatedAt       time.Time
	UsedAt          time.Time // approximate last use; zero: never
}

// ErrScope is in the chain of a refusal when the token is valid but lacks the scope.
var ErrScope = errors.New("the token does not have this scope")

const (
	tokenPrefix = "cb_" // identifies tokens for people and secret scanners
	maxTokens   = 100   // tokens of a user
	maxLabel    = 100   // characters
)

// Scopes returns the scopes of tokens.
func Scopes() []string { return []string{"create", "update", "delete", "media", "read"} }

// NewToken creates a token; plain is returned only here. label is for the user, at most 100
// characters. Errors: fault.Invalid (the label or a scope), NotFound (no such user), Conflict (the
// user has 100 tokens).
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

// IsToken reports whether s has the form of a token. Some programs send tokens as passwords.
func IsToken(s string) bool { return strings.HasPrefix(s, tokenPrefix) && len(s) == 46 }

// Token is a log-in by token for an action that needs scope ("": any). Errors: fault.Refused (the
// token does not exist, or lacks the scope: [ErrScope] in the chain), TooMany, Unavailable.
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

// finishTokenLogin completes a log-in by token. t is the row that was found, if err is nil.
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

// RevokeToken deletes a token at once. fault.NotFound.
func (a *Accounts) RevokeToken(ctx context.Context, user, id string) error {
	return a.Store.RemoveToken(ctx, user, id)
}
