package account

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/text"
)

// Authorization is a program's request for access, and later the user's grant. Between these steps,
// the authorization is an encrypted text that only servers with the same Key can read or write, so
// the store has no row for it.
type Authorization struct {
	User        string   `json:"u"`
	ClientID    string   `json:"c"` // URL of the program
	ClientName  string   `json:"n"` // name of the program in the list of tokens; "": the list shows its URL
	RedirectURI string   `json:"r"`
	State       string   `json:"s"`
	Challenge   string   `json:"h"` // PKCE challenge; "": the program sent no challenge
	Scopes      []string `json:"p"` // scopes, including those that tokens cannot have, such as profile

	ID         string    `json:"i"`
	Expires    time.Time `json:"e"`
	PasswordAt time.Time `json:"w"` // time when the password was set; a new password invalidates the authorization
}

// RequestTTL is the lifetime of a request that waits for the user's decision. CodeTTL is the
// lifetime of a code.
const (
	RequestTTL = 30 * time.Minute
	CodeTTL    = 10 * time.Minute
	// codeKeep is the time for which the store keeps a redeemed code after its expiry, because the
	// clocks of servers may differ.
	codeKeep = time.Hour
)

const codeRefusal = "The code is not valid, is too old, or was used before."

// Purposes of a sealed authorization. A text sealed for one purpose is invalid for the other.
const (
	sealedAsk  = "ask"
	sealedCode = "code"
)

// SealRequest encrypts the request of a program, for the page on which z.User decides. Errors:
// fault.NotFound (the user does not exist), fault.Unavailable (Key is not valid).
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

// OpenRequest decrypts the result of SealRequest for this user. fault.Refused: the request has
// expired or is for another user.
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

// Allow grants access and returns the code for the program. z is the result of OpenRequest with the
// scopes that the user chose. A code is valid once, within CodeTTL.
func (a *Accounts) Allow(z Authorization) (code string, err error) {
	a.init()
	if err := a.keys.usable(); err != nil {
		return "", err
	}
	z.ID, z.Expires, z.State = newSelector(), a.now().Add(CodeTTL), ""
	return a.keys.sealAuthorization(sealedCode, z)
}

// Redeem consumes a code and returns the grant. fits returns an error if the code was made for
// another program; in this case the code stays valid. Redeeming a code again revokes the token that
// was made from the code. Errors: fault.Refused (the code is not valid), fault.TooMany,
// fault.Unavailable, and those of fits.
//
// spec:cloudburst#indieauth-codes
func (a *Accounts) Redeem(ctx context.Context, code string, fits func(Authorization) error, from Caller) (Authorization, error) {
	a.init()
	if err := a.keys.usable(); err != nil {
		return Authorization{}, err
	}
	z, ok := a.keys.openAuthorization(sealedCode, code)
	if !ok {
		return Authorization{}, a.refuseAndCount(ctx, from, codeRefusal)
	}
	refused := fault.New(fault.Refused, codeRefusal)
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
	fresh, err := useOnce(ctx, a.Store, "authorization code", z)
	if err != nil {
		return Authorization{}, err
	}
	if !fresh {
		// Two programs have the same code, so one program has stolen it. Revoke the token of the
		// first.
		if err := revokeGrant(ctx, a.Store, z); err != nil {
			return Authorization{}, err
		}
		return Authorization{}, refused
	}
	return z, nil
}

// useOnce reports whether this is the first call with this purpose and grant, on any server.
func useOnce(ctx context.Context, s Store, purpose string, z Authorization) (bool, error) {
	sum := sha256.Sum256([]byte(purpose + " " + z.ID))
	return s.UseNonce(ctx, [][]byte{sum[:]}, z.Expires.Add(codeKeep))
}

// grantEnded is the purpose of the nonce by which revokeGrant and NewClientToken exclude each other.
const grantEnded = "end of grant"

// revokeGrant deletes the token of a grant. If NewClientToken has not stored the token yet,
// NewClientToken finds the nonce and deletes the token.
func revokeGrant(ctx context.Context, s Store, z Authorization) error {
	if _, err := useOnce(ctx, s, grantEnded, z); err != nil {
		return err
	}
	if err := s.RemoveToken(ctx, z.User, z.ID); err != nil && fault.CodeOf(err) != fault.NotFound {
		return err
	}
	return nil
}

// NewClientToken creates the token of a grant that Redeem returned. It ignores scopes that tokens
// cannot have. The errors are those of [Accounts.NewToken], and fault.Refused: the code of the grant
// was redeemed again.
func (a *Accounts) NewClientToken(ctx context.Context, z Authorization) (plain string, t Token, err error) {
	label := z.ClientName
	if label == "" || checkText("label", label, maxLabel) != nil {
		label = text.Clip(z.ClientID, maxLabel-3)
	}
	scopes := slices.DeleteFunc(slices.Clone(z.Scopes), func(s string) bool { return !slices.Contains(Scopes(), s) })
	plain, t, err = a.newToken(ctx, Token{ID: z.ID, User: z.User, Label: label, Client: z.ClientID}, scopes)
	if err != nil {
		return "", Token{}, err
	}
	fresh, err := useOnce(ctx, a.Store, grantEnded, z)
	if err == nil && fresh {
		return plain, t, nil
	}
	if err == nil {
		err = fault.New(fault.Refused, codeRefusal)
	}
	return "", Token{}, cmp.Or(revokeGrant(ctx, a.Store, z), err)
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
