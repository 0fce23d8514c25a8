// Package hubclient calls hubs for commands. It finds the hubs of a feed, and describes the
// results of pings and requests in plain sentences.
package hubclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"cloudburst/feed"
	"cloudburst/internal/cli/shell"
	"cloudburst/internal/date"
	"cloudburst/internal/sanitize"
	"cloudburst/protocol/rsscloud"
)

// Client calls hubs with the network and the streams of a shell.
type Client struct{ *shell.Shell }

// Document is a feed, or another document, with the data of its HTTP response.
type Document struct {
	URL      string // requested URL
	Final    string // URL after redirects
	Body     []byte
	Type     string    // Content-Type of the response; "": absent
	Modified time.Time // Last-Modified of the response; zero: absent
}

// ReadFeed fetches a feed. It may connect to private addresses, because it has the rights of the
// user who runs the command.
func (p *Client) ReadFeed(ctx context.Context, feed string) (Document, error) {
	ctx, cancel := context.WithTimeout(ctx, shell.FeedTimeout)
	defer cancel()
	if err := rsscloud.CheckFeedURL(feed); err != nil {
		return Document{}, shell.Usagef("%q is not the URL of a feed: it must be an http or https URL with a host", feed)
	}
	req, err := http.NewRequestWithContext(ctx, "GET", feed, nil)
	if err != nil {
		return Document{}, err
	}
	req.Header.Set("User-Agent", p.UserAgent())
	req.Header.Set("Cache-Control", "no-cache")
	h := p.HTTP
	if h == nil {
		h = &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true}}
	}
	res, err := h.Do(req)
	if err != nil {
		return Document{}, noResponse(feed, err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return Document{}, errorStatus(feed, res.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, shell.MaxFeed+1))
	if err != nil {
		return Document{}, fmt.Errorf("%s cannot be read completely: %w", feed, shell.PlainNetError(err))
	}
	if len(body) > shell.MaxFeed {
		return Document{}, fmt.Errorf("%s is larger than %d MiB", feed, shell.MaxFeed>>20)
	}
	d := Document{URL: feed, Final: feed, Body: body, Type: res.Header.Get("Content-Type")}
	if res.Request != nil {
		d.Final = res.Request.URL.String()
	}
	if t, err := http.ParseTime(res.Header.Get("Last-Modified")); err == nil {
		d.Modified = t
	}
	return d, nil
}

// UnreadableError means that a document could not be read.
type UnreadableError struct {
	URL       string
	Cause     error
	Temporary bool // whether a later attempt may succeed
}

// Error returns a sentence with the URL and the cause.
func (e UnreadableError) Error() string { return e.URL + " cannot be read: " + e.Cause.Error() }

// Unwrap returns the cause.
func (e UnreadableError) Unwrap() error { return e.Cause }

// noResponse returns the error of a document whose server sent no response.
func noResponse(url string, err error) error {
	dns, isDNS := errors.AsType[*net.DNSError](err)
	_, isOp := errors.AsType[*net.OpError](err)
	timeout, isNet := errors.AsType[net.Error](err)
	later := !errors.Is(err, context.Canceled) && (!isDNS || !dns.IsNotFound) &&
		(isOp || isNet && timeout.Timeout() || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF))
	return UnreadableError{url, shell.PlainNetError(err), later}
}

// errorStatus returns the error of a document whose server sent an error status.
func errorStatus(url string, status int) error {
	why := fmt.Errorf("the server returned %d %s", status, http.StatusText(status))
	return UnreadableError{url, why, status >= 500 || status == http.StatusTooManyRequests}
}

// Cloud parses the <cloud> element of the feed.
func (d Document) Cloud() (rsscloud.Cloud, error) {
	c, err := rsscloud.FindCloud(d.Body, d.Final)
	if errors.Is(err, rsscloud.ErrNoCloud) {
		return c, fmt.Errorf("%s has no usable <cloud> element (%w)", d.URL, err)
	}
	return c, err
}

// item is the part of a feed item that commands print.
type item struct {
	Title, Link, Text string
	At                time.Time // publication time; zero: unknown
}

// String returns the title on one line. If the title is empty, it returns the text, otherwise the
// link.
func (i item) String() string {
	text := cmp.Or(i.Title, i.Text, i.Link)
	return shell.Clip(shell.Clean(text), 100)
}

// NewestItem returns the newest item and the newest date of the feed. Both are zero if the
// document is not a feed.
func (d Document) NewestItem() (newest item, changed time.Time) {
	o := &feed.Options{URL: d.Final}
	if d.Type != "" {
		o.Header = http.Header{"Content-Type": {d.Type}}
	}
	f, err := feed.ParseBytes(d.Body, o)
	if err != nil {
		return item{}, time.Time{}
	}
	changed = date.Later(f.Published.UTC, f.Updated.UTC)
	for k := range f.Items {
		it := newItem(&f.Items[k])
		if k == 0 || it.At.After(newest.At) {
			newest = it
		}
		changed = date.Later(changed, it.At)
	}
	return newest, changed
}

// newItem converts a feed item.
func newItem(it *feed.Item) item {
	out := item{Title: sanitize.Text(it.Title.Value), Link: it.Link, Text: sanitize.Text(it.Summary.Value), At: date.Later(it.Published.UTC, it.Updated.UTC)}
	if it.Title.Type == "text/plain" {
		out.Title = it.Title.Value
	}
	for _, c := range it.Content {
		if out.Text == "" {
			out.Text = sanitize.Text(c.Value)
		}
	}
	return out
}
