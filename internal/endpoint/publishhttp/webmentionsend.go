package publishhttp

import (
	"context"
	"errors"
	"net/http"

	"cloudburst/internal/conversation"
	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/protocol/webmention"
)

// WebmentionSender sends the webmentions of posts. It implements conversation.Transport.
type WebmentionSender struct {
	HTTP      webmention.HTTPClient // must refuse forbidden addresses, because authors choose the links
	UserAgent string
}

// Discover reads a target page and finds its webmention endpoint.
func (w *WebmentionSender) Discover(ctx context.Context, target string) (endpoint string, err error) {
	d, err := w.client().Discover(ctx, target)
	if errors.Is(err, webmention.ErrNoEndpoint) {
		return "", fault.Wrap(fault.NotFound, err, "The page receives no webmentions.")
	}
	return d.Endpoint, sendFailure(err, "page")
}

// Send notifies an endpoint.
func (w *WebmentionSender) Send(ctx context.Context, endpoint, source, target string) (status int, err error) {
	receipt, err := w.client().Send(ctx, endpoint, webmention.Request{Source: source, Target: target})
	return receipt.Status, sendFailure(err, "endpoint")
}

func (w *WebmentionSender) client() *webmention.Client {
	return &webmention.Client{HTTP: w.HTTP, UserAgent: w.UserAgent}
}

// sendFailure classifies the failure of an attempt to send. what names the requested document.
func sendFailure(err error, what string) error {
	if err == nil {
		return nil
	}
	answer, answered := errors.AsType[*webmention.Error](err)
	kind := fetch.KindOf(err)
	switch {
	case kind == fetch.Refused, kind == fetch.BadURL:
		return fault.Wrap(fault.Refused, err, "The %s is on a network that this server does not request.", what)
	case errors.Is(err, webmention.ErrRedirects):
		return fault.Wrap(fault.Invalid, err, "The %s redirects without end.", what)
	case !answered:
		return fault.Wrap(fault.Unreadable, err, "The %s could not be reached.", what)
	}
	code := fault.Refused
	if s := answer.Status; s == http.StatusTooManyRequests || s == http.StatusRequestTimeout || s >= 500 {
		code = fault.Unreadable
	}
	return &fault.Error{Code: code, Msg: answer.Msg, RetryAfter: answer.RetryAfter, Err: &conversation.StatusError{Status: answer.Status, Err: err}}
}
