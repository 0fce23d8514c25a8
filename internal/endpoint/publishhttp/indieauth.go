package publishhttp

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/author"
	"cloudburst/internal/endpoint"
	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/wirehttp"
	"cloudburst/protocol/indieauth"
)

// IndieAuth serves the endpoints by which programs sign users in. The consent page is the GET of
// the authorization endpoint, in package web. Accounts and Public must be set.
type IndieAuth struct {
	Accounts *account.Accounts
	Public   func() string // public origin
	// Writer returns the profile of a user, and Photo the URL of the user's image. If they are nil,
	// a profile contains only the URL of the user's page.
	Writer  func(ctx context.Context, user string) (author.Writer, error)
	Photo   func(w author.Writer) string
	Trusted []netip.Prefix // see [endpoint.CallerAddr]
	Log     *slog.Logger   // nil: no log
}

// Paths of IndieAuth.
const (
	pathAuthorization = "/auth"
	pathToken         = "/token"
	pathIntrospection = "/token/introspect"
	pathRevocation    = "/token/revoke"
	pathAuthMetadata  = "/.well-known/oauth-authorization-server"
)

const viaIndieAuth = "indieauth"

// Scopes of IndieAuth for the profile. They are never scopes of a token.
const (
	scopeProfile = "profile"
	scopeEmail   = "email"
)

// IndieAuthIssuer returns the issuer for an origin.
func IndieAuthIssuer(origin string) string { return origin + "/" }

// IndieAuthLinks returns the links on a user's page by which programs find the endpoints: pairs of
// rel and path.
func IndieAuthLinks() [][2]string {
	return [][2]string{{"indieauth-metadata", pathAuthMetadata}, {"authorization_endpoint", pathAuthorization}, {"token_endpoint", pathToken}}
}

// metadata serves the document that names the endpoints.
//
// spec:indieauth-2024#discovery
func (i *IndieAuth) metadata(w http.ResponseWriter, _ *http.Request) {
	at := i.Public()
	body, err := json.Marshal(indieauth.Metadata{
		Issuer: IndieAuthIssuer(at), Authorization: at + pathAuthorization, Token: at + pathToken,
		Introspection: at + pathIntrospection, IntrospectionMethods: []string{"Bearer"},
		Revocation: at + pathRevocation, RevocationMethods: []string{"none"},
		Scopes:        append([]string{scopeProfile, scopeEmail}, account.Scopes()...),
		ResponseTypes: []string{"code"}, GrantTypes: []string{"authorization_code"}, Challenges: []string{"S256"},
		IssuerInResponse: true, ClientMetadataDocument: true, ServiceDocumentation: at + "/docs/reference/authoring-apis",
	})
	if err != nil {
		http.Error(w, "the metadata could not be written", http.StatusInternalServerError)
		return
	}
	head := w.Header()
	head.Set("Content-Type", "application/json")
	head.Set("Access-Control-Allow-Origin", "*")
	head.Set("Cache-Control", "public, max-age=3600")
	head.Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(append(body, '\n')) // ignore the error: the client has disconnected
}

func (i *IndieAuth) caller(ctx context.Context) account.Caller {
	from := account.Caller{Via: viaIndieAuth}
	if r := indieauth.RequestFrom(ctx); r != nil {
		from.Addr = endpoint.CallerAddr(r, i.Trusted)
	}
	return from
}

// me returns the URL of a user's page.
func (i *IndieAuth) me(user string) string { return i.Public() + "/" + user + "/" }

// indieAuthError converts an error for programs. code is the IndieAuth error code of a refusal.
func indieAuthError(code string, err error) error {
	if err == nil {
		return nil
	}
	e := &indieauth.Error{Code: code, Description: fault.Message(err)}
	switch fault.CodeOf(err) {
	case fault.Internal:
		return err
	case fault.TooMany:
		e.Status, e.Code = http.StatusTooManyRequests, indieauth.Unavailable
	case fault.Unavailable:
		e.Status, e.Code = http.StatusServiceUnavailable, indieauth.Unavailable
	}
	return e
}

// Redeem redeems an authorization code. If no scope of a token was granted, no token is issued;
// such a code can also be redeemed at the authorization endpoint.
func (i *IndieAuth) Redeem(ctx context.Context, e indieauth.Exchange) (indieauth.Grant, error) {
	var wrong *indieauth.Error
	fits := func(z account.Authorization) error {
		switch {
		case z.ClientID != e.ClientID:
			wrong = &indieauth.Error{Code: indieauth.InvalidGrant, Description: "The code was made for another client_id."}
		case z.RedirectURI != e.RedirectURI:
			wrong = &indieauth.Error{Code: indieauth.InvalidGrant, Description: "The code was made for another redirect_uri."}
		case !indieauth.Verified(z.Challenge, e.Verifier):
			wrong = &indieauth.Error{Code: indieauth.InvalidGrant, Description: "The code_verifier does not belong to the code_challenge."}
		case e.Token && !slices.ContainsFunc(z.Scopes, func(s string) bool { return slices.Contains(account.Scopes(), s) }):
			wrong = &indieauth.Error{Code: indieauth.InvalidScope, Description: "The user allowed nothing that needs a token; redeem the code at the authorization endpoint."}
		default:
			return nil
		}
		return wrong
	}
	z, err := i.Accounts.Redeem(ctx, e.Code, fits, i.caller(ctx))
	if wrong != nil {
		return indieauth.Grant{}, wrong
	}
	if err != nil {
		return indieauth.Grant{}, indieAuthError(indieauth.InvalidGrant, err)
	}
	g := indieauth.Grant{Me: i.me(z.User)}
	if g.Profile, err = i.profile(ctx, z); err != nil {
		return indieauth.Grant{}, indieAuthError(indieauth.InvalidGrant, err)
	}
	if !e.Token {
		return g, nil
	}
	plain, t, err := i.Accounts.NewClientToken(ctx, z)
	if err != nil {
		return indieauth.Grant{}, indieAuthError(indieauth.InvalidGrant, err)
	}
	g.Token, g.Scopes = plain, t.Scopes
	for _, s := range []string{scopeProfile, scopeEmail} {
		if slices.Contains(z.Scopes, s) {
			g.Scopes = append(g.Scopes, s)
		}
	}
	return g, nil
}

// profile returns what a program may see of a user, or nil if it may see nothing.
//
// spec:indieauth-2024#profile
func (i *IndieAuth) profile(ctx context.Context, z account.Authorization) (*indieauth.Profile, error) {
	if !slices.Contains(z.Scopes, scopeProfile) {
		return nil, nil
	}
	p := &indieauth.Profile{Name: z.User, URL: i.me(z.User)}
	if i.Writer == nil {
		return p, nil
	}
	w, err := i.Writer(ctx, z.User)
	if err != nil {
		return nil, err
	}
	if w.Name != "" {
		p.Name = w.Name
	}
	if i.Photo != nil {
		p.Photo = i.Photo(w)
	}
	if slices.Contains(z.Scopes, scopeEmail) {
		p.Email = w.Email
	}
	return p, nil
}

// Introspect describes a token to the holder of a token of the same user.
func (i *IndieAuth) Introspect(ctx context.Context, bearer, token string) (*indieauth.TokenInfo, error) {
	no := &indieauth.Error{Status: http.StatusUnauthorized, Code: indieauth.InvalidToken, Description: "The request needs a valid token, in the Authorization header as Bearer."}
	if bearer == "" {
		return nil, no
	}
	holder, err := i.Accounts.Token(ctx, bearer, "", i.caller(ctx))
	if err != nil && fault.CodeOf(err) == fault.Refused {
		return nil, no
	}
	if err != nil {
		return nil, indieAuthError(indieauth.InvalidToken, err)
	}
	t := holder
	if token != bearer {
		t, err = i.Accounts.Token(ctx, token, "", i.caller(ctx))
	}
	if err != nil && fault.CodeOf(err) == fault.Refused || err == nil && t.User != holder.User {
		return nil, nil
	}
	if err != nil {
		return nil, indieAuthError(indieauth.InvalidToken, err)
	}
	return &indieauth.TokenInfo{Me: i.me(t.User), ClientID: t.Client, Scopes: t.Scopes, IssuedAt: t.CreatedAt}, nil
}

// Revoke revokes a token at the request of its program.
func (i *IndieAuth) Revoke(ctx context.Context, token string) error {
	t, err := i.Accounts.Token(ctx, token, "", i.caller(ctx))
	if err == nil {
		err = i.Accounts.RevokeToken(ctx, t.User, t.ID)
	}
	switch fault.CodeOf(err) {
	case fault.Refused, fault.NotFound:
		return nil
	}
	return indieAuthError(indieauth.InvalidRequest, err)
}

// IndieAuthClients reads the metadata of programs. Web must refuse forbidden addresses.
type IndieAuthClients struct{ Web endpoint.Getter }

const clientTimeout = 8 * time.Second

// Client reads the document at the URL of a program. For a program on the user's own computer it
// reads nothing, because a loopback URL would lead to this server. If the document cannot be read,
// the result has only an ID, and the error is the reason.
//
// spec:cloudburst#indieauth-clients
func (c *IndieAuthClients) Client(ctx context.Context, id string) (indieauth.Client, error) {
	if indieauth.Loopback(id) {
		return indieauth.Client{ID: id}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, clientTimeout)
	defer cancel()
	got, err := c.Web.Get(ctx, fetch.Request{URL: id, Accept: "application/json, text/html;q=0.9, */*;q=0.1"})
	switch {
	case err != nil:
		return indieauth.Client{ID: id}, fault.Wrap(fault.Unreadable, err, "The page of the app, %s, could not be read.", endpoint.DisplayURL(id))
	case !got.OK():
		return indieauth.Client{ID: id}, fault.New(fault.Unreadable, "The page of the app, %s, could not be read: its server answered %s.", endpoint.DisplayURL(id), wirehttp.StatusText(got.Status))
	}
	app, ok := indieauth.ParseClient(id, got.URL, got.Header, got.Body)
	if !ok {
		return app, fault.New(fault.Unreadable, "The document at %s describes another app, so it was not used.", endpoint.DisplayURL(id))
	}
	return app, nil
}
