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

// Token lets a program do some things in a user's name.
type Token struct {
	ID, User, Label string
	Scopes          []string
	Client          string // URL of the program that asked for it by IndieAuth; "": the user made it
	CreatedAt       time.Time
	UsedAt          time.Time // about its last use; zero: never
}

// ErrScope is in the chain of a refusal when the token is good, but not for this.
var ErrScope = errors.New("the token has not this scope")

const (
	tokenPrefix = "cb_" // by which people and programs know them when they find one
	maxTokens   = 100   // of a user
	maxLabel    = 100   // characters
)

// Scopes are what tokens can be allowed to do.
func Scopes() []string { return []string{"create", "update", "delete", "media", "read"} }

// NewToken makes a token; plain is shown once. label is for people, at most 100
// characters. Errors: fault.Invalid (the label or a scope), NotFound (no such user),
// Conflict (it has 100 already).
func (a *Accounts) NewToken(ctx context.Context, user, label string, scopes []string) (plain string, t Token, err error) {
	if err := checkText("label", label, maxLabel); err != nil {
		return "", Token{}, err
	}
	return a.newToken(ctx, Token{ID: newSelector(), User: user, Label: label}, scopes)
}

// newToken makes the token t, for scopes.
func (a *Accounts) newToken(ctx context.Context, t Token, scopes []string) (plain string, _ Token, err error) {
	t.CreatedAt = stamp(a.now())
	for _, s := range scopes {
		if !slices.Contains(Scopes(), s) {
			return "", Token{}, fault.New(fault.Invalid, "%q is no scope: it needs some of %s.", text.Clip(s, 40), strings.Join(Scopes(), ", "))
		}
	}
	for _, s := range Scopes() {
		if slices.Contains(scopes, s) {
			t.Scopes = append(t.Scopes, s)
		}
	}
	if t.Scopes == nil {
		return "", Token{}, fault.New(fault.Invalid, "The token is for nothing: it needs some of %s.", strings.Join(Scopes(), ", "))
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

// IsToken reports a text that has the form of a token, by which programs give tokens as passwords.
func IsToken(s string) bool { return strings.HasPrefix(s, tokenPrefix) && len(s) == 46 }

// Token is a log-in by token for something that needs scope ("": any). Errors:
// fault.Refused (no such token; or, with [ErrScope] in its chain, not for this),
// TooMany, Unavailable.
func (a *Accounts) Token(ctx context.Context, plain, scope string, from Caller) (Token, error) {
	const no = "There is no such token, or it was revoked."
	a.init()
	body, ok := strings.CutPrefix(plain, tokenPrefix)
	if !ok || !isToken(body) {
		return Token{}, a.refuseAndCount(ctx, from, no)
	}
	t, err := a.Store.TokenByHash(ctx, hashOf(plain))
	return a.finishTokenLogin(ctx, t, err, scope, from, no)
}

// found ends a log-in by token: t is the row that was looked for, if err is nil.
func (a *Accounts) finishTokenLogin(ctx context.Context, t Token, err error, scope string, from Caller, no string) (Token, error) {
	if err != nil && fault.CodeOf(err) == fault.NotFound {
		return Token{}, a.refuseAndCount(ctx, from, no)
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

// Tokens lists those of a user, the oldest first.
func (a *Accounts) Tokens(ctx context.Context, user string) ([]Token, error) {
	return a.Store.Tokens(ctx, user)
}

// RevokeToken ends a token at once. fault.NotFound.
func (a *Accounts) RevokeToken(ctx context.Context, user, id string) error {
	return a.Store.RemoveToken(ctx, user, id)
}
