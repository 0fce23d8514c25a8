package hub

import (
	"cmp"
	"context"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/href"
	"cloudburst/internal/limit"
	"cloudburst/internal/text"
)

// Turned is a request that was turned away for what it says, so that no feed was read
// and nobody was asked because of it.
type Rejection struct {
	Kind   string // event.KindPing, KindRegister or KindCancel
	Topic  string // URL of the feed that it is about, as it was named; "": not known
	Text   string // why, fit for the public
	Whole  string // the same with all of what was sent and with the cause, for the operator; "": Text says it
	Via    string // event.Event.Door
	Source netip.Addr
}

// TurnAway writes a request into the log that was turned away: whoever looks there for
// it wants to see whether it arrived, and what is wrong with it. Of many from one
// source it keeps some.
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
	// The same allowance as for what is asked in vain, each for itself.
	if _, ok := h.refusedCallbacks.Take("turned "+limit.Network(t.Source), h.now()); !ok {
		return
	}
	if err := h.record(ctx, e); err != nil {
		h.Log.Warn("write a refused request into the log", "err", err)
	}
}

// turnAway logs that the whole of r was refused. What the public reads of a callback
// is its host.
func (h *Hub) logRejected(ctx context.Context, kind string, r Registration, err error) {
	switch fault.CodeOf(err) {
	case fault.Invalid, fault.Refused:
	default: // a flood of refusals writes nothing, and trouble of our own is told elsewhere
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

// refusePing logs a ping of a feed that this server may not read, for the author who looks
// whether it arrived, and says why to the operator.
func (h *Hub) logRefusedPing(ctx context.Context, p Ping, err error) {
	u, bad := url.Parse(p.URL)
	if fault.CodeOf(err) == fault.Refused && bad == nil && u.User == nil { // the log is public
		h.LogRejected(ctx, Rejection{Kind: event.KindPing, Topic: p.URL, Text: fault.Message(err), Whole: err.Error(), Via: p.Via, Source: p.Source})
	}
}

// asked collects what the callback of one registration was asked. The nil pointer
// collects nothing.
type consentLog struct {
	mu     sync.Mutex
	events []event.Event
}

// add notes one test call or challenge. One that was not made has no request.
//
// spec:rsscloud-2009#log
func (a *consentLog) add(r Registration, feed string, x event.Exchange, err error, took time.Duration) {
	if a == nil || x.Request == "" {
		return
	}
	e := event.Event{Kind: event.KindVerify, TopicID: TopicID(feed), Topic: feed, OK: err == nil, Via: r.Protocol, Peer: text.Host(r.Callback), Took: took,
		Text: "The test call was answered.", Detail: detail(x)}
	switch {
	case err != nil:
		e.Text = fault.Message(err)
	case r.Challenge:
		e.Text = "The challenge was met."
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.events = append(a.events, e)
}
