package indieauth

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"cloudburst/internal/wirehttp"
)

// Exchange is a program's request to redeem a code.
type Exchange struct {
	Code, ClientID, RedirectURI, Verifier string
	// Token means that the program requests an access token in addition to the identity of
	// the user.
	Token bool
}

// Profile is the public profile of a user. Empty fields are unknown.
type Profile struct {
	Name  string `json:"name,omitempty"`
	URL   string `json:"url,omitempty"`   // URL of the web page
	Photo string `json:"photo,omitempty"` // URL of an image
	Email string `json:"email,omitempty"`
}

// Grant is the result of an [Exchange].
type Grant struct {
	Me      string   // URL of the user's page
	Token   string   // access token; "": none was requested
	Scopes  []string // scopes of the token
	Profile *Profile // nil: the program has no permission to read it
}

// TokenInfo describes a valid access token.
type TokenInfo struct {
	Me, ClientID string // ClientID is "" for a token that was not issued to a program
	Scopes       []string
	IssuedAt     time.Time
}

// Backend stores codes and tokens. An error that is not an [*Error] becomes a server error
// with status 500. Methods get the request from [RequestFrom].
type Backend interface {
	// Redeem invalidates a code and returns what its user granted. The error has the code
	// invalid_grant if the code was already redeemed, has expired, or belongs to another
	// program, redirect URI or verifier.
	Redeem(ctx context.Context, e Exchange) (Grant, error)
	// Introspect describes token to the holder of the token bearer, which must belong to
	// the same user. The result is nil if token is not active. The error has the code
	// invalid_token if bearer is not valid.
	Introspect(ctx context.Context, bearer, token string) (*TokenInfo, error)
	// Revoke invalidates a token. An unknown token is not an error.
	Revoke(ctx context.Context, token string) error
}

// Server provides the endpoints for programs. Backend must be set.
type Server struct {
	Backend Backend
	Log     *slog.Logger // internal failures; nil: no log
}

// RequestFrom returns the HTTP request on whose behalf a method of [Backend] is called. It
// is nil outside of these calls.
func RequestFrom(ctx context.Context) *http.Request { return wirehttp.RequestFrom(ctx) }

// maxForm is the maximum size of a request body, in bytes.
const maxForm = 64 << 10

// Authorization returns the handler for POST requests to the authorization endpoint. They
// redeem a code for the user's URL and profile.
//
// spec:indieauth-2024#profile-url-response
func (s *Server) Authorization() http.Handler {
	return s.endpoint("POST", func(ctx context.Context, form url.Values, _ string) (any, error) {
		g, err := s.redeem(ctx, form, false)
		if err != nil {
			return nil, err
		}
		return struct {
			Me      string   `json:"me"`
			Profile *Profile `json:"profile,omitempty"`
		}{g.Me, g.Profile}, nil
	})
}

// Token returns the handler of the token endpoint.
//
// spec:indieauth-2024#access-token-response
func (s *Server) Token() http.Handler {
	return s.endpoint("GET, POST", func(ctx context.Context, form url.Values, bearer string) (any, error) {
		if form == nil { // form is nil for a GET
			return s.describe(ctx, bearer)
		}
		if form.Get("action") == "revoke" {
			return struct{}{}, s.Backend.Revoke(ctx, form.Get("token"))
		}
		g, err := s.redeem(ctx, form, true)
		if err != nil {
			return nil, err
		}
		return struct {
			Token   string   `json:"access_token"`
			Type    string   `json:"token_type"`
			Scope   string   `json:"scope"`
			Me      string   `json:"me"`
			Profile *Profile `json:"profile,omitempty"`
		}{g.Token, "Bearer", strings.Join(g.Scopes, " "), g.Me, g.Profile}, nil
	})
}

func (s *Server) redeem(ctx context.Context, form url.Values, token bool) (Grant, error) {
	if kind := form.Get("grant_type"); kind != "" && kind != "authorization_code" {
		return Grant{}, errorf(UnsupportedGrantType, "The grant_type is %q: only authorization_code is supported.", clip(kind))
	}
	for _, name := range []string{"code", "client_id", "redirect_uri"} {
		if form.Get(name) == "" {
			return Grant{}, errorf(InvalidRequest, "The parameter %s is missing.", name)
		}
	}
	return s.Backend.Redeem(ctx, Exchange{
		Code: form.Get("code"), ClientID: form.Get("client_id"), RedirectURI: form.Get("redirect_uri"), Verifier: form.Get("code_verifier"), Token: token,
	})
}

// describe responds to a GET of the token endpoint.
func (s *Server) describe(ctx context.Context, bearer string) (any, error) {
	i, err := s.Backend.Introspect(ctx, bearer, bearer)
	if err != nil {
		return nil, err
	}
	return struct {
		Me       string `json:"me"`
		ClientID string `json:"client_id"`
		Scope    string `json:"scope"`
	}{i.Me, i.ClientID, strings.Join(i.Scopes, " ")}, nil
}

// Introspection returns the handler of the introspection endpoint. The caller sends a token
// of the same user as Bearer.
//
// spec:indieauth-2024#token-introspection
func (s *Server) Introspection() http.Handler {
	return s.endpoint("POST", func(ctx context.Context, form url.Values, bearer string) (any, error) {
		if form.Get("token") == "" {
			return nil, errorf(InvalidRequest, "The parameter token is missing.")
		}
		i, err := s.Backend.Introspect(ctx, bearer, form.Get("token"))
		if err != nil {
			return nil, err
		}
		if i == nil {
			return struct {
				Active bool `json:"active"`
			}{}, nil
		}
		return struct {
			Active   bool   `json:"active"`
			Me       string `json:"me"`
			ClientID string `json:"client_id"`
			Scope    string `json:"scope"`
			IssuedAt int64  `json:"iat"`
		}{true, i.Me, i.ClientID, strings.Join(i.Scopes, " "), i.IssuedAt.Unix()}, nil
	})
}

// Revocation returns the handler of the revocation endpoint.
//
// spec:indieauth-2024#token-revocation
func (s *Server) Revocation() http.Handler {
	return s.endpoint("POST", func(ctx context.Context, form url.Values, _ string) (any, error) {
		if form.Get("token") == "" {
			return nil, errorf(InvalidRequest, "The parameter token is missing.")
		}
		return struct{}{}, s.Backend.Revoke(ctx, form.Get("token"))
	})
}

// endpoint returns a handler that reads the form of a POST and writes the response as JSON. Web
// pages of any origin may call the handler, because it ignores cookies.
func (s *Server) endpoint(methods string, do func(ctx context.Context, form url.Values, bearer string) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		head.Set("Access-Control-Allow-Origin", "*")
		head.Set("Cache-Control", "no-store")
		head.Set("X-Content-Type-Options", "nosniff")
		if r.Method == http.MethodOptions {
			head.Set("Access-Control-Allow-Methods", methods+", OPTIONS")
			head.Set("Access-Control-Allow-Headers", "Authorization, Accept, Content-Type")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		var form url.Values
		switch {
		case r.Method == http.MethodPost:
			var err error
			if form, err = readForm(w, r); err != nil {
				s.refuse(w, r, err)
				return
			}
		case r.Method != http.MethodGet || !strings.HasPrefix(methods, "GET"):
			head.Set("Allow", methods+", OPTIONS")
			s.refuse(w, r, &Error{Status: http.StatusMethodNotAllowed, Code: InvalidRequest, Description: "This URL accepts " + methods + "."})
			return
		}
		bearer := ""
		if kind, token, ok := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " "); ok && strings.EqualFold(kind, "Bearer") {
			bearer = strings.TrimSpace(token)
		}
		v, err := do(wirehttp.WithRequest(r.Context(), r), form, bearer)
		if err != nil {
			s.refuse(w, r, err)
			return
		}
		answer(w, http.StatusOK, v)
	})
}

func readForm(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if !strings.EqualFold(strings.TrimSpace(kind), "application/x-www-form-urlencoded") {
		return nil, errorf(InvalidRequest, "The body must be a form, application/x-www-form-urlencoded.")
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		return nil, errorf(InvalidRequest, "The form cannot be read, or has more than %d bytes.", maxForm)
	}
	for name, values := range r.PostForm {
		if len(values) > 1 {
			return nil, errorf(InvalidRequest, "The parameter %s is there %d times.", clip(name), len(values))
		}
	}
	return r.PostForm, nil
}

func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		if s.Log != nil {
			s.Log.WarnContext(r.Context(), "an IndieAuth request failed", "path", r.URL.Path, "err", err)
		}
		e = &Error{Status: http.StatusInternalServerError, Code: ServerError, Description: "Something went wrong on this server; its log has the details."}
	}
	status := cmp.Or(e.Status, http.StatusBadRequest)
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	answer(w, status, struct {
		Code        string `json:"error"`
		Description string `json:"error_description,omitempty"`
	}{e.Code, e.Description})
}

func answer(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil { // unreachable: every value can be encoded
		status, body = http.StatusInternalServerError, []byte("{}")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // an error means that the client has disconnected
}
