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

	"cloudburst/internal/hub"
	"cloudburst/rsscloud"
	"cloudburst/websub"
)

// The test feed changes every quarter of an hour by itself, so that whoever writes
// an aggregator has something to register for. It is made from the time alone:
// every node serves the same bytes, and nothing is stored.
const (
	testFeedPath  = "/test/rss.xml"
	testFeedEvery = 15 * time.Minute
	testFeedItems = 8
	testFeedTitle = "Cloudburst test feed"
	testFeedText  = "A new item every 15 minutes, to test programs that want to be told of changes."
	testFeedLate  = 100 * time.Millisecond // after the quarter, for clocks that differ a little
)

// testFeed is the feed as it stands at now, and when it changed.
//
// spec:rsscloud-2009#test-feed
func testFeed(public string, now time.Time) (body []byte, changed time.Time) {
	changed = now.UTC().Truncate(testFeedEvery)
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
`, testFeedTitle, text(public), testFeedText, changed.Format(time.RFC1123Z), rsscloud.CloudAt(public), text(self), text(public+"/websub"))
	for i := range testFeedItems {
		at := changed.Add(-time.Duration(i) * testFeedEvery)
		fmt.Fprintf(&b, "<item>\n<description>%s</description>\n<pubDate>%s</pubDate>\n<guid isPermaLink=\"false\">%s</guid>\n</item>\n",
			testFeedItem(at), at.Format(time.RFC1123Z), text(self+"?at="+at.Format("200601021504")))
	}
	b.WriteString("</channel>\n</rss>\n")
	return b.Bytes(), changed
}

func testFeedItem(at time.Time) string {
	return fmt.Sprintf("It is %s in Greenwich: quarter %d of the day.", at.Format("15:04 on 2 January 2006"), at.Hour()*4+at.Minute()/15+1)
}

// serveTestFeed answers conditional requests too.
func (a *App) serveTestFeed(public string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, changed := testFeed(public, a.clock.Now())
		h := w.Header()
		h.Set("Content-Type", "application/rss+xml; charset=utf-8")
		h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Link", websub.LinkHeader(public+"/websub", public+testFeedPath))
		h.Set("Cache-Control", "max-age=60")
		h.Set("ETag", fmt.Sprintf(`"%d"`, changed.Unix()))
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
	public, own := strings.CutSuffix(f.URL, testFeedPath)
	if !own || !slices.Contains(o.app.ownOrigins(), public) {
		if got, own, err := o.app.fetchHosted(ctx, f); own || err != nil {
			return got, err
		}
		return o.Fetcher.Fetch(ctx, f)
	}
	now := o.app.clock.Now()
	body, changed := testFeed(o.app.ownOrigins()[0], now)
	sum := sha256.Sum256(body)
	got := hub.Fetched{
		Hash: sum[:], Body: body, ETag: fmt.Sprintf(`"%d"`, changed.Unix()),
		ContentType: "application/rss+xml; charset=utf-8", URL: f.URL, SentAt: now,
		About: func() hub.About { return aboutTestFeed(o.app.ownOrigins()[0], changed) },
	}
	if f.ETag == got.ETag {
		got.NotModified, got.Hash, got.Body = true, nil, nil
	}
	return got, nil
}

// aboutTestFeed is what the test feed says of itself.
func aboutTestFeed(public string, changed time.Time) hub.About {
	return hub.About{
		Title: testFeedTitle, Description: testFeedText, Self: public + testFeedPath, Home: public + "/",
		ItemText: testFeedItem(changed),
	}
}

func (a *App) ownOrigins() []string {
	if p := a.origins.Load(); p != nil {
		return *p
	}
	return nil
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
	for _, origin := range a.ownOrigins() {
		url := origin + testFeedPath
		if _, err := a.river.Heard(ctx, url, "test"); err != nil && ctx.Err() == nil {
			a.log.Warn("tell the river of the test feed", "url", url, "err", err)
		}
		followed, err := a.store.Followed(ctx, hub.TopicID(url), a.clock.Now())
		if err == nil && followed {
			_, err = a.hub.Ping(ctx, hub.Ping{URL: url, Door: "test", Told: true})
		}
		if err != nil && ctx.Err() == nil {
			a.log.Warn("tell of the test feed", "url", url, "err", err)
		}
	}
}
