package hub

import (
	"cmp"
	"context"
	"net/netip"
	"net/url"
	"strings"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/href"
	"cloudburst/internal/limit"
)

// Rejection is a request that was rejected for its contents, before it caused any read or call.
type Rejection struct {
	Kind   string // event.KindPing, KindRegister or KindCancel
	Topic  string // URL of the feed as given; "": unknown
	Text   string // the reason, safe to show to the public
	Whole  string // the reason with all input and the cause, for the operator only; "": same as Text
	Via    string // event.Event.Via
	Source netip.Addr
}

// LogRejected logs a rejected request, so that its author can see that it arrived and what is
// wrong. The number of entries per source is limited.
//
// spec:rsscloud-2009#log
func (h *Hub) LogRejected(ctx context.Context, t Rejection) {
	h.Init()
	e := event.Event{Kind: t.Kind, Text: t.Text, Via: t.Via, Peer: peerOf(Ping{Source: t.Source})}
	if t.Topic != "" {
		if h.private(t.Topic) {
			return
		}
		if checkURL(t.Topic) == nil {
			e.TopicID, e.Topic = TopicID(t.Topic), t.Topic
		}
	}
	if t.Whole != t.Text {
		e.Detail = detail(event.Exchange{Error: t.Whole})
	}
	// Use the rate limit of refused callbacks, under a key of its own.
	if _, ok := h.refusedCallbacks.Take("turned "+limit.Network(t.Source), h.now()); !ok {
		return
	}
	if err := h.record(ctx, e); err != nil {
		h.Log.Warn("cannot write a rejected request to the event log", "err", err)
	}
}

// logRejected logs a rejected registration. The public text contains only the origin of the
// callback.
func (h *Hub) logRejected(ctx context.Context, kind string, r Registration, err error) {
	switch fault.CodeOf(err) {
	case fault.Invalid, fault.Refused:
	default: // other refusals could fill the log, and internal failures are reported elsewhere
		return
	}
	t := Rejection{Kind: kind, Whole: err.Error(), Via: r.Via, Source: r.Source}
	origin := cmp.Or(href.Origin(r.Callback), clip(r.Callback))
	t.Text = strings.NewReplacer(r.Callback, origin, clip(r.Callback), origin).Replace(fault.Message(err))
	if len(r.Feeds) > 0 {
		t.Topic = r.Feeds[0]
	}
	h.LogRejected(ctx, t)
}

// logRefusedPing logs a ping of a forbidden feed, so that its author can see that it arrived.
func (h *Hub) logRefusedPing(ctx context.Context, p Ping, err error) {
	u, bad := url.Parse(p.URL)
	if fault.CodeOf(err) == fault.Refused && bad == nil && u.User == nil { // the log is public, so never write a URL with a login into it
		h.LogRejected(ctx, Rejection{Kind: event.KindPing, Topic: p.URL, Text: fault.Message(err), Whole: err.Error(), Via: p.Via, Source: p.Source})
	}
}
