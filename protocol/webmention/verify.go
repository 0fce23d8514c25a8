package webmention

import (
	"context"
	"net/http"
)

// Source is the source page of a webmention, as [Client.Verify] found it.
type Source struct {
	URL         string // URL after redirects
	Status      int    // HTTP status
	ContentType string
	Body        []byte // the first MaxDocument bytes at most
	Mentions    bool   // the status is 2xx, and the document mentions the target
}

// Deleted reports whether the source was deleted, or never existed: status 410 or 404.
//
// spec:webmention-2017#deleted-source
func (s Source) Deleted() bool {
	return s.Status == http.StatusGone || s.Status == http.StatusNotFound
}

// Verify reads the source of a webmention, follows up to [MaxRedirects] redirects, and looks for
// the target in it. A source with any status is a result, not an error: a receiver deletes the
// mention of a deleted source, and tries again later after a status of the 500s. Errors are those
// of the HTTP client, [ErrRedirects], and an [*Error] for an invalid request.
//
// spec:webmention-2017#verify-fetch
// spec:webmention-2017#redirect-limit
func (c *Client) Verify(ctx context.Context, q Request) (Source, error) {
	if err := q.Check(); err != nil {
		return Source{}, err
	}
	// spec:webmention-2017#accept-header
	d, err := c.read(ctx, withoutFragment(q.Source), "text/html, application/xhtml+xml;q=0.9, application/json;q=0.8, text/plain;q=0.7, */*;q=0.1")
	if err != nil {
		return Source{}, err
	}
	s := Source{URL: d.URL, Status: d.Status, ContentType: d.Header.Get("Content-Type"), Body: d.Body}
	s.Mentions = d.Status >= 200 && d.Status <= 299 && Mentions(d.Body, s.ContentType, d.URL, q.Target)
	return s, nil
}
