// Package wirehttp contains what the protocols over HTTP share: clients and responses, the request
// in a handler's context, and forms.
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

// ClientOr returns c, or a default client with a timeout of 30 s that follows no redirect.
func ClientOr(c Client) Client {
	if c != nil {
		return c
	}
	return &http.Client{
		Timeout:       30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// StatusText returns a status with its name: "404 Not Found".
func StatusText(status int) string {
	return strings.TrimSpace(strconv.Itoa(status) + " " + http.StatusText(status))
}

// RetryAfter returns a Retry-After in seconds, 0 if it is missing or a date.
func RetryAfter(h http.Header) time.Duration {
	n, err := strconv.ParseUint(strings.TrimSpace(h.Get("Retry-After")), 10, 31)
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Second
}

type requestKey struct{}

// WithRequest returns a context that carries r for [RequestFrom].
func WithRequest(ctx context.Context, r *http.Request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

// RequestFrom returns the request that a handler serves; nil outside a handler.
func RequestFrom(ctx context.Context) *http.Request {
	r, _ := ctx.Value(requestKey{}).(*http.Request)
	return r
}

// Quote quotes a value of a request for a message and cuts it after 100 bytes.
func Quote(s string) string {
	const limit = 100
	if len(s) > limit {
		return fmt.Sprintf("%q…", s[:limit])
	}
	return fmt.Sprintf("%q", s)
}

// CheckURL returns what is wrong with the URL in a field, "" if nothing. The URL must be http or
// https with a host, without a user name and without characters for which isForbidden is true.
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

// IsPort reports whether s is a number from 1 to 65535.
func IsPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0
}
