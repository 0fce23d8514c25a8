// Package wirehttp contains the code that all protocols over HTTP share: clients and responses, the
// request in a handler's context, and forms.
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

// Client sends requests; *http.Client implements it.
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

// RetryAfter reads the header Retry-After of a response. A date counts from the header Date, or from
// the current time if there is none.
func RetryAfter(h http.Header) time.Duration {
	date, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		date = time.Now()
	}
	return ParseRetryAfter(h.Get("Retry-After"), date)
}

// ParseRetryAfter parses the value of a header Retry-After: a number of seconds, or an HTTP date,
// which becomes a duration from now. It returns 0 for invalid values and past dates.
func ParseRetryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if n, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if t, err := http.ParseTime(value); err == nil {
		return max(t.Sub(now), 0)
	}
	return 0
}

// SetRetryAfter sets Retry-After in whole seconds, rounded up. A wait of 0 sets nothing.
func SetRetryAfter(h http.Header, wait time.Duration) {
	if wait > 0 {
		h.Set("Retry-After", strconv.FormatInt(int64((wait+time.Second-1)/time.Second), 10))
	}
}

// WriteText writes a response in plain text.
func WriteText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text)) // an error means that the client has disconnected
}

// ServeForms serves an endpoint for forms: post handles POST, and the other methods respond with
// a text about the endpoint.
func ServeForms(w http.ResponseWriter, r *http.Request, about string, post func(http.ResponseWriter, *http.Request)) {
	const methods = "GET, HEAD, POST, OPTIONS"
	head := w.Header()
	head.Set("Cache-Control", "no-store")
	head.Set("X-Content-Type-Options", "nosniff")
	switch r.Method {
	case http.MethodPost:
		post(w, r)
	case http.MethodGet, http.MethodHead:
		WriteText(w, http.StatusOK, about)
	case http.MethodOptions:
		head.Set("Allow", methods)
		w.WriteHeader(http.StatusNoContent)
	default:
		head.Set("Allow", methods)
		WriteText(w, http.StatusMethodNotAllowed, about)
	}
}

// Refuse responds with an error in plain text. After 413 it closes the connection and does not
// wait for the rest of the body.
func Refuse(w http.ResponseWriter, status int, retryAfter time.Duration, text string) {
	SetRetryAfter(w.Header(), retryAfter)
	if status == http.StatusRequestEntityTooLarge {
		w.Header().Set("Connection", "close")
	}
	WriteText(w, status, text)
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

// CheckURL returns a message about the invalid URL in a field; "" if the URL is valid. The URL must
// be http or https with a host, without a user name and without characters for which isForbidden is
// true.
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
		return fmt.Sprintf("The %s has a user name in it, and everything here is public; leave it out.", field)
	}
	return ""
}

// IsPort reports whether s is a number from 1 to 65535.
func IsPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0
}
