// Package wirehttp has what the protocols over HTTP share: clients and answers,
// the request that a handler works for, and forms.
package wirehttp

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Client sends requests; *http.Client is one.
type Client interface {
	Do(*http.Request) (*http.Response, error)
}

// ClientOr is c, or a client with a time limit of 30 s that follows no redirect.
func ClientOr(c Client) Client {
	if c != nil {
		return c
	}
	return &http.Client{
		Timeout:       30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// StatusText is a status as people know it: "404 Not Found".
func StatusText(status int) string {
	return strings.TrimSpace(strconv.Itoa(status) + " " + http.StatusText(status))
}

// RetryAfter reads seconds; the date form is rare enough to be left to the clients that wait.
func RetryAfter(h http.Header) time.Duration {
	n, err := strconv.ParseUint(strings.TrimSpace(h.Get("Retry-After")), 10, 31)
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Second
}

type requestKey struct{}

// WithRequest is a context from which [RequestFrom] gets r.
func WithRequest(ctx context.Context, r *http.Request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

// RequestFrom is the request that a handler works for; nil outside.
func RequestFrom(ctx context.Context) *http.Request {
	r, _ := ctx.Value(requestKey{}).(*http.Request)
	return r
}

// Quote shows a value of a request in a message: in quotes, and cut after 100 bytes.
func Quote(s string) string {
	const limit = 100
	if len(s) > limit {
		return fmt.Sprintf("%q…", s[:limit])
	}
	return fmt.Sprintf("%q", s)
}

// CheckURL says what is wrong with the URL in a field, "" for nothing: it is http or
// https with a host, without a user name, and without a character that isForbidden.
func CheckURL(field, s string, isForbidden func(rune) bool) string {
	wrong := func(format string) string { return fmt.Sprintf(format, field, Quote(s)) }
	switch {
	case !utf8.ValidString(s):
		return wrong("The %s %s is not UTF-8.")
	case strings.ContainsFunc(s, isForbidden):
		return wrong("The %s %s has a space or a control character in it; write a space as %%20.")
	}
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return wrong("The %s %s is not a URL.")
	case u.Scheme != "http" && u.Scheme != "https":
		return wrong("The %s %s must begin with http:// or https://.")
	case u.Hostname() == "":
		return wrong("The %s %s names no host.")
	case u.Port() != "" && !IsPort(u.Port()):
		return wrong("The port of the %s %s is not a number from 1 to 65535.")
	case u.User != nil:
		return "The " + field + " has a user name in it, and everything here is public; leave it out."
	}
	return ""
}

// IsPort reports a number from 1 to 65535.
func IsPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0
}
