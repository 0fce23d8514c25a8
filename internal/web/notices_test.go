package web

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/river/forward"
)

func TestCategoriesAreCreatedRenamedMergedPublishedAndDeleted(t *testing.T) {
	t.Parallel()
	g := newFollowHarness(t)
	g.fakeRiver.addListsAndNotices("alice")
	has(t, g.look("/feeds/categories"), ">News<", ">public<", `href="/rivers/alice/News"`, `href="/rivers/alice/News/feed.xml"`, `href="/rivers/alice/News/opml"`, ">only you<", "2 feeds")
	has(t, g.look(g.done("/feeds/categories", "name", " Garden & home ", "public", "yes")), "Category created.", `href="/rivers/alice/Garden%20&amp;%20home"`)
	has(t, g.wrong(409, "/feeds/categories", "name", "News", "public", "yes"), "The category News already exists.", `value="News"`)
	has(t, g.wrong(400, "/feeds/categories", "name", " "), "Enter the name")
	has(t, g.look(g.done("/feeds/categories/public", "name", "Apple", "public", "yes")), `href="/rivers/alice/Apple"`)
	lacks(t, g.look(g.done("/feeds/categories/public", "name", "Apple")), `href="/rivers/alice/Apple"`)
	g.wrong(404, "/feeds/categories/public", "name", "Nothing", "public", "yes")
	has(t, g.wrong(200, "/feeds/categories/rename", "from", "Apple", "to", "News"), "Merge two categories?", "News is public: anyone can then see")
	has(t, g.look(g.done("/feeds/categories/rename", "from", "Apple", "to", "Fruit")), "Category renamed.", ">Fruit<")
	page := g.look(g.done("/feeds/categories/rename", "from", "Fruit", "to", "News", "sure", "yes"))
	lacks(t, page, ">Fruit<")
	has(t, page, "4 feeds")
	has(t, g.wrong(404, "/feeds/categories/rename", "from", "Fruit", "to", "X"), "There is no category")
	has(t, g.wrong(400, "/feeds/categories/rename", "from", "News", "to", ""), "Enter the new name.")
	has(t, g.wrong(200, "/feeds/categories/remove", "name", "News"), "Delete the category News?")
	lacks(t, g.look(g.done("/feeds/categories/remove", "name", "News", "sure", "yes")), ">News<")
}

func TestReadingListsAreShownAndRemoved(t *testing.T) {
	t.Parallel()
	g := newFollowHarness(t)
	g.fakeRiver.addListsAndNotices("alice")
	has(t, g.look("/feeds/lists"), "Technology, kept by Anna", "48 feeds", ">failing<", "An HTML page, not an outline.", "This list is part of <bdi>Technology, kept by Anna</bdi>")
	has(t, g.wrong(200, "/feeds/lists/drop", "id", "1", "remove", "yes"), "Unfollow the list and all its feeds?")
	lacks(t, g.look(g.done("/feeds/lists/drop", "id", "2", "remove", "")), "broken.opml")
	lacks(t, g.look(g.done("/feeds/lists/drop", "id", "1", "remove", "yes", "sure", "yes")), "Technology")
	g.wrong(404, "/feeds/lists/drop", "id", "77")
	g.wrong(404, "/feeds/lists/drop", "id", "x")
}

func TestForwardingsAreCreatedTestedPausedAndDeleted(t *testing.T) {
	t.Parallel()
	g := newFollowHarness(t)
	g.fakeRiver.addListsAndNotices("alice")
	page := g.look("/feeds/notices?source=" + strconv.FormatInt(river.SourceID("http://scripting.com/rss.xml"), 10))
	has(t, page, "anna@example.org", ">failing<", "The mail server said 550 no such user.", ">paused<", ">works<", "signed with a secret", `" selected>Scripting News<`)
	lacks(t, page, secret)
	for _, c := range [][2]string{{"email", "nobody"}, {"webhook", "ftp://x"}, {"pigeon", "https://a.example/"}} {
		page = g.wrong(400, "/feeds/notices", "via", c[0], "target", c[1], "what", "c:News", "secret", secret)
		has(t, page, `value="`+c[1]+`"`, `<option value="c:News" selected>`, "aria-invalid")
		lacks(t, page, secret)
	}
	has(t, g.look(g.done("/feeds/notices", "via", "webhook", "target", "https://bot.example/x", "what", "c:News", "secret", "s")), "https://bot.example/x", "Saved. The recipient is asked for consent now")
	g.done("/feeds/notices", "via", "post", "target", "https://bot.example/y", "what", "s:"+strconv.FormatInt(river.SourceID("http://scripting.com/rss.xml"), 10))
	g.wrong(404, "/feeds/notices", "via", "post", "target", "https://bot.example/y", "what", "s:12345")
	if all, _ := g.fakeRiver.Forwardings(t.Context(), "alice"); len(all) != 5 || all[3].Category != "News" || all[3].Secret != "s" || all[4].SourceID == 0 {
		t.Errorf("%+v", all)
	}
	g.fakeRiver.tryNotice = func(int64) error { return fault.New(fault.Unreadable, "The mail server said: <no>.") }
	has(t, g.wrong(200, "/feeds/notices/try", "id", "2"), "The attempt failed.", "The mail server said: &lt;no&gt;.")
	g.fakeRiver.tryNotice = nil
	has(t, g.look(g.done("/feeds/notices/try", "id", "1")), "sent and accepted")
	has(t, g.look(g.done("/feeds/notices/pause", "id", "1")), "Paused. New items are not sent.")
	has(t, g.look(g.done("/feeds/notices/pause", "id", "1")), "Resumed. New items are sent again.")
	has(t, g.wrong(200, "/feeds/notices/remove", "id", "2"), "Delete this forwarding?")
	lacks(t, g.look(g.done("/feeds/notices/remove", "id", "2", "sure", "yes")), "anna@example.org")
	g.wrong(404, "/feeds/notices/try", "id", "77")
}

func TestDigestIsChosenOnThePageOfForwardings(t *testing.T) {
	t.Parallel()
	g := newFollowHarness(t)
	g.fakeRiver.addListsAndNotices("alice")
	page := g.look("/feeds/notices")
	if n := strings.Count(page, `action="/feeds/notices/digest"`); n != 1 {
		t.Errorf("%d forwardings have digests; only e-mail has", n)
	}
	has(t, g.look(g.done("/feeds/notices/digest", "id", "2", "digest", "weekly")), "Saved.", `<option value="weekly" selected>`)
	g.done("/feeds/notices", "via", "email", "target", "bea@example.org", "digest", "daily")
	if all, _ := g.fakeRiver.Forwardings(t.Context(), "alice"); len(all) != 4 || all[1].Digest != forward.DigestWeekly || all[3].Digest != forward.DigestDaily {
		t.Errorf("%+v", all)
	}
	g.wrong(404, "/feeds/notices/digest", "id", "77", "digest", "daily")
}

func TestRecipientsConfirmAndUnsubscribeByLink(t *testing.T) {
	t.Parallel()
	g := newFollowHarness(t)
	g.fakeRiver.linkState = forward.ForwardingWaiting
	// Recipients have no account, so ask sends no session cookie.
	ask := func(method, path, body string, edit func(*http.Request)) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if edit != nil {
			edit(r)
		}
		rec := httptest.NewRecorder()
		g.pages.ServeHTTP(rec, r)
		return rec
	}
	rec := ask("GET", "/feeds/notices/confirm?token=good", "", nil)
	check(t, rec)
	has(t, rec.Body.String(), "New items of alice on this server will be sent to", "vic@x.example", `method="post" action="/feeds/notices/confirm?token=good"`, "<button>Confirm</button>")
	if rec.Code != 200 || rec.Header().Get("Cache-Control") != "no-store" || rec.Header().Get("Referrer-Policy") != "no-referrer" || g.fakeRiver.linkState != forward.ForwardingWaiting {
		t.Errorf("looking at the link: %d %v, then it is %s", rec.Code, rec.Header(), g.fakeRiver.linkState)
	}
	foreign := func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }
	if rec = ask("POST", "/feeds/notices/confirm?token=good", "", foreign); rec.Code != 403 || g.fakeRiver.linkState != forward.ForwardingWaiting {
		t.Errorf("another site confirms: %d", rec.Code)
	}
	rec = ask("POST", "/feeds/notices/confirm?token=good", "", nil)
	has(t, rec.Body.String(), "<h1>Confirmed</h1>", "vic@x.example")
	if rec.Code != 200 || g.fakeRiver.linkState != forward.ForwardingConfirmed {
		t.Errorf("%d, then it is %s", rec.Code, g.fakeRiver.linkState)
	}
	rec = ask("GET", "/feeds/notices/end?token=good", "", nil)
	has(t, rec.Body.String(), "Unsubscribe from these mails?", "<button>Unsubscribe</button>", `name="digest" value="" required checked`)
	rec = ask("POST", "/feeds/notices/end?token=good", "digest=weekly", nil)
	has(t, rec.Body.String(), "<h1>Saved</h1>", "One mail a week lists them, on Monday.")
	rec = ask("GET", "/feeds/notices/end?token=good", "", nil)
	has(t, rec.Body.String(), `name="digest" value="weekly" required checked`)
	rec = ask("POST", "/feeds/notices/end?token=good", "digest=", nil)
	has(t, rec.Body.String(), "Each mail is sent at once.")
	if rec = ask("POST", "/feeds/notices/end?token=good", "digest=hourly", nil); rec.Code != 400 {
		t.Errorf("an unknown digest: %d", rec.Code)
	}
	if g.fakeRiver.linkState != forward.ForwardingConfirmed {
		t.Error("looking at the link ended it")
	}
	// RFC 8058, section 3.2, allows both form encodings. The server accepts such a request also from another
	// site.
	for _, kind := range []string{"application/x-www-form-urlencoded", "multipart/form-data; boundary=x"} {
		g.fakeRiver.linkState = forward.ForwardingConfirmed
		body := "List-Unsubscribe=One-Click"
		if strings.HasPrefix(kind, "multipart") {
			body = "--x\r\nContent-Disposition: form-data; name=\"List-Unsubscribe\"\r\n\r\nOne-Click\r\n--x--\r\n"
		}
		rec = ask("POST", "/feeds/notices/end?token=good", body, func(r *http.Request) { foreign(r); r.Header.Set("Content-Type", kind) })
		if rec.Code != 200 || g.fakeRiver.linkState != forward.ForwardingEnded {
			t.Errorf("%s: %d, then it is %s", kind, rec.Code, g.fakeRiver.linkState)
		}
	}
	has(t, rec.Body.String(), "<h1>Unsubscribed</h1>", `name="allow" value="yes"`, "<button>Allow again</button>")
	rec = ask("POST", "/feeds/notices/end?token=good", "allow=yes", nil)
	has(t, rec.Body.String(), "<h1>Confirmed</h1>")
	if g.fakeRiver.linkState != forward.ForwardingConfirmed {
		t.Errorf("allowed again it is %s", g.fakeRiver.linkState)
	}
	for _, path := range []string{"/feeds/notices/confirm", "/feeds/notices/end?token=bad"} {
		for _, method := range []string{"GET", "POST"} {
			if rec = ask(method, path, "", nil); rec.Code != 404 || !strings.Contains(rec.Body.String(), "This link is not valid.") {
				t.Errorf("%s %s: %d", method, path, rec.Code)
			}
		}
	}
}

func TestStateOfAForwardingIsShown(t *testing.T) {
	t.Parallel()
	g := newFollowHarness(t)
	g.fakeRiver.addListsAndNotices("alice")
	g.fakeRiver.notices[0].State, g.fakeRiver.notices[1].State = forward.ForwardingWaiting, forward.ForwardingEnded
	page := g.look("/feeds/notices")
	has(t, page, ">waiting for confirmation<", ">ended by the recipient<", "Ask again<span")
	if n := strings.Count(page, `action="/feeds/notices/try"`); n != len(g.fakeRiver.notices)-1 {
		t.Errorf("%d of %d can be tried", n, len(g.fakeRiver.notices))
	}
	if at := g.done("/feeds/notices/try", "id", strconv.FormatInt(g.fakeRiver.notices[0].ID, 10)); at != "/feeds/notices?done=asked" {
		t.Error(at)
	}
}
