// Package testfeed serves a feed that changes every quarter of an hour, for testing other
// programs. See [Feed].
package testfeed

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/xml"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/internal/origin"
	"cloudburst/internal/serve"
	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/websub"
)

// Path is the path of the feed.
const Path = "/test/rss.xml"

const (
	every       = 15 * time.Minute
	items       = 8
	title       = "Cloudburst test feed"
	description = "A new item every 15 minutes, to test programs that want to be notified of changes."
	maxTicks    = 20                     // maximum number of stored manual changes
	notifyDelay = 100 * time.Millisecond // wait after the quarter, because the clocks of nodes differ a little
)

// Feed changes every quarter of an hour, and on request of the operator, so that authors of
// aggregators can test against it. It is generated from the time and the stored manual changes,
// so every node serves the same bytes. All fields must be set.
type Feed struct {
	Store   Store
	Hub     Hub
	Readers Readers
	Names   *origin.Names
	Cloud   func(public string) rsscloud.Cloud // returns the <cloud> element of this server at a public URL
	Now     func() time.Time
	Log     *slog.Logger
}

// Store stores manual changes and reports subscriptions.
type Store interface {
	TickTestFeed(ctx context.Context, now time.Time, keep int) (at time.Time, err error)
	TestFeedTicks(ctx context.Context, since time.Time) ([]time.Time, error)
	Following(ctx context.Context, urls []string, after int64, now time.Time, limit int) ([]hub.Topic, error)
}

// Hub processes pings; *hub.Hub implements it.
type Hub interface {
	Ping(ctx context.Context, p hub.Ping) (hub.PingResult, error)
}

// Readers receives changes of a feed; *river.River implements it.
type Readers interface {
	ReceivePush(ctx context.Context, url, via string) (known bool, err error)
}

// tick is one change of the test feed.
type tick struct {
	at     time.Time
	manual bool // the operator requested the change
}

func (t tick) id() string {
	if t.manual {
		return t.at.Format("20060102T150405.000")
	}
	return t.at.Format("200601021504")
}

func (t tick) text() string {
	if t.manual {
		return fmt.Sprintf("It is %s in Greenwich, and somebody wanted this feed to change now.", t.at.Format("15:04:05.000 on 2 January 2006"))
	}
	return fmt.Sprintf("It is %s in Greenwich: quarter %d of the day.", t.at.Format("15:04 on 2 January 2006"), t.at.Hour()*4+t.at.Minute()/15+1)
}

// changesAt returns the changes that the feed contains at now, the newest first: the last quarters,
// and the manual changes since the oldest of these quarters.
func changesAt(now time.Time, manual []time.Time) []tick {
	quarter := now.UTC().Truncate(every)
	var all []tick
	for i := range items {
		all = append(all, tick{at: quarter.Add(-time.Duration(i) * every)})
	}
	oldest := all[len(all)-1].at
	for _, at := range manual {
		if at = at.UTC(); !at.Before(oldest) {
			all = append(all, tick{at: at, manual: true})
		}
	}
	slices.SortStableFunc(all, func(a, b tick) int { return b.at.Compare(a.at) })
	return all
}

// document returns the feed at now, with a <cloud> element, and its newest change.
//
// spec:rsscloud-2009#test-feed
func document(public, cloud string, now time.Time, manual []time.Time) (body []byte, newest tick) {
	all := changesAt(now, manual)
	newest = all[0]
	changed := newest.at
	var b bytes.Buffer
	text := func(s string) string {
		var e strings.Builder
		_ = xml.EscapeText(&e, []byte(s)) // a strings.Builder never fails
		return e.String()
	}
	self := public + Path
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
`, title, text(public), description, changed.Format(time.RFC1123Z), cloud, text(self), text(public+"/websub"))
	for _, t := range all {
		fmt.Fprintf(&b, "<item>\n<description>%s</description>\n<pubDate>%s</pubDate>\n<guid isPermaLink=\"false\">%s</guid>\n</item>\n",
			t.text(), t.at.Format(time.RFC1123Z), text(self+"?at="+t.id()))
	}
	b.WriteString("</channel>\n</rss>\n")
	return b.Bytes(), newest
}

// now returns the test feed at the current time of f.Now, and this time.
func (f *Feed) now(ctx context.Context, public string) (body []byte, newest tick, now time.Time, err error) {
	now = f.Now()
	manual, err := f.Store.TestFeedTicks(ctx, now.Truncate(every).Add(-items*every))
	if err != nil {
		return nil, tick{}, now, err
	}
	body, newest = document(public, f.Cloud(public).String(), now, manual)
	return body, newest, now, nil
}

// Tick adds an item to the test feed now and notifies its subscribers.
//
// spec:cloudburst#test-feed-tick
func (f *Feed) Tick(ctx context.Context) (at time.Time, url string, err error) {
	if !f.Names.Served() {
		return at, "", fault.New(fault.Conflict, "The server is not running, so the test feed has no subscribers: start the server first.")
	}
	if at, err = f.Store.TickTestFeed(ctx, f.Now(), maxTicks); err != nil {
		return at, "", err
	}
	f.notify(context.WithoutCancel(ctx))
	return at, f.Names.Public() + Path, nil
}

// dateAfter is the minimum age of the newest change before responses have a Last-Modified date. The
// date has a precision of one second, and another node could add a change in the same second.
const dateAfter = 2 * time.Second

// Handler serves the feed at a public URL like all other feeds, with compression and conditional
// requests. It handles every method.
//
// spec:cloudburst#test-feed-validators
func (f *Feed) Handler(public string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, newest, now, err := f.now(r.Context(), public)
		if err != nil {
			if r.Context().Err() == nil {
				f.Log.Warn("cannot serve the test feed", "err", err)
			}
			w.Header().Set("Retry-After", "5")
			w.Header().Set("Cache-Control", "no-store")
			http.Error(w, "The test feed cannot be served right now.", http.StatusServiceUnavailable)
			return
		}
		changed := newest.at
		if now.Sub(changed) < dateAfter {
			changed = time.Time{} // send no Last-Modified
		}
		serve.New(body, serve.Options{
			Type: "application/rss+xml; charset=utf-8", Modified: changed, Cache: "max-age=60", Feed: true,
			Link: []string{websub.LinkHeader(public+"/websub", public+Path)},
		}).Answer(w, r)
	})
}

// Changed returns the time of the last change of the feed at a public URL.
func (f *Feed) Changed(ctx context.Context, public string) (time.Time, error) {
	_, newest, _, err := f.now(ctx, public)
	return newest.at, err
}

// Fetch reads the feed for the hub, without the network.
func (f *Feed) Fetch(ctx context.Context, ask hub.Fetch) (hub.Fetched, error) {
	public := f.Names.Public()
	body, newest, now, err := f.now(ctx, public)
	if err != nil {
		return hub.Fetched{}, err
	}
	sum := sha256.Sum256(body)
	got := hub.Fetched{
		Hash: sum[:], Body: body, ETag: `"` + serve.TagOf(body) + `"`,
		ContentType: "application/rss+xml; charset=utf-8", URL: ask.URL, SentAt: now,
		About: func() hub.About { return aboutAt(public, newest) },
	}
	if ask.ETag == got.ETag {
		got.NotModified, got.Hash, got.Body = true, nil, nil
	}
	return got, nil
}

// aboutAt returns the description of the test feed.
func aboutAt(public string, newest tick) hub.About {
	return hub.About{
		Title: title, Description: description, Self: public + Path, Home: public + "/",
		ItemText: newest.text(),
	}
}

// Run notifies subscribers of the feed until ctx ends: at the start, and after each quarter.
func (f *Feed) Run(ctx context.Context) {
	f.notify(ctx)
	eachQuarter(ctx, f.Now, func() { f.notify(ctx) })
}

// eachQuarter calls do shortly after every quarter of an hour until ctx ends.
func eachQuarter(ctx context.Context, now func() time.Time, do func()) {
	for {
		at := now()
		timer := time.NewTimer(at.Truncate(every).Add(every + notifyDelay).Sub(at))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
			do()
		}
	}
}

// notify notifies the river about the test feed at each origin of the server, and pings the hub for
// each origin at which the test feed has subscribers.
func (f *Feed) notify(ctx context.Context) {
	for _, origin := range f.Names.All() {
		url := origin + Path
		if _, err := f.Readers.ReceivePush(ctx, url, "test"); err != nil && ctx.Err() == nil {
			f.Log.Warn("cannot notify the river about the test feed", "url", url, "err", err)
		}
		followed, err := f.Store.Following(ctx, []string{url}, 0, f.Now(), 1)
		if len(followed) > 0 { // a URL with another spelling declares this URL, so the ping reaches its subscribers too
			_, err = f.Hub.Ping(ctx, hub.Ping{URL: url, Via: "test", ReaderNotified: true, OnlyThisURL: true})
		}
		if err != nil && ctx.Err() == nil {
			f.Log.Warn("cannot notify subscribers of the test feed", "url", url, "err", err)
		}
	}
}
