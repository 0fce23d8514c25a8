package websub

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"cloudburst/feed/discover"
	"cloudburst/internal/text"
	"cloudburst/internal/wirehttp"
)

// HTTPClient sends requests; *http.Client implements it. A program that calls hosts named
// by unknown clients should use one that refuses private addresses.
type HTTPClient interface {
	Do(*http.Request) (*http.Response, error)
}

// Client calls publishers and hubs for subscribers ([Client.Discover], [Client.Subscribe],
// [Client.Unsubscribe]), and hubs for publishers ([Client.Publish]). The zero value is
// ready to use.
//
// A response without success is an [*Error] with its status and the hub's message.
type Client struct {
	HTTP      HTTPClient // nil: a client with a timeout of 30 s; it need not follow redirects
	UserAgent string
}

// Discovery is the result of [Client.Discover]. Its URLs are normalized in the way of browsers: a
// lowercase host, no default port, and a slash for an empty path.
type Discovery struct {
	URL  string   // URL of the document after redirects
	Hubs []string // absolute URLs; the publisher notifies all of them, so one is enough
	Self string   // URL that the topic declares as its own; "": none
}

// Topic returns the URL to subscribe to: Self, or URL if Self is empty.
//
// spec:websub-2018#topic-is-self
func (d Discovery) Topic() string { return cmp.Or(d.Self, d.URL) }

// Discover reads the document at address, follows up to five redirects, and finds the hubs
// and the document's own URL. It reads the Link headers first and, for values missing
// there, the document: a feed or the head of a page. It reads at most 5 MiB of the
// document, and nothing if the headers suffice. [ErrNoHub] is returned together with the
// Discovery.
//
// spec:websub-2018#discovery-order
// spec:websub-2018#discovery-headers
func (c *Client) Discover(ctx context.Context, address string) (Discovery, error) {
	for moves := 0; ; moves++ {
		r, err := c.request(ctx, http.MethodGet, address, nil)
		if err != nil {
			return Discovery{}, err
		}
		resp, err := wirehttp.ClientOr(c.HTTP).Do(r)
		if err != nil {
			return Discovery{}, fmt.Errorf("websub: %w", err)
		}
		next, moved := redirectTarget(resp, address)
		if !moved {
			return readDocument(resp, address)
		}
		resp.Body.Close()
		if moves == maxRedirects {
			return Discovery{}, fmt.Errorf("websub: more than %d redirects; the last target was %s", maxRedirects, wirehttp.Quote(next))
		}
		address = next
	}
}

// readDocument reads the response and closes it.
func readDocument(resp *http.Response, address string) (Discovery, error) {
	defer resp.Body.Close()
	d := Discovery{URL: address}
	if resp.Request != nil && resp.Request.URL != nil {
		d.URL = resp.Request.URL.String() // the client may have followed redirects
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return d, &Error{Status: resp.StatusCode, RetryAfter: wirehttp.RetryAfter(resp.Header), Msg: "The topic's server answered " + wirehttp.StatusText(resp.StatusCode) + "."}
	}
	head := discover.Header(resp.Header, d.URL)
	d.Hubs, d.Self = head.Hubs, head.Self
	if len(d.Hubs) > 0 && d.Self != "" {
		return d, nil
	}
	// spec:websub-2018#discovery-document
	doc, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument))
	if err != nil {
		return d, fmt.Errorf("websub: read the topic: %w", err)
	}
	inner := discover.HTML(doc, d.URL, http.Header{"Content-Type": resp.Header.Values("Content-Type")})
	if len(d.Hubs) == 0 {
		d.Hubs = inner.Hubs
	}
	d.Self = cmp.Or(d.Self, inner.Self)
	if len(d.Hubs) == 0 {
		return d, ErrNoHub
	}
	return d, nil
}

// Subscribe requests deliveries from hub. The callback must be ready, because the hub
// verifies it before the first delivery, often before this call returns. A nil error means
// only that the hub accepted the request. Redirects with status 307 and 308 are followed.
//
// spec:websub-2018#subscriber-request
// spec:websub-2018#hub-moved
func (c *Client) Subscribe(ctx context.Context, hub string, s Subscription) error {
	return c.subscription(ctx, hub, Request{Mode: ModeSubscribe, Subscription: s})
}

// Unsubscribe requests the end of the deliveries. Only Callback and Topic of s are used.
// The hub verifies the callback for this request too.
//
// spec:websub-2018#subscriber-unsubscribes
func (c *Client) Unsubscribe(ctx context.Context, hub string, s Subscription) error {
	return c.subscription(ctx, hub, Request{Mode: ModeUnsubscribe, Subscription: s})
}

func (c *Client) subscription(ctx context.Context, hub string, q Request) error {
	if err := CheckURL("The callback", q.Subscription.Callback); err != nil {
		return err
	}
	if err := CheckURL("The topic", q.Subscription.Topic); err != nil {
		return err
	}
	if n := len(q.Subscription.Secret); n > MaxSecret {
		return bad("The secret is %d bytes long; it must be less than %d.", n, MaxSecret+1)
	}
	return c.post(ctx, hub, q)
}

// Publish notifies hub that topics changed, from 1 to [MaxURLs] of them. Save the topics
// first, because the hub reads them.
//
// spec:websub-2018#publisher-notifies-hubs
func (c *Client) Publish(ctx context.Context, hub string, urls ...string) error {
	if len(urls) == 0 || len(urls) > MaxURLs {
		return bad("%d topics cannot be published at once; 1 to %d can.", len(urls), MaxURLs)
	}
	for _, u := range urls {
		if err := CheckURL("The topic", u); err != nil {
			return err
		}
	}
	return c.post(ctx, hub, Request{Mode: ModePublish, URLs: urls})
}

// post sends q to the hub.
func (c *Client) post(ctx context.Context, hub string, q Request) error {
	body := q.Encode()
	for moves := 0; ; moves++ {
		r, err := c.request(ctx, http.MethodPost, hub, bytes.NewReader(body))
		if err != nil {
			return err
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		resp, err := wirehttp.ClientOr(c.HTTP).Do(r)
		if err != nil {
			return fmt.Errorf("websub: %w", err)
		}
		next, moved := redirectTarget(resp, hub)
		moved = moved && (resp.StatusCode == http.StatusTemporaryRedirect || resp.StatusCode == http.StatusPermanentRedirect)
		if !moved {
			return readResponse(resp)
		}
		resp.Body.Close()
		// spec:websub-2018#secret-over-https
		switch {
		case moves == maxHubMoves:
			return fmt.Errorf("websub: more than %d redirects of the hub; the last target was %s", maxHubMoves, wirehttp.Quote(next))
		case q.Subscription.Secret != "" && isHTTPS(hub) && !isHTTPS(next):
			return fmt.Errorf("websub: the hub moved to %s, where the secret would be sent unencrypted", wirehttp.Quote(next))
		}
		hub = next
	}
}

// readResponse reads a hub's response and closes it.
func readResponse(resp *http.Response) error {
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if resp.Request != nil && resp.Request.Method != http.MethodPost {
		// The HTTP client has followed a redirect by itself and changed the POST to a GET.
		return &Error{Status: resp.StatusCode, Msg: "The hub's URL redirects with a status that is not for a POST."}
	}
	if resp.StatusCode >= 200 && resp.StatusCode <= 299 {
		return nil
	}
	e := &Error{Status: resp.StatusCode, RetryAfter: wirehttp.RetryAfter(resp.Header), Msg: "The hub answered " + wirehttp.StatusText(resp.StatusCode) + "."}
	if message := printable(strings.TrimSpace(string(body))); err == nil && message != "" && utf8.ValidString(message) && strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain") {
		e.Msg += " Message: " + text.Clip(message, 500)
	}
	return e
}

// redirectTarget returns the URL of a redirect. ok is false if the response is not a
// redirect or its target is invalid.
func redirectTarget(resp *http.Response, from string) (next string, ok bool) {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return "", false
	}
	base, err := url.Parse(from)
	if err != nil {
		return "", false
	}
	to, err := base.Parse(resp.Header.Get("Location"))
	if err != nil || resp.Header.Get("Location") == "" {
		return "", false
	}
	to.Fragment, to.RawFragment = "", ""
	next = to.String()
	return next, CheckURL("The redirect", next) == nil
}

func isHTTPS(u string) bool {
	scheme, _, _ := strings.Cut(u, ":")
	return strings.EqualFold(scheme, "https")
}

func (c *Client) request(ctx context.Context, method, address string, body io.Reader) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, fmt.Errorf("websub: %w", err)
	}
	if c.UserAgent != "" {
		r.Header.Set("User-Agent", c.UserAgent)
	}
	return r, nil
}
