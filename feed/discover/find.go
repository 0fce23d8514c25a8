package discover

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// HTTPClient sends requests; [*http.Client] implements it. It should follow redirects. To fetch
// URLs from untrusted users, use a client that refuses private addresses.
type HTTPClient interface {
	Do(*http.Request) (*http.Response, error)
}

// ErrURL reports a URL that has no host or a scheme other than http and https.
var ErrURL = errors.New("discover: not a URL that can be fetched")

// StatusError reports a response with a status other than 200.
type StatusError struct {
	URL    string
	Status int
}

// Error returns a message with the URL and the status.
func (e *StatusError) Error() string {
	return fmt.Sprintf("discover: %s answers %d %s", e.URL, e.Status, http.StatusText(e.Status))
}

// Finder finds feeds by HTTP requests. The zero value is ready to use.
type Finder struct {
	HTTP      HTTPClient    // nil: a client with a timeout
	UserAgent string        // "": the default of net/http
	MaxBytes  int64         // maximum bytes of the page [5 MiB]
	MaxProbes int           // maximum number of requests after the page itself [12]; negative: none
	Timeout   time.Duration // time limit for one request [20 s]
}

// Find fetches a page or a feed and finds its feeds, see [Finder.Find].
func Find(ctx context.Context, client HTTPClient, address string) (Result, error) {
	f := Finder{HTTP: client}
	return f.Find(ctx, address)
}

// Find fetches address and reads its header and content like [HTML]. If neither declares a feed,
// Find requests the links that look like feeds and drops links to other documents. If none is left,
// it requests the URLs of [WellKnown] in order until one is a feed. The error is ErrURL, a
// [*StatusError] or an error of the client; errors of later requests are ignored.
func (f *Finder) Find(ctx context.Context, address string) (Result, error) {
	u, ok := parseURL(nil, address)
	if !ok || u.Host == "" {
		return Result{}, fmt.Errorf("%w: %.200q needs http:// or https:// and a host", ErrURL, address)
	}
	limit := f.MaxBytes
	if limit <= 0 {
		limit = 5 << 20
	}
	page, err := f.get(ctx, u.String(), limit)
	if err != nil {
		return Result{}, err
	}
	if page.status != http.StatusOK {
		return Result{}, &StatusError{URL: page.url, Status: page.status}
	}
	r := HTML(page.body, page.url, page.header)
	if !r.Sure() {
		f.probe(ctx, &r)
	}
	return r, ctx.Err()
}

// probe requests the links that only look like feeds. If none of them is a feed, it requests the
// well-known URLs.
func (f *Finder) probe(ctx context.Context, r *Result) {
	left := f.MaxProbes
	if left == 0 {
		left = 12
	}
	guesses := r.Links
	asked := map[string]bool{r.URL: true}
	r.Links = []Link{}
	for i, g := range guesses {
		// Half of the requests are reserved for the well-known URLs.
		if i >= left/2 || ctx.Err() != nil {
			break
		}
		asked[g.URL] = true
		if l, ok := f.ask(ctx, g); ok {
			r.Links = append(r.Links, l)
		}
	}
	if len(r.Links) > 0 {
		return
	}
	left -= len(asked) - 1
	for _, address := range WellKnown(r.URL) {
		if asked[address] {
			continue
		}
		if left--; left < 0 || ctx.Err() != nil {
			return
		}
		if l, ok := f.ask(ctx, Link{URL: address, Kind: Main, From: FromWellKnown}); ok {
			r.Links = append(r.Links, l)
			return
		}
	}
}

// ask fetches the beginning of a linked document and reports whether it is a feed. HEAD
// would be cheaper, but few servers send the same type for it, and the type alone is
// often wrong.
func (f *Finder) ask(ctx context.Context, l Link) (Link, bool) {
	a, err := f.get(ctx, l.URL, sniffed)
	if err != nil || a.status != http.StatusOK {
		return l, false
	}
	format := Sniff(a.body, a.header.Get("Content-Type"))
	if format == "" || format == Redirect {
		return l, false
	}
	l.URL, l.Format, l.Guess = a.url, format, false
	l.Type, _ = mediaType(a.header.Get("Content-Type"))
	if l.Title == "" {
		if own := HTML(a.body, a.url, nil); len(own.Links) > 0 {
			l.Title = own.Links[0].Title
		}
	}
	if format == OPML {
		l.Kind = Outline
	}
	return l, true
}

// answer is the response of a server.
type answer struct {
	url    string // URL after redirects
	status int
	header http.Header
	body   []byte // the body, truncated at the limit
}

func (f *Finder) get(ctx context.Context, address string, limit int64) (answer, error) {
	timeout := f.Timeout
	if timeout <= 0 {
		timeout = 20 * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return answer{}, fmt.Errorf("%w: %w", ErrURL, err)
	}
	req.Header.Set("Accept", "text/html, application/xhtml+xml, application/atom+xml, application/rss+xml, application/feed+json, application/xml;q=0.9, */*;q=0.5")
	if f.UserAgent != "" {
		req.Header.Set("User-Agent", f.UserAgent)
	}
	client := f.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	res, err := client.Do(req)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err
		}
		return answer{}, fmt.Errorf("discover: %s cannot be read: %w", address, err)
	}
	defer res.Body.Close()
	a := answer{url: address, status: res.StatusCode, header: res.Header}
	if res.Request != nil && res.Request.URL != nil {
		a.url = res.Request.URL.String()
	}
	var b bytes.Buffer
	if _, err := b.ReadFrom(io.LimitReader(res.Body, limit)); err != nil && b.Len() == 0 {
		return answer{}, fmt.Errorf("discover: %s cannot be read: %w", address, err)
	}
	a.body = b.Bytes()
	return a, nil
}
