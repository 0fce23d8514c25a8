package hubhttp

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"cloudburst/internal/endpoint"
	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/hub"
	"cloudburst/protocol/cnws"
	"cloudburst/protocol/rsscloud"
)

const viaCNWS = "cnws"

// Follows represents this server's own subscriptions at other hubs.
type Follows interface {
	// Receive processes a notification that topic changed; topic is spelled as the sender spells
	// it. wanted reports whether this server is subscribed. When Receive returns, the resulting
	// work is stored. wanted is valid even with an error, unless the error is temporary (TooMany,
	// Unavailable or Internal).
	Receive(ctx context.Context, topic, protocol string, source netip.Addr, hops int) (wanted bool, err error)
}

// CNWS connects the CNWS protocol to the hub. It implements cnws.Publisher, and cnws.Subscriber for
// this server's own subscriptions.
type CNWS struct {
	Hub      Hub
	Upstream Follows        // nil: this server wants no notifications
	Trusted  []netip.Prefix // see [endpoint.CallerAddr]
	Log      *slog.Logger   // nil: no log
}

// callerOf describes the sender of r. If r is nil, only the protocol is known.
func (c *CNWS) callerOf(r *http.Request) caller {
	if r == nil {
		return caller{via: viaCNWS}
	}
	return caller{viaCNWS, endpoint.CallerAddr(r, c.Trusted), rsscloud.Hops(r.Header)}
}

// Subscribe processes a subscription. It verifies the callback and reads the resource before the
// response.
//
// spec:cnws-2003#subscribe-answer
func (c *CNWS) Subscribe(ctx context.Context, s cnws.Subscribe) (cnws.Result, error) {
	from := c.callerOf(cnws.RequestFrom(ctx))
	done, err := c.Hub.Register(ctx, hub.Registration{
		Protocol: hub.CNWS, Callback: s.NotificationURL, Feeds: []string{s.ResourceID},
		Source: from.addr, Via: from.via,
	})
	switch {
	case err != nil:
		return cnws.Result{}, c.failure(ctx, err)
	case len(done.Accepted) > 0:
		return cnws.Result{Status: true, Title: done.About.Title, Description: done.About.Description}, nil
	case len(done.Refused) > 0:
		return cnws.Result{Description: done.Refused[0].Reason}, nil
	}
	return cnws.Result{Description: "Nothing was subscribed to."}, nil
}

// Changed processes a notification from another hub.
func (c *CNWS) Changed(ctx context.Context, change cnws.Change) (wanted bool, err error) {
	if c.Upstream == nil {
		return false, &cnws.Error{Msg: "This server has no subscriptions by this protocol."}
	}
	from := c.callerOf(cnws.RequestFrom(ctx))
	wanted, err = c.Upstream.Receive(ctx, change.ResourceID, hub.CNWS, from.addr, from.hops)
	switch {
	case err != nil:
		return wanted, later(c.failure(ctx, err))
	case !wanted:
		// spec:cnws-2003#unsubscribe-by-false
		return false, &cnws.Error{Msg: "This server is not subscribed to " + endpoint.DisplayURL(change.ResourceID) + "."}
	}
	return true, nil
}

// later turns a failure of this server into a temporary error, because a publisher ends the
// subscription after any other HTTP error.
func later(e *cnws.Error) *cnws.Error {
	if e.Status == http.StatusInternalServerError {
		e.Status, e.RetryAfter = http.StatusServiceUnavailable, time.Minute
	}
	return e
}

// failure returns an error in the form of the protocol. An error that the client can fix becomes a
// description; a limit or a failure of this server becomes an HTTP status.
func (c *CNWS) failure(ctx context.Context, err error) *cnws.Error {
	e := &cnws.Error{Msg: fault.Message(err), RetryAfter: fault.RetryAfter(err), Err: err}
	switch fault.CodeOf(err) {
	case fault.TooMany:
		e.Status, e.RetryAfter = http.StatusTooManyRequests, max(e.RetryAfter, time.Second)
	case fault.Unavailable:
		e.Status, e.RetryAfter = http.StatusServiceUnavailable, max(e.RetryAfter, 10*time.Second)
		if c.Log != nil {
			c.Log.WarnContext(ctx, "CNWS request could not be processed", "err", err)
		}
	case fault.Internal:
		e.Status = http.StatusInternalServerError
		if c.Log != nil {
			c.Log.ErrorContext(ctx, "CNWS request failed", "err", err)
		}
	}
	return e
}

// cnwsEncoded is a notification that can be sent to any subscriber.
type cnwsEncoded struct {
	feed, title, text string
	hops              int
	changed           time.Time

	header []string
	body   []byte
}

// encodeCNWS encodes a message for topic, or returns the cached message. A consent request for a
// topic that has not changed yet contains the current time.
func (n *Notifier) encodeCNWS(topic *hub.Topic, hops int) (*cnwsEncoded, error) {
	title, text := cnwsTexts(topic.About)
	slot := &n.cnws[uint64(topic.ID)%uint64(len(n.cnws))]
	if e := slot.Load(); e != nil && e.feed == topic.URL && e.hops == hops && e.changed.Equal(topic.ChangedAt) && e.title == title && e.text == text {
		return e, nil
	}
	now := time.Now
	if n.Now != nil {
		now = n.Now
	}
	e, err := encodeCNWS(topic, hops, now)
	if err == nil && !topic.ChangedAt.IsZero() {
		slot.Store(e)
	}
	return e, err
}

// spec:cnws-2003#notify
func encodeCNWS(topic *hub.Topic, hops int, now func() time.Time) (*cnwsEncoded, error) {
	title, text := cnwsTexts(topic.About)
	change := cnws.Change{ResourceID: topic.URL, ChangeTime: topic.ChangedAt, Title: title, Description: text}
	if change.ChangeTime.IsZero() {
		change.ChangeTime = now()
	}
	body, err := change.Marshal()
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "A notification of %s cannot be encoded for CNWS.", endpoint.DisplayURL(topic.URL))
	}
	// spec:cloudburst#hops
	header := []string{rsscloud.HopsHeader, strconv.Itoa(hops + 1)}
	if !topic.ChangedAt.IsZero() {
		header = append(header, rsscloud.ChangedAtHeader, topic.ChangedAt.UTC().Format(time.RFC3339Nano))
	}
	return &cnwsEncoded{
		feed: topic.URL, title: title, text: text, hops: hops, changed: topic.ChangedAt,
		header: header, body: body,
	}, nil
}

// cnwsTexts returns the texts of a notification: title and text of the newest item, or the title of
// the feed.
func cnwsTexts(a hub.About) (title, text string) {
	if a.ItemTitle == "" && a.ItemText == "" {
		return a.Title, ""
	}
	return a.ItemTitle, a.ItemText
}

// notifyCNWS notifies a CNWS subscriber. It does not follow redirects: the protocol has none, and
// an HTTP error ends the subscription.
func (n *Notifier) notifyCNWS(ctx context.Context, sub *hub.Subscription, topic *hub.Topic, hops int) hub.Reply {
	e, err := n.encodeCNWS(topic, hops)
	if err != nil {
		return hub.Reply{Text: fault.Message(err), Exchange: event.Exchange{Callback: sub.Callback, Error: err.Error()}}
	}
	m := &fetch.Message{URL: sub.Callback, ContentType: cnws.ContentType, Header: n.traced(e.header, topic, sub), Body: e.body, WantBody: true}
	r := n.Sender.Send(ctx, m)
	wanted, err := cnwsAnswer(&r)
	if wanted {
		return hub.Reply{OK: true, Took: r.Took}
	}
	reply := n.failed(m, &r)
	switch {
	case r.Err != nil:
		// spec:cnws-2003#unreachable-not-removed
	case !r.OK():
		// spec:cnws-2003#http-error
		// spec:cloudburst#cnws-busy
		reply.Gone = r.Status != http.StatusTooManyRequests && r.Status != http.StatusServiceUnavailable
		if reply.Gone && r.Status != http.StatusGone {
			reply.Text += " In CNWS an HTTP error ends the subscription."
		}
	case err != nil:
		// spec:cloudburst#cnws-no-answer
		reply.Gone, reply.Text = false, "The subscriber's URL responded, but not like a CNWS subscriber."
	default:
		// spec:cnws-2003#answer-false
		reply.Gone, reply.Text = true, "The subscriber answered false: it wants no more notifications."
	}
	return reply
}

// cnwsAnswer decodes the response of a subscriber. A response in another format is an error.
func cnwsAnswer(r *fetch.Reply) (wanted bool, err error) {
	if !r.OK() {
		return false, nil
	}
	result, err := cnws.ParseResult(r.ContentType, r.Body)
	return result.Status && err == nil, err
}
