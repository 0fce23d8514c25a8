package account

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/text"
)

// Authorization is what a program asks of a user, and later what the user allowed. Between the two,
// and on its way to the program and back, it is a text that only servers with this Key
// can read or make, so nothing of it is stored.
type Authorization struct {
	User        string   `json:"u"`
	ClientID    string   `json:"c"` // URL of the program
	ClientName  string   `json:"n"` // for the list of tokens; "": its URL
	RedirectURI string   `json:"r"`
	State       string   `json:"s"`
	Challenge   string   `json:"h"` // of PKCE; "": none
	Scopes      []string `json:"p"` // also those that no token has, such as profile

	ID         string    `json:"i"`
	Expires    time.Time `json:"e"`
	PasswordAt time.Time `json:"w"` // another password ends it
}

// How long an authorization waits for the user, and a code for the program.
const (
	RequestTTL = 30 * time.Minute
	CodeTTL    = 10 * time.Minute
	// codeKeep is how long a redeemed code is remembered beyond CodeFor, for servers whose
	// clocks differ.
	codeKeep = time.Hour
)

// Purposes of a sealed authorization: none can be used as another.
const (
	sealedAsk  = "ask"
	sealedCode = "code"
)

// Ask seals what a program asks of z.User, for the form in which the user decides. Errors:
// fault.NotFound (no such user), Unavailable (there is no Key).
func (a *Accounts) SealRequest(ctx context.Context, z Authorization) (ask string, err error) {
	a.init()
	if err := a.keys.usable(); err != nil {
		return "", err
	}
	u, _, err := a.Store.User(ctx, z.User)
	if err != nil {
		return "", err
	}
	z.PasswordAt, z.Expires = u.PasswordAt, a.now().Add(RequestTTL)
	return a.keys.sealAuthorization(sealedAsk, z)
}

// Asked opens what Ask sealed for this user. fault.Refused: it is for somebody else, or too old.
func (a *Accounts) OpenRequest(user, ask string) (Authorization, error) {
	a.init()
	if err := a.keys.usable(); err != nil {
		return Authorization{}, err
	}
	z, ok := a.keys.openAuthorization(sealedAsk, ask)
	if !ok || z.User != user || !a.now().Before(z.Expires) {
		return Authorization{}, fault.New(fault.Refused, "This page was open for too long, or was made for another account. Start again in the app.")
	}
	return z, nil
}

// Allow makes the code of what the user allowed: z is what Asked returned, with the scopes that
// the user chose. A code works once, within CodeFor.
func (a *Accounts) Allow(z Authorization) (code string, err error) {
	a.init()
	if err := a.keys.usable(); err != nil {
		return "", err
	}
	z.ID, z.Expires, z.State = newSelector(), a.now().Add(CodeTTL), ""
	return a.keys.sealAuthorization(sealedCode, z)
}

// Redeem ends a code and returns what the user allowed. fits says whether the program that has the
// code is the one that it was made for; a program that it was not made for does not end it. A
// code that comes again ends the token that was made of it. Errors: fault.Refused, TooMany,
// Unavailable, and those of fits.
//
// spec:cloudburst#indieauth-codes
func (a *Accounts) Redeem(ctx context.Context, code string, fits func(Authorization) error, from Caller) (Authorization, error) {
	const no = "The code is not valid, is too old, or was used before."
	a.init()
	if err := a.keys.usable(); err != nil {
		return Authorization{}, err
	}
	z, ok := a.keys.openAuthorization(sealedCode, code)
	if !ok {
		return Authorization{}, a.refuseAndCount(ctx, from, no)
	}
	refused := fault.New(fault.Refused, "%s", no)
	if !a.now().Before(z.Expires) {
		return Authorization{}, refused
	}
	if err := fits(z); err != nil {
		return Authorization{}, err
	}
	u, _, err := a.Store.User(ctx, z.User)
	if err != nil && fault.CodeOf(err) != fault.NotFound {
		return Authorization{}, err
	}
	if err != nil || u.Disabled || !u.PasswordAt.Equal(z.PasswordAt) {
		return Authorization{}, refused
	}
	sum := sha256.Sum256([]byte("authorization code " + z.ID))
	fresh, err := a.Store.UseNonce(ctx, [][]byte{sum[:]}, z.Expires.Add(codeKeep))
	if err != nil {
		return Authorization{}, err
	}
	if !fresh {
		// Of two programs with one code, one has stolen it.
		if err := a.Store.RemoveToken(ctx, z.User, z.ID); err != nil && fault.CodeOf(err) != fault.NotFound {
			return Authorization{}, err
		}
		return Authorization{}, refused
	}
	return z, nil
}

// NewClientToken makes the token of what Redeem returned. Errors as of [Accounts.NewToken]; scopes
// that no token has are left out.
func (a *Accounts) NewClientToken(ctx context.Context, z Authorization) (plain string, t Token, err error) {
	label := z.ClientName
	if label == "" || checkText("label", label, maxLabel) != nil {
		label = text.Clip(z.ClientID, maxLabel-3)
	}
	scopes := slices.DeleteFunc(slices.Clone(z.Scopes), func(s string) bool { return !slices.Contains(Scopes(), s) })
	return a.newToken(ctx, Token{ID: z.ID, User: z.User, Label: label, Client: z.ClientID}, scopes)
}

func (k *keys) sealAuthorization(purpose string, z Authorization) (string, error) {
	plain, err := json.Marshal(z)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(k.authorize.Seal(nil, nil, plain, []byte(purpose))), nil
}

func (k *keys) openAuthorization(purpose, sealed string) (z Authorization, ok bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(sealed)
	if err != nil {
		return z, false
	}
	plain, err := k.authorize.Open(nil, nil, b, []byte(purpose))
	return z, err == nil && json.Unmarshal(plain, &z) == nil
}
