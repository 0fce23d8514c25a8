package outside

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Success is part of each successful response of an rssCloud endpoint.
const Success = `success="true"`

// Answer is the result of one request.
type Answer struct {
	From, To   time.Time
	Status     int // 0: no response
	RetryAfter string
	Body       string // at most maxBody bytes
	Err        error
}

// Good reports whether the response has that status, and a body that contains words.
func (a Answer) Good(status int, words string) bool {
	return a.Err == nil && a.Status == status && strings.Contains(a.Body, words)
}

// OK reports whether the response is a success of an rssCloud endpoint.
func (a Answer) OK() bool { return a.Good(http.StatusOK, Success) }

// Limited reports whether the request was rejected because of a limit, with a Retry-After.
func (a Answer) Limited() bool {
	return a.Err == nil && (a.Status == http.StatusTooManyRequests || a.Status == http.StatusServiceUnavailable) && a.RetryAfter != ""
}

func (a Answer) String() string {
	if a.Err != nil {
		return a.Err.Error()
	}
	return fmt.Sprintf("%d (Retry-After %q) %.300s", a.Status, a.RetryAfter, a.Body)
}

// maxBody is the limit for the body of a response, in bytes.
const maxBody = 64 << 10

// Post sends a form.
func Post(ctx context.Context, c *http.Client, to string, form url.Values) Answer {
	return Send(ctx, c, http.MethodPost, to, "application/x-www-form-urlencoded", form.Encode())
}

// Send sends a request with a body of type kind; "": no type. headers are pairs of names and
// values.
func Send(ctx context.Context, c *http.Client, method, to, kind, body string, headers ...string) (a Answer) {
	a.From = time.Now()
	defer func() { a.To = time.Now() }()
	req, err := http.NewRequestWithContext(ctx, method, to, strings.NewReader(body))
	if err != nil {
		return Answer{From: a.From, Err: err}
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := c.Do(req)
	if err != nil {
		a.Err = err
		return a
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxBody))
	a.Status, a.RetryAfter, a.Body, a.Err = res.StatusCode, res.Header.Get("Retry-After"), string(text), err
	return a
}

// Registration returns the form that registers, or cancels, a callback of a feed over rssCloud. It
// contains the host of the callback, so the server verifies the callback by a GET.
func Registration(callback, feed string) url.Values {
	u, err := url.Parse(callback)
	if err != nil {
		panic(err) // the harness creates all callbacks
	}
	host, port, err := net.SplitHostPort(u.Host)
	if err != nil {
		panic(err) // as above
	}
	return url.Values{"notifyProcedure": {""}, "port": {port}, "path": {u.Path}, "protocol": {"http-post"}, "domain": {host}, "url1": {feed}}
}
