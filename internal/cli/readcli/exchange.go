package readcli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"cloudburst/feed/polling"
	"cloudburst/internal/cli/shell"
	"cloudburst/internal/href"
	"cloudburst/internal/sanitize"
	"cloudburst/protocol/rsscloud"
)

// reader sends requests as a feed reader does and records each response. Each request follows no
// redirect. The reader may connect to all addresses that the user can connect to.
type reader struct {
	http  rsscloud.HTTPClient
	agent string
}

func (p *commands) reader() *reader { return &reader{p.SingleHopClient(), p.UserAgent()} }

// exchange is one check of a feed, with all redirects.
type exchange struct {
	answer      polling.Answer
	body        []byte // decoded body
	protocol    string // protocol of the response, such as "HTTP/2.0"
	coding      string
	transferred int64 // size in bytes of the body as it was sent, possibly compressed
}

// get reads a URL and follows redirects. before has the earlier hops. get sends the validators only
// to the URL that they belong to.
func (r *reader) get(ctx context.Context, from string, v polling.Validators, before []polling.Hop) exchange {
	ctx, cancel := context.WithTimeout(ctx, shell.FeedTimeout)
	defer cancel()
	var e exchange
	a := &e.answer
	a.URL, a.Hops = from, before
	for {
		res, err := r.ask(ctx, a.URL, v)
		if err != nil {
			a.Error, a.Detail = kindOf(err), shell.PlainNetError(err).Error()
			return e
		}
		to := href.RedirectTarget(res)
		if to == "" {
			e.take(res)
			return e
		}
		res.Body.Close()
		if len(a.Hops) >= polling.MaxRedirects {
			a.Error, a.Detail = polling.ErrRedirects, fmt.Sprintf("there are more than %d redirects", polling.MaxRedirects)
			return e
		}
		if err := rsscloud.CheckFeedURL(to); err != nil {
			a.Error, a.Detail = polling.ErrBadURL, fmt.Sprintf("it redirects to the unsupported URL %q", to)
			return e
		}
		a.Hops = append(a.Hops, polling.Hop{Status: res.StatusCode, From: a.URL, To: to})
		a.URL = to
	}
}

func (r *reader) ask(ctx context.Context, u string, v polling.Validators) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, "GET", u, nil)
	if err != nil {
		return nil, err
	}
	if u == v.URL {
		req.Header = v.Header()
	}
	req.Header.Set("User-Agent", r.agent)
	req.Header.Set("Accept", "application/atom+xml, application/rss+xml, application/feed+json, application/rdf+xml, application/xml;q=0.9, */*;q=0.5")
	req.Header.Set("Accept-Encoding", "gzip")
	return r.http.Do(req)
}

// take reads the final response into the exchange.
func (e *exchange) take(res *http.Response) {
	defer res.Body.Close()
	a := &e.answer
	a.Status, a.Header, e.protocol = res.StatusCode, res.Header, res.Proto
	counted := &counter{r: res.Body}
	e.coding = shell.ContentCoding(res.Header.Get("Content-Encoding"))
	plain, err := shell.NewDecoder(counted, e.coding)
	if err == nil {
		e.body, err = shell.ReadLimited(plain, nil)
	}
	e.transferred = counted.n
	switch {
	case a.Status < 200 || a.Status > 299:
		a.Detail = refusalText(a.Header, e.body) // ignore read errors: the response is an error anyway
	case err != nil:
		a.Error, a.Detail = kindOf(err), "reading its response failed: "+shell.PlainNetError(err).Error()
	case len(e.body) > shell.MaxFeed:
		a.Error, a.Detail = polling.ErrTooLarge, fmt.Sprintf("it is larger than %d MiB", shell.MaxFeed>>20)
	default:
		a.Hash = hashOf(e.body)
	}
}

// counter counts the bytes that are read through it.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// refusalText returns the server's own explanation of a refusal: its text, or the text of its page.
func refusalText(h http.Header, body []byte) string {
	kind := strings.ToLower(h.Get("Content-Type"))
	switch {
	case strings.HasPrefix(kind, "text/html"):
		body = []byte(sanitize.PageText(string(body)))
	case !strings.HasPrefix(kind, "text/"):
		return ""
	}
	return strings.TrimSuffix(shell.TidyTitle(string(body)), ".")
}

// kindOf classifies a network error.
func kindOf(err error) polling.ErrorKind {
	if errors.Is(err, context.Canceled) {
		return polling.ErrLocal
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return polling.ErrDNS
	}
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
		return polling.ErrTimeout
	}
	text := err.Error()
	if strings.Contains(text, "tls: ") || strings.Contains(text, "x509: ") {
		return polling.ErrTLS
	}
	if _, ok := errors.AsType[*net.OpError](err); ok {
		return polling.ErrUnreachable
	}
	if e, ok := errors.AsType[*url.Error](err); ok && errors.Is(e.Err, io.EOF) {
		return polling.ErrUnreachable
	}
	return polling.ErrMalformed
}
