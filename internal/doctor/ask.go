package doctor

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"cloudburst/internal/href"
	"cloudburst/protocol/rsscloud"
)

// hop is one redirect.
type hop struct {
	status   int // HTTP status; 0: unknown, because the client followed the redirect itself
	from, to string
}

// answer is the response to one request, after its redirects.
type answer struct {
	url    string // final URL
	hops   []hop
	status int // HTTP status; 0: no response, see failure
	header http.Header
	body   []byte // decoded content, up to the requested limit
	wire   int64  // number of transferred bytes
	coded  bool   // the transfer was compressed
	whole  bool   // body is complete
	took   time.Duration
	// failure is the reason for a missing or incomplete response, as words for people.
	failure string
}

// ok reports whether the response is complete and has status 200.
func (a *answer) ok() bool { return a.failure == "" && a.status == http.StatusOK }

// page reports whether the response is successful and has type text/html.
func (a *answer) page() bool {
	kind, _, _ := strings.Cut(a.header.Get("Content-Type"), ";")
	return a.status >= 200 && a.status <= 299 && strings.EqualFold(strings.TrimSpace(kind), "text/html")
}

// outcome describes the response in a few words.
func (a *answer) outcome() string {
	return cmp.Or(a.failure, statusText(a.status))
}

func statusText(status int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
}

// how contains the options of a request.
type how struct {
	header http.Header // additional header fields
	plain  bool        // request the response without compression
	limit  int64       // maximum number of bytes of the body
}

// get requests a URL and follows redirects.
func (x *exam) get(ctx context.Context, address string, h how) (a answer) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	a = answer{url: address}
	begun := x.d.now()
	defer func() { a.took = x.d.now().Sub(begun) }()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.url, nil)
		if err != nil {
			a.failure = err.Error()
			return a
		}
		maps.Copy(req.Header, h.header)
		req.Header.Set("Accept", "application/atom+xml, application/rss+xml, application/feed+json, application/rdf+xml, application/xml;q=0.9, */*;q=0.5")
		req.Header.Set("Accept-Encoding", "gzip")
		if h.plain {
			req.Header.Set("Accept-Encoding", "identity")
		}
		res, err := x.do(req)
		if err != nil {
			a.failure = x.d.words(err)
			return a
		}
		to := href.RedirectTarget(res)
		if to == "" {
			a.take(res, h.limit, x.d)
			return a
		}
		_ = res.Body.Close() // the body of a redirect is not needed
		if !a.follow(hop{res.StatusCode, a.url, to}) {
			return a
		}
	}
}

// follow records a redirect. It returns false and sets failure if the redirect cannot be followed.
func (a *answer) follow(h hop) bool {
	switch {
	case rsscloud.CheckFeedURL(h.to) != nil:
		a.failure = fmt.Sprintf("it redirects to %s, which is not a URL to fetch", quote(h.to))
	case len(a.hops) >= maxHops:
		a.failure = fmt.Sprintf("it has more than %d redirects", maxHops)
	default:
		a.hops = append(a.hops, h)
		a.url = h.to
		return true
	}
	return false
}

// take reads the final response.
func (a *answer) take(res *http.Response, limit int64, d *Doctor) {
	defer res.Body.Close()
	a.status, a.header = res.StatusCode, res.Header
	if res.Request != nil && res.Request.URL != nil && !sameURL(res.Request.URL.String(), a.url) {
		a.hops = append(a.hops, hop{0, a.url, res.Request.URL.String()})
		a.url = res.Request.URL.String()
	}
	counted := &counter{r: io.LimitReader(res.Body, limit+1)}
	body, err := io.Reader(counted), error(nil)
	switch coding := strings.ToLower(strings.TrimSpace(res.Header.Get("Content-Encoding"))); coding {
	case "", "identity", "none", "utf-8":
		a.coded = res.Uncompressed
	case "gzip", "x-gzip":
		a.coded = true
		if res.StatusCode == http.StatusOK {
			body, err = gzip.NewReader(counted)
		}
	default:
		err = fmt.Errorf("its Content-Encoding is %s, which the request does not accept", quote(coding))
	}
	if err == nil {
		var b bytes.Buffer
		_, err = b.ReadFrom(io.LimitReader(body, limit+1))
		a.body = b.Bytes()
	}
	a.wire, a.whole = counted.n, err == nil && int64(len(a.body)) <= limit
	if int64(len(a.body)) > limit {
		a.body, err = a.body[:limit], nil
	}
	if err != nil && a.status == http.StatusOK {
		a.failure = "its response ended early: " + d.words(err)
	}
}

// counter counts the bytes read through it.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// post sends a form and does not follow redirects.
func (x *exam) post(ctx context.Context, endpoint string, form url.Values) answer {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	a := answer{url: endpoint}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader(form.Encode()))
	if err != nil {
		a.failure = err.Error()
		return a
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "text/xml, application/xml;q=0.9, application/json;q=0.8, */*;q=0.1")
	res, err := x.do(req)
	if err != nil {
		a.failure = x.d.words(err)
		return a
	}
	a.take(res, maxAnswer, x.d)
	return a
}

var errRequests = errors.New("no request was sent: this examination has reached its limit of requests")

// do sends one request, within the limit of requests.
func (x *exam) do(r *http.Request) (*http.Response, error) {
	if x.requests++; x.requests > maxRequests {
		return nil, errRequests
	}
	if x.d.UserAgent != "" {
		r.Header.Set("User-Agent", x.d.UserAgent)
	}
	return x.d.http().Do(r)
}

// Do lets the protocol packages use the exam as their HTTP client.
func (x *exam) Do(r *http.Request) (*http.Response, error) { return x.do(r) }

func (d *Doctor) http() HTTPClient {
	if d.HTTP != nil {
		return d.HTTP
	}
	return &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}
