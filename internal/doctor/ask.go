package doctor

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"cloudburst/internal/href"
	"cloudburst/protocol/rsscloud"
)

// hop is one redirect.
type hop struct {
	status   int // 0: the client followed it and does not say
	from, to string
}

// answer is what came of one request, over its redirects.
type answer struct {
	url    string // where they ended
	hops   []hop
	status int // 0: there was none, see failure
	header http.Header
	body   []byte // decoded, at most as much as was asked for
	wire   int64  // bytes as they came
	coded  bool   // compressed on the way
	whole  bool   // body is all of it
	took   time.Duration
	// failure says in words why there is no answer, or no whole one.
	failure string
}

// ok reports a document that can be looked at.
func (a *answer) ok() bool { return a.failure == "" && a.status == http.StatusOK }

// page reports an answer that is a page for people.
func (a *answer) page() bool {
	kind, _, _ := strings.Cut(a.header.Get("Content-Type"), ";")
	return a.status >= 200 && a.status <= 299 && strings.EqualFold(strings.TrimSpace(kind), "text/html")
}

// outcome is an answer in a few words.
func (a *answer) outcome() string {
	if a.failure != "" {
		return a.failure
	}
	return statusText(a.status)
}

func statusText(status int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
}

// how says how to ask.
type how struct {
	header http.Header // further fields
	plain  bool        // without compression
	most   int64       // bytes of the body
}

// get reads a URL over its redirects.
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
		for name, values := range h.header {
			req.Header[name] = values
		}
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
			a.take(res, h.most, x.d)
			return a
		}
		_ = res.Body.Close() // nothing of it was wanted
		if !a.follow(hop{res.StatusCode, a.url, to}) {
			return a
		}
	}
}

// follow takes a hop, or says why it cannot be taken.
func (a *answer) follow(h hop) bool {
	switch {
	case rsscloud.CheckFeedURL(h.to) != nil:
		a.failure = fmt.Sprintf("it redirects to %s, which is no URL that can be read", quote(h.to))
	case len(a.hops) >= maxHops:
		a.failure = fmt.Sprintf("it leads from redirect to redirect, more than %d times", maxHops)
	default:
		a.hops = append(a.hops, h)
		a.url = h.to
		return true
	}
	return false
}

// take reads the last answer.
func (a *answer) take(res *http.Response, most int64, d *Doctor) {
	defer res.Body.Close()
	a.status, a.header = res.StatusCode, res.Header
	if res.Request != nil && res.Request.URL != nil && res.Request.URL.String() != a.url {
		a.hops = append(a.hops, hop{0, a.url, res.Request.URL.String()})
		a.url = res.Request.URL.String()
	}
	counted := &counter{r: io.LimitReader(res.Body, most+1)}
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
		err = fmt.Errorf("it is coded as %s, which was not asked for", quote(coding))
	}
	if err == nil {
		var b bytes.Buffer
		_, err = b.ReadFrom(io.LimitReader(body, most+1))
		a.body = b.Bytes()
	}
	a.wire, a.whole = counted.n, err == nil && int64(len(a.body)) <= most
	if int64(len(a.body)) > most {
		a.body, err = a.body[:most], nil
	}
	if err != nil && a.status == http.StatusOK {
		a.failure = "its answer cannot be read to the end: " + d.words(err)
	}
}

// counter counts what is read through it.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// post sends a form without following redirects.
func (x *exam) post(ctx context.Context, door string, form url.Values) answer {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	a := answer{url: door}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, door, strings.NewReader(form.Encode()))
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

var errAsked = errors.New("it was not asked: this examination has sent as many requests as it may")

// do sends one request, within the number that there may be.
func (x *exam) do(r *http.Request) (*http.Response, error) {
	if x.asked++; x.asked > maxAsked {
		return nil, errAsked
	}
	if x.d.UserAgent != "" {
		r.Header.Set("User-Agent", x.d.UserAgent)
	}
	return x.d.http().Do(r)
}

// Do makes an exam the client of the packages that speak to hubs.
func (x *exam) Do(r *http.Request) (*http.Response, error) { return x.do(r) }

func (d *Doctor) http() HTTPClient {
	if d.HTTP != nil {
		return d.HTTP
	}
	return &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}
