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

// Success is in the answer of an endpoint of rssCloud that did what was asked.
const Success = `success="true"`

// Answer is what came of one request.
type Answer struct {
	From, To   time.Time
	Status     int // 0: none came
	RetryAfter string
	Body       string // the beginning of it
	Err        error
}

// Good reports that the request was answered with a status, and with words in the answer.
func (a Answer) Good(status int, words string) bool {
	return a.Err == nil && a.Status == status && strings.Contains(a.Body, words)
}

// OK reports success of an endpoint of rssCloud.
func (a Answer) OK() bool { return a.Good(http.StatusOK, Success) }

// Limited reports a refusal because of a limit, which says when to come again.
func (a Answer) Limited() bool {
	return a.Err == nil && (a.Status == http.StatusTooManyRequests || a.Status == http.StatusServiceUnavailable) && a.RetryAfter != ""
}

func (a Answer) String() string {
	if a.Err != nil {
		return a.Err.Error()
	}
	return fmt.Sprintf("%d (Retry-After %q) %.300s", a.Status, a.RetryAfter, a.Body)
}

// bodyMost is how much of an answer is read.
const maxBody = 64 << 10

// Post sends a form.
func Post(ctx context.Context, c *http.Client, to string, form url.Values) Answer {
	return Send(ctx, c, http.MethodPost, to, "application/x-www-form-urlencoded", form.Encode())
}

// Send sends a body of a type, or none, with headers in pairs of name and value.
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

// Registration is the form by which rssCloud registers, or cancels, a callback of a feed. It names
// the callback's host, so that the callback is asked for its consent by a GET.
func Registration(callback, feed string) url.Values {
	u, err := url.Parse(callback)
	if err != nil {
		panic(err) // the harness made it
	}
	host, port, err := net.SplitHostPort(u.Host)
	if err != nil {
		panic(err) // as above
	}
	return url.Values{"notifyProcedure": {""}, "port": {port}, "path": {u.Path}, "protocol": {"http-post"}, "domain": {host}, "url1": {feed}}
}
