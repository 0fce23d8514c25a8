package hubhttp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"cloudburst/internal/endpoint"
	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/hub"
	"cloudburst/internal/wirehttp"
	"cloudburst/protocol/rsscloud"
)

// unanswered is the message for a callback that sent no response, whatever the reason. Neither the
// text nor the timing of a failure may reveal which ports are open.
const unanswered = "The callback sent no valid response."

// leadsHere is the message for a callback that resolves to one of this server's own listeners. The
// network guard detects this during the connection.
const leadsHere = "The callback leads to this server itself."

// Notifier sends notifications through Sender. It implements hub.Notifier. The zero value with a
// Sender is usable. It caches the messages of recent topics, because subscribers with the same
// protocol and procedure get the same message.
type Notifier struct {
	Sender endpoint.Sender
	Now    func() time.Time // nil: time.Now
	// Redirects follows redirects of rssCloud callbacks. The Verifier uses it too. nil: redirects
	// are followed but not remembered.
	Redirects *Redirects
	// HubURL returns the public URL of the WebSub endpoint, for the Link header of each delivery.
	HubURL func() string
	// Signature is the signature method of WebSub deliveries: sha1, sha256, sha384 or sha512
	// [sha256].
	Signature string
	// Trace returns the traceparent header for a notification of topic to callback; "": no header.
	// If Trace is nil, notifications have no such header.
	Trace func(topic *hub.Topic, callback string) string

	// Cache of the most recently encoded messages. The hash of a key selects the slot, so another
	// key may replace the message. Slots are atomic and need no lock: a lost entry only costs
	// another encoding.
	encoded [256]atomic.Pointer[encoded]
	cnws    [64]atomic.Pointer[cnwsEncoded] // the same for CNWS messages
}

// encoded is a notification that can be sent to any callback.
type encoded struct {
	protocol, procedure, feed string
	hops                      int
	changed                   time.Time

	contentType string
	header      []string
	body        []byte
}

// Notify sends sub a notification that topic changed. On success it allocates only the message.
func (n *Notifier) Notify(ctx context.Context, sub *hub.Subscription, topic *hub.Topic, content *hub.Content, hops int) hub.Reply {
	switch sub.Protocol {
	case hub.WebSub:
		return n.notifyWebSub(ctx, sub, topic, content, hops)
	case hub.CNWS:
		return n.notifyCNWS(ctx, sub, topic, hops)
	}
	e, err := n.encode(sub.Protocol, sub.Procedure, topic, hops)
	if err != nil {
		return hub.Reply{Text: fault.Message(err), Exchange: event.Exchange{Callback: sub.Callback, Error: err.Error()}}
	}
	m := &fetch.Message{URL: sub.Callback, ContentType: e.contentType, Header: n.traced(e.header, topic, sub), Body: e.body}
	r, last, reason := n.Redirects.post(ctx, n.Sender, m, topic.URL, false)
	if r.OK() {
		// spec:rsscloud-2009#notify-value-ignored
		return hub.Reply{OK: true, Took: r.Took}
	}
	out := n.failed(last, &r)
	out.Exchange.Callback = sub.Callback
	if reason != "" {
		out.Text = reason
	}
	return out
}

// traced returns header with the traceparent, if there is one.
func (n *Notifier) traced(header []string, topic *hub.Topic, sub *hub.Subscription) []string {
	if n.Trace == nil {
		return header
	}
	if parent := n.Trace(topic, sub.Callback); parent != "" {
		return append(header[:len(header):len(header)], traceparent, parent)
	}
	return header
}

// notifyWebSub delivers content. It does not follow redirects.
//
// spec:websub-2018#delivery-redirect
func (n *Notifier) notifyWebSub(ctx context.Context, sub *hub.Subscription, topic *hub.Topic, content *hub.Content, hops int) hub.Reply {
	m, err := n.websubMessage(sub, topic, content, hops)
	if err != nil {
		return hub.Reply{Text: fault.Message(err), Exchange: event.Exchange{Callback: sub.Callback, Error: err.Error()}}
	}
	r := n.Sender.Send(ctx, m)
	if r.OK() {
		return hub.Reply{OK: true, Took: r.Took}
	}
	return n.failed(m, &r)
}

// failed returns the reply for a notification without a success status.
func (n *Notifier) failed(m *fetch.Message, r *fetch.Reply) hub.Reply {
	now := time.Now
	if n.Now != nil {
		now = n.Now
	}
	return hub.Reply{
		// spec:cloudburst#callback-410
		// spec:websub-2018#delivery-410
		Gone: r.Status == http.StatusGone, NotTried: r.NotTried, Timeout: r.Timeout,
		// spec:cloudburst#retry-after
		RetryAfter: wirehttp.ParseRetryAfter(r.RetryAfter, now()), Took: r.Took,
		Text: failureText(r), Exchange: exchange(m, r),
	}
}

func (n *Notifier) encode(protocol, procedure string, topic *hub.Topic, hops int) (*encoded, error) {
	h := uint64(topic.ID) ^ uint64(len(protocol))<<3
	for i := range len(procedure) {
		h = h*31 + uint64(procedure[i])
	}
	slot := &n.encoded[h%uint64(len(n.encoded))]
	if e := slot.Load(); e != nil && e.feed == topic.URL && e.protocol == protocol && e.procedure == procedure && e.hops == hops && e.changed.Equal(topic.ChangedAt) {
		return e, nil
	}
	e, err := encode(protocol, procedure, topic.URL, hops, topic.ChangedAt)
	if err == nil {
		slot.Store(e)
	}
	return e, err
}

// encode encodes the message. changed is when the hub detected the change; for a test call it is
// the zero time.
func encode(protocol, procedure, feed string, hops int, changed time.Time) (*encoded, error) {
	msg, err := rsscloud.EncodeNotification(protocol, procedure, feed)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "A notification cannot be written for this subscription: %s", message(err))
	}
	// spec:cloudburst#hops
	header := []string{rsscloud.HopsHeader, strconv.Itoa(hops + 1)}
	if !changed.IsZero() {
		header = append(header, rsscloud.ChangedAtHeader, changed.UTC().Format(time.RFC3339Nano))
	}
	if msg.SOAPAction != "" {
		header = append(header, "SOAPAction", msg.SOAPAction)
	}
	return &encoded{
		protocol: protocol, procedure: procedure, feed: feed, hops: hops, changed: changed,
		contentType: msg.ContentType, header: header, body: msg.Body,
	}, nil
}

// failureText describes a failed delivery, for the public log.
func failureText(r *fetch.Reply) string {
	switch {
	case r.NotTried:
		return "The notification could not be sent now because of a problem on this server."
	case errors.Is(r.Err, fetch.ErrOwn):
		return leadsHere
	case r.Err != nil:
		return unanswered
	case r.Status == http.StatusGone:
		return "The callback answered 410 Gone: it wants no more notifications."
	case r.Status >= 300 && r.Status <= 399 && r.Status != http.StatusNotModified && r.Location != "":
		return fmt.Sprintf("The callback answered %s, and this redirect was not followed: register the URL that it leads to.", wirehttp.StatusText(r.Status))
	}
	return fmt.Sprintf("The callback answered %s.", wirehttp.StatusText(r.Status))
}

// exchange returns the request and the response as text, for the operator. It costs more than a
// notification, so it is used only for failures.
func exchange(m *fetch.Message, r *fetch.Reply) event.Exchange {
	x := event.Exchange{Callback: m.URL}
	var b strings.Builder
	method := m.Method
	if method == "" {
		method = http.MethodPost
	}
	b.WriteString(method + " " + m.URL + "\n")
	if m.ContentType != "" {
		b.WriteString("Content-Type: " + m.ContentType + "\n")
	}
	for i := 0; i+1 < len(m.Header); i += 2 {
		b.WriteString(m.Header[i] + ": " + m.Header[i+1] + "\n")
	}
	x.Request = withBody(&b, m.Body)
	if r.Err != nil {
		x.Error = r.Err.Error()
		return x
	}
	b.Reset()
	b.WriteString(wirehttp.StatusText(r.Status) + "\n")
	for _, f := range [...][2]string{{"Content-Type", r.ContentType}, {"Location", r.Location}, {"Retry-After", r.RetryAfter}} {
		if f[1] != "" {
			b.WriteString(f[0] + ": " + f[1] + "\n")
		}
	}
	x.Answer = withBody(&b, r.Body)
	return x
}

// withBody returns b followed by the start of body.
func withBody(b *strings.Builder, body []byte) string {
	const limit = 1024
	if len(body) > 0 {
		b.WriteString("\n" + strings.ToValidUTF8(string(body[:min(len(body), limit)]), "\uFFFD"))
	}
	if len(body) > limit {
		b.WriteString("…")
	}
	return b.String()
}
