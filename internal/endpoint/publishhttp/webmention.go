package publishhttp

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"

	"cloudburst/internal/conversation"
	"cloudburst/internal/endpoint"
	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/route"
	"cloudburst/protocol/webmention"
)

// PathWebmention is the path of the endpoint that receives webmentions.
const PathWebmention = "/webmention"

// Webmention receives webmentions for the posts of this server. Conversation must be set.
type Webmention struct {
	Conversation Mentions
	Trusted      []netip.Prefix // see [endpoint.CallerAddr]
	Log          *slog.Logger   // nil: no log
}

// Mentions is the part of conversations that [Webmention] uses.
type Mentions interface {
	Receive(ctx context.Context, source, target string, client netip.Addr) error
}

// Routes lists the Webmention endpoint. Anyone may send, because this server verifies the source
// page before a webmention has any effect.
func (w *Webmention) Routes() []route.Route {
	one := route.Route{
		Path: PathWebmention, Handler: &webmention.Handler{Backend: w, Log: w.Log}, MaxBody: webmention.MaxForm,
		Purpose: "Receives webmentions: pages elsewhere that link to a post.",
	}
	slash := one // spec:cloudburst#endpoint-slash
	slash.Path += "/{$}"
	return []route.Route{one, slash}
}

// Receive implements webmention.Backend. No page shows the state of a webmention, because the
// decision of the author is private.
//
// spec:webmention-2017#target-accepted
// spec:webmention-2017#verify-later
func (w *Webmention) Receive(ctx context.Context, q webmention.Request) (status string, err error) {
	client := netip.Addr{}
	if r := webmention.RequestFrom(ctx); r != nil {
		client = endpoint.CallerAddr(r, w.Trusted)
	}
	err = w.Conversation.Receive(ctx, q.Source, q.Target, client)
	code := map[fault.Code]int{
		fault.Invalid: http.StatusBadRequest, fault.Refused: http.StatusForbidden, fault.TooMany: http.StatusTooManyRequests, fault.Unavailable: http.StatusServiceUnavailable,
	}[fault.CodeOf(err)]
	if err != nil && code != 0 {
		return "", &webmention.Error{Status: code, Msg: fault.Message(err), RetryAfter: fault.RetryAfter(err), Err: err}
	}
	return "", err
}

// WebmentionReader reads the pages of webmentions. It implements conversation.Reader.
type WebmentionReader struct {
	HTTP      webmention.HTTPClient // must refuse forbidden addresses, because unknown clients name the pages
	UserAgent string
}

// Read reads one page.
func (w *WebmentionReader) Read(ctx context.Context, source, target string) (c conversation.Content, author string, err error) {
	client := &webmention.Client{HTTP: w.HTTP, UserAgent: w.UserAgent}
	s, err := client.Verify(ctx, webmention.Request{Source: source, Target: target})
	if err != nil {
		return c, "", readFailure(err)
	}
	switch {
	case s.Deleted():
		return c, "", fault.New(fault.Gone, "The page answered %d.", s.Status)
	case s.Status == http.StatusTooManyRequests, s.Status == http.StatusRequestTimeout, s.Status >= 500:
		return c, "", fault.New(fault.Unreadable, "The page answered %d.", s.Status)
	case !s.Mentions:
		return c, "", fault.New(fault.Gone, "The page answered %d and does not link to the post.", s.Status)
	}
	e := webmention.ReadEntry(s.Body, s.ContentType, s.URL, target)
	c = conversation.Content{Kind: conversation.Kind(cmp.Or(e.Kind, webmention.KindMention)), Name: e.AuthorName, Title: e.Title, Text: e.Text, PublishedAt: e.Published, FinalURL: s.URL}
	return c, e.AuthorURL, nil
}

// readFailure classifies the failure to read a page. It is final if the address is forbidden or
// there are too many redirects.
func readFailure(err error) error {
	_, invalid := errors.AsType[*webmention.Error](err)
	switch kind := fetch.KindOf(err); {
	case kind == fetch.Refused, kind == fetch.BadURL:
		return fault.Wrap(fault.Refused, err, "The page is on a network that this server does not read.")
	case invalid, errors.Is(err, webmention.ErrRedirects):
		return fault.Wrap(fault.Invalid, err, "The page redirects without end.")
	}
	return fault.Wrap(fault.Unreadable, err, "The page could not be read.")
}
