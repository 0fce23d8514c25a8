package web

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
	"cloudburst/internal/web/accountui"
)

// theCookie returns the cookie of a response with the given name.
func theCookie(t *testing.T, rec *httptest.ResponseRecorder, name string) *http.Cookie {
	t.Helper()
	for _, c := range rec.Result().Cookies() {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no cookie %s in %v", name, rec.Header()["Set-Cookie"])
	return nil
}

func TestSignInBeginsANewSessionAndEndsThePreviousOne(t *testing.T) {
	t.Parallel()
	x := newAccountHarness(t).as("bob")
	before := x.cookie
	rec := x.send("/login", "name", "alice", "password", "correct horse", "next", "/account/private")
	c := theCookie(t, rec, "cloudburst")
	if rec.Code != 303 || rec.Header().Get("Location") != "/account/private" {
		t.Errorf("%d to %s", rec.Code, rec.Header().Get("Location"))
	}
	if c.Value == before || !c.HttpOnly || c.Secure || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" {
		t.Errorf("the cookie is %+v", c)
	}
	if _, still := x.fakeAccounts.sessions[before]; still {
		t.Error("the session before goes on")
	}
	if got := x.fakeAccounts.callers; len(got) != 1 || got[0] != (account.Caller{Addr: addr("203.0.113.9"), Via: "page"}) {
		t.Errorf("the accounts were asked for %+v", got)
	}
	x.cookie = c.Value
	if rec := x.open("/"); !strings.Contains(rec.Body.String(), `href="/account"`) || rec.Header().Get("Cache-Control") != "private, no-cache" || !strings.Contains(strings.Join(rec.Header()["Vary"], ","), "Cookie") {
		t.Errorf("the front page does not know alice: %v", rec.Header())
	}
}

func TestSessionCookieOverTLSHasTheHostPrefix(t *testing.T) {
	t.Parallel()
	for _, byProxy := range []bool{true, false} {
		x := newAccountHarness(t)
		r := httptest.NewRequest("POST", "/login", strings.NewReader("name=alice&password=correct+horse"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if byProxy {
			x.PublicURL = "https://hub.example"
			x.rebuild()
		} else {
			r.TLS = &tls.ConnectionState{}
		}
		c := theCookie(t, x.do(r), "__Host-cloudburst")
		if !c.Secure || !c.HttpOnly || c.Path != "/" || c.Domain != "" {
			t.Errorf("the cookie is %+v", c)
		}
		// Over TLS, the server must ignore the cookie name that it uses over plain HTTP, because an attacker on
		// the network could have set such a cookie.
		r = httptest.NewRequest("GET", "/account", nil)
		r.TLS = &tls.ConnectionState{}
		r.AddCookie(&http.Cookie{Name: "cloudburst", Value: c.Value})
		if rec := x.do(r); rec.Code != 303 {
			t.Errorf("the other name lets in: %d", rec.Code)
		}
	}
}

func TestRefusedSignInShowsOneMessageAndForgetsThePassword(t *testing.T) {
	t.Parallel()
	x := newAccountHarness(t)
	var bodies []string
	for _, name := range []string{"alice", "nobody"} {
		rec := x.send("/login", "name", name, "password", "hunter2hunter2", "next", "/account/feed")
		check(t, rec)
		if rec.Code != 403 || rec.Header().Get("Cache-Control") != "no-store" || len(rec.Result().Cookies()) > 0 {
			t.Errorf("%s: %d %v", name, rec.Code, rec.Header())
		}
		body := rec.Body.String()
		if strings.Contains(body, "hunter2") || !strings.Contains(body, `value="/account/feed"`) {
			t.Errorf("the page has the password, or lost where to go:\n%s", body)
		}
		bodies = append(bodies, strings.ReplaceAll(body, name, "NAME"))
	}
	if bodies[0] != bodies[1] {
		t.Error("a wrong password and an unknown name look different")
	}
	rec := x.send("/login", "name", "alice", "password", "too often")
	check(t, rec)
	if rec.Code != 429 || rec.Header().Get("Retry-After") != "90" || !strings.Contains(rec.Body.String(), "Try again in 1 min.") {
		t.Errorf("%d, Retry-After %q:\n%s", rec.Code, rec.Header().Get("Retry-After"), rec.Body)
	}
}

func TestSpacesInPasswordsAreKept(t *testing.T) {
	t.Parallel()
	x := newAccountHarness(t)
	x.fakeAccounts.with("carol", "  spaces and \t tabs ")
	if rec := x.send("/login", "name", " carol ", "password", "  spaces and \t tabs "); rec.Code != 303 {
		t.Errorf("status %d", rec.Code)
	}
}

func TestSignedOutUsersReturnToThePageAfterSignIn(t *testing.T) {
	t.Parallel()
	x := newAccountHarness(t)
	for _, path := range []string{"/account", "/account/feed", "/account/private"} {
		rec := x.open(path)
		if want := "/login?next=" + url.QueryEscape(path); rec.Code != 303 || rec.Header().Get("Location") != want || rec.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d to %s, %v", path, rec.Code, rec.Header().Get("Location"), rec.Header())
		}
	}
	for _, path := range []string{"/account/password", "/account/sessions/end", "/account/tokens", "/account/tokens/revoke", "/account/private", "/account/private/revoke",
		"/account/feed", "/account/feed/move", "/account/feed/end", "/account/feed/restore"} {
		if rec := x.send(path, "name", "rss", "sure", "yes", "label", "x", "scope", "read", "reader", "x"); rec.Code != 303 || rec.Header().Get("Location") != "/login?next=%2Faccount" {
			t.Errorf("POST %s: %d to %s", path, rec.Code, rec.Header().Get("Location"))
		}
	}
	if len(x.fakeAccounts.tokens)+len(x.fakeAccounts.secrets) > 0 {
		t.Error("a signed-out client created something")
	}
}

func TestSignOutEndsTheSession(t *testing.T) {
	t.Parallel()
	x := newAccountHarness(t).as("alice")
	if rec := x.open("/logout"); rec.Code != 405 {
		t.Errorf("a link signs out: %d", rec.Code)
	}
	rec := x.send("/logout")
	if c := theCookie(t, rec, "cloudburst"); c.MaxAge >= 0 || c.Value != "" || len(x.fakeAccounts.sessions) > 0 {
		t.Errorf("%+v, sessions %v", c, x.fakeAccounts.sessions)
	}
}

func TestAccountFormsFromOtherSitesAreRejected(t *testing.T) {
	t.Parallel()
	x := newAccountHarness(t).as("alice")
	for _, path := range []string{"/login", "/logout", "/account/feed/end", "/account/tokens"} {
		r := httptest.NewRequest("POST", path, strings.NewReader("name=rss&sure=yes&label=x&scope=read"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		if rec := x.do(r); rec.Code != 403 {
			t.Errorf("%s: %d", path, rec.Code)
		}
	}
	if len(x.fakeAccounts.sessions) != 1 || len(x.fakeAccounts.tokens) != 0 {
		t.Error("something was done")
	}
}

func TestFirstAccountNeedsSetupTokenThatIsRemovedFromTheURL(t *testing.T) {
	t.Parallel()
	x := newAccountHarness(t)
	x.fakeAccounts.first = "k3v9-7qpd"
	clear(x.fakeAccounts.users)
	if rec := x.open("/login"); rec.Code != 303 || rec.Header().Get("Location") != "/setup" {
		t.Errorf("/login: %d to %s", rec.Code, rec.Header().Get("Location"))
	}
	if rec := x.open("/"); !strings.Contains(rec.Body.String(), `href="/setup"`) {
		t.Error("the front page does not lead to the first account")
	}
	rec := x.open("/setup?token=k3v9-7qpd")
	c := theCookie(t, rec, accountui.SetupCookie)
	if rec.Code != 303 || rec.Header().Get("Location") != "/setup" || rec.Header().Get("Referrer-Policy") != "no-referrer" || !c.HttpOnly || c.Path != "/setup" || c.MaxAge > 3600 {
		t.Errorf("%d %v %+v", rec.Code, rec.Header(), c)
	}
	r := httptest.NewRequest("GET", "/setup", nil)
	r.AddCookie(c)
	rec = x.do(r)
	check(t, rec)
	if !strings.Contains(rec.Body.String(), `value="k3v9-7qpd"`) || rec.Header().Get("Referrer-Policy") != "no-referrer" || rec.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("%v\n%s", rec.Header(), rec.Body)
	}
	for field, form := range map[string][]string{
		"c-token":    {"token", "wrong", "name", "alice", "password", "long enough"},
		"c-name":     {"token", "k3v9-7qpd", "name", "Alice!", "password", "long enough"},
		"c-password": {"token", "k3v9-7qpd", "name", "alice", "password", "short"},
	} {
		rec := x.send("/setup", form...)
		check(t, rec)
		if body := rec.Body.String(); rec.Code < 400 || !strings.Contains(body, `id="`+field+`-wrong"><p`) || strings.Count(body, "aria-invalid") != 1 {
			t.Errorf("%s: %d\n%s", field, rec.Code, body)
		}
	}
	rec = x.send("/setup", "token", "k3v9-7qpd", "name", "alice", "password", "long enough")
	if rec.Code != 303 || rec.Header().Get("Location") != "/account" || len(x.fakeAccounts.sessions) != 1 || theCookie(t, rec, accountui.SetupCookie).MaxAge >= 0 {
		t.Errorf("%d to %s, sessions %v", rec.Code, rec.Header().Get("Location"), x.fakeAccounts.sessions)
	}
	if rec := x.open("/setup"); rec.Code != 303 || rec.Header().Get("Location") != "/login" {
		t.Errorf("afterwards: %d to %s", rec.Code, rec.Header().Get("Location"))
	}
	if rec := x.send("/setup", "token", "", "name", "mallory", "password", "long enough"); rec.Code != 303 || x.fakeAccounts.users["mallory"].Name != "" {
		t.Errorf("a second one: %d", rec.Code)
	}
}

func TestSignInLeadsToTheRiverOrTheRequestedPage(t *testing.T) {
	t.Parallel()
	x := newWriteHarness(t)
	x.Registration = func() bool { return true }
	x.rebuild()
	for _, c := range []struct{ next, want string }{{"", "/river"}, {"/account/private", "/account/private"}, {"//evil.example/", "/river"}, {"https://evil.example/", "/river"}} {
		if rec := x.send("/login", "name", "alice", "password", "correct horse", "next", c.next); rec.Code != 303 || rec.Header().Get("Location") != c.want {
			t.Errorf("next %q: %d to %s, not %s", c.next, rec.Code, rec.Header().Get("Location"), c.want)
		}
	}
	if rec := x.send("/signup", "name", "carol", "password", "long enough"); rec.Header().Get("Location") != "/river/welcome" {
		t.Errorf("a new account leads to %s", rec.Header().Get("Location"))
	}
	if rec := x.as("alice").open("/login"); rec.Header().Get("Location") != "/river" {
		t.Errorf("a signed-in user is redirected to %s", rec.Header().Get("Location"))
	}
	x.fakeAccounts.first = "k3v9-7qpd"
	clear(x.fakeAccounts.users)
	if rec := x.send("/setup", "token", "k3v9-7qpd", "name", "ann", "password", "long enough"); rec.Header().Get("Location") != "/river/welcome" {
		t.Errorf("the first account leads to %s", rec.Header().Get("Location"))
	}
	x = newWriteHarness(t).as("alice")
	x.River = nil
	x.pages = x.Routes()
	if rec := x.open("/login"); rec.Header().Get("Location") != "/write" {
		t.Errorf("without a river, signing in leads to %s", rec.Header().Get("Location"))
	}
}

func TestSignUpIsRejectedIfRegistrationIsClosed(t *testing.T) {
	t.Parallel()
	x := newAccountHarness(t)
	for _, rec := range []*httptest.ResponseRecorder{x.open("/signup"), x.send("/signup", "name", "carol", "password", "long enough")} {
		check(t, rec)
		if rec.Code != 404 || !strings.Contains(rec.Body.String(), "Sign-up is closed") {
			t.Errorf("%d\n%s", rec.Code, rec.Body)
		}
	}
	x.Registration = func() bool { return true }
	x.rebuild()
	if rec := x.open("/signup"); rec.Code != 200 {
		t.Errorf("status %d", rec.Code)
	}
	rec := x.send("/signup", "name", "alice", "password", "long enough")
	check(t, rec)
	if rec.Code != 409 || !strings.Contains(rec.Body.String(), `id="c-name-wrong"><p`) {
		t.Errorf("a name that is taken: %d", rec.Code)
	}
	if rec := x.send("/signup", "name", "carol", "password", "long enough"); rec.Code != 303 || x.fakeAccounts.users["carol"].Name != "carol" || len(x.fakeAccounts.sessions) != 1 {
		t.Errorf("%d, %v", rec.Code, x.fakeAccounts.sessions)
	}
}

func TestUnavailableStoreShowsErrorInsteadOfSignIn(t *testing.T) {
	t.Parallel()
	x := newAccountHarness(t).as("alice")
	x.fakeAccounts.sessionErr = &fault.Error{Code: fault.Unavailable, Msg: "The database is away.", RetryAfter: 5 * time.Second}
	if rec := x.open("/account"); rec.Code != 503 || rec.Header().Get("Retry-After") != "5" {
		t.Errorf("%d %v", rec.Code, rec.Header())
	}
	if rec := x.open("/docs"); rec.Code != 200 {
		t.Errorf("the documentation: %d", rec.Code)
	}
}

func TestServerWithoutAccountsHasNoSignInPage(t *testing.T) {
	t.Parallel()
	w, _ := newWeb(t, newFake())
	h := w.Routes()
	for _, path := range []string{"/login", "/setup", "/signup", "/account", "/account/feed"} {
		if rec := get(t, h, path); rec.Code != 404 {
			t.Errorf("%s: %d", path, rec.Code)
		}
	}
	if body := get(t, h, "/").Body.String(); strings.Contains(body, "Sign in") || strings.Contains(body, "/setup") {
		t.Error("the front page leads there")
	}
	rec := httptest.NewRecorder()
	w.AuthorPage()(rec, httptest.NewRequest("GET", "/alice/", nil), "alice")
	if check(t, rec); rec.Code != 404 {
		t.Errorf("the author's page: %d", rec.Code)
	}
}
