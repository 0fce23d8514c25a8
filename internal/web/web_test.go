package web

import (
	"compress/gzip"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/net/html"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/internal/web/hubui"
	"cloudburst/internal/web/shell"
	"cloudburst/protocol/rsscloud"
)

const scripting = "https://scripting.com/rss.xml"

func topicPath(feed string) string { return hubui.NewFeedLink(feed).Href }

func get(t *testing.T, h http.Handler, path string) *httptest.ResponseRecorder {
	t.Helper()
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequest("GET", path, nil))
	return rec
}

func post(t *testing.T, h http.Handler, path string, form url.Values, head ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest("POST", path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.RemoteAddr = "203.0.113.9:4711"
	for i := 0; i+1 < len(head); i += 2 {
		r.Header.Set(head[i], head[i+1])
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	return rec
}

// check fails the test unless the page is valid, and returns the parsed page. A valid page has one h1, a
// title, balanced tags, unique ids, and a field for each label. It contains no inline script or style, and
// loads resources only from this server.
func check(t *testing.T, rec *httptest.ResponseRecorder) *html.Node {
	t.Helper()
	body := rec.Body.String()
	if got := rec.Header().Get("Content-Type"); got != "text/html; charset=utf-8" {
		t.Errorf("Content-Type %q", got)
	}
	if !utf8.ValidString(body) {
		t.Error("the page is not UTF-8")
	}
	balanced(t, body)
	doc, err := html.Parse(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	ids, points, count := map[string]int{}, []string{}, map[string]int{}
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		count[n.Data]++
		for _, a := range n.Attr {
			switch {
			case a.Key == "id":
				ids[a.Val]++
			case a.Key == "for" || a.Key == "aria-labelledby" || a.Key == "aria-describedby":
				points = append(points, strings.Fields(a.Val)...)
			case a.Key == "style" || strings.HasPrefix(a.Key, "on"):
				t.Errorf("<%s> has %s=%q, which the policy forbids", n.Data, a.Key, a.Val)
			case (a.Key == "href" || a.Key == "src" || a.Key == "action") && a.Val != theBookmark && strings.HasPrefix(strings.ToLower(strings.TrimSpace(a.Val)), "javascript:"):
				t.Errorf("<%s> leads to %q", n.Data, a.Val)
			}
		}
		if n.Data == "style" || n.Data == "script" && n.FirstChild != nil {
			t.Errorf("inline <%s>", n.Data)
		}
	}
	for id, n := range ids {
		if n > 1 {
			t.Errorf("id %q occurs %d times", id, n)
		}
	}
	for _, id := range points {
		if ids[id] == 0 {
			t.Errorf("nothing has the id %q that something names", id)
		}
	}
	if count["h1"] != 1 || count["title"] < 1 || count["main"] != 1 {
		t.Errorf("the page has %d h1, %d title, %d main", count["h1"], count["title"], count["main"])
	}
	return doc
}

// balanced checks that every element has an end tag, because html.Parse adds missing end tags without an
// error.
func balanced(t *testing.T, body string) {
	t.Helper()
	void := []string{"meta", "link", "input", "br", "img"}
	var open []string
	z := html.NewTokenizer(strings.NewReader(body))
	for {
		switch z.Next() {
		case html.ErrorToken:
			if !errors.Is(z.Err(), io.EOF) {
				t.Error(z.Err())
			}
			if len(open) > 0 {
				t.Errorf("left open: %v", open)
			}
			return
		case html.StartTagToken:
			if name, _ := z.TagName(); !slices.Contains(void, string(name)) {
				open = append(open, string(name))
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			if len(open) == 0 || open[len(open)-1] != string(name) {
				t.Fatalf("</%s> closes %v", name, open)
			}
			open = open[:len(open)-1]
		}
	}
}

func every(feed string) []string {
	return []string{"/", "/hub", "/log", "/log?kind=ping&q=thanks", "/log?kind=nonsense", "/log?topic=" + url.QueryEscape(feed), "/topics", "/topics?q=zzz",
		topicPath(feed), "/topics/12345", "/topics/no", "/status", "/status?span=day", "/changes", "/changes?q=weblog", "/changes?before=no", "/docs", "/nothing", "/static/gone.js"}
}

func TestEveryPageIsValidAndSendsContentSecurityPolicy(t *testing.T) {
	t.Parallel()
	f := newFake()
	w, bus := newWeb(t, f)
	addBusyDay(f, bus)
	w.Warnings = func() []string { return []string{"an allow-list is set"} }
	h := w.Routes()
	for _, path := range every(scripting) {
		t.Run(path, func(t *testing.T) {
			rec := get(t, h, path)
			check(t, rec)
			for name, want := range map[string]string{"Content-Security-Policy": shell.Policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin"} {
				if got := rec.Header().Get(name); got != want {
					t.Errorf("%s: %q, not %q", name, got, want)
				}
			}
			if rec.Header().Get("Permissions-Policy") == "" {
				t.Error("no Permissions-Policy")
			}
		})
	}
}

func TestPagesOfAnEmptyServerShowTheFirstSteps(t *testing.T) {
	t.Parallel()
	w, _ := newWeb(t, newFake())
	h := w.Routes()
	for path, want := range map[string]string{"/log": "Ping a feed", "/changes": "No changes yet.", "/topics": "Register for a feed", "/": "No change has been reported yet.", "/hub": "Be the first", "/status": "There are no subscriptions yet."} {
		rec := get(t, h, path)
		check(t, rec)
		if !strings.Contains(rec.Body.String(), want) {
			t.Errorf("%s lacks %q", path, want)
		}
	}
}

func TestPagesEscapeHostileText(t *testing.T) {
	t.Parallel()
	evil := []string{"<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "\u202egnp.exe\u202c", strings.Repeat("wide \U0001F4A5", 1200), "bad \xff\xfe\x00 bytes \x1b[31m", "javascript:alert(1)//https://x"}
	f := newFake()
	w, bus := newWeb(t, f)
	for i, s := range evil {
		u := "https://evil.example/" + s
		id := hub.TopicID(u)
		f.changes = append(f.changes, hub.Change{Node: 1, Seq: int64(i), At: f.now, Name: s, URL: s, Feed: "https://evil.example/" + s, Page: s, Tags: []string{s, s}, Via: s})
		f.topics = append(f.topics, hub.TopicInfo{Topic: hub.Topic{About: hub.About{Title: s, Home: s, Self: "https://evil.example/" + s}, ID: id, URL: u, Version: 3, Failures: 2, Error: s, ContentType: s, Size: 9, CheckedAt: f.now, ChangedAt: f.now}, Subscribers: 1})
		f.subs = append(f.subs, hub.SubscriptionInfo{Subscription: hub.Subscription{TopicID: id, ID: 1, Protocol: s, Callback: "http://h" + s + "/x", LastError: s, Failures: i + 1, NextAt: f.now, ExpiresAt: f.now.Add(time.Hour)}})
		for _, kind := range []string{event.KindPing, event.KindNotify, s} {
			f.add(bus, event.Event{Kind: kind, TopicID: id, Topic: u, Text: s, Peer: s, Via: s, Version: 3, Notified: 2})
		}
	}
	w.Version = evil[0]
	w.Warnings = func() []string { return evil }
	h := w.Routes()
	paths := every("https://evil.example/" + evil[0])
	for _, s := range evil {
		paths = append(paths, topicPath("https://evil.example/"+s), "/log?q="+url.QueryEscape(s), "/log?topic="+url.QueryEscape(s), "/log?kind="+url.QueryEscape(s),
			"/log?before="+url.QueryEscape(s), "/topics?q="+url.QueryEscape(s), "/topics?after="+url.QueryEscape(s), "/hub?url="+url.QueryEscape(s), "/status?span="+url.QueryEscape(s),
			"/changes?q="+url.QueryEscape(s), "/changes?after="+url.QueryEscape(s))
	}
	for _, path := range paths {
		rec := get(t, h, path)
		check(t, rec)
		for _, raw := range []string{"<script>alert", "<img", "\x1b"} {
			if strings.Contains(rec.Body.String(), raw) {
				t.Errorf("%s holds %q", path, raw)
			}
		}
		if n := rec.Body.Len(); n > 400_000 {
			t.Errorf("%s has %d bytes", path, n)
		}
	}
	for _, s := range evil {
		rec := httptest.NewRecorder()
		w.PingSitePage()(rec, httptest.NewRequest("GET", "/pingSiteForm", nil), 400, s, s, url.Values{"name": {s}, "url": {s}, "changesURL": {s}})
		check(t, rec)
		for _, form := range []string{"/do/ping", "/do/register"} {
			check(t, post(t, h, form, url.Values{"url": {s}, "port": {s}, "path": {s}, "domain": {s}, "protocol": {s}, "notifyProcedure": {s}}))
		}
	}
}

func TestNoPageShowsACallbackPath(t *testing.T) {
	t.Parallel()
	f := newFake()
	w, bus := newWeb(t, f)
	addBusyDay(f, bus)
	h := w.Routes()
	for _, path := range every(scripting) {
		if strings.Contains(get(t, h, path).Body.String(), secret) {
			t.Errorf("%s shows a callback path", path)
		}
	}
	if !strings.Contains(get(t, h, topicPath(scripting)).Body.String(), "reader77.example.net:5337") {
		t.Error("the topic's page does not name its subscribers' hosts, so this test shows nothing")
	}
}

func TestPingFormShowsTheResultOfThePing(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		url    string
		result hub.PingResult
		err    error
		status int
		want   string
	}{
		{"changed", scripting, hub.PingResult{Known: true, Checked: true, Changed: true}, nil, 200, "Its subscribers are being notified now"},
		{"counted", scripting, hub.PingResult{Known: true, Checked: true, Changed: true, Subscribers: 1204}, nil, 200, "Its 1,204 subscribers are being notified now"},
		{"the same", scripting, hub.PingResult{Known: true, Checked: true}, nil, 200, "the same as the last time, byte for byte"},
		{"slow", scripting, hub.PingResult{Known: true, Pending: true}, nil, 200, "The ping is stored on disk"},
		{"unknown", scripting, hub.PingResult{Checked: true}, nil, 200, "This feed has no subscribers here"},
		{"nobody", scripting, hub.PingResult{Checked: true, Changed: true}, nil, 200, "It has no subscribers here"},
		{"unreadable", scripting, hub.PingResult{}, fault.New(fault.Unreadable, "the feed answered 404"), 422, "The feed answered 404."},
		{"too many", scripting, hub.PingResult{}, &fault.Error{Code: fault.TooMany, Msg: "Too many pings.", RetryAfter: 7 * time.Second}, 429, "Try again in 7 s."},
		{"ours", scripting, hub.PingResult{}, errors.New("disk on fire"), 500, fault.Neutral},
		{"no address", "", hub.PingResult{}, nil, 400, "No feed is named"},
		{"no http", "feed", hub.PingResult{}, nil, 400, "must begin with http:// or https://"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFake()
			w, _ := newWeb(t, f)
			var got hub.Ping
			f.ping = func(p hub.Ping) (hub.PingResult, error) { got = p; return tt.result, tt.err }
			rec := post(t, w.Routes(), "/do/ping", url.Values{"url": {tt.url}})
			check(t, rec)
			body := html.UnescapeString(rec.Body.String())
			if rec.Code != tt.status || !strings.Contains(body, tt.want) || !strings.Contains(body, tt.url) {
				t.Errorf("status %d, not %d, or the page lacks %q:\n%s", rec.Code, tt.status, tt.want, body)
			}
			if strings.Contains(body, "disk on fire") {
				t.Error("the page shows an inner error")
			}
			if tt.status == 429 && rec.Header().Get("Retry-After") != "7" {
				t.Errorf("Retry-After %q", rec.Header().Get("Retry-After"))
			}
			if tt.status != 400 && (got != hub.Ping{URL: tt.url, Via: "web", Source: addr("203.0.113.9"), Count: true}) {
				t.Errorf("the hub received %+v", got)
			}
		})
	}
}

func TestRegisterFormCreatesSubscription(t *testing.T) {
	t.Parallel()
	f := newFake()
	w, _ := newWeb(t, f)
	var got hub.Registration
	f.reg = func(r hub.Registration) (hub.Registered, error) {
		got = r
		return hub.Registered{Accepted: r.Feeds[:1], Refused: []hub.Refusal{{Feed: r.Feeds[1], Reason: "it answered 404"}}, Expires: f.now.Add(25 * time.Hour)}, nil
	}
	rec := post(t, w.Routes(), "/do/register", url.Values{"url1": {scripting + "\r\n https://b.example/f "}, "port": {"5337"}, "path": {"updated"}, "protocol": {"http-post"}})
	check(t, rec)
	if got.Callback != "http://203.0.113.9:5337/updated" || got.Challenge || got.Via != "web" || !slices.Equal(got.Feeds, []string{scripting, "https://b.example/f"}) {
		t.Errorf("the hub received %+v", got)
	}
	body := rec.Body.String()
	for _, want := range []string{"Registered in part", "It answered 404.", "in 25 h"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	post(t, w.Routes(), "/do/register", url.Values{"url1": {scripting}, "url2": {"https://b.example/f"}, "domain": {"Reader.Example"}, "port": {"443"}, "path": {"/u?a=b"}, "protocol": {"https-post"}})
	if got.Callback != "https://reader.example/u?a=b" || !got.Challenge {
		t.Errorf("with a domain the hub received %+v", got)
	}
}

func TestRegisterFormShowsAllErrorsNextToFieldsAndKeepsValues(t *testing.T) {
	t.Parallel()
	f := newFake()
	w, _ := newWeb(t, f)
	f.reg = func(hub.Registration) (hub.Registered, error) {
		t.Error("the hub was asked")
		return hub.Registered{}, nil
	}
	h := w.Routes()
	rec := post(t, h, "/do/register", url.Values{"url1": {"ftp://x/y"}, "port": {"99999"}, "path": {""}, "protocol": {"xml-rpc"}, "notifyProcedure": {"rssCloud.ping"}, "domain": {"keep example"}})
	check(t, rec)
	body := html.UnescapeString(rec.Body.String())
	if rec.Code != 400 || strings.Count(body, `aria-invalid="true"`) != 5 {
		t.Errorf("status %d, %d fields marked, want 400 and 5", rec.Code, strings.Count(body, `aria-invalid="true"`))
	}
	for _, want := range []string{"ftp://x/y", "99999", "keep example", "rssCloud.ping", "1 to 65535"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page does not hold %q", want)
		}
	}
	for _, domain := range []string{"user@x.example", "x.example/path", "127.1", "a b"} {
		rec := post(t, h, "/do/register", url.Values{"url1": {scripting}, "port": {"80"}, "path": {"/u"}, "protocol": {"http-post"}, "domain": {domain}})
		if rec.Code != 400 || !strings.Contains(rec.Body.String(), `id="reg-domain-wrong"><p`) {
			t.Errorf("domain %q: status %d", domain, rec.Code)
		}
	}
}

func TestFormsOfOtherSitesAreRejected(t *testing.T) {
	t.Parallel()
	f := newFake()
	w, _ := newWeb(t, f)
	asked := 0
	f.ping = func(hub.Ping) (hub.PingResult, error) { asked++; return hub.PingResult{}, nil }
	h := w.Routes()
	form := url.Values{"url": {scripting}}
	for _, head := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Origin", "https://evil.example"}} {
		rec := post(t, h, "/do/ping", form, head...)
		check(t, rec)
		if rec.Code != 403 || asked != 0 {
			t.Errorf("%v: status %d, the hub was asked %d times", head, rec.Code, asked)
		}
	}
	for _, head := range [][]string{{"Sec-Fetch-Site", "same-origin"}, {"Origin", "http://hub.example:5337"}, {}} {
		if rec := post(t, h, "/do/ping", form, head...); rec.Code != 200 {
			t.Errorf("%v: status %d", head, rec.Code)
		}
	}
}

func TestIncompleteFormsAreRejected(t *testing.T) {
	t.Parallel()
	f := newFake()
	w, _ := newWeb(t, f)
	f.ping = func(hub.Ping) (hub.PingResult, error) { t.Error("the hub was asked"); return hub.PingResult{}, nil }
	h := w.Routes()
	for _, body := range []string{"url=" + scripting + "&x=%zz", "url=" + scripting + "&x=" + strings.Repeat("a", 70_000), "url=" + scripting + strings.Repeat("&a=b", 300)} {
		r := httptest.NewRequest("POST", "/do/ping", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		check(t, rec)
		if rec.Code != 400 {
			t.Errorf("status %d for %.40s", rec.Code, body)
		}
	}
}

func TestCloudElementContainsHostOfThePublicURL(t *testing.T) {
	t.Parallel()
	for public, want := range map[string]string{
		"http://hub.example:5337":  `<cloud domain="hub.example" port="5337" path="/rsscloud/pleaseNotify" registerProcedure="" protocol="http-post" />`,
		"http://hub.example/":      `<cloud domain="hub.example" port="80" path="/rsscloud/pleaseNotify" registerProcedure="" protocol="http-post" />`,
		"https://hub.example/c":    `<cloud domain="hub.example" port="443" path="/c/rsscloud/pleaseNotify" registerProcedure="" protocol="https-post" />`,
		"http://[2001:db8::1]:81/": `<cloud domain="2001:db8::1" port="81" path="/rsscloud/pleaseNotify" registerProcedure="" protocol="http-post" />`,
	} {
		w, _ := newWeb(t, newFake())
		w.PublicURL = public
		body := get(t, w.Routes(), "/hub").Body.String()
		if !strings.Contains(html.UnescapeString(body), want) {
			t.Errorf("%s: the page of the hub does not hold %s", public, want)
		}
		var e struct{}
		if err := xml.Unmarshal([]byte(rsscloud.CloudAt(public).String()), &e); err != nil {
			t.Error(err)
		}
	}
}

func TestAssetURLsContainAHashAndAreCached(t *testing.T) {
	t.Parallel()
	w, _ := newWeb(t, newFake())
	h := w.Routes()
	for _, u := range shell.AssetURLs() {
		rec := get(t, h, u)
		if rec.Code != 200 || !strings.Contains(rec.Header().Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %d %v", u, rec.Code, rec.Header())
		}
		r := httptest.NewRequest("GET", u, nil)
		r.Header.Set("Accept-Encoding", "br, gzip;q=0.8")
		packed := httptest.NewRecorder()
		h.ServeHTTP(packed, r)
		z, err := gzip.NewReader(packed.Body)
		if err != nil {
			t.Fatal(err)
		}
		if plain, err := io.ReadAll(z); err != nil || string(plain) != rec.Body.String() {
			t.Errorf("%s differs when packed: %v", u, err)
		}
	}
	if rec := get(t, h, "/favicon.svg"); rec.Code != 200 || rec.Header().Get("Content-Type") != "image/svg+xml" || xml.Unmarshal(rec.Body.Bytes(), new(struct{})) != nil {
		t.Errorf("favicon: %d %s", rec.Code, rec.Header().Get("Content-Type"))
	}
	r := httptest.NewRequest("GET", "/docs", nil)
	r.Header.Set("Accept-Encoding", "gzip;q=0")
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	check(t, rec)
}

func TestWrongMethodReturns405WithAllow(t *testing.T) {
	t.Parallel()
	w, _ := newWeb(t, newFake())
	h := w.Routes()
	rec := get(t, h, "/do/ping")
	if check(t, rec); rec.Code != 405 || rec.Header().Get("Allow") != "POST" {
		t.Errorf("GET /do/ping: %d, Allow %q", rec.Code, rec.Header().Get("Allow"))
	}
	rec = post(t, h, "/log", nil)
	if check(t, rec); rec.Code != 405 || rec.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("POST /log: %d, Allow %q", rec.Code, rec.Header().Get("Allow"))
	}
	rec = post(t, h, "/nothing", nil)
	if check(t, rec); rec.Code != 404 {
		t.Errorf("POST /nothing: %d", rec.Code)
	}
}

func TestUnavailableStoreShowsAnErrorPage(t *testing.T) {
	t.Parallel()
	f := newFake()
	w, _ := newWeb(t, f)
	f.err = &fault.Error{Code: fault.Unavailable, Msg: "the database is away", RetryAfter: 5 * time.Second}
	h := w.Routes()
	for _, path := range []string{"/log", "/changes", "/topics", "/topics/1", "/status"} {
		rec := get(t, h, path)
		check(t, rec)
		if rec.Code != 503 || rec.Header().Get("Retry-After") == "" {
			t.Errorf("%s: %d, Retry-After %q", path, rec.Code, rec.Header().Get("Retry-After"))
		}
	}
	if rec := get(t, h, "/"); rec.Code != 200 {
		t.Errorf("the front page needs the store: %d", rec.Code)
	}
}

func TestRequestWithTopicURLRedirectsToTheTopicPage(t *testing.T) {
	t.Parallel()
	w, _ := newWeb(t, newFake())
	rec := get(t, w.Routes(), "/topics?url="+url.QueryEscape(scripting))
	if want := "/topics/" + strconv.FormatInt(hub.TopicID(scripting), 10); rec.Code != 302 || rec.Header().Get("Location") != want {
		t.Errorf("%d %s, not %s", rec.Code, rec.Header().Get("Location"), want)
	}
}

func TestPathsOfRsscloudServerRedirectToTheHubPage(t *testing.T) {
	t.Parallel()
	w, _ := newWeb(t, newFake())
	h := w.Routes()
	for from, to := range map[string]string{"/pingForm": "/hub#s-ping", "/pleaseNotifyForm": "/hub#s-register", "/viewLog": "/log"} {
		rec := get(t, h, from)
		if rec.Code != http.StatusMovedPermanently || rec.Header().Get("Location") != to {
			t.Errorf("%s: %d %q", from, rec.Code, rec.Header().Get("Location"))
		}
		page, part, _ := strings.Cut(to, "#")
		if body := get(t, h, page); body.Code != http.StatusOK || part != "" && !strings.Contains(body.Body.String(), `id="`+part+`"`) {
			t.Errorf("%s leads to %s, which is answered %d", from, to, body.Code)
		}
	}
}
