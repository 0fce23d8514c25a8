package indieauth

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	app       = "https://app.example/"
	verifier  = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM" // from RFC 7636, appendix B
)

func values(pairs ...string) url.Values {
	q := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		q.Add(pairs[i], pairs[i+1])
	}
	return q
}

// validRequest returns the parameters of a valid request with the given changes. The value
// "-" removes a parameter.
func validRequest(pairs ...string) url.Values {
	q := values("response_type", "code", "client_id", app, "redirect_uri", app+"cb?x=1", "state", "s t&", "code_challenge", challenge,
		"code_challenge_method", "S256", "scope", "create  profile", "me", "https://here.example/alice/")
	for i := 0; i < len(pairs); i += 2 {
		if q.Set(pairs[i], pairs[i+1]); pairs[i+1] == "-" {
			q.Del(pairs[i])
		}
	}
	return q
}

func TestAuthorizationRequestIsParsedAndRedirected(t *testing.T) {
	t.Parallel()
	r, refusal, bad := ParseRequest(validRequest())
	if bad != nil || refusal != nil || r.ClientID != app || r.State != "s t&" || r.Challenge != challenge || !slices.Equal(r.Scopes, []string{"create", "profile"}) || !r.SameOrigin() {
		t.Fatalf("%+v %v %v", r, refusal, bad)
	}
	if got, want := r.Redirect("https://here.example/", "c+d"), app+"cb?x=1&code=c%2Bd&iss=https%3A%2F%2Fhere.example%2F&state=s+t%26"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	u, err := url.Parse(r.Refuse("https://here.example/", errorf(AccessDenied, "No.")))
	if q := u.Query(); err != nil || q.Get("error") != AccessDenied || q.Get("state") != "s t&" || q.Get("iss") != "https://here.example/" || q.Get("error_description") != "No." {
		t.Errorf("%s", u)
	}
	if _, refusal, bad = ParseRequest(validRequest("code_challenge", "-", "code_challenge_method", "-")); bad != nil || refusal != nil {
		t.Errorf("without PKCE: %v %v", refusal, bad)
	}
}

func TestInvalidAuthorizationRequestIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		q    url.Values
		code string // "": the error is shown to the user only
	}{
		{validRequest("response_type", "-"), InvalidRequest},
		{validRequest("response_type", "token"), UnsupportedResponse},
		{validRequest("state", "-"), InvalidRequest},
		{validRequest("state", strings.Repeat("x", 3000)), InvalidRequest},
		{validRequest("code_challenge_method", "plain"), InvalidRequest},
		{validRequest("code_challenge_method", "-"), InvalidRequest},
		{validRequest("code_challenge", "-"), InvalidRequest},
		{validRequest("code_challenge", verifier+"x"), InvalidRequest},
		{func() url.Values { q := validRequest(); q.Add("scope", "delete"); return q }(), InvalidRequest},
		{validRequest("client_id", "-"), ""},
		{validRequest("client_id", "app"), ""},
		{validRequest("client_id", "ftp://app.example/"), ""},
		{validRequest("client_id", "https://alice@app.example/"), ""},
		{validRequest("client_id", "https://app.example/#x"), ""},
		{validRequest("client_id", "https://app.example/a/../b"), ""},
		{validRequest("client_id", "https://192.0.2.1/"), ""},
		{validRequest("redirect_uri", "-"), ""},
		{validRequest("redirect_uri", "/cb"), ""},
		{validRequest("redirect_uri", "javascript:alert(1)"), ""},
		{validRequest("redirect_uri", "JavaScript://app.example/%0aalert(1)"), ""},
		{validRequest("redirect_uri", "https:cb"), ""},
		{validRequest("redirect_uri", "https://app.example/cb#x"), ""},
		{validRequest("redirect_uri", "https://app.example/c b"), ""},
		{validRequest("redirect_uri", "https://me@app.example/cb"), ""},
	} {
		_, refusal, bad := ParseRequest(c.q)
		if (bad != nil) != (c.code == "") || c.code != "" && (refusal == nil || refusal.Code != c.code || refusal.Description == "") {
			t.Errorf("%s: %v %v", c.q.Encode(), refusal, bad)
		}
	}
	if err := CheckClientID("http://[::1]:8000/app"); err != nil || !Loopback("http://[::1]:8000/app") || !Loopback("http://localhost/") || !Loopback("http://App.Localhost:8000/") || Loopback("https://localhost.example/") || Loopback(app) {
		t.Errorf("loopback: %v", err)
	}
}

func TestRedirectURIMustHaveTheOriginOfTheClientOrBeListed(t *testing.T) {
	t.Parallel()
	for to, near := range map[string]bool{
		app + "cb": true, "https://app.example:443/x": true, "https://APP.example/x": true,
		"http://app.example/cb": false, "https://app.example:444/cb": false, "https://app.example.evil.example/": false, "com.example.app:/cb": false,
	} {
		r := Request{ClientID: app, RedirectURI: to}
		if r.SameOrigin() != near || r.Trusts(Client{}) != near || !r.Trusts(Client{Redirects: []string{to}}) || r.Trusts(Client{Redirects: []string{to + "/x"}}) != near {
			t.Errorf("%s", to)
		}
	}
}

func TestPKCEVerifierMustMatchChallenge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		challenge, verifier string
		want                bool
	}{{challenge, verifier, true}, {challenge, verifier + "x", false}, {challenge, challenge, false}, {challenge, "", false}, {"", "", true}, {"", verifier, false}} {
		if Verified(c.challenge, c.verifier) != c.want {
			t.Errorf("%+v", c)
		}
	}
}

func TestClientIsReadFromPageOrMetadata(t *testing.T) {
	t.Parallel()
	page := `<!doctype html><title>Page</title><link rel="redirect_uri" href="/cb"><a rel="me redirect_uri" href="com.example:/cb">x</a><link rel=redirect_uri href="javascript:x">
<div class="h-app"><a href="/home" class="u-url p-name"><img class="u-logo" src="l.png" alt=""> My   App</a></div><div class="h-app"><p class="p-name">Other</p></div>`
	c, ok := ParseClient(app, app, http.Header{"Content-Type": {"text/html"}, "Link": {`<https://b.example/cb>; rel="redirect_uri", </style>; rel=stylesheet, <https://b.example/cb?for=a,b>; rel=redirect_uri`}}, []byte(page))
	if !ok || c.Name != "My App" || c.Logo != app+"l.png" || c.URI != app+"home" {
		t.Errorf("%+v", c)
	}
	for _, to := range []string{app + "cb", "com.example:/cb", "https://b.example/cb", "https://b.example/cb?for=a,b"} {
		if !slices.Contains(c.Redirects, to) {
			t.Errorf("no %s: %q", to, c.Redirects)
		}
	}
	if slices.ContainsFunc(c.Redirects, func(s string) bool { return strings.HasPrefix(s, "javascript") || strings.Contains(s, "style") }) {
		t.Errorf("%q", c.Redirects)
	}
	if c, _ = ParseClient(app, app, nil, []byte("<title> A\n title </title>")); c.Name != "A title" {
		t.Errorf("without an h-app: %+v", c)
	}
	header := http.Header{"Content-Type": {"application/json; charset=utf-8"}}
	c, ok = ParseClient(app, app, header, []byte(`{"client_id":"`+app+`","client_name":"J","client_uri":"https://app.example","logo_uri":"data:image/png,x","redirect_uris":["https://c.example/cb"]}`))
	if !ok || c.Name != "J" || c.Logo != "" || !slices.Contains(c.Redirects, "https://c.example/cb") {
		t.Errorf("%+v", c)
	}
	for _, doc := range []string{`{"client_id":"https://other.example/","client_name":"J","redirect_uris":["https://c.example/cb"]}`, `[`, `{}`} {
		if c, ok := ParseClient(app, app, header, []byte(doc)); ok || c.Name != "" || len(c.Redirects) > 0 || c.ID != app {
			t.Errorf("%s: %+v", doc, c)
		}
	}
}

// codes is a backend with one code and one token.
type codes struct {
	got  Exchange
	fail error
}

func (b *codes) Redeem(ctx context.Context, e Exchange) (Grant, error) {
	if b.got = e; RequestFrom(ctx) == nil {
		return Grant{}, errors.New("no request")
	}
	g := Grant{Me: "https://here.example/alice/", Profile: &Profile{Name: "Alice"}}
	if e.Token {
		g.Token, g.Scopes = "t", []string{"create", "profile"}
	}
	return g, b.fail
}

func (b *codes) Introspect(_ context.Context, bearer, token string) (*TokenInfo, error) {
	if bearer != "t" {
		return nil, &Error{Status: http.StatusUnauthorized, Code: InvalidToken, Description: "No."}
	}
	if token != "t" {
		return nil, b.fail
	}
	return &TokenInfo{Me: "https://here.example/alice/", ClientID: app, Scopes: []string{"create"}, IssuedAt: time.Unix(7, 0)}, b.fail
}

func (b *codes) Revoke(_ context.Context, token string) error {
	b.got.Code = "revoked " + token
	return b.fail
}

func TestServerIssuesIntrospectsAndRevokesTokens(t *testing.T) {
	t.Parallel()
	b := &codes{}
	s := &Server{Backend: b}
	mux := http.NewServeMux()
	mux.Handle("/auth", s.Authorization())
	mux.Handle("/token", s.Token())
	mux.Handle("/introspect", s.Introspection())
	mux.Handle("/revoke", s.Revocation())
	do := func(method, path, form string, header ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, strings.NewReader(form))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		return w
	}
	const code = "grant_type=authorization_code&code=c&client_id=https://app.example/&redirect_uri=https://app.example/cb&code_verifier=v"
	for _, c := range []struct {
		method, path, form string
		status             int
		body               string
		header             []string
	}{
		{"POST", "/auth", code, 200, `{"me":"https://here.example/alice/","profile":{"name":"Alice"}}`, nil},
		{"POST", "/token", code, 200, `{"access_token":"t","token_type":"Bearer","scope":"create profile","me":"https://here.example/alice/","profile":{"name":"Alice"}}`, nil},
		{"POST", "/token", strings.TrimPrefix(code, "grant_type=authorization_code&"), 200, `"access_token":"t"`, nil},
		{"POST", "/token", strings.Replace(code, "authorization_code", "password", 1), 400, `"error":"unsupported_grant_type"`, nil},
		{"POST", "/token", "code=c&client_id=x", 400, `"error":"invalid_request"`, nil},
		{"POST", "/token", code + "&code=d", 400, `"error":"invalid_request"`, nil},
		{"POST", "/token?code=c&client_id=x&redirect_uri=y", "", 400, `"error":"invalid_request"`, nil},
		{"POST", "/token", "code=%zz", 400, `"error":"invalid_request"`, nil},
		{"POST", "/token", code + "&x=" + strings.Repeat("x", maxForm), 400, `"error":"invalid_request"`, nil},
		{"POST", "/token", `{"code":"c"}`, 400, `"error":"invalid_request"`, []string{"Content-Type", "application/json"}},
		{"GET", "/token", "", 200, `{"me":"https://here.example/alice/","client_id":"https://app.example/","scope":"create"}`, []string{"Authorization", "bearer t"}},
		{"GET", "/token", "", 401, `"error":"invalid_token"`, nil},
		{"POST", "/token", "action=revoke&token=x", 200, `{}`, nil},
		{"PUT", "/token", "", 405, `"error":"invalid_request"`, nil},
		{"GET", "/auth", "", 405, `"error":"invalid_request"`, nil},
		{"POST", "/introspect", "token=t", 200, `{"active":true,"me":"https://here.example/alice/","client_id":"https://app.example/","scope":"create","iat":7}`, []string{"Authorization", "Bearer t"}},
		{"POST", "/introspect", "token=x", 200, `{"active":false}`, []string{"Authorization", "Bearer t"}},
		{"POST", "/introspect", "token=t", 401, `"error":"invalid_token"`, nil},
		{"POST", "/introspect", "", 400, `"error":"invalid_request"`, []string{"Authorization", "Bearer t"}},
		{"POST", "/revoke", "token=x", 200, `{}`, nil},
		{"POST", "/revoke", "", 400, `"error":"invalid_request"`, nil},
		{"OPTIONS", "/token", "", 204, "", nil},
	} {
		w := do(c.method, c.path, c.form, c.header...)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.body) || w.Header().Get("Access-Control-Allow-Origin") != "*" || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s %s %.80s: %d %s %v", c.method, c.path, c.form, w.Code, w.Body, w.Header())
		}
	}
	do("POST", "/token", code)
	if b.got != (Exchange{Code: "c", ClientID: app, RedirectURI: app + "cb", Verifier: "v", Token: true}) {
		t.Errorf("%+v", b.got)
	}
	b.fail = errors.New("the secret of the server")
	if w := do("POST", "/token", code); w.Code != 500 || strings.Contains(w.Body.String(), "secret") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func FuzzParseClient(f *testing.F) {
	f.Add("text/html", `<link rel="redirect_uri" href="/cb"><div class="h-app"><p class="p-name">x</p></div>`)
	f.Add("application/json", `{"client_id":"https://app.example/","redirect_uris":["javascript:x"]}`)
	f.Fuzz(func(t *testing.T, kind, doc string) {
		c, _ := ParseClient(app, app, http.Header{"Content-Type": {kind}, "Link": {doc}}, []byte(doc))
		for _, to := range c.Redirects {
			if checkRedirect(to) != nil {
				t.Errorf("redirect URI %q", to)
			}
		}
		if len(c.Redirects) > maxRedirects+1 || c.Logo != "" && !strings.HasPrefix(c.Logo, "http") || strings.ContainsAny(c.Name, "\n\r") || c.ID != app {
			t.Errorf("%+v", c)
		}
	})
}
