// Package forwardui has the pages of forwarding: the recipients of a user's new items, and the pages on
// which recipients confirm or unsubscribe. Start with [Pages].
package forwardui

import (
	"context"
	"net/http"

	"cloudburst/internal/river"
	"cloudburst/internal/river/forward"
	"cloudburst/internal/route"
	"cloudburst/internal/web/shell"
)

// River is the interface to the aggregator for the pages; river.River implements it.
type River interface {
	Subscriptions(ctx context.Context, q river.SubscriptionQuery) ([]river.Followed, error)
	Categories(ctx context.Context, reader string, unread bool) ([]river.Category, error)
	Forwardings
	Links
}

// Forwardings manages the forwarding of a reader's new items to recipients.
type Forwardings interface {
	PutForwarding(ctx context.Context, n forward.Forwarding) (forward.Forwarding, error)
	Forwardings(ctx context.Context, reader string) ([]forward.Forwarding, error)
	DropForwarding(ctx context.Context, reader string, id int64) error
	TryForwarding(ctx context.Context, reader string, id int64) error
}

// Links handles the links in mails by which recipients confirm, unsubscribe or choose a digest.
type Links interface {
	ConfirmLink(ctx context.Context, token string) (forward.Link, error)
	EndLink(ctx context.Context, token string) (forward.Link, error)
	ConfirmForwarding(ctx context.Context, token string) (forward.Link, error)
	EndForwarding(ctx context.Context, token string) (forward.Link, error)
	AllowForwarding(ctx context.Context, token string) (forward.Link, error)
	ChooseDigest(ctx context.Context, token, digest string) (forward.Link, error)
}

// Options configure the pages. All fields must be set.
type Options struct {
	River River
	shell.ReaderRoutes
}

// Pages has the pages of forwarding.
type Pages struct {
	*shell.Shell
	Options
}

// New builds the pages.
func New(sh *shell.Shell, o Options) *Pages { return &Pages{sh, o} }

// pageView is the common data of the pages of a reader.
type pageView struct {
	shell.View
	Message string
}

func (s *Pages) pageView(r *http.Request, title string) pageView {
	return pageView{View: s.NewView(r, title), Message: map[string]string{
		"notice":  "Saved. The recipient is asked for consent now; until then nothing is forwarded.",
		"tried":   "The newest item was sent and accepted.",
		"asked":   "The recipient was asked again.",
		"paused":  "Paused. New items are not sent.",
		"resumed": "Resumed. New items are sent again.",
		"removed": "Removed.",
		"digest":  "Saved.",
	}[r.URL.Query().Get("done")]}
}

// Routes lists the pages.
func (s *Pages) Routes() []route.Route {
	// open returns the routes of a page and its form. They need no session, because the link in a mail has a
	// token.
	open := func(path, asks, does string, page, do shell.Page) []route.Route {
		return []route.Route{
			{Method: http.MethodGet, Path: path, Handler: s.Handle(page), Purpose: asks},
			{Method: http.MethodPost, Path: path, Handler: s.Handle(do), MaxBody: shell.FormOverhead, Purpose: does},
		}
	}
	all := []route.Route{
		s.Own("/feeds/notices", "Where new items are forwarded to.", s.listPage),
		s.Form("/feeds/notices", "Adds a recipient of new items.", s.doAdd),
		s.Form("/feeds/notices/try", "Sends the newest item to a recipient.", s.doTry),
		s.Form("/feeds/notices/pause", "Pauses or resumes forwarding.", s.doPause),
		s.Form("/feeds/notices/digest", "Changes how often a mailbox receives new items.", s.doDigest),
		s.Form("/feeds/notices/remove", "Removes a recipient.", s.doRemove),
	}
	all = append(all, open("/feeds/notices/confirm", "Asks a recipient for consent, from the link in a mail.", "Saves the consent of a recipient.", s.confirmPage, s.doConfirm)...)
	return append(all, open(EndPath, "Asks a recipient whether forwarding ends or how often mails arrive, from the link in a mail.", "Ends forwarding for a recipient, also by one click in a mail program, or changes how often mails arrive.", s.endPage, s.doEnd)...)
}
