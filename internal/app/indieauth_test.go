package app_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"cloudburst/internal/store/storetest"
	"cloudburst/protocol/indieauth"
	"cloudburst/protocol/micropub"
)

// appBrowser is a browser in which alice is signed in.
type appBrowser struct {
	*http.Client
	t *testing.T
	r *running
}

func (r *running) appBrowser(t *testing.T) *appBrowser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &appBrowser{&http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, t, r}
	b.send(r.base+"/login", url.Values{"name": {"alice"}, "password": {alicePassword}})
	return b
}

func (b *appBrowser) send(to string, form url.Values) (status int, location, body string) {
	b.t.Helper()
	ask, err := b.PostForm(to, form)
	if form == nil {
		ask, err = b.Get(to)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	defer ask.Body.Close()
	text, err := io.ReadAll(ask.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return ask.StatusCode, ask.Header.Get("Location"), string(text)
}

var sealedAsk = regexp.MustCompile(`name="ask" value="([^"]+)"`)

// decide opens an authorization URL and submits its form with the given scopes. It returns the
// target and the parameters of the redirect.
func (b *appBrowser) decide(at, decision string, scopes ...string) (to string, q url.Values) {
	b.t.Helper()
	status, _, page := b.send(at, nil)
	ask := sealedAsk.FindStringSubmatch(page)
	if status != http.StatusOK || ask == nil {
		b.t.Fatalf("%d %s", status, page)
	}
	status, to, page = b.send(b.r.base+"/auth/decide", url.Values{"ask": {ask[1]}, "decision": {decision}, "scope": scopes})
	u, err := url.Parse(to)
	if status != http.StatusSeeOther || err != nil {
		b.t.Fatalf("%d %s %s", status, to, page)
	}
	return to, u.Query()
}

// metadata discovers the endpoints by the links of a page, as apps do.
func (r *running) metadata(t *testing.T, page string) (m indieauth.Metadata) {
	t.Helper()
	res, err := http.Get(r.base + page)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	link := regexp.MustCompile(`<([^>]+)>; rel="indieauth-metadata"`).FindStringSubmatch(res.Header.Get("Link"))
	if link == nil {
		t.Fatalf("no link: %v", res.Header)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, rel := range []string{"indieauth-metadata", "authorization_endpoint", "token_endpoint"} {
		if res.StatusCode == http.StatusOK && !strings.Contains(string(body), `<link rel="`+rel+`" href="/`) || !strings.Contains(res.Header.Get("Link"), `rel="`+rel+`"`) {
			t.Errorf("%s has no %s", page, rel)
		}
	}
	_, doc := get(t, link[1])
	if err := json.Unmarshal([]byte(doc), &m); err != nil {
		t.Fatalf("%v: %s", err, doc)
	}
	return m
}

const (
	pkceVerifier  = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	pkceChallenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
)

// authURL returns the URL of an authorization request with PKCE. pairs contains names and values
// that replace the default parameters.
func authURL(m indieauth.Metadata, client string, pairs ...string) string {
	q := url.Values{"response_type": {"code"}, "client_id": {client}, "redirect_uri": {client + "cb"}, "state": {"1 2"}, "scope": {"profile create update delete media follow"},
		"code_challenge": {pkceChallenge}, "code_challenge_method": {"S256"}}
	for i := 0; i < len(pairs); i += 2 {
		if q.Set(pairs[i], pairs[i+1]); pairs[i+1] == "" {
			q.Del(pairs[i])
		}
	}
	return m.Authorization + "?" + q.Encode()
}

func exchange(t *testing.T, at, client, code string, pairs ...string) (int, map[string]any) {
	t.Helper()
	form := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "client_id": {client}, "redirect_uri": {client + "cb"}, "code_verifier": {pkceVerifier}}
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	return askJSON(t, at, "", form)
}

func askJSON(t *testing.T, at, bearer string, form url.Values) (int, map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "POST", at, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", "https://app.example") // the app runs in a browser
	req.Header.Set("Sec-Fetch-Site", "cross-site")
	if bearer != "" {
		req.Header.Set("Authorization", "Bearer "+bearer)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	v := map[string]any{}
	if err := json.NewDecoder(res.Body).Decode(&v); err != nil || res.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Fatalf("%v %v", err, res.Header)
	}
	return res.StatusCode, v
}

// localApp is the URL of an app on the user's computer.
const localApp = "http://127.0.0.1:9/"

func TestAppSignsInWithIndieAuthAndCreatesPost(t *testing.T) {
	t.Parallel()
	r := start(t, conf(t, t.TempDir()))
	r.addAlice()
	m := r.metadata(t, "/alice/") // the author page exists before the first post
	if m.Issuer != r.base+"/" || m.Authorization != r.base+"/auth" || r.metadata(t, "/").Token != m.Token {
		t.Errorf("%+v", m)
	}
	b := r.appBrowser(t)
	to, q := b.decide(authURL(m, localApp), "allow", "profile", "create", "update", "root")
	if !strings.HasPrefix(to, localApp+"cb?") || q.Get("state") != "1 2" || q.Get("iss") != m.Issuer || q.Get("code") == "" {
		t.Fatal(to)
	}
	for what, pairs := range map[string][]string{
		"client_id": {"client_id", localApp + "x"}, "redirect_uri": {"redirect_uri", localApp + "x"}, "code_verifier": {"code_verifier", pkceChallenge}, "code": {"code", q.Get("code")[3:]},
	} {
		if status, v := exchange(t, m.Token, localApp, q.Get("code"), pairs...); status != http.StatusBadRequest || v["error"] != "invalid_grant" {
			t.Errorf("another %s: %d %v", what, status, v)
		}
	}
	status, v := exchange(t, m.Token, localApp, q.Get("code"))
	token, _ := v["access_token"].(string)
	profile, _ := v["profile"].(map[string]any)
	if status != http.StatusOK || token == "" || v["scope"] != "create update profile" || v["me"] != r.base+"/alice/" || v["token_type"] != "Bearer" || profile["name"] != "alice" || profile["url"] != r.base+"/alice/" {
		t.Fatalf("%d %v", status, v)
	}
	c := &micropub.Client{Endpoint: r.base + "/micropub", Token: token}
	if _, err := c.Create(t.Context(), &micropub.Request{Properties: micropub.Properties{"content": {micropub.Text("By discovery")}}}); err != nil {
		t.Fatal(err)
	}
	if r.metadata(t, "/alice/").Issuer != m.Issuer { // the page still has the links after the first post
		t.Error("another issuer")
	}
	if _, _, page := b.send(r.base+"/account/tokens", nil); !strings.Contains(page, "127.0.0.1:9") || !strings.Contains(page, "permissions: create and update") || !strings.Contains(page, "<bdi>"+localApp+"</bdi>") {
		t.Errorf("the list of tokens: %s", page)
	}
	if status, v := askJSON(t, m.Introspection, token, url.Values{"token": {token}}); status != http.StatusOK || v["active"] != true || v["client_id"] != localApp || v["me"] != r.base+"/alice/" || v["scope"] != "create update" {
		t.Errorf("introspection: %d %v", status, v)
	}
	if status, v := askJSON(t, m.Introspection, "", url.Values{"token": {token}}); status != http.StatusUnauthorized || v["active"] != nil {
		t.Errorf("introspection without a token: %d %v", status, v)
	}
	if status, v := askJSON(t, m.Introspection, token, url.Values{"token": {"cb_unknown"}}); status != http.StatusOK || v["active"] != false || len(v) != 1 {
		t.Errorf("introspection of an unknown token: %d %v", status, v)
	}
	if status, _ := askJSON(t, m.Revocation, "", url.Values{"token": {token}}); status != http.StatusOK {
		t.Errorf("revocation: %d", status)
	}
	if _, err := c.Config(t.Context()); err == nil {
		t.Error("a revoked token is accepted")
	}
	if status, _ := askJSON(t, m.Revocation, "", url.Values{"token": {token}}); status != http.StatusOK {
		t.Errorf("revocation once more: %d", status)
	}
}

func TestIndieAuthSignInWorksAcrossTwoNodes(t *testing.T) {
	t.Parallel()
	database := storetest.Postgres(t)
	const public = "http://hub.example"
	node := func() *running {
		cfg := conf(t, t.TempDir())
		cfg.Database, cfg.Accounts.SecretKey, cfg.PublicURL = database, "the same on all nodes", public
		return start(t, cfg)
	}
	a, b := node(), node()
	a.addAlice()
	// Behind a load balancer, the user opens the page at one node and decides at another node.
	// The app can redeem the code at either node.
	browser := a.appBrowser(t)
	browser.r = b
	code := func() string {
		t.Helper()
		to, q := browser.decide(authURL(indieauth.Metadata{Authorization: a.base + "/auth"}, localApp), "allow", "profile", "create", "read")
		if q.Get("iss") != public+"/" || q.Get("code") == "" {
			t.Fatal(to)
		}
		return q.Get("code")
	}
	for _, r := range []*running{a, b} {
		if status, v := exchange(t, r.base+"/token", localApp, "x"+code()); status != http.StatusBadRequest || v["error"] != "invalid_grant" {
			t.Errorf("a code that no node made: %d %v", status, v)
		}
	}
	first := code()
	status, v := exchange(t, a.base+"/token", localApp, first)
	token, _ := v["access_token"].(string)
	if status != http.StatusOK || token == "" || v["me"] != public+"/alice/" || v["scope"] != "create read profile" {
		t.Fatalf("%d %v", status, v)
	}
	for _, r := range []*running{a, b} {
		if status, v := askJSON(t, r.base+"/token/introspect", token, url.Values{"token": {token}}); status != http.StatusOK || v["active"] != true {
			t.Errorf("introspection: %d %v", status, v)
		}
	}
	if status, v := exchange(t, b.base+"/token", localApp, first); status != http.StatusBadRequest || v["error"] != "invalid_grant" {
		t.Errorf("the same code at the other node: %d %v", status, v)
	}
	for _, r := range []*running{a, b} {
		if status, _ := askJSON(t, r.base+"/token/introspect", token, url.Values{"token": {token}}); status != http.StatusUnauthorized {
			t.Errorf("the token of a code that came twice: %d", status)
		}
	}
	status, v = exchange(t, b.base+"/token", localApp, code())
	if token, _ = v["access_token"].(string); status != http.StatusOK || token == "" {
		t.Fatalf("%d %v", status, v)
	}
	if status, _ := askJSON(t, a.base+"/token/revoke", "", url.Values{"token": {token}}); status != http.StatusOK {
		t.Errorf("revocation: %d", status)
	}
	if status, _ := askJSON(t, b.base+"/token/introspect", token, url.Values{"token": {token}}); status != http.StatusUnauthorized {
		t.Errorf("a token that was revoked at the other node: %d", status)
	}
}

func TestAuthorizationCodeWithoutScopesReturnsOnlyTheIdentity(t *testing.T) {
	t.Parallel()
	r := start(t, conf(t, t.TempDir()))
	r.addAlice()
	m, b := r.metadata(t, "/alice/"), r.appBrowser(t)
	_, q := b.decide(authURL(m, localApp, "scope", "", "code_challenge", "", "code_challenge_method", ""), "allow")
	if status, v := exchange(t, m.Token, localApp, q.Get("code"), "code_verifier", ""); status != http.StatusBadRequest || v["error"] != "invalid_scope" {
		t.Errorf("a token for nothing: %d %v", status, v)
	}
	if status, v := exchange(t, m.Authorization, localApp, q.Get("code")); status != http.StatusBadRequest || v["error"] != "invalid_grant" {
		t.Errorf("a verifier without a challenge: %d %v", status, v)
	}
	if status, v := exchange(t, m.Authorization, localApp, q.Get("code"), "code_verifier", ""); status != http.StatusOK || v["me"] != r.base+"/alice/" || len(v) != 1 {
		t.Errorf("%d %v", status, v)
	}
	if status, v := exchange(t, m.Authorization, localApp, q.Get("code"), "code_verifier", ""); status != http.StatusBadRequest || v["error"] != "invalid_grant" {
		t.Errorf("the same code again: %d %v", status, v)
	}
	to, q := b.decide(authURL(m, localApp), "deny", "create")
	if q.Get("error") != "access_denied" || q.Get("code") != "" || q.Get("state") != "1 2" || q.Get("iss") != m.Issuer {
		t.Errorf("refused by the user: %s", to)
	}
}

func TestInvalidAuthorizationRequestsAreRejected(t *testing.T) {
	t.Parallel()
	r := start(t, conf(t, t.TempDir()))
	r.addAlice()
	m, b := r.metadata(t, "/alice/"), r.appBrowser(t)
	for what, pairs := range map[string][]string{
		"invalid_request": {"code_challenge_method", "plain"}, "unsupported_response_type": {"response_type", "token"},
	} {
		status, to, _ := b.send(authURL(m, localApp, pairs...), nil)
		if u, err := url.Parse(to); err != nil || status != http.StatusFound || u.Query().Get("error") != what || u.Query().Get("state") != "1 2" {
			t.Errorf("%v: %d %s", pairs, status, to)
		}
	}
	for _, pairs := range [][]string{{"client_id", "no"}, {"redirect_uri", "http://127.0.0.1:10/cb"}, {"redirect_uri", "javascript:x"}, {"redirect_uri", ""}} {
		if status, to, page := b.send(authURL(m, localApp, pairs...), nil); status != http.StatusBadRequest || to != "" || !strings.Contains(page, "cannot sign you in") {
			t.Errorf("%v: %d %s", pairs, status, to)
		}
	}
	for _, form := range []url.Values{{"ask": {"x"}, "decision": {"allow"}}, {"decision": {"allow"}}} {
		if status, to, _ := b.send(r.base+"/auth/decide", form); status != http.StatusForbidden || to != "" {
			t.Errorf("a form that this server did not make: %d %s", status, to)
		}
	}
	b.Jar = nil
	if status, to, _ := b.send(authURL(m, localApp), nil); status != http.StatusSeeOther || !strings.HasPrefix(to, "/login?next=%2Fauth%3F") {
		t.Errorf("without a session: %d %s", status, to)
	}
}
