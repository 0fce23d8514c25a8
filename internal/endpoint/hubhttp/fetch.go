package hubhttp

import (
	"context"
	"crypto/sha256"
	"net/http"
	"strings"

	"cloudburst/internal/endpoint"
	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/href"
	"cloudburst/internal/hub"
	"cloudburst/internal/wirehttp"
)

// acceptFeed is the Accept header for feeds, for servers that have several representations of a
// page.
const acceptFeed = "application/rss+xml, application/atom+xml, application/feed+json, application/xml;q=0.9, text/xml;q=0.9, application/json;q=0.8, */*;q=0.5"

// Fetcher reads feeds for the hub. It implements hub.Fetcher.
type Fetcher struct {
	Client endpoint.Getter
	// Trace returns the traceparent header for the request to a URL; "": no header. If Trace is
	// nil, requests have no such header.
	Trace func(ctx context.Context, url string) string
}

// traceparent is the header field of W3C Trace Context.
const traceparent = "Traceparent"

// Fetch reads f.URL once.
//
// spec:rsscloud-2009#ping-verifies-change
func (f *Fetcher) Fetch(ctx context.Context, what hub.Fetch) (hub.Fetched, error) {
	ask := fetch.Request{URL: what.URL, ETag: what.ETag, ValidatorsURL: what.URL, Accept: acceptFeed, Revalidate: what.Revalidate}
	if f.Trace != nil {
		if parent := f.Trace(ctx, what.URL); parent != "" {
			ask.Private = http.Header{traceparent: {parent}} // sent to this host only, not to redirect targets
		}
	}
	got, err := f.Client.Get(ctx, ask)
	if err != nil {
		return hub.Fetched{}, unreadable(what.URL, err)
	}
	out := hub.Fetched{
		NotModified: got.NotModified, Status: got.Status, URL: got.URL, SentAt: got.SentAt,
		ETag: fetch.Validator(got.Header.Get("ETag")), LastModified: fetch.Validator(got.Header.Get("Last-Modified")),
		ContentType: got.Header.Get("Content-Type"), Date: got.Header.Get("Date"),
	}
	switch {
	case got.NotModified:
		return out, nil
	case !got.OK():
		// The message may contain the status of the feed's server, because the client could request
		// the feed itself.
		return hub.Fetched{}, fault.New(fault.Unreadable, "The feed %s could not be read: its server answered %s.", endpoint.DisplayURL(what.URL), wirehttp.StatusText(got.Status))
	}
	sum := sha256.Sum256(got.Body)
	out.Hash, out.Body = sum[:], got.Body
	out.About = func() hub.About {
		a := about(got.URL, got.Header, got.Body)
		if a.Self == "" { // then a ping with either spelling reaches the subscribers of both
			a.Self = webURL(href.UsualSpelling(what.URL))
		}
		return a
	}
	return out, nil
}

// unreadable returns the error for a URL without a response, with the message for unknown clients.
func unreadable(url string, err error) error {
	code := fault.Unreadable
	switch fetch.KindOf(err) {
	case fetch.Ours:
		return fault.Wrap(fault.Unavailable, err, "The feed %s could not be read now because of a problem on this server; please try again in a minute.", endpoint.DisplayURL(url))
	case fetch.Refused:
		return fault.Wrap(fault.Refused, fetch.Cause(err), "The feed %s %s.", endpoint.DisplayURL(url), fetch.Neutral)
	case fetch.BadURL:
		code = fault.Refused
	}
	return fault.Wrap(code, err, "The feed %s %s.", endpoint.DisplayURL(url), strings.TrimRight(fetch.Text(err), "."))
}
