package webmention

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"cloudburst/internal/wirehttp"
)

// HTTPClient sends requests; *http.Client implements it. The URLs of sources, targets and
// endpoints come from unknown clients, so use one that refuses private addresses.
type HTTPClient interface {
	Do(*http.Request) (*http.Response, error)
}

// Client calls other sites for senders ([Client.Discover], [Client.Send]) and for receivers
// ([Client.Verify]). The zero value is ready to use.
type Client struct {
	HTTP      HTTPClient // nil: a client with a timeout of 30 s; it need not follow redirects
	UserAgent string
}

// Discovery is the result of [Client.Discover].
type Discovery struct {
	URL      string // URL of the target after redirects
	Endpoint string // absolute URL
}

// Discover reads the page target, follows up to [MaxRedirects] redirects, and finds its endpoint.
// It reads at most [MaxDocument] bytes of the page. Errors: [ErrNoEndpoint] together with the URL,
// an [*Error] for a status outside of 200 to 299, and those of the HTTP client.
//
// spec:webmention-2017#discovery-fetch
func (c *Client) Discover(ctx context.Context, target string) (Discovery, error) {
	if err := CheckURL("target", target); err != nil {
		return Discovery{}, err
	}
	d, err := c.read(ctx, withoutFragment(target), "text/html, */*;q=0.5")
	if err != nil {
		return Discovery{URL: d.URL}, err
	}
	if d.Status < 200 || d.Status > 299 {
		return Discovery{URL: d.URL}, &Error{Status: d.Status, RetryAfter: wirehttp.RetryAfter(d.Header), Msg: "The target answered " + wirehttp.StatusText(d.Status) + "."}
	}
	endpoint, ok := Endpoint(d.Header, d.URL, d.Body)
	if !ok {
		return Discovery{URL: d.URL}, ErrNoEndpoint
	}
	return Discovery{URL: d.URL, Endpoint: endpoint}, nil
}

// Receipt is the response of an endpoint that accepted a webmention.
type Receipt struct {
	Status    int    // 200 to 299
	StatusURL string // page with the state of the webmention; "": none
}

// Send notifies an endpoint. The parameters of the endpoint's own query stay in its URL. Redirects
// with status 307 and 308 are followed. A status outside of 200 to 299 is an [*Error].
//
// spec:webmention-2017#sender-notifies
// spec:webmention-2017#endpoint-query-kept
func (c *Client) Send(ctx context.Context, endpoint string, q Request) (Receipt, error) {
	if err := errors.Join(CheckURL("endpoint", endpoint), q.Check()); err != nil {
		return Receipt{}, err
	}
	body := q.Encode()
	for moves := 0; ; moves++ {
		r, err := c.request(ctx, http.MethodPost, endpoint, bytes.NewReader(body))
		if err != nil {
			return Receipt{}, err
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		resp, err := wirehttp.ClientOr(c.HTTP).Do(r)
		if err != nil {
			return Receipt{}, fmt.Errorf("webmention: %w", err)
		}
		next, moved := redirectTarget(resp, endpoint)
		moved = moved && (resp.StatusCode == http.StatusTemporaryRedirect || resp.StatusCode == http.StatusPermanentRedirect)
		if !moved {
			return readReceipt(resp, endpoint)
		}
		resp.Body.Close()
		if moves == maxMoves {
			return Receipt{}, fmt.Errorf("webmention: more than %d redirects; the last target was %s", maxMoves, wirehttp.Quote(next))
		}
		endpoint = next
	}
}

// readReceipt reads the response of an endpoint and closes it.
//
// spec:webmention-2017#any-success
func readReceipt(resp *http.Response, endpoint string) (Receipt, error) {
	defer resp.Body.Close()
	// Read the rest of a short response, so that the connection can be used again.
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxAnswer))
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return Receipt{}, &Error{Status: resp.StatusCode, RetryAfter: wirehttp.RetryAfter(resp.Header), Msg: "The endpoint answered " + wirehttp.StatusText(resp.StatusCode) + "."}
	}
	out := Receipt{Status: resp.StatusCode}
	if resp.StatusCode == http.StatusCreated {
		out.StatusURL, _ = location(resp, endpoint)
	}
	return out, nil
}

// document is a document that was read, with its headers.
type document struct {
	URL    string
	Status int
	Header http.Header
	Body   []byte
}

// read requests a document and follows redirects.
func (c *Client) read(ctx context.Context, address, accept string) (document, error) {
	for moves := 0; ; moves++ {
		r, err := c.request(ctx, http.MethodGet, address, nil)
		if err != nil {
			return document{URL: address}, err
		}
		r.Header.Set("Accept", accept)
		resp, err := wirehttp.ClientOr(c.HTTP).Do(r)
		if err != nil {
			return document{URL: address}, fmt.Errorf("webmention: %w", err)
		}
		next, moved := redirectTarget(resp, address)
		if !moved {
			return readDocument(resp, address)
		}
		resp.Body.Close()
		if moves == MaxRedirects {
			return document{URL: address}, fmt.Errorf("%w: more than %d; the last target was %s", ErrRedirects, MaxRedirects, wirehttp.Quote(next))
		}
		address = next
	}
}

// readDocument reads the response and closes it.
func readDocument(resp *http.Response, address string) (document, error) {
	defer resp.Body.Close()
	d := document{URL: address, Status: resp.StatusCode, Header: resp.Header}
	if resp.Request != nil && resp.Request.URL != nil {
		d.URL = resp.Request.URL.String() // the client may have followed redirects
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, MaxDocument))
	if err != nil {
		return d, fmt.Errorf("webmention: read the document: %w", err)
	}
	d.Body = body
	return d, nil
}

// redirectTarget returns the URL of a redirect. ok is false if the response is not a redirect or
// its target is invalid.
func redirectTarget(resp *http.Response, from string) (next string, ok bool) {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return location(resp, from)
	}
	return "", false
}

// location returns the Location of a response as an absolute URL.
func location(resp *http.Response, from string) (to string, ok bool) {
	base, err := url.Parse(from)
	if err != nil || resp.Header.Get("Location") == "" {
		return "", false
	}
	u, err := base.Parse(resp.Header.Get("Location"))
	if err != nil {
		return "", false
	}
	to = withoutFragment(u.String())
	return to, CheckURL("redirect", to) == nil
}

func (c *Client) request(ctx context.Context, method, address string, body io.Reader) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, fmt.Errorf("webmention: %w", err)
	}
	if c.UserAgent != "" {
		r.Header.Set("User-Agent", c.UserAgent)
	}
	return r, nil
}
