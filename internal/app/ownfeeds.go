package app

import (
	"context"
	"crypto/sha256"
	"net/http"

	"cloudburst/internal/endpoint/hubhttp"
	"cloudburst/internal/hub"
	"cloudburst/internal/testfeed"
)

// ownFeeds reads the program's own feeds, the test feed and those that people keep
// here, without the network, which would be refused: the
// program does not connect to itself. Everything else goes out.
type ownFeeds struct {
	hub.Fetcher
	app *App
}

// Fetch reads f.
func (o ownFeeds) Fetch(ctx context.Context, f hub.Fetch) (hub.Fetched, error) {
	if u, own := o.app.names.Path(f.URL); own && u.RequestURI() == testfeed.Path {
		return o.app.testFeed.Fetch(ctx, f)
	}
	if got, own, err := o.fetchHosted(ctx, f); own || err != nil {
		return got, err
	}
	return o.Fetcher.Fetch(ctx, f)
}

// fetchHosted reads a feed that is kept here, in any of its forms, without the
// network. own is false for everything else.
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
	if f.ETag == etag {
		got.NotModified, got.Hash, got.Body = true, nil, nil
	}
	return got, true, nil
}
