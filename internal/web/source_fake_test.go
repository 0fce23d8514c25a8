package web

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"cloudburst/feed/polling"
	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/river/forward"
	"cloudburst/internal/upstream"
	"cloudburst/internal/web/shell"
)

// followHarness is an accountHarness with an empty river, in which alice is signed in.
type followHarness struct {
	*accountHarness
	fakeRiver *fakeRiver
}

func newFollowHarness(t *testing.T) *followHarness {
	t.Helper()
	x := newAccountHarness(t)
	b := newFakeRiver(func() time.Time { return x.fake.now })
	x.River, x.Explained = b, func(f *river.Followed, e *river.Explanation) any {
		return map[string]any{"source": f.SourceID, "sentence": e.Sentence}
	}
	x.pages = x.Routes()
	return &followHarness{x.as("alice"), b}
}

// source returns a feed that was checked 20 minutes ago.
func source(now time.Time, url, title string) river.Source {
	return river.Source{URL: url, About: river.About{Title: title, Home: "https://" + shell.HostOf(url) + "/", Format: "RSS 2.0", Language: "en"}, Items: 42, NewestAt: now.Add(-3 * time.Hour),
		NextAt: now.Add(40 * time.Minute), State: polling.State{CheckedAt: now.Add(-20 * time.Minute), ReadAt: now.Add(-20 * time.Minute), NextAt: now.Add(40 * time.Minute)}}
}

// addFeedsOfEveryState makes a reader follow feeds in all states that a feed can have.
func addFeedsOfEveryState(b *fakeRiver, reader string) {
	now := b.now()
	at := func(url, title string, change func(*river.Source), categories ...string) {
		s := source(now, url, title)
		if change != nil {
			change(&s)
		}
		b.follow(reader, s, categories...)
	}
	at("http://scripting.com/rss.xml", "Scripting News", func(s *river.Source) {
		s.State.Push = polling.Push{Since: now.Add(-90 * time.Hour), Until: now.Add(20 * time.Hour), Announced: 40, Missed: 1}
		s.NewestAt = now.Add(-4 * time.Minute)
		s.About.Description = "It's even worse than it appears."
	}, "People of the web")
	at("https://daringfireball.net/feeds/json", "Daring Fireball", nil, "People of the web", "Apple")
	at("https://feeds.bbci.co.uk/news/world/rss.xml", "BBC News: World", func(s *river.Source) {
		s.State.Wait = &polling.Wait{Value: "5400", Until: now.Add(80 * time.Minute), Status: 503}
		s.State.Failures, s.State.Failure = 1, &polling.Failure{Kind: polling.ErrLimited, Status: 503, Text: "503 Service Unavailable", At: now}
	}, "News")
	at("https://old.example.org/very/long/path/to/a/feed/that/goes/on/and/on/rss.xml", "A weblog with a name that goes on for rather long, as some names do, and does not end before the line does", func(s *river.Source) {
		s.State.Failures, s.State.Since = 7, now.Add(-100*time.Hour)
		s.State.Failure = &polling.Failure{Kind: polling.ErrStatus, Status: 404, Text: "404 Not Found", At: now}
	}, "News")
	at("https://gone.example.net/atom.xml", "The one that ended", func(s *river.Source) {
		s.State.Gone = &polling.Gone{At: now.Add(-200 * time.Hour), Reason: "410 Gone"}
		s.NextAt = time.Time{}
	})
	at("https://new.example.com/feed.xml", "Moved house", func(s *river.Source) {
		s.State.Moves = []polling.Move{{From: "http://user:pass@old.example.com/feed.xml", To: s.URL, At: now.Add(-70 * time.Hour), Why: "301", Proven: true}}
	}, "People of the web")
	at("https://members.example.com/rss", "For members", func(s *river.Source) {
		s.Login = river.Login{Kind: river.LoginBasic, Name: "alice", Secret: "sealed-" + secret}
	}, "Apple")
	at("https://wall.example.com/rss", "Behind a wall", func(s *river.Source) {
		s.State.Failures, s.State.Since = 2, now.Add(-5*time.Hour)
		s.State.Failure = &polling.Failure{Kind: polling.ErrStatus, Status: 401, Text: "401 Unauthorized", At: now}
	})
	at("https://fresh.example.com/feed", "", func(s *river.Source) {
		s.State.CheckedAt, s.NewestAt, s.Items, s.NextAt = time.Time{}, time.Time{}, 0, now
	})
	at("https://例え.jp/フィード.xml", "RSS の話 — \u202eright to left\u202c", nil, "Without\u00a0end")
}

// explanation returns an explanation of a feed with 20 checks.
func explanation(s river.Source, now time.Time) river.Explanation {
	e := river.Explanation{Source: s, Next: nextOf(&s, now), Sentence: "next check 14:42: max-age 12 h seen 02:20; ttl 60 and skipHours considered",
		Trust: "The hubs pushed 40 of the last 41 changes, so they are trusted: one check a day is enough",
		Notes: []string{"Its server sends the whole document although nothing changed"}}
	e.Decision.Considered = []polling.Consideration{
		{Rule: polling.RuleMaxAge, Value: "43200", Text: "max-age 12 h seen 02:20", Until: now.Add(40 * time.Minute), Effect: polling.Decides},
		{Rule: polling.RuleTTL, Value: "60", Text: "ttl 60 min", Until: now.Add(20 * time.Minute), Effect: polling.Allows},
		{Rule: polling.RuleSkip, Value: "0 1 2 3 4 5", Text: "skipHours (0–5 GMT)", Effect: polling.Allows},
		{Rule: polling.RuleSyndication, Value: "hourly/0", Text: "sy:updateFrequency 0", Effect: polling.Ignored, Note: "not a number above 0"},
	}
	for i := range 20 {
		c := river.Check{At: now.Add(-time.Duration(i*i+i)*13*time.Minute - 20*time.Minute), Took: time.Duration(84+i*7) * time.Millisecond, URL: s.URL, Status: 304, Outcome: polling.Unchanged,
			Asked: river.AskedConditionally, Text: "304 Not Modified", Next: now.Add(-time.Duration(i*i) * 12 * time.Minute), Why: "max-age 12 h",
			Sent:     "GET /rss.xml HTTP/1.1\nHost: scripting.com\nIf-None-Match: \"1a2b\"\nAccept-Encoding: gzip, br\nUser-Agent: Cloudburst/1.0 (+http://hub.example:5337/; 3 subscribers)",
			Received: "304 Not Modified\nETag: \"1a2b\"\nCache-Control: max-age=43200"}
		switch {
		case i%4 == 1:
			c.Status, c.Outcome, c.Text, c.New, c.Bytes, c.Cause, c.Via = 200, polling.Changed, "2 new items", 2+i/3, 48213, polling.Pushed, "notify-rsscloud"
			c.Asked, c.AskedWhy = river.AskedInFull, "its ETag is weak or malformed"
		case i == 6 || i == 7:
			c.Status, c.Outcome, c.Text = 0, polling.Failed, "its server took too long"
		case i == 4:
			c.Cause, c.Asked = polling.FollowUp, river.AskedInFull
		case i == 10:
			c.Cause, c.Hops = polling.ByHand, []polling.Hop{{Status: 302, From: s.URL, To: "https://cdn.example.com/rss.xml"}}
		}
		e.Checks = append(e.Checks, c)
	}
	e.Push = []river.PushState{
		{PushEndpoint: river.PushEndpoint{Protocol: upstream.RSSCloud, Hub: "http://rpc.rsscloud.io:5337/pleaseNotify"}, State: upstream.Active, Since: now.Add(-90 * time.Hour), Until: now.Add(20 * time.Hour), PushedAt: now.Add(-4 * time.Minute)},
		{PushEndpoint: river.PushEndpoint{Protocol: upstream.WebSub, Hub: "https://hub.example.com/"}, State: upstream.Refused, Rejected: 3, LastError: "403 Forbidden: topic not allowed"},
	}
	return e
}

// addListsAndNotices adds feeds, categories, reading lists and forwardings of a reader. It also sets the
// explanations of the feeds.
func (b *fakeRiver) addListsAndNotices(reader string) {
	now := b.now()
	addFeedsOfEveryState(b, reader)
	_ = b.PutCategory(context.Background(), reader, "News", true)
	_ = b.PutCategory(context.Background(), reader, "Empty", false)
	b.lists = []river.ReadingList{
		{ID: 1, Reader: reader, URL: "https://lists.example.org/technology.opml", Title: "Technology, kept by Anna", Category: "Tech", Feeds: 48, ReadAt: now.Add(-5 * time.Hour), NextAt: now.Add(19 * time.Hour), State: polling.State{CheckedAt: now.Add(-5 * time.Hour)}},
		{ID: 2, Reader: reader, URL: "https://lists.example.org/broken.opml", Feeds: 3, ReadAt: now.Add(-200 * time.Hour), NextAt: now.Add(-time.Second), Problem: "an HTML page, not an outline", State: polling.State{CheckedAt: now.Add(-time.Hour)}},
		{ID: 3, Reader: reader, URL: "https://lists.example.org/part.opml", Title: "Hardware", Feeds: 12, ReadAt: now.Add(-5 * time.Hour), NextAt: now.Add(19 * time.Hour), State: polling.State{CheckedAt: now.Add(-5 * time.Hour)}, Memory: river.ListMemory{Parent: 1}},
	}
	b.notices = []forward.Forwarding{
		{ID: 1, Reader: reader, Via: forward.ViaWebhook, Target: "https://bot.example.org/hooks/4711/a-rather-long-address/that-does-not-fit/into-a-line", Secret: secret, Sent: 1204, LastAt: now.Add(-time.Hour)},
		{ID: 2, Reader: reader, Via: forward.ViaEmail, Target: "anna@example.org", Category: "News", Failures: 3, Problem: "the mail server said 550 no such user", Sent: 2, LastAt: now.Add(-30 * time.Hour), NextAt: now.Add(20 * time.Minute)},
		{ID: 3, Reader: reader, Via: forward.ViaPost, Target: "https://example.org/post", SourceID: river.SourceID("http://scripting.com/rss.xml"), Paused: true},
	}
	b.explain = func(id int64) (river.Explanation, error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		f, ok := b.subs[reader][id]
		if !ok {
			return river.Explanation{}, fault.New(fault.NotFound, "There is no such source.")
		}
		e := explanation(f.Source, b.now())
		switch {
		case f.Source.State.Gone != nil:
			e.Sentence, e.Decision.Considered, e.Push, e.Trust, e.Notes = "no further check: 410 Gone", nil, nil, "", []string{"It is gone since 12 November"}
		case f.Source.State.CheckedAt.IsZero():
			e = river.Explanation{Source: f.Source, Next: nextOf(&f.Source, b.now()), Sentence: "next check now: it has never been read"}
		}
		return e, nil
	}
}

// TestServeFeedPagesWithSampleData serves the pages, so that you can view them in a browser. Command:
// go test -run TestServeFeedPagesWithSampleData -serve 127.0.0.1:8080
func TestServeFeedPagesWithSampleData(t *testing.T) {
	if *serveOn == "" {
		t.Skip("only with -serve")
	}
	f := newFake()
	w, bus := newWeb(t, f)
	f.now = time.Now().UTC()
	addBusyDay(f, bus)
	w.Now = time.Now
	w.PublicURL = "http://" + *serveOn
	b := newFakeRiver(func() time.Time { return time.Now().UTC() })
	w.River = b
	w.TestFeed = w.PublicURL + "/test/rss.xml"
	mux := settled(t, w, f)
	b.addListsAndNotices("alice")
	for i := range 1200 {
		b.follow("many", source(b.now(), fmt.Sprintf("https://people.example.net/~user%04d/rss.xml", i), fmt.Sprintf("Weblog number %d", i)), fmt.Sprintf("Group %d", i%40))
	}
	for i := range 500 {
		b.follow("some", source(b.now(), fmt.Sprintf("https://people.example.net/~user%04d/rss.xml", i), fmt.Sprintf("Weblog number %d", i)), fmt.Sprintf("Group %d", i%20))
	}
	w.ReaderOf = func(user string) string {
		if user == "bob" {
			return bobReads
		}
		return user
	}
	b.add = func(q river.Request) (river.Added, error) {
		switch q.URL {
		case "https://example.com/several":
			return river.Added{Choices: []river.Choice{{URL: "https://example.com/comments.xml", Title: "Comments on Example", Format: "RSS 2.0", Kind: "comments"}, {URL: "https://example.com/feed.xml", Title: "Example", Format: "RSS 2.0", Kind: "feed"}, {URL: "https://example.com/a/rather/long/address/that/does/not/fit/into/one/line/feed.json", Format: "JSON Feed 1.1", Kind: "feed"}}}, nil
		case "https://example.com/nothing":
			return river.Added{}, fault.New(fault.NotFound, "The page at https://example.com/nothing has no feeds, and names none.")
		}
		return river.Added{Followed: b.follow(q.Reader, source(b.now(), q.URL, q.Title), q.Categories...), New: true}, nil
	}
	b.refresh = func(int64) (river.Check, error) {
		return river.Check{}, &fault.Error{Code: fault.TooMany, Msg: "It was read less than a minute ago.", RetryAfter: 48 * time.Second}
	}
	b.tryNotice = func(id int64) error {
		if id == 2 {
			return fault.New(fault.Unreadable, "The mail server said: 550 no such user.")
		}
		return nil
	}
	server := &http.Server{Addr: *serveOn, Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	time.AfterFunc(*serveFor, func() { _ = server.Close() })
	t.Log(server.ListenAndServe())
}

// bobReads is the reader whose river bob sees in TestServeFeedPagesWithSampleData.
const bobReads = "many"
