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

// Success is a text that every successful response of an rssCloud endpoint contains.
const Success = `success="true"`

// Answer is the result of one request.
type Answer struct {
	From, To   time.Time
	Status     int // 0 if there was no response
	RetryAfter string
	Body       string // at most maxBody bytes of the response body
	Err        error
}

// Good reports whether the response has the given status, and a body that contains words.
func (a Answer) Good(status int, words string) bool {
	return a.Err == nil && a.Status == status && strings.Contains(a.Body, words)
}

// OK reports whether the response is a success response of an rssCloud endpoint.
func (a Answer) OK() bool { return a.Good(http.StatusOK, Success) }

// Limited reports whether the server rejected the request because of a limit, with a Retry-After
// header.
func (a Answer) Limited() bool {
	return a.Err == nil && (a.Status == http.StatusTooManyRequests || a.Status == http.StatusServiceUnavailable) && a.RetryAfter != ""
}

func (a Answer) String() string {
	if a.Err != nil {
		return a.Err.Error()
	}
	return fmt.Sprintf("%d (Retry-After %q) %.300s", a.Status, a.RetryAfter, a.Body)
}

// maxBody is the maximum size of a stored response body in bytes.
const maxBody = 64 << 10

// Post sends a form in a POST request.
func Post(ctx context.Context, c *http.Client, to string, form url.Values) Answer {
	return Send(ctx, c, http.MethodPost, to, "application/x-www-form-urlencoded", form.Encode())
}

// Send sends a request and returns the result. kind is the Content-Type of the body; "" sends no
// Content-Type. headers contains pairs of names and values.
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

// Registration returns the form that registers or cancels a callback for a feed over rssCloud.
// The form contains the host of the callback, so the server verifies the callback with a GET
// request.
func Registration(callback, feed string) url.Values {
	u, err := url.Parse(callback)
	if err != nil {
		panic(err) // the harness creates all callback URLs, so this cannot happen
	}
	host, port, err := net.SplitHostPort(u.Host)
	if err != nil {
		panic(err) // the harness creates all callback URLs, so this cannot happen
	}
	return url.Values{"notifyProcedure": {""}, "port": {port}, "path": {u.Path}, "protocol": {"http-post"}, "domain": {host}, "url1": {feed}}
}
