package readhttp_test

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/fetch"
	"cloudburst/internal/river"
	"cloudburst/protocol/greader"
)

// realRiver is the real river on a real store. Its feeds are those of a test.
type realRiver struct {
	*river.River
	w *appHarness
}

// real returns a realRiver.
func real(w *appHarness) arriving {
	r := &realRiver{w: w}
	r.River = &river.River{
		Store: w.store, Fetch: r, Now: w.clock.now, Key: []byte(strings.Repeat("k", 32)), Log: slog.New(slog.NewTextHandler(w.Output(), nil)),
		Options: river.Options{HostInterval: -1},
	}
	return r
}

// Get implements river.Fetcher.
func (r *realRiver) Get(_ context.Context, q fetch.Request) (*fetch.Response, error) {
	def := r.w.feeds[q.URL]
	if def == nil {
		return &fetch.Response{Status: http.StatusNotFound, Header: http.Header{}, URL: q.URL, SentAt: r.w.clock.now()}, nil
	}
	return &fetch.Response{Status: http.StatusOK, Header: header(), Body: def.rss(), URL: q.URL, SentAt: r.w.clock.now()}, nil
}

func header() http.Header { return http.Header{"Content-Type": {"application/rss+xml"}} }

func (r *realRiver) arrived(url string) {
	r.w.Helper()
	known, err := r.Deliver(r.w.Context(), url, "notify-websub", r.w.feeds[url].rss(), header())
	r.w.must(err)
	if !known {
		r.w.Fatalf("no subscription to %s", url)
	}
}

// rss returns the feed as a document, newest item first.
func (f *feedDef) rss() []byte {
	var b strings.Builder
	text := func(name, s string) {
		if s != "" {
			fmt.Fprintf(&b, "<%s>", name)
			_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder never fails
			fmt.Fprintf(&b, "</%s>", name)
		}
	}
	b.WriteString(`<?xml version="1.0"?><rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel>`)
	text("title", html.EscapeString(f.title))
	text("link", f.home)
	text("description", "A feed.")
	for i := len(f.items) - 1; i >= 0; i-- {
		it := &f.items[i]
		b.WriteString("<item>")
		text("title", html.EscapeString(it.title))
		text("link", it.link)
		text("guid", it.guid)
		text("dc:creator", it.author)
		text("description", it.html)
		text("pubDate", it.date.Format(time.RFC1123Z))
		if it.enclosure.URL != "" {
			fmt.Fprintf(&b, `<enclosure url="%s" type="%s" length="%d"/>`, it.enclosure.URL, it.enclosure.Type, it.enclosure.Length)
		}
		b.WriteString("</item>")
	}
	b.WriteString("</channel></rss>")
	return []byte(b.String())
}

func TestReadingAppsReceiveEachItemOfTheRiverOnce(t *testing.T) {
	t.Parallel()
	w := newAppHarness(t, real)
	start := w.clock.now()
	for i := range 900 {
		w.feeds[newsURL].add(0, start.Add(-time.Duration(i)*time.Second))
		w.feeds[podURL].add(0, start.Add(-time.Duration(i)*time.Second))
	}
	w.river.arrived(newsURL)
	w.river.arrived(podURL)
	w.clock.wait(10 * time.Second)
	ctx, c, v := t.Context(), w.google(), w.fever()
	began := time.Now()
	for _, q := range []greader.Query{{N: 250}, {N: 250, Oldest: true}, {N: 250, After: start.Add(-time.Hour)}, {N: 10_000, Exclude: []greader.Stream{greader.State(greader.Read)}}} {
		seen := map[greader.ItemID]bool{}
		for range 100 {
			list, next, err := c.IDs(ctx, q)
			w.must(err)
			for _, r := range list {
				seen[r.ID] = true
			}
			if q.Continuation = next; next == "" {
				break
			}
		}
		if len(seen) != 1806 {
			t.Errorf("%+v: %d items", q, len(seen))
		}
	}
	seen := map[int64]bool{}
	for since := int64(0); ; {
		a, err := v.Send(ctx, fmt.Sprintf("items&since_id=%d", since), nil)
		w.must(err)
		if len(a.Items) == 0 {
			break
		}
		for _, it := range a.Items {
			seen[it.ID], since = true, it.ID
		}
		if *a.Total != 1806 {
			t.Fatal(*a.Total)
		}
	}
	a, err := v.Send(ctx, "unread_item_ids", nil)
	w.must(err)
	if len(seen) != 1806 || len(*a.UnreadItems) != 1806 {
		t.Errorf("%d items, %d unread", len(seen), len(*a.UnreadItems))
	}
	var ids []greader.ItemID
	for id := range seen {
		ids = append(ids, greader.ItemID(id))
	}
	items, err := c.Lookup(ctx, ids...)
	w.must(err)
	if len(items) != 1806 || items[0].Summary.Content == "" {
		t.Errorf("%d items", len(items))
	}
	w.must(c.Mark(ctx, greader.Read, true, ids...))
	if counts, err := c.Unread(ctx); err != nil || counts["user/-/state/com.google/reading-list"] != 0 {
		t.Errorf("%v, %v", counts, err)
	}
	t.Logf("took %v", time.Since(began))
	var e *greader.Error
	if err := c.Unsubscribe(ctx, "feed/12345"); !errors.As(err, &e) || e.Status != http.StatusNotFound {
		t.Error(err)
	}
}

func TestFolderWithASlashBecomesTheCategoryOfAnImport(t *testing.T) {
	t.Parallel()
	w := newAppHarness(t, real)
	ctx, c := t.Context(), w.google()
	w.must(c.Subscribe(ctx, newURL, "", "News/Tech"))
	list, err := c.Subscriptions(ctx)
	w.must(err)
	id := ""
	for _, s := range list {
		if s.URL == newURL {
			id = s.ID
			if len(s.Categories) != 1 || s.Categories[0].Label != "News-Tech" {
				t.Errorf("the new feed is in %+v", s.Categories)
			}
		}
	}
	w.clock.wait(10 * time.Second)
	items, _, err := c.Contents(ctx, greader.Query{Stream: greader.Label("News/Tech")})
	w.must(err)
	if len(items) != 3 {
		t.Errorf("the folder has %d items", len(items))
	}
	w.must(c.MarkAllRead(ctx, greader.Label("News/Tech"), time.Time{}))
	if unread, err := c.Unread(ctx); err != nil || unread["user/-/label/News-Tech"] != 0 {
		t.Errorf("unread: %v, %v", unread, err)
	}
	w.must(c.Edit(ctx, id, "", []string{"Other/Tech"}, []string{"News/Tech"}))
	w.must(c.RenameLabel(ctx, "Other/Tech", "My/Tech"))
	list, err = c.Subscriptions(ctx)
	w.must(err)
	for _, s := range list {
		if s.URL == newURL && (len(s.Categories) != 1 || s.Categories[0].Label != "My-Tech") {
			t.Errorf("after the changes the feed is in %+v", s.Categories)
		}
	}
	if err := c.Edit(ctx, id, "", []string{".."}, nil); err == nil {
		t.Error("a category with the name .. was made")
	}
}
