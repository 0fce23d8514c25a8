package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"cloudburst/feed/polling"
	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/web/readerui"
)

// look opens a page, checks its HTML with check, and returns the body.
func (g *followHarness) look(path string) string {
	g.Helper()
	rec := g.open(path)
	check(g.T, rec)
	if rec.Code != 200 {
		g.Errorf("%s: %d\n%s", path, rec.Code, rec.Body)
	}
	return rec.Body.String()
}

// done sends a form. The response must be a redirect; done returns the target of this redirect.
func (g *followHarness) done(path string, fields ...string) string {
	g.Helper()
	rec := g.send(path, fields...)
	if rec.Code != 303 {
		g.Errorf("POST %s: %d\n%s", path, rec.Code, rec.Body)
	}
	return rec.Header().Get("Location")
}

// wrong sends an invalid form. The response must have the given status; wrong returns the body.
func (g *followHarness) wrong(status int, path string, fields ...string) string {
	g.Helper()
	rec := g.send(path, fields...)
	check(g.T, rec)
	if rec.Code != status {
		g.Errorf("POST %s: %d, not %d\n%s", path, rec.Code, status, rec.Body)
	}
	return rec.Body.String()
}

// mainOf returns the HTML of a page from its <main> element, but at most 6000 bytes.
func mainOf(page string) string {
	_, page, _ = strings.Cut(page, "<main")
	return page[:min(len(page), 6000)]
}

func has(t *testing.T, page string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(page, w) {
			t.Errorf("the page lacks %q:\n%s", w, mainOf(page))
		}
	}
}

func lacks(t *testing.T, page string, words ...string) {
	t.Helper()
	for _, w := range words {
		if strings.Contains(page, w) {
			t.Errorf("the page has %q:\n%s", w, mainOf(page))
		}
	}
}

func TestFollowedFeedsAreListedByCategoryWithState(t *testing.T) {
	t.Parallel()
	g := newFollowHarness(t)
	g.fakeRiver.addListsAndNotices("alice")
	page := g.look("/feeds")
	has(t, page, "You follow 10 feeds.", "4 need attention.", ">People of the web<", "Without a category", ">waiting<", ">failing<", ">gone<", ">moved<", ">login needed<", ">private<", ">not checked yet<",
		"404 Not Found", "its server requested a pause until 15:22 UTC", "its server requires a login", "scripting.com", "fresh.example.com/feed", `href="/rivers/alice/News"`)
	if strings.Count(page, ">Daring Fireball<") != 2 {
		t.Error("a feed in two categories is not listed in both")
	}
	lacks(t, page, ">live<", ">fresh<", "user:pass", "/rss.xml\"") // the page hides private URLs, and it does not name the usual states
	page = g.look("/feeds?show=broken")
	has(t, page, "A weblog with a name", "The one that ended")
	lacks(t, page, "Daring Fireball")
	has(t, g.look("/feeds?q=nothing+is+like+that"), "No feeds match this filter.")
	page = g.look("/feeds?category=Apple")
	has(t, page, "Daring Fireball")
	lacks(t, page, "Scripting News")
}

func TestFeedListOfNewUserLinksToRecommendedFeeds(t *testing.T) {
	t.Parallel()
	g := newFollowHarness(t)
	if rec := g.open("/feeds"); rec.Code != 303 || rec.Header().Get("Location") != "/feeds/start" {
		t.Errorf("%d %s", rec.Code, rec.Header().Get("Location"))
	}
	g.TestFeed = "http://hub.example:5337/test/rss.xml"
	g.rebuild()
	page := g.look("/feeds/start")
	has(t, page, "The test feed of this server", "Scripting News", "https://xkcd.com/atom.xml", "/feeds/import", "/feeds/add")
	page = g.wrong(400, "/feeds/start")
	has(t, page, "Tick at least one feed")
	g.wrong(400, "/feeds/start", "feed", "https://not-offered.example/rss")
	if to := g.done("/feeds/start", "feed", g.TestFeed, "feed", "https://xkcd.com/atom.xml"); to != "/river" {
		t.Error(to)
	}
	list, err := g.fakeRiver.Subscriptions(t.Context(), river.SubscriptionQuery{Reader: "alice"})
	if err != nil || len(list) != 2 || list[1].Source.URL != "https://xkcd.com/atom.xml" || list[1].Categories[0] != "To look at and to listen to" {
		t.Errorf("%v %+v", err, list)
	}
	has(t, g.look("/feeds/start"), "already followed", "You follow 2 feeds. Here is more")
}

func TestFeedListWithOnlyTheTestFeedLinksToRecommendedFeeds(t *testing.T) {
	t.Parallel()
	g := newFollowHarness(t)
	g.TestFeed = "http://hub.example:5337/test/rss.xml"
	g.rebuild()
	g.fakeRiver.follow("alice", source(g.fake.now, g.TestFeed, "Cloudburst test feed"))
	has(t, g.look("/feeds"), "You only follow the test feed so far", `href="/feeds/start"`)
	has(t, g.look("/feeds/start"), "shows new items immediately", "already followed")
	g.fakeRiver.follow("alice", source(g.fake.now, "https://a.example/", "A"))
	lacks(t, g.look("/feeds"), "So far only")
}

func TestServerWithoutAccountsAllowsFeedPagesFromLoopbackOnly(t *testing.T) {
	t.Parallel()
	g := newFollowHarness(t)
	g.cookie, g.PublicURL = "", ""
	g.Fresh = func(context.Context) bool { return true }
	g.fakeAccounts.first = "k3v9"
	g.pages = g.Routes()
	from := func(method, path, remote, host string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, strings.NewReader("feed=https%3A%2F%2Fxkcd.com%2Fatom.xml"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.RemoteAddr, r.Host = remote, host
		rec := httptest.NewRecorder()
		g.pages.ServeHTTP(rec, r)
		return rec
	}
	if rec := from("GET", "/feeds/start", "127.0.0.1:9", "localhost:5337"); rec.Code != 200 || !strings.Contains(rec.Body.String(), "Follow these") || !strings.Contains(rec.Body.String(), "/setup") {
		t.Errorf("%d\n%s", rec.Code, rec.Body)
	}
	rec := from("GET", "/feeds/start", "203.0.113.9:9", "hub.example")
	if check(t, rec); rec.Code != 200 || strings.Contains(rec.Body.String(), "Follow these") || !strings.Contains(rec.Body.String(), `href="/setup"`) {
		t.Errorf("%d\n%s", rec.Code, rec.Body)
	}
	if rec := from("POST", "/feeds/start", "203.0.113.9:9", "hub.example"); rec.Code != 403 {
		t.Errorf("a signed-out client chose feeds for the server: %d", rec.Code)
	}
	if rec := from("POST", "/feeds/start", "127.0.0.1:9", "evil.example"); rec.Code != 403 {
		t.Errorf("a form from another site chose for the server: %d", rec.Code)
	}
	if rec := from("POST", "/feeds/start", "127.0.0.1:9", "localhost:5337"); rec.Code != 303 {
		t.Errorf("%d\n%s", rec.Code, rec.Body)
	}
}

func TestSignedOutUsersAreRedirectedToSignIn(t *testing.T) {
	t.Parallel()
	g := newFollowHarness(t)
	g.fakeRiver.addListsAndNotices("alice")
	g.cookie = ""
	for _, path := range []string{"/feeds", "/feeds/start", "/feeds/add?url=x", "/feeds/7", "/feeds/7.json", "/feeds/import", "/feeds/import/x", "/feeds/export.opml", "/feeds/categories", "/feeds/lists", "/feeds/notices"} {
		if rec := g.open(path); rec.Code != 303 || !strings.HasPrefix(rec.Header().Get("Location"), "/login?next=") {
			t.Errorf("%s: %d %s", path, rec.Code, rec.Header().Get("Location"))
		}
	}
	for _, path := range []string{"/feeds/add", "/feeds/7/settings", "/feeds/7/unfollow", "/feeds/categories", "/feeds/notices/remove"} {
		if rec := g.send(path, "sure", "yes"); rec.Code != 303 || !strings.HasPrefix(rec.Header().Get("Location"), "/login") {
			t.Errorf("%s: %d %s", path, rec.Code, rec.Header().Get("Location"))
		}
	}
}

func TestFeedIsAddedByURL(t *testing.T) {
	t.Parallel()
	g := newFollowHarness(t)
	g.fakeRiver.addListsAndNotices("alice")
	var asked river.Request
	g.fakeRiver.add = func(q river.Request) (river.Added, error) {
		asked = q
		return river.Added{Followed: g.fakeRiver.follow(q.Reader, source(g.fake.now, q.URL, "Example"), q.Categories...), New: true}, nil
	}
	to := g.done("/feeds/add", "url", " feed:https://example.org/rss ", "category", "News", "new", "Mine", "title", "My own", "every", "1h0m0s", "login", "wsse", "name", "me", "secret", "pass")
	if asked.URL != "https://example.org/rss" || asked.Reader != "alice" || asked.Title != "My own" || asked.Interval != time.Hour || strings.Join(asked.Categories, ",") != "News,Mine" ||
		asked.Login != (river.Login{Kind: river.LoginWSSE, Name: "me", Secret: "pass"}) {
		t.Errorf("%+v", asked)
	}
	has(t, g.look(to), "You follow this feed now. 42 items are in your river.")
	g.fakeRiver.add = func(q river.Request) (river.Added, error) {
		return river.Added{Followed: g.fakeRiver.follow(q.Reader, source(g.fake.now, q.URL, "Example"))}, nil
	}
	has(t, g.look(g.done("/feeds/add", "url", "https://example.org/rss")), "You already follow this feed.")
}

func TestAddFormShowsErrorsNextToTheURLAndKeepsValues(t *testing.T) {
	t.Parallel()
	g := newFollowHarness(t)
	g.fakeRiver.addListsAndNotices("alice")
	g.fakeRiver.add = func(river.Request) (river.Added, error) {
		return river.Added{}, fault.New(fault.NotFound, "The page has no feeds.")
	}
	page := g.wrong(404, "/feeds/add", "url", `https://example.com/"><script>`, "new", "<b>Mine", "title", "T'1", "every", "6h0m0s", "login", "basic", "name", "me", "secret", secret)
	has(t, page, "The page has no feeds.", `value="https://example.com/&#34;&gt;&lt;script&gt;"`, `value="&lt;b&gt;Mine"`, `value="T&#39;1"`, `<option value="6h0m0s" selected>`, `<option value="basic" selected>`, `value="me"`)
	lacks(t, page, secret)
	has(t, g.wrong(400, "/feeds/add", "url", "  "), "Enter the address")
	for fields, want := range map[string]string{"basic": "Enter the name", "header": "name of the header", "dance": "Unknown kind of login", "token": "Enter the password"} {
		has(t, g.wrong(400, "/feeds/add", "url", "https://a.example/", "login", fields), want)
	}
	g.fakeRiver.add = func(river.Request) (river.Added, error) {
		return river.Added{}, fault.Wrap(fault.Refused, river.ErrNeedsLogin, "Its server wants to know who reads.")
	}
	has(t, g.wrong(403, "/feeds/add", "url", "https://a.example/"), "wants to know who reads.", `<details class="fold" open>`)
	g.fakeRiver.add = func(river.Request) (river.Added, error) {
		return river.Added{}, &fault.Error{Code: fault.TooMany, Msg: "You follow 100,000 feeds.", RetryAfter: 5 * time.Second}
	}
	rec := g.send("/feeds/add", "url", "https://a.example/")
	if rec.Code != 429 || rec.Header().Get("Retry-After") != "5" {
		t.Errorf("%d %v", rec.Code, rec.Header())
	}
}

func TestPageWithSeveralFeedsOffersAChoiceAndKeepsValues(t *testing.T) {
	t.Parallel()
	g := newFollowHarness(t)
	g.fakeRiver.addListsAndNotices("alice")
	g.fakeRiver.add = func(river.Request) (river.Added, error) {
		return river.Added{Choices: []river.Choice{{URL: "https://a.example/comments", Title: "Comments", Kind: "comments"}, {URL: "https://a.example/feed?a=1&b=2", Title: `</label><script>alert(1)</script>`, Format: "Atom 1.0", Kind: "feed"}}}, nil
	}
	page := g.wrong(200, "/feeds/add", "url", "https://a.example/", "new", "Mine", "title", "T", "every", "1h0m0s", "login", "basic", "name", "me", "secret", secret)
	has(t, page, "has 2 feeds", ">comments<", `value="https://a.example/feed?a=1&amp;b=2" required checked`, `name="new" value="Mine"`, `name="title" value="T"`, `name="every" value="1h0m0s"`, `name="login" value="basic"`, "once more")
	lacks(t, page, secret, "<script>alert")
}

// theBookmark is the only script URL on the pages; users drag it to the bookmarks bar.
const theBookmark = "javascript:location.href=%27http://hub.example:5337/feeds/add?url=%27+encodeURIComponent%28location.href%29"

func TestBookmarkletFillsInTheFormWithoutFollowingTheFeed(t *testing.T) {
	t.Parallel()
	g := newFollowHarness(t)
	g.fakeRiver.addListsAndNotices("alice")
	g.fakeRiver.add = func(river.Request) (river.Added, error) {
		t.Error("it was followed by looking")
		return river.Added{}, nil
	}
	page := g.look("/feeds/add?url=" + url.QueryEscape("https://example.org/a?b=c&d=\"e") + "&title=Own")
	has(t, page, `value="https://example.org/a?b=c&amp;d=&#34;e"`, `value="Own"`)
	has(t, page, `<a class="drag" href="`+strings.Replace(theBookmark, "+", "&#43;", 1)+`"`)
}

func TestPagesOfAFeedShowItsStateScheduleAndHistory(t *testing.T) {
	t.Parallel()
	g := newFollowHarness(t)
	g.fakeRiver.addListsAndNotices("alice")
	id := river.SourceID("http://scripting.com/rss.xml")
	path := readerui.SourcePath(id)
	page := g.look(path)
	has(t, page, "<title>Scripting News ·", "next check <time", "max-age 12 h seen 02:20", "It&#39;s even worse than it appears.", `href="`+path+`/settings"`, `href="`+path+`/diagnosis"`, "Open in the river", ">live<")
	lacks(t, page, secret, "<code>max-age</code>")
	page = g.look(path + "/diagnosis")
	has(t, page, "<title>Scripting News: diagnosis ·", "next check <time", "max-age 12 h seen 02:20", "<code>max-age</code>", "decides", "would allow it earlier", "not a number above 0",
		"If-None-Match", "its hub pushed a change, by rssCloud", "<dd>in full: its ETag is weak or malformed</dd>", "<dd>conditionally: only for a document that has changed</dd>", "<dd>a follow-up that verifies", "48,213 bytes", "302 to https://cdn.example.com/rss.xml", "rssCloud at <bdi>rpc.rsscloud.io:5337", "3 rejected", "403 Forbidden", "they are trusted",
		"<svg class=\"chart checks\"", "The last 20 checks since", `href="/feeds/`+strconv.FormatInt(id, 10)+`.json"`)
	lacks(t, page, secret)
	page = g.look(readerui.SourcePath(river.SourceID("https://members.example.com/rss")) + "/settings")
	has(t, page, ": settings ·", "Change the login", `value="alice"`)
	lacks(t, page, "sealed-")
	has(t, g.look(readerui.SourcePath(river.SourceID("https://gone.example.net/atom.xml"))), "Check again", "410 Gone", "no further check")
	page = g.look(readerui.SourcePath(river.SourceID("https://new.example.com/feed.xml")))
	has(t, page, "http://old.example.com/feed.xml", "Undo the move")
	lacks(t, page, "user:pass")
	has(t, g.look(readerui.SourcePath(river.SourceID("https://fresh.example.com/feed"))+"/diagnosis"), "has not been checked yet", "None yet.")
	if rec := g.open(path + "/items"); rec.Code != 303 || rec.Header().Get("Location") != path {
		t.Errorf("%d %v", rec.Code, rec.Header())
	}
	if rec := g.open(path + "/nothing"); rec.Code != 404 {
		t.Errorf("%d", rec.Code)
	}
	rec := g.open(readerui.SourcePath(id) + ".json")
	var data map[string]any
	if err := json.Unmarshal(rec.Body.Bytes(), &data); err != nil || rec.Header().Get("Content-Type") != "application/json" || data["sentence"] == "" {
		t.Errorf("%v %v\n%s", err, rec.Header(), rec.Body)
	}
}

func TestPageOfUnfollowedFeedReturns404(t *testing.T) {
	t.Parallel()
	g := newFollowHarness(t)
	g.fakeRiver.addListsAndNotices("alice")
	id := readerui.SourcePath(river.SourceID("https://members.example.com/rss"))
	g.as("bob")
	for _, path := range []string{id, id + ".json", "/feeds/1", "/feeds/x", "/feeds/-1", "/feeds/99999999999999999999"} {
		rec := g.open(path)
		if check(t, rec); rec.Code != 404 || strings.Contains(rec.Body.String(), "members") {
			t.Errorf("%s: %d\n%s", path, rec.Code, rec.Body)
		}
	}
	g.fakeRiver.refresh = func(int64) (river.Check, error) { t.Error("it was read"); return river.Check{}, nil }
	for _, path := range []string{id + "/refresh", id + "/unfollow", id + "/settings", id + "/login", id + "/revive", id + "/undo"} {
		if rec := g.send(path, "sure", "yes"); rec.Code != 404 {
			t.Errorf("%s: %d", path, rec.Code)
		}
	}
}

func TestSettingsOfAFeedAreSaved(t *testing.T) {
	t.Parallel()
	g := newFollowHarness(t)
	g.fakeRiver.addListsAndNotices("alice")
	id := river.SourceID("http://scripting.com/rss.xml")
	to := g.done(readerui.SourcePath(id)+"/settings", "title", " Dave ", "category", "News", "category", "Apple", "new", "Mine", "every", "15m0s")
	page := g.look(to)
	has(t, page, "Settings saved.", ">Dave<", `<option value="15m0s" selected>`)
	f, _ := g.fakeRiver.Find(t.Context(), "alice", strconv.FormatInt(id, 10))
	if f.Title != "Dave" || strings.Join(f.Categories, ",") != "Apple,Mine,News" || f.Interval != 15*time.Minute {
		t.Errorf("%+v", f.Subscription)
	}
	g.done(readerui.SourcePath(id)+"/settings", "every", "1ns")
	f, _ = g.fakeRiver.Find(t.Context(), "alice", strconv.FormatInt(id, 10))
	if f.Title != "" || f.Categories != nil || f.Interval != polling.ShortestUserInterval {
		t.Errorf("%+v", f.Subscription)
	}
	g.fakeRiver.err = fault.New(fault.Invalid, "A category has at most 100 characters.")
	if rec := g.send(readerui.SourcePath(id)+"/settings", "title", "x"); rec.Code != 400 {
		t.Errorf("%d", rec.Code)
	}
}

func TestLoginOfAFeedIsSavedAndItsPasswordNeverShown(t *testing.T) {
	t.Parallel()
	g := newFollowHarness(t)
	g.fakeRiver.addListsAndNotices("alice")
	id := river.SourceID("http://scripting.com/rss.xml")
	page := g.wrong(400, readerui.SourcePath(id)+"/login", "login", "basic", "name", "me")
	has(t, page, "Enter the password or token.", `value="me"`, `<option value="basic" selected>`)
	page = g.look(g.done(readerui.SourcePath(id)+"/login", "login", "header", "name", "X-Key", "secret", secret))
	has(t, page, "read with it for you only", `value="X-Key"`)
	lacks(t, page, secret)
	has(t, g.look(g.done(readerui.SourcePath(id)+"/login", "login", "")), "read without a login")
}

func TestCheckNowIsRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	g := newFollowHarness(t)
	g.fakeRiver.addListsAndNotices("alice")
	id := river.SourceID("http://scripting.com/rss.xml")
	has(t, g.look(g.done(readerui.SourcePath(id)+"/refresh")), "The feed was checked just now: 304 Not Modified.")
	g.fakeRiver.refresh = func(int64) (river.Check, error) {
		return river.Check{}, &fault.Error{Code: fault.TooMany, Msg: "The feed can be read again in 48 seconds: it was read less than a minute ago", RetryAfter: 48 * time.Second}
	}
	rec := g.send(readerui.SourcePath(id) + "/refresh")
	if check(t, rec); rec.Code != 429 || rec.Header().Get("Retry-After") != "48" {
		t.Errorf("%d %v", rec.Code, rec.Header())
	}
	has(t, rec.Body.String(), "again in 48 seconds: it was read less than a minute ago.<")
	g.fakeRiver.refresh = func(int64) (river.Check, error) {
		return river.Check{}, fault.New(fault.Conflict, "It is being read at this moment.")
	}
	has(t, g.wrong(409, readerui.SourcePath(id)+"/refresh"), "It is being read at this moment.")
	has(t, g.wrong(409, readerui.SourcePath(id)+"/undo"), "It was not moved.")
	gone := river.SourceID("https://gone.example.net/atom.xml")
	has(t, g.look(g.done(readerui.SourcePath(gone)+"/revive")), "Checks of the feed are resumed")
}

func TestUnfollowedFeedIsRemovedFromTheList(t *testing.T) {
	t.Parallel()
	g := newFollowHarness(t)
	g.fakeRiver.addListsAndNotices("alice")
	path := readerui.SourcePath(river.SourceID("http://scripting.com/rss.xml"))
	page := g.look(g.done(path + "/unfollow"))
	has(t, page, "You unfollowed the feed.", "You follow 9 feeds.", "Undo")
	if rec := g.open(path); rec.Code != 404 {
		t.Errorf("%d", rec.Code)
	}
}

func TestFeedListSplitsManyFeedsIntoPages(t *testing.T) {
	t.Parallel()
	g := newFollowHarness(t)
	for i := range 1201 {
		g.fakeRiver.follow("alice", source(g.fake.now, fmt.Sprintf("https://people.example.net/%04d", i), fmt.Sprintf("Weblog %04d", i)), fmt.Sprintf("Group %d", i%5))
	}
	page := g.look("/feeds")
	has(t, page, "You follow 1,201 feeds.", "Weblog 0000", "Weblog 0199", `href="/feeds?page=2" rel="next"`, `href="/feeds?category=Group&#43;3"`)
	lacks(t, page, "Weblog 0200")
	page = g.look("/feeds?page=7")
	has(t, page, "Weblog 1200", `href="/feeds?page=6" rel="prev"`)
	lacks(t, page, `rel="next"`)
	has(t, g.look("/feeds?page=99999999"), "Weblog 1200")
	has(t, g.look("/feeds?page=5&q=Weblog+0001"), "There are no more feeds.", "rel=\"prev\"")
	page = g.look("/feeds?category=Group+3")
	has(t, page, "Weblog 0003", `href="/feeds?category=Group&#43;3&amp;page=2"`)
	lacks(t, page, "Weblog 0004")
	id := strconv.FormatInt(river.SourceID("https://people.example.net/0700"), 10)
	page = g.look("/feeds/notices?source=" + id)
	has(t, page, `<option value="s:`+id+`" selected>Weblog 0700<`, "open its page")
	lacks(t, page, "Weblog 0701")
}

func TestFeedPagesEscapeHostileValues(t *testing.T) {
	t.Parallel()
	g := newFollowHarness(t)
	s := source(g.fake.now, "javascript:alert(1)", `<img src=x onerror=alert(1)>"'`+"\x00\u202e")
	s.About.Home, s.About.Description, s.About.Format, s.About.Problem = "javascript:alert(2)", "<script>x</script>", "<b>", "<i>"
	s.State.Failures, s.State.Failure = 3, &polling.Failure{Kind: polling.ErrStatus, Status: 500, Text: "<script>bad</script>", At: g.fake.now}
	s.State.Moves = []polling.Move{{From: "javascript:alert(3)", To: "<x>", At: g.fake.now, Why: "<why>"}}
	f := g.fakeRiver.follow("alice", s, `<b>"cat`)
	g.fakeRiver.explain = func(int64) (river.Explanation, error) {
		e := explanation(s, g.fake.now)
		e.Sentence, e.Trust, e.Notes = "<script>s</script>", "<script>t</script>", []string{"<script>n</script>"}
		e.Source.ID = f.SourceID
		e.Checks[0].Text, e.Checks[0].Sent, e.Checks[0].Why, e.Checks[0].Outcome = "<script>c</script>", "<script>sent</script>\x1b[31m", "<script>w</script>", "<o>"
		e.Push[0].Hub, e.Push[0].State, e.Push[0].Protocol = "javascript:x", "<s>", "<p>"
		return e, nil
	}
	for _, path := range []string{"/feeds", readerui.SourcePath(f.SourceID), "/feeds/categories", "/feeds/notices", "/feeds/import"} {
		page := g.look(path)
		lacks(t, page, "<script>s", "<script>b", "<script>c", "<script>x", "<script>n", "<script>t", "<script>w", "<img src=x", `href="javascript:alert`, "<why>", "<o>", "<s>", "<x>", "\x1b", "\x00")
	}
}

func TestStatusPageShowsTheFeedReader(t *testing.T) {
	t.Parallel()
	g := newFollowHarness(t)
	g.fakeRiver.addListsAndNotices("alice")
	has(t, g.look("/status"), ">Reading<", "10 feeds are followed here; 3 are failing, 1 is gone.", "48,211 checks", "With push")
	g.fakeRiver.err = fault.New(fault.Unavailable, "The database is away.")
	if rec := g.open("/status"); rec.Code != 200 || strings.Contains(rec.Body.String(), ">Reading<") {
		t.Errorf("%d", rec.Code)
	}
}

func TestEveryPageReportsAnUnavailableStore(t *testing.T) {
	t.Parallel()
	g := newFollowHarness(t)
	g.fakeRiver.addListsAndNotices("alice")
	g.fakeRiver.explain = nil
	g.fakeRiver.err = &fault.Error{Code: fault.Unavailable, Msg: "The database is away.", RetryAfter: 5 * time.Second}
	for _, path := range []string{"/feeds", "/feeds/start", "/feeds/add", readerui.SourcePath(river.SourceID("http://scripting.com/rss.xml")), "/feeds/import", "/feeds/import/x", "/feeds/export.opml", "/feeds/categories", "/feeds/lists", "/feeds/notices"} {
		rec := g.open(path)
		if check(t, rec); rec.Code != 503 || rec.Header().Get("Retry-After") != "5" {
			t.Errorf("%s: %d %v", path, rec.Code, rec.Header())
		}
	}
}

func BenchmarkPageOfManyFeeds(b *testing.B) {
	f := newFake()
	br := newFakeRiver(func() time.Time { return f.now })
	for i := range 500 {
		br.follow("", source(f.now, fmt.Sprintf("https://people.example.net/%04d", i), fmt.Sprintf("Weblog %04d", i)), fmt.Sprintf("Group %d", i%20))
	}
	w := &Web{Hub: f, Store: f, River: br, Now: func() time.Time { return f.now }}
	pages := w.Routes()
	for b.Loop() {
		r := httptest.NewRequest("GET", "http://localhost/feeds", nil)
		r.RemoteAddr = "127.0.0.1:1"
		r.Header.Set("Accept-Encoding", "gzip")
		rec := httptest.NewRecorder()
		if pages.ServeHTTP(rec, r); rec.Code != 200 {
			b.Fatal(rec.Code)
		}
	}
}
