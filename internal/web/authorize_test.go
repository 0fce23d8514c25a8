package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
	"cloudburst/protocol/indieauth"
)

// fakeApps contains the metadata of programs. key: URL of the program
type fakeApps map[string]indieauth.Client

func (a fakeApps) Client(_ context.Context, id string) (indieauth.Client, error) {
	c, ok := a[id]
	if c.ID = id; !ok {
		return c, fault.New(fault.Unreadable, "The page of the app could not be read: it is away.")
	}
	return c, nil
}

func newAppHarness(t *testing.T) *accountHarness {
	t.Helper()
	x := newAccountHarness(t)
	x.Apps = fakeApps{"https://app.example/": {Name: `The <b>App`, Logo: "https://app.example/l.png", Redirects: []string{"app.example:/cb"}}}
	x.Rels = [][2]string{{"authorization_endpoint", "/auth"}}
	x.pages, x.author = x.Routes(), x.AuthorPage()
	return x.as("alice")
}

func authPath(pairs ...string) string {
	q := url.Values{"response_type": {"code"}, "client_id": {"https://app.example/"}, "redirect_uri": {"https://app.example/cb"}, "state": {"s"}, "scope": {"post profile email draft"},
		"code_challenge": {"E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"}, "code_challenge_method": {"S256"}}
	for i := 0; i < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return "/auth?" + q.Encode()
}

func TestConsentPageShowsTheProgramAndItsPermissions(t *testing.T) {
	t.Parallel()
	x := newAppHarness(t)
	rec := x.open(authPath())
	page := rec.Body.String()
	for _, want := range []string{"The &lt;b&gt;App", "https://app.example/", "/alice/", `value="create" checked`, `value="profile" checked`, `value="email" checked`, `name="ask"`} {
		if rec.Code != http.StatusOK || !strings.Contains(page, want) {
			t.Errorf("%d, no %s: %s", rec.Code, want, page)
		}
	}
	for _, not := range []string{`value="draft"`, `value="post"`, `value="delete"`, "could not be read", "older form", "sends you on", "l.png"} {
		if strings.Contains(page, not) {
			t.Errorf("there is %s: %s", not, page)
		}
	}
	// Browsers apply form-action also to the redirect after a form. This redirect leads to the program, so
	// form-action would block it.
	csp := rec.Header().Get("Content-Security-Policy")
	if strings.Contains(csp, "form-action") || !strings.Contains(csp, "default-src 'none'") || !strings.Contains(csp, "frame-ancestors 'none'") || rec.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("%v", rec.Header())
	}
	if page := x.open(authPath("redirect_uri", "app.example:/cb")).Body.String(); !strings.Contains(page, "sends you on") {
		t.Error(page)
	}
	if page := x.open(authPath("client_id", "https://away.example/", "redirect_uri", "https://away.example/cb", "code_challenge", "", "code_challenge_method", "")).Body.String(); !strings.Contains(page, "it is away") || !strings.Contains(page, "older form") {
		t.Error(page)
	}
	for _, bad := range []string{authPath("redirect_uri", "https://evil.example/cb"), authPath("client_id", "https://away.example/"), authPath("client_id", ""), authPath("redirect_uri", "javascript:x")} {
		if rec := x.open(bad); rec.Code != http.StatusBadRequest || rec.Header().Get("Location") != "" || !strings.Contains(rec.Body.String(), "cannot sign you in") {
			t.Errorf("%s: %d %v", bad, rec.Code, rec.Header())
		}
	}
}

func TestAuthorizationDecisionOfAnotherUserIsRejected(t *testing.T) {
	t.Parallel()
	x := newAppHarness(t)
	ask, err := x.fakeAccounts.SealRequest(x.Context(), account.Authorization{User: "alice", ClientID: "https://app.example/", RedirectURI: "https://app.example/cb", State: "s"})
	if err != nil {
		t.Fatal(err)
	}
	rec := x.send("/auth/decide", "ask", ask, "decision", "allow", "scope", "create", "scope", "root", "scope", "email")
	if to := rec.Header().Get("Location"); rec.Code != http.StatusSeeOther || to != "https://app.example/cb?code=code+for+email%2Ccreate&iss="+url.QueryEscape(x.PublicURL)+"%2F&state=s" {
		t.Errorf("%d %s", rec.Code, to)
	}
	if to := x.send("/auth/decide", "ask", ask).Header().Get("Location"); !strings.Contains(to, "error=access_denied") || strings.Contains(to, "code=") {
		t.Errorf("without a decision: %s", to)
	}
	if rec := x.as("bob").send("/auth/decide", "ask", ask, "decision", "allow"); rec.Code != http.StatusForbidden {
		t.Errorf("another user: %d %v", rec.Code, rec.Header())
	}
	x.cookie = ""
	if rec := x.send("/auth/decide", "ask", ask, "decision", "allow"); rec.Code != http.StatusSeeOther || !strings.HasPrefix(rec.Header().Get("Location"), "/login") {
		t.Errorf("signed out: %d %v", rec.Code, rec.Header())
	}
	r := httptest.NewRequest("POST", "/auth/decide", strings.NewReader(url.Values{"ask": {ask}, "decision": {"allow"}}.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	if rec := x.as("alice").do(r); rec.Code != http.StatusForbidden || rec.Header().Get("Location") != "" {
		t.Errorf("from another site: %d %v", rec.Code, rec.Header())
	}
}

func TestProfilePagesLinkToIndieAuthEndpointsEvenForUnknownUsers(t *testing.T) {
	t.Parallel()
	x := newAppHarness(t)
	x.cookie = ""
	want := "<" + x.PublicURL + `/micropub>; rel="micropub", <` + x.PublicURL + `/auth>; rel="authorization_endpoint"`
	for _, user := range []string{"alice", "bob", "nobody"} {
		if rec := x.page(user, ""); rec.Header().Get("Link") != want {
			t.Errorf("%s: %d %v", user, rec.Code, rec.Header())
		}
	}
	if rec := x.open("/"); rec.Header().Get("Link") != want || !strings.Contains(rec.Body.String(), `<link rel="authorization_endpoint" href="/auth">`) {
		t.Errorf("%v", rec.Header())
	}
}
