package app

import (
	"context"
	"crypto/sha256"
	"net/http"
	"net/url"

	"cloudburst/internal/endpoint/hubhttp"
	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/href"
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
	u, own := o.app.names.Path(f.URL)
	if !own {
		return o.Fetcher.Fetch(ctx, f)
	}
	var got hub.Fetched
	var err error
	found := u.Path == testfeed.Path
	if found {
		got, err = o.app.testFeed.Fetch(ctx, f)
	} else if got, found, err = o.fetchHosted(ctx, f, u); !found && err == nil {
		got, err = o.Fetcher.Fetch(ctx, f) // behind a proxy, another program may serve this URL
		if fault.CodeOf(err) == fault.Refused {
			err = fault.New(fault.NotFound, "There is no such feed here.")
		}
	}
	if about := got.About; found && about != nil {
		got.About = func() hub.About {
			a := about()
			if asked, err := url.Parse(f.URL); err == nil { // then a ping reaches the subscribers of all spellings
				a.Self = href.Origin(f.URL) + (&url.URL{Path: asked.Path}).EscapedPath()
			}
			if v, ok := o.app.feeds.ViewAt(u.Path, u.RawQuery); ok && a.Home == "" { // the format has no link to the page
				a.Home = o.app.names.Located(v.Base())
			}
			return a
		}
	}
	return got, err
}

// fetchHosted reads a hosted feed in any of its formats. u has its path and query. found is false if
// there is no such feed.
func (o ownFeeds) fetchHosted(ctx context.Context, f hub.Fetch, u *url.URL) (got hub.Fetched, found bool, err error) {
	now := o.app.clock.Now()
	body, contentType, etag, modified, found, err := o.app.feeds.OwnDocument(ctx, u.Path, u.RawQuery)
	if !found || err != nil {
		return got, found, err
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
