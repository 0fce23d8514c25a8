package web

import (
	"bytes"
	"context"
	"maps"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"cloudburst/internal/account"
	"cloudburst/internal/admin"
	"cloudburst/internal/author"
	"cloudburst/internal/web/adminui"
	"cloudburst/internal/web/shell"
)

const small = `<rss version="2.0"><channel><title>Small</title><link>https://a.example/</link><description>d</description><item><title>One</title><guid>https://a.example/1</guid></item></channel></rss>`

func TestAccountPagesAreValidAndNotCached(t *testing.T) {
	t.Parallel()
	x := newAccountHarness(t).as("alice")
	x.save("alice", author.Public, small)
	x.fakeAccounts.tokens = []account.Token{{ID: "t1", User: "alice", Label: "script", Scopes: []string{"create"}, CreatedAt: x.fake.now}}
	x.fakeAccounts.secrets = []account.Secret{{Selector: "s1", User: "alice", Feed: "private", Reader: "Anna", CreatedAt: x.fake.now}}
	for _, path := range []string{"/account", "/account/tokens", "/account?done=password", "/account?done=<b>", "/account/feed", "/account/private", "/account/nothing"} {
		rec := x.open(path)
		check(t, rec)
		if path == "/account/nothing" {
			continue
		}
		if rec.Code != 200 || rec.Header().Get("Cache-Control") != "no-store" || rec.Header().Get("Content-Security-Policy") != shell.Policy {
			t.Errorf("%s: %d %v", path, rec.Code, rec.Header())
		}
	}
	for path, form := range map[string][]string{
		"/account/tokens/revoke":  {"id", "t1"},
		"/account/private/revoke": {"selector", "s1"},
		"/account/feed/move":      {"name", "rss", "to", "https://new.example/rss.xml"},
		"/account/feed/end":       {"name", "rss"},
		"/account/feed/restore":   {"name", "private"},
		"/account/tokens":         {"label", "x", "scope", "read"},
		"/account/private":        {"reader", "x"},
	} {
		rec := x.send(path, form...)
		check(t, rec)
		if rec.Code != 200 || rec.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %v", path, rec.Code, rec.Header())
		}
	}
	if len(x.fakeAccounts.tokens) != 2 || len(x.fakeAccounts.secrets) != 2 || x.fakeFeeds.feeds["alice/rss"].Gone || x.fakeFeeds.feeds["alice/rss"].MovedTo != "" {
		t.Error("something was done that was not confirmed")
	}
}

func TestPasswordChangeNeedsTheCurrentPasswordAndEndsOtherSessions(t *testing.T) {
	t.Parallel()
	x := newAccountHarness(t).as("alice").as("alice")
	rec := x.send("/account/password", "old", "wrong", "new", "a new password")
	check(t, rec)
	if rec.Code != 403 || !strings.Contains(rec.Body.String(), `id="p-old-wrong"><p`) || x.fakeAccounts.pass["alice"] != "correct horse" {
		t.Errorf("%d, the password is %q", rec.Code, x.fakeAccounts.pass["alice"])
	}
	rec = x.send("/account/password", "old", "correct horse", "new", "short")
	check(t, rec)
	if rec.Code != 400 || !strings.Contains(rec.Body.String(), `id="p-new-wrong"><p`) {
		t.Errorf("a short one: %d", rec.Code)
	}
	rec = x.send("/account/password", "old", "correct horse", "new", "a new password")
	if rec.Code != 303 || x.fakeAccounts.pass["alice"] != "a new password" || len(x.fakeAccounts.sessions) != 1 {
		t.Errorf("%d, %d sessions", rec.Code, len(x.fakeAccounts.sessions))
	}
	x.cookie = theCookie(t, rec, "cloudburst").Value
	if rec := x.open(rec.Header().Get("Location")); rec.Code != 200 || !strings.Contains(rec.Body.String(), "The password is changed.") {
		t.Errorf("this browser was signed out too: %d", rec.Code)
	}
}

func TestUserCanEndOnlyTheirOwnSessions(t *testing.T) {
	t.Parallel()
	x := newAccountHarness(t).as("bob").as("alice").as("alice")
	for cookie, s := range x.fakeAccounts.sessions {
		if cookie != x.cookie {
			x.send("/account/sessions/end", "id", s.ID)
		}
	}
	var left []string
	for _, s := range x.fakeAccounts.sessions {
		left = append(left, s.User)
	}
	slices.Sort(left)
	if !slices.Equal(left, []string{"alice", "bob"}) {
		t.Errorf("left are %v", left)
	}
}

func TestTokenIsShownOnceAndRevokedAfterConfirmation(t *testing.T) {
	t.Parallel()
	x := newAccountHarness(t).as("alice")
	rec := x.send("/account/tokens", "label", " my script ", "scope", "create", "scope", "update", "scope", "root", "scope", "create")
	check(t, rec)
	if got := x.fakeAccounts.tokens; len(got) != 1 || got[0].Label != "my script" || !slices.Equal(got[0].Scopes, []string{"create", "update"}) || got[0].User != "alice" {
		t.Fatalf("tokens %+v", got)
	}
	plain := "cb_plain-" + x.fakeAccounts.tokens[0].ID
	if !strings.Contains(rec.Body.String(), plain) || strings.Contains(x.open("/account/tokens").Body.String(), plain) {
		t.Error("the token is not shown just once")
	}
	for _, form := range [][]string{{"label", "", "scope", "read"}, {"label", "x"}, {"label", "x", "scope", "everything"}} {
		rec := x.send("/account/tokens", form...)
		check(t, rec)
		if rec.Code != 400 || strings.Count(rec.Body.String(), `-wrong"><p`) != 1 {
			t.Errorf("%v: %d", form, rec.Code)
		}
	}
	id := x.fakeAccounts.tokens[0].ID
	if x.as("bob").send("/account/tokens/revoke", "id", id, "sure", "yes"); len(x.fakeAccounts.tokens) != 1 {
		t.Error("another user revoked it")
	}
	if rec := x.as("alice").send("/account/tokens/revoke", "id", id, "sure", "yes"); rec.Code != 303 || len(x.fakeAccounts.tokens) != 0 {
		t.Errorf("%d, %v", rec.Code, x.fakeAccounts.tokens)
	}
}

func TestSecretIsShownOnceAsURLAndCredentials(t *testing.T) {
	t.Parallel()
	x := newAccountHarness(t).as("alice")
	rec := x.send("/account/private", "reader", "Anna, on her phone")
	check(t, rec)
	body := html.UnescapeString(rec.Body.String())
	sel := x.fakeAccounts.secrets[0].Selector
	for _, want := range []string{"http://hub.example:5337/alice/private/" + sel + ".plain-" + sel + "/rss.xml", "http://hub.example:5337/alice/private/rss.xml<", ">" + sel + "<", ">plain-" + sel + "<", "WSSE"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page does not have %s", want)
		}
	}
	if rec := x.open("/account/private"); strings.Contains(rec.Body.String(), "plain-") || !strings.Contains(rec.Body.String(), "Anna, on her phone") {
		t.Error("the list shows the secret, or not its reader")
	}
	rec = x.send("/account/private", "reader", "Anna, on her phone")
	if check(t, rec); rec.Code != 409 || !strings.Contains(rec.Body.String(), `id="r-private-wrong"><p`) {
		t.Errorf("the same again: %d", rec.Code)
	}
	rec = x.send("/account/private", "reader", " ")
	if check(t, rec); rec.Code != 400 {
		t.Errorf("signed out: %d", rec.Code)
	}
	if rec := x.send("/account/private/revoke", "selector", sel, "sure", "yes"); rec.Code != 303 || len(x.fakeAccounts.secrets) != 0 {
		t.Errorf("%d, %v", rec.Code, x.fakeAccounts.secrets)
	}
}

// upload sends a file for the hosted feed with the name feed, as the form on the page does. name is the
// name of the file; "": the user has chosen no file.
func (x *accountHarness) upload(path, feed, name string, doc []byte) *httptest.ResponseRecorder {
	x.Helper()
	var body bytes.Buffer
	m := multipart.NewWriter(&body)
	if err := m.WriteField("name", feed); err != nil {
		x.Fatal(err)
	}
	part, err := m.CreateFormFile("feed", name)
	if err == nil {
		_, err = part.Write(doc)
	}
	if err == nil {
		err = m.Close()
	}
	if err != nil {
		x.Fatal(err)
	}
	r := httptest.NewRequest("POST", path, &body)
	r.Header.Set("Content-Type", m.FormDataContentType())
	return x.do(r)
}

func TestUploadedFeedIsSavedUnchanged(t *testing.T) {
	t.Parallel()
	x := newAccountHarness(t).as("alice")
	for _, name := range []string{author.Public, author.Private} {
		if rec := x.upload("/account/feed", name, "rss.xml", []byte(small)); rec.Code != 303 || string(x.fakeFeeds.docs["alice/"+name]) != small {
			t.Errorf("%s: %d, saved is %q", name, rec.Code, x.fakeFeeds.docs["alice/"+name])
		}
	}
	js := `{"version": "https://jsonfeed.org/version/1.1", "title": "J", "items": []}`
	if rec := x.upload("/account/feed", "rss", "feed.json", []byte(js)); rec.Code != 303 || x.fakeFeeds.feeds["alice/rss"].Type != "application/feed+json" {
		t.Errorf("JSON: %d, %+v", rec.Code, x.fakeFeeds.feeds["alice/rss"])
	}
	rec := x.open("/account/feed?done=saved")
	check(t, rec)
	for _, want := range []string{"The feed is saved.", "http://hub.example:5337/alice/rss.xml", "/alice/feed.atom", "/alice/feed?format=rss091", ">J<"} {
		if !strings.Contains(html.UnescapeString(rec.Body.String()), want) {
			t.Errorf("the page does not have %s", want)
		}
	}
}

func TestUploadThatIsNotAFeedIsRejectedAndTheOldFeedKept(t *testing.T) {
	t.Parallel()
	x := newAccountHarness(t).as("alice")
	x.save("alice", "rss", small)
	for name, rec := range map[string]*httptest.ResponseRecorder{
		"no feed":       x.upload("/account/feed", "rss", "x.xml", []byte("<html><body>hello")),
		"nothing":       x.upload("/account/feed", "rss", "", nil),
		"empty":         x.upload("/account/feed", "rss", "x.xml", nil),
		"too large":     x.upload("/account/feed", "rss", "x.xml", bytes.Repeat([]byte("x"), author.MaxDocument+1)),
		"far too large": x.upload("/account/feed", "rss", "x.xml", bytes.Repeat([]byte("x"), 2*author.MaxDocument)),
		"no multipart":  x.send("/account/feed", "name", "rss"),
	} {
		check(t, rec)
		if rec.Code < 400 || rec.Code > 499 || !strings.Contains(rec.Body.String(), `id="f-feed-wrong"><p`) {
			t.Errorf("%s: %d", name, rec.Code)
		}
	}
	if string(x.fakeFeeds.docs["alice/rss"]) != small {
		t.Error("the old one is gone")
	}
	for _, path := range []string{"/login", "/account/tokens", "/account/feed/move"} {
		if rec := x.upload(path, "rss", "x.xml", []byte(small)); rec.Code != 400 {
			t.Errorf("%s takes files: %d", path, rec.Code)
		}
	}
}

func TestFeedIsMovedEndedAndRestoredAfterConfirmation(t *testing.T) {
	t.Parallel()
	x := newAccountHarness(t).as("alice")
	x.save("alice", "rss", small)
	feed := func() author.Feed { return x.fakeFeeds.feeds["alice/rss"] }
	for _, to := range []string{"", "new.example/rss.xml", "javascript:alert(1)", "/rss.xml", "https://user@new.example/"} {
		rec := x.send("/account/feed/move", "name", "rss", "to", to, "sure", "yes")
		check(t, rec)
		if rec.Code != 400 || feed().MovedTo != "" || !strings.Contains(rec.Body.String(), `id="to-rss-wrong"><p`) {
			t.Errorf("%q: %d, moved to %q", to, rec.Code, feed().MovedTo)
		}
	}
	asked := x.send("/account/feed/move", "name", "rss", "to", "https://new.example/rss.xml").Body.String()
	for _, want := range []string{"http://hub.example:5337/alice/rss.xml", "https://new.example/rss.xml", "301", `name="sure"`} {
		if !strings.Contains(asked, want) {
			t.Errorf("the question does not have %s", want)
		}
	}
	for _, step := range []struct {
		what, want string
		ok         func() bool
	}{
		{"move", "redirects its readers to the new", func() bool { return feed().MovedTo == "https://new.example/rss.xml" }},
		{"restore", "The feed is restored", func() bool { return feed().MovedTo == "" && !feed().Gone }},
		{"for-now", "temporarily", func() bool { return feed().MovedTo == "https://new.example/rss.xml" && feed().Temporary }},
		{"restore", "The feed is restored", func() bool { return feed().MovedTo == "" && !feed().Temporary }},
		{"end", "gone", func() bool { return feed().Gone }},
		{"restore", "The feed is restored", func() bool { return !feed().Gone }},
	} {
		rec := x.send("/account/feed/"+step.what, "name", "rss", "to", "https://new.example/rss.xml", "sure", "yes")
		page := x.open(rec.Header().Get("Location"))
		check(t, page)
		if rec.Code != 303 || !step.ok() || !strings.Contains(page.Body.String(), step.want) {
			t.Errorf("%s: %d, %+v", step.what, rec.Code, feed())
		}
	}
	if rec := x.send("/account/feed/end", "name", "private", "sure", "yes"); rec.Code != 404 {
		t.Errorf("a feed that is not there: %d", rec.Code)
	}
}

func TestAuthorCanAddTheCloudElementOfTheServer(t *testing.T) {
	t.Parallel()
	x := newAccountHarness(t).as("alice")
	const offer, stop, missing = "Add this server", "Stop adding this server", "programs notice changes only when they poll"
	page := func(path string) string {
		rec := x.open(path)
		check(t, rec)
		return rec.Body.String()
	}
	if body := page("/account/feed"); strings.Contains(body, offer) {
		t.Error("it is offered where nothing was saved")
	}
	x.save("alice", author.Public, small)
	x.save("alice", author.Private, small)
	body := page("/account/feed?done=saved")
	if strings.Count(body, missing) != 1 || strings.Count(body, offer) != 1 || !strings.Contains(body, `&lt;cloud domain=&#34;hub.example&#34; port=&#34;5337&#34;`) {
		t.Errorf("after saving, the page has not what is missing: %s", body)
	}
	rec := x.send("/account/feed/cloud", "on", "yes")
	if body = page(rec.Header().Get("Location")); rec.Code != http.StatusSeeOther || !x.fakeFeeds.feeds["alice/rss"].AddCloud || !strings.Contains(body, "adds its cloud to your feed from now on") ||
		!strings.Contains(body, stop) || strings.Contains(body, missing) {
		t.Errorf("switched on: %d %s", rec.Code, body)
	}
	if public, _, _ := strings.Cut(body, "Private feed"); strings.Contains(public, "The feed names neither a cloud") {
		t.Error("the remarks still have what the server adds")
	}
	rec = x.send("/account/feed/cloud")
	if body = page(rec.Header().Get("Location")); rec.Code != http.StatusSeeOther || x.fakeFeeds.feeds["alice/rss"].AddCloud || !strings.Contains(body, offer) {
		t.Errorf("switched off: %d %s", rec.Code, body)
	}
	x.save("alice", author.Public, strings.Replace(small, "<item>", `<cloud domain="hub.example" port="5337" path="/rsscloud/pleaseNotify" registerProcedure="" protocol="http-post"/><item>`, 1))
	if body = page("/account/feed"); strings.Contains(body, offer) {
		t.Error("it is offered where the document has a cloud")
	}
}

func TestAccountPagesEscapeHostileValues(t *testing.T) {
	t.Parallel()
	for _, s := range []string{`"><script>alert(1)</script>`, "\u202egnp.exe", "bad \xff\x00\x1b[31m", strings.Repeat("wide \U0001F4A5", 1200), "javascript:alert(1)"} {
		x := newAccountHarness(t)
		x.fakeAccounts.with("alice", "p")
		x.as("alice")
		for cookie, session := range x.fakeAccounts.sessions {
			session.Agent = s
			x.fakeAccounts.sessions[cookie] = session
		}
		x.fakeAccounts.tokens = []account.Token{{ID: s, User: "alice", Label: s, Scopes: []string{s}}}
		x.fakeAccounts.secrets = []account.Secret{{Selector: s, User: "alice", Feed: "private", Reader: s}}
		x.fakeFeeds.feeds["alice/rss"] = author.Feed{User: "alice", Name: "rss", Version: 1, Title: s, Type: s, MovedTo: s, SavedAt: time.Unix(0, 0)}
		x.fakeFeeds.docs["alice/rss"] = []byte(strings.Replace(small, "Small", s, 1))
		for _, rec := range []*httptest.ResponseRecorder{
			x.open("/account"), x.open("/account/tokens"), x.open("/account/feed"), x.open("/account/private"), x.open("/account?done=" + "%3Cscript%3E"),
			x.send("/account/tokens", "label", s, "scope", s), x.send("/account/tokens", "label", s, "scope", "read"), x.send("/account/private", "reader", s),
			x.send("/account/private", "reader", "R "+s), x.send("/account/feed/move", "name", s, "to", s), x.send("/account/feed/move", "name", "rss", "to", "https://x.example/"+s),
			x.send("/account/feed/end", "name", s), x.send("/account/tokens/revoke", "id", s), x.send("/account/private/revoke", "selector", s), x.send("/account/password", "old", s, "new", s),
		} {
			if rec.Code == http.StatusSeeOther {
				continue
			}
			check(t, rec)
			for _, raw := range []string{"<script>alert", "\x1b", "\x00"} {
				if strings.Contains(rec.Body.String(), raw) {
					t.Errorf("%q: a page holds %q", s, raw)
				}
			}
		}
		x.cookie = ""
		for _, rec := range []*httptest.ResponseRecorder{x.send("/login", "name", s, "password", s, "next", s)} {
			check(t, rec)
		}
	}
}

// auditLog is an admin.Store that keeps the audit log only.
type auditLog struct {
	admin.Store
	entries []admin.Entry
}

func (l *auditLog) AddAudit(_ context.Context, e admin.Entry) (int64, error) {
	l.entries = append(l.entries, e)
	return e.ID, nil
}

// adminUsers are the accounts as administrators use them.
type adminUsers struct {
	admin.Users
	*fakeAccounts
}

func (u adminUsers) User(ctx context.Context, name string) (account.User, error) {
	return u.fakeAccounts.User(ctx, name)
}

func (u adminUsers) Delete(_ context.Context, name string) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.users, name)
	maps.DeleteFunc(u.sessions, func(_ string, s account.Session) bool { return s.User == name })
	return nil
}

func TestUserDeletesTheirAccountWithNameAndPassword(t *testing.T) {
	t.Parallel()
	x, log := newAccountHarness(t), &auditLog{}
	x.Administration = &adminui.Options{Admin: &admin.Admin{Store: log, Users: adminUsers{fakeAccounts: x.fakeAccounts}}, Accounts: x.fakeAccounts}
	x.Moves = &fakeMoves{}
	x.pages = x.Web.Routes()
	x.as("alice").as("alice")
	check(t, x.open("/account"))
	for _, wrong := range []struct {
		name, password, field string
		want                  int
	}{
		{"bob", "correct horse", "d-name", 400}, {"", "correct horse", "d-name", 400},
		{"alice", "battery staple", "d-password", 403}, {"alice", "too often", "d-password", 429},
	} {
		rec := x.send("/account/delete", "name", wrong.name, "password", wrong.password)
		check(t, rec)
		body := rec.Body.String()
		if rec.Code != wrong.want || strings.Count(body, `-wrong"><p`) != 1 || !strings.Contains(body, `id="`+wrong.field+`-wrong"><p`) || !strings.Contains(body, `<details class="fold" open>`) {
			t.Errorf("%+v: %d\n%s", wrong, rec.Code, body)
		}
	}
	if len(log.entries) != 0 || len(x.fakeAccounts.users) != 2 {
		t.Fatalf("a wrong name or password deletes: %+v", log.entries)
	}
	rec := x.send("/account/delete", "name", "alice", "password", "correct horse")
	if rec.Code != 303 || theCookie(t, rec, "cloudburst").MaxAge >= 0 || len(x.fakeAccounts.sessions) != 0 {
		t.Errorf("%d %v, %d sessions", rec.Code, rec.Header(), len(x.fakeAccounts.sessions))
	}
	if e := log.entries; len(e) != 1 || e[0].Actor != "alice" || e[0].Action != admin.UserDelete || e[0].Object != "alice" || e[0].Address != "203.0.113.9" || e[0].Via != "page" {
		t.Errorf("the audit log: %+v", e)
	}
	rec = x.open(rec.Header().Get("Location"))
	check(t, rec)
	if rec.Code != 200 || !strings.Contains(rec.Body.String(), "Your account is deleted") {
		t.Errorf("afterwards: %d", rec.Code)
	}
}
