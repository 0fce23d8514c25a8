package app

import (
	"context"
	"crypto/sha256"
	"net/http"

	"cloudburst/internal/endpoint/hubhttp"
	"cloudburst/internal/event"
	"cloudburst/internal/hub"
	"cloudburst/internal/testfeed"
)

// ownFeeds reads the test feed and hosted feeds without the network, because the program refuses
// connections to itself. It reads all other feeds over the network.
type ownFeeds struct {
	hub.Fetcher
	app *App
}

// Fetch implements hub.Fetcher.
func (o ownFeeds) Fetch(ctx context.Context, f hub.Fetch) (hub.Fetched, error) {
	if u, own := o.app.names.Path(f.URL); own && u.RequestURI() == testfeed.Path {
		return o.app.testFeed.Fetch(ctx, f)
	}
	if got, own, err := o.fetchHosted(ctx, f); own || err != nil {
		return got, err
	}
	return o.Fetcher.Fetch(ctx, f)
}

// fetchHosted reads a hosted feed in any of its formats. own is false for all other URLs.
func (o ownFeeds) fetchHosted(ctx context.Context, f hub.Fetch) (got hub.Fetched, own bool, err error) {
	u, own := o.app.names.Path(f.URL)
	if !own {
		return got, false, nil
	}
	now := o.app.clock.Now()
	body, contentType, etag, modified, own, err := o.app.feeds.OwnDocument(ctx, u.Path, u.RawQuery)
	if !own || err != nil {
		return got, own, err
	}
	sum := sha256.Sum256(body)
	got = hub.Fetched{
		Hash: sum[:], Body: body, ETag: etag, LastModified: modified.UTC().Format(http.TimeFormat), ContentType: contentType,
		URL: f.URL, SentAt: now, About: func() hub.About { return hubhttp.About(f.URL, contentType, body) },
	}
	if event.IsPrivate(f.URL) { // a title or page URL would help other people find the topic
		got.About = nil
	}
	if f.ETag == etag {
		got.NotModified, got.Hash, got.Body = true, nil, nil
	}
	return got, true, nil
}
