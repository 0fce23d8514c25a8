package app

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/xml"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/internal/web"
	"cloudburst/protocol/websub"
)

// The test feed changes every quarter of an hour by itself, so that whoever writes
// an aggregator has something to register for, and when somebody who may wants it to. It is
// made from the time and from what the store says of the latter: every node serves the same
// bytes.
const (
	testFeedPath  = "/test/rss.xml"
	testFeedEvery = 15 * time.Minute
	testFeedItems = 8
	testFeedTitle = "Cloudburst test feed"
	testFeedText  = "A new item every 15 minutes, to test programs that want to be told of changes."
	testFeedTicks = 20                     // changes by hand that are kept
	testFeedLate  = 100 * time.Millisecond // after the quarter, for clocks that differ a little
)

// tick is one change of the test feed.
type tick struct {
	at   time.Time
	hand bool // somebody wanted it
}

func (t tick) id() string {
	if t.hand {
		return t.at.Format("20060102T150405.000")
	}
	return t.at.Format("200601021504")
}

func (t tick) text() string {
	if t.hand {
		return fmt.Sprintf("It is %s in Greenwich, and somebody wanted this feed to change now.", t.at.Format("15:04:05.000 on 2 January 2006"))
	}
	return fmt.Sprintf("It is %s in Greenwich: quarter %d of the day.", t.at.Format("15:04 on 2 January 2006"), t.at.Hour()*4+t.at.Minute()/15+1)
}

// testFeedChanges are the changes that the feed tells of at now, the newest first: the
// last quarters, and in between what was wanted since the oldest of them.
func testFeedChanges(now time.Time, byHand []time.Time) []tick {
	quarter := now.UTC().Truncate(testFeedEvery)
	var all []tick
	for i := range testFeedItems {
		all = append(all, tick{at: quarter.Add(-time.Duration(i) * testFeedEvery)})
	}
	oldest := all[len(all)-1].at
	for _, at := range byHand {
		if at = at.UTC(); !at.Before(oldest) {
			all = append(all, tick{at: at, hand: true})
		}
	}
	slices.SortStableFunc(all, func(a, b tick) int { return b.at.Compare(a.at) })
	return all
}

// testFeed is the feed at now, with a <cloud> element, and when it changed.
//
// spec:rsscloud-2009#test-feed
func testFeed(public, cloud string, now time.Time, byHand []time.Time) (body []byte, newest tick) {
	all := testFeedChanges(now, byHand)
	newest = all[0]
	changed := newest.at
	var b bytes.Buffer
	text := func(s string) string {
		var e strings.Builder
		_ = xml.EscapeText(&e, []byte(s)) // a strings.Builder takes everything
		return e.String()
	}
	self := public + testFeedPath
	fmt.Fprintf(&b, `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">
<channel>
<title>%s</title>
<link>%s/</link>
<description>%s</description>
<language>en</language>
<lastBuildDate>%s</lastBuildDate>
<ttl>15</ttl>
%s
<atom:link rel="self" type="application/rss+xml" href="%s"/>
<atom:link rel="hub" href="%s"/>
`, testFeedTitle, text(public), testFeedText, changed.Format(time.RFC1123Z), cloud, text(self), text(public+"/websub"))
	for _, t := range all {
		fmt.Fprintf(&b, "<item>\n<description>%s</description>\n<pubDate>%s</pubDate>\n<guid isPermaLink=\"false\">%s</guid>\n</item>\n",
			t.text(), t.at.Format(time.RFC1123Z), text(self+"?at="+t.id()))
	}
	b.WriteString("</channel>\n</rss>\n")
	return b.Bytes(), newest
}

// testFeedNow is the test feed as every node has it at this moment.
func (a *App) testFeedNow(ctx context.Context, public string) (body []byte, newest tick, now time.Time, err error) {
	now = a.clock.Now()
	byHand, err := a.ticks.TestFeedTicks(ctx, now.Truncate(testFeedEvery).Add(-testFeedItems*testFeedEvery))
	if err != nil {
		return nil, tick{}, now, err
	}
	body, newest = testFeed(public, a.cloudAt(public).String(), now, byHand)
	return body, newest, now, nil
}

// tickTestFeed has the test feed change now: an item more, told to whoever follows it.
//
// spec:cloudburst#test-feed-tick
func (a *App) tickTestFeed(ctx context.Context) (at time.Time, url string, err error) {
	if !a.names.Served() {
		return at, "", fault.New(fault.Conflict, "No server runs, so nobody follows the test feed: it changes while the server runs.")
	}
	if at, err = a.ticks.TickTestFeed(ctx, a.clock.Now(), testFeedTicks); err != nil {
		return at, "", err
	}
	a.tellTestFeed(context.WithoutCancel(ctx))
	return at, a.names.Public() + testFeedPath, nil
}

// testFeedTag is the validator of the feed. Two changes in one second have two.
//
// spec:cloudburst#test-feed-validators
func testFeedTag(body []byte) string {
	sum := sha256.Sum256(body)
	return fmt.Sprintf(`"%x"`, sum[:12])
}

// testFeedPages lets the owner have the test feed change on its page.
func (a *App) testFeedPages(pages *web.Web) { pages.Tick = a.tickTestFeed }

// testFeedSettled is how old a change must be to have a date as validator: dates have
// seconds, and until then the feed could change within the same one, by another clock.
const testFeedSettled = 2 * time.Second

// serveTestFeed answers conditional requests too.
func (a *App) serveTestFeed(public string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, newest, now, err := a.testFeedNow(r.Context(), public)
		if err != nil {
			a.noteHosted(r.Context(), "serve the test feed", err)
			w.Header().Set("Retry-After", "5")
			say(w, http.StatusServiceUnavailable, "The test feed cannot be served right now.\n")
			return
		}
		changed := newest.at
		if now.Sub(changed) < testFeedSettled {
			changed = time.Time{} // then there is no date
		}
		h := w.Header()
		h.Set("Content-Type", "application/rss+xml; charset=utf-8")
		h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Link", websub.LinkHeader(public+"/websub", public+testFeedPath))
		h.Set("Cache-Control", "max-age=60")
		h.Set("ETag", testFeedTag(body))
		http.ServeContent(w, r, "", changed, bytes.NewReader(body))
	})
}

// ownFeeds reads the program's own feeds, the test feed and those that people keep
// here, without the network, which would be refused: the
// program does not connect to itself. Everything else goes out.
type ownFeeds struct {
	hub.Fetcher
	app *App
}

// Fetch reads f.
func (o ownFeeds) Fetch(ctx context.Context, f hub.Fetch) (hub.Fetched, error) {
	if u, own := o.app.names.Path(f.URL); !own || u.RequestURI() != testFeedPath {
		if got, own, err := o.app.fetchHosted(ctx, f); own || err != nil {
			return got, err
		}
		return o.Fetcher.Fetch(ctx, f)
	}
	body, newest, now, err := o.app.testFeedNow(ctx, o.app.names.All()[0])
	if err != nil {
		return hub.Fetched{}, err
	}
	sum := sha256.Sum256(body)
	got := hub.Fetched{
		Hash: sum[:], Body: body, ETag: testFeedTag(body),
		ContentType: "application/rss+xml; charset=utf-8", URL: f.URL, SentAt: now,
		About: func() hub.About { return aboutTestFeed(o.app.names.All()[0], newest) },
	}
	if f.ETag == got.ETag {
		got.NotModified, got.Hash, got.Body = true, nil, nil
	}
	return got, nil
}

// aboutTestFeed is what the test feed says of itself.
func aboutTestFeed(public string, newest tick) hub.About {
	return hub.About{
		Title: testFeedTitle, Description: testFeedText, Self: public + testFeedPath, Home: public + "/",
		ItemText: newest.text(),
	}
}

// keepTestFeed tells of the test feed: of what changed while nobody served, and then each
// quarter.
func (a *App) keepTestFeed(ctx context.Context) {
	a.tellTestFeed(ctx)
	eachQuarter(ctx, a.clock.Now, func() { a.tellTestFeed(ctx) })
}

// eachQuarter calls do a moment after every quarter of an hour until ctx ends.
func eachQuarter(ctx context.Context, now func() time.Time, do func()) {
	for {
		at := now()
		timer := time.NewTimer(at.Truncate(testFeedEvery).Add(testFeedEvery + testFeedLate).Sub(at))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
			do()
		}
	}
}

// tellTestFeed pings the test feed by each name under which somebody follows it.
func (a *App) tellTestFeed(ctx context.Context) {
	for _, origin := range a.names.All() {
		url := origin + testFeedPath
		if _, err := a.river.Heard(ctx, url, "test"); err != nil && ctx.Err() == nil {
			a.log.Warn("tell the river of the test feed", "url", url, "err", err)
		}
		followed, err := a.store.Followed(ctx, hub.TopicID(url), a.clock.Now())
		if err == nil && followed {
			_, err = a.hub.Ping(ctx, hub.Ping{URL: url, Door: "test", Told: true, Alone: true})
		}
		if err != nil && ctx.Err() == nil {
			a.log.Warn("tell of the test feed", "url", url, "err", err)
		}
	}
}
