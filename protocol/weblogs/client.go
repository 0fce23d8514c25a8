package weblogs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"cloudburst/internal/charset"
	"cloudburst/internal/scan"
	"cloudburst/internal/text"
	"cloudburst/protocol/xmlrpc"
)

// maxAnswer is the maximum size of a response, in bytes.
const maxAnswer = 64 << 10

// maxMessage is the maximum length of a message, in characters.
const maxMessage = 200

// Client pings servers. The zero value is ready to use. If the server refuses a ping, the [Result]
// has Err set, and the error is nil. An error means that the ping was not sent or that its result
// is unknown: a [*FieldError] for an invalid ping, [ErrInvalidResponse] for an invalid response, an
// [*xmlrpc.HTTPError] for a status other than 2xx.
type Client struct {
	HTTP      HTTPClient // nil: a client with a timeout of 30 s
	UserAgent string
}

// Ping calls weblogUpdates.ping at endpoint, the URL of an XML-RPC endpoint.
//
// spec:feedstate-2007#ping-simple
func (c *Client) Ping(ctx context.Context, endpoint string, p Ping) (Result, error) {
	return c.call(ctx, endpoint, MethodPing, p, p.Params())
}

// ExtendedPing calls weblogUpdates.extendedPing at endpoint. p must have a FeedURL.
//
// spec:feedstate-2007#ping-extended
func (c *Client) ExtendedPing(ctx context.Context, endpoint string, p Ping) (Result, error) {
	if p.FeedURL == "" {
		return Result{}, fieldErr("rssUrl", "An extended ping needs the URL of the feed.")
	}
	return c.call(ctx, endpoint, MethodExtendedPing, p, p.ExtendedParams())
}

func (c *Client) call(ctx context.Context, endpoint, method string, p Ping, params []any) (Result, error) {
	if err := p.Check(); err != nil {
		return Result{}, err
	}
	rpc := xmlrpc.Client{URL: endpoint, HTTP: c.http(false), UserAgent: c.UserAgent, MaxBytes: maxAnswer}
	v, err := rpc.Call(ctx, method, params...)
	if f, ok := errors.AsType[*xmlrpc.Fault](err); ok {
		return Result{Err: true, Message: line(f.String)}, nil
	}
	if err != nil {
		return Result{}, err
	}
	return ParseResult(v)
}

// PingByGET sends a ping by a GET of the URL that [PingURL] makes from template. Status 200
// means success. The message is the first text of the returned page.
//
// spec:feedstate-2007#ping-get
func (c *Client) PingByGET(ctx context.Context, template string, p Ping) (Result, error) {
	address, err := PingURL(template, p)
	if err != nil {
		return Result{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return Result{}, fmt.Errorf("weblogs: pinging: %w", err)
	}
	req.Header.Set("Accept", "text/html, text/plain;q=0.9, */*;q=0.1")
	if c.UserAgent != "" {
		req.Header.Set("User-Agent", c.UserAgent)
	}
	resp, err := c.http(true).Do(req)
	if err != nil {
		return Result{}, fmt.Errorf("weblogs: pinging: %w", err)
	}
	defer resp.Body.Close()
	// Ignore a read error: only the status matters, and a part of the page is enough for the
	// message.
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	r := Result{Err: resp.StatusCode != http.StatusOK, Message: pageText(body, resp.Header.Get("Content-Type"))}
	if r.Err && r.Message == "" {
		r.Message = fmt.Sprintf("HTTP status %d %s.", resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	return r, nil
}

// PingURL fills a template: {0} is replaced by the name and {1} by the URL of p, both
// escaped. If the template has neither, the parameters name and url are appended. The error
// is a [*FieldError].
func PingURL(template string, p Ping) (string, error) {
	if err := p.Check(); err != nil {
		return "", err
	}
	if !strings.Contains(template, "{0}") && !strings.Contains(template, "{1}") {
		template, _, _ = strings.Cut(template, "#")
		switch mark := strings.IndexByte(template, '?'); {
		case mark < 0:
			template += "?"
		case mark < len(template)-1 && !strings.HasSuffix(template, "&"):
			template += "&"
		}
		template += "name={0}&url={1}"
	}
	address := strings.NewReplacer("{0}", url.QueryEscape(p.Name), "{1}", url.QueryEscape(p.URL)).Replace(template)
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return "", fieldErr("", "%s is not a valid URL for pings.", quote(template))
	}
	return address, nil
}

// http returns the client to use. Only a GET follows redirects, because a redirected call
// would become a GET.
func (c *Client) http(follow bool) HTTPClient {
	if c.HTTP != nil {
		return c.HTTP
	}
	h := &http.Client{Timeout: 30 * time.Second}
	if !follow {
		h.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	return h
}

// pageText returns the first paragraph of a page, its title if there is none, or the first
// line of plain text. The result has at most maxMessage characters.
func pageText(body []byte, contentType string) string {
	page := charset.Decode(body, contentType).Text
	if kind := strings.ToLower(contentType); !strings.HasPrefix(kind, "text/html") && !strings.HasPrefix(kind, "application/xhtml") {
		if !strings.HasPrefix(kind, "text/plain") {
			return ""
		}
		first, _, _ := strings.Cut(strings.TrimSpace(page), "\n")
		return text.ClipRunes(line(first), maxMessage)
	}
	r := scan.New(page, scan.Options{})
	title := ""
	for kind := r.Next(); kind != scan.EOF; kind = r.Next() {
		if kind != scan.Start {
			continue
		}
		switch r.Local {
		case "script", "style":
			r.Skip()
		case "title":
			title = line(r.InnerText())
		case "p":
			if s := line(r.InnerText()); s != "" {
				return text.ClipRunes(s, maxMessage)
			}
		}
	}
	return text.ClipRunes(title, maxMessage)
}
