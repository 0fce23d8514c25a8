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

// HTTPClient sends requests; *http.Client is one. A program that calls hosts which
// strangers name gives one that refuses private addresses.
type HTTPClient interface {
	Do(*http.Request) (*http.Response, error)
}

// Client talks to publishers and hubs for subscribers ([Client.Discover],
// [Client.Subscribe], [Client.Unsubscribe]) and to hubs for publishers
// ([Client.Publish]). The zero value works.
//
// An [*Error] has the status of an answer that is no success, and what the hub said.
type Client struct {
	HTTP      HTTPClient // nil: one with a time limit of 30 s; it need not follow redirects
	UserAgent string
}

// Discovery is what a document says about how to follow it. Its URLs are spelled as
// browsers spell them: a host in small letters, no port that the scheme implies, a
// slash where there is no path.
type Discovery struct {
	URL  string   // of the document, where redirects ended
	Hubs []string // absolute; the publisher tells all of them, so one is enough
	Self string   // the topic's own URL; "": not told
}

// Topic is the URL to subscribe to: Self, or URL where that is not told.
//
// spec:websub-2018#topic-is-self
func (d Discovery) Topic() string { return cmp.Or(d.Self, d.URL) }

// Discover reads the document at address, following up to five redirects, and finds
// its hubs and its own URL: in the Link headers, and what is not there in the document
// itself, a feed or the head of a page. Of the document the first 5 MiB are read, and
// only when they are needed. [ErrNoHub] comes with what was found.
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
		next, moved := location(resp, address)
		if !moved {
			return discovered(resp, address)
		}
		resp.Body.Close()
		if moves == maxRedirects {
			return Discovery{}, fmt.Errorf("websub: more than %d redirects, the last to %s", maxRedirects, wirehttp.Quote(next))
		}
		address = next
	}
}

// discovered reads the answer and closes it.
func discovered(resp *http.Response, address string) (Discovery, error) {
	defer resp.Body.Close()
	d := Discovery{URL: address}
	if resp.Request != nil && resp.Request.URL != nil {
		d.URL = resp.Request.URL.String() // the client may follow redirects by itself
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return d, &Error{Status: resp.StatusCode, RetryAfter: wirehttp.RetryAfter(resp.Header), Msg: "The topic was answered " + wirehttp.StatusText(resp.StatusCode) + "."}
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

// Subscribe asks hub for deliveries. The callback must be ready: the hub asks it before
// anything comes, often before it answers this. nil means only that it will ask. Where
// the hub moved for a while or for good (307, 308) it is asked there.
//
// spec:websub-2018#subscriber-request
// spec:websub-2018#hub-moved
func (c *Client) Subscribe(ctx context.Context, hub string, s Subscription) error {
	return c.subscription(ctx, hub, Request{Mode: ModeSubscribe, Subscription: s})
}

// Unsubscribe asks hub for an end of the deliveries; of s, Callback and Topic count. The
// hub asks the callback about this too.
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
	return c.ask(ctx, hub, q)
}

// Publish tells hub that topics changed: 1 to [MaxURLs] of them. Save them first, for
// the hub reads them.
//
// spec:websub-2018#publisher-tells-hubs
func (c *Client) Publish(ctx context.Context, hub string, urls ...string) error {
	if len(urls) == 0 || len(urls) > MaxURLs {
		return bad("%d topics cannot be published at once; 1 to %d can.", len(urls), MaxURLs)
	}
	for _, u := range urls {
		if err := CheckURL("The topic", u); err != nil {
			return err
		}
	}
	return c.ask(ctx, hub, Request{Mode: ModePublish, URLs: urls})
}

// ask posts q to the hub.
func (c *Client) ask(ctx context.Context, hub string, q Request) error {
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
		next, moved := location(resp, hub)
		moved = moved && (resp.StatusCode == http.StatusTemporaryRedirect || resp.StatusCode == http.StatusPermanentRedirect)
		if !moved {
			return answered(resp)
		}
		resp.Body.Close()
		// spec:websub-2018#secret-over-https
		switch {
		case moves == maxHubMoves:
			return fmt.Errorf("websub: the hub moved more than %d times, the last time to %s", maxHubMoves, wirehttp.Quote(next))
		case q.Subscription.Secret != "" && isHTTPS(hub) && !isHTTPS(next):
			return fmt.Errorf("websub: the hub moved to %s, where the secret would be read by others", wirehttp.Quote(next))
		}
		hub = next
	}
}

// answered reads what a hub said and closes it.
func answered(resp *http.Response) error {
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if resp.Request != nil && resp.Request.Method != http.MethodPost {
		// A client that follows redirects by itself made a GET of it on the way.
		return &Error{Status: resp.StatusCode, Msg: "The hub's address leads elsewhere by a redirect that is not for a POST."}
	}
	if resp.StatusCode >= 200 && resp.StatusCode <= 299 {
		return nil
	}
	e := &Error{Status: resp.StatusCode, RetryAfter: wirehttp.RetryAfter(resp.Header), Msg: "The hub answered " + wirehttp.StatusText(resp.StatusCode) + "."}
	if said := printable(strings.TrimSpace(string(body))); err == nil && said != "" && utf8.ValidString(said) && strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain") {
		e.Msg += " It says: " + text.Clip(said, 500)
	}
	return e
}

// location is where an answer leads, and whether it is a redirect to a place that can
// be asked.
func location(resp *http.Response, from string) (next string, ok bool) {
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
