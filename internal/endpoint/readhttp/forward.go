package readhttp

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"cloudburst/internal/date"
	"cloudburst/internal/endpoint"
	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/river"
	"cloudburst/internal/river/forward"
	"cloudburst/internal/wirehttp"
)

// Sender forwards new items to other programs. It implements forward.Sender. docs/guides/notices.md
// describes the messages.
type Sender struct {
	Sender endpoint.Sender // must refuse forbidden addresses, because users name the targets
	Mail   *Mail           // nil: forwarding by mail is not available
	Now    func() time.Time
}

// Ways lists the ways of forwarding that this server supports.
func (t *Sender) Ways() []string {
	if t.Mail == nil {
		return []string{forward.ViaWebhook, forward.ViaPost, forward.ViaMastodon}
	}
	return []string{forward.ViaWebhook, forward.ViaEmail, forward.ViaPost, forward.ViaMastodon}
}

// Forward sends items in one message, or by ViaPost and ViaMastodon in one message per item.
// Errors: fault.Gone (the target wants no more messages), Unavailable (this server or its mail
// server cannot send now), Unreadable (the target did not accept the message), Unsupported.
func (t *Sender) Forward(ctx context.Context, n forward.Forwarding, list []river.Entry) error {
	switch n.Via {
	case forward.ViaWebhook:
		return t.webhook(ctx, n, list)
	case forward.ViaPost, forward.ViaMastodon:
		send := t.post
		if n.Via == forward.ViaMastodon {
			send = t.copyToMastodon
		}
		for i := range list {
			if err := send(ctx, n, &list[i]); err != nil {
				return err
			}
		}
		return nil
	case forward.ViaEmail:
		if t.Mail != nil {
			return t.Mail.send(ctx, n, list, t.now())
		}
		return fault.New(fault.Unsupported, "This server sends no mail: its operator has not named a mail server.")
	}
	return fault.New(fault.Unsupported, "This server does not support forwarding by %q.", n.Via)
}

func (t *Sender) now() time.Time {
	return date.Now(t.Now)
}

// maxWebhookHTML is the maximum size of an item's HTML in a webhook, in bytes. A longer item has
// only its plain text.
const maxWebhookHTML = 64 << 10

// webhookMessage is the body of a webhook.
type webhookMessage struct {
	Reader string        `json:"reader"`
	Notice string        `json:"notice"`
	Items  []webhookItem `json:"items"`
}

type webhookItem struct {
	ID         string            `json:"id"`
	Title      string            `json:"title,omitempty"`
	URL        string            `json:"url,omitempty"`
	Text       string            `json:"text,omitempty"`
	HTML       string            `json:"html,omitempty"`
	At         time.Time         `json:"at"`
	Published  *time.Time        `json:"published,omitempty"`
	Authors    []string          `json:"authors,omitempty"`
	Feed       webhookFeed       `json:"feed"`
	Categories []string          `json:"categories,omitempty"`
	Enclosures []river.Enclosure `json:"enclosures,omitempty"`
}

type webhookFeed struct {
	Title string `json:"title"`
	URL   string `json:"url"`
	Home  string `json:"home,omitempty"`
}

func newWebhookMessage(n forward.Forwarding, list []river.Entry) webhookMessage {
	m := webhookMessage{Reader: n.Reader, Notice: strconv.FormatInt(n.ID, 10), Items: make([]webhookItem, len(list))}
	for i := range list {
		e := &list[i]
		it := webhookItem{
			ID: strconv.FormatInt(e.ID, 10), Title: e.Title, URL: e.Link, Text: e.Text, At: e.At.UTC(), Authors: e.Authors,
			Feed:       webhookFeed{Title: e.Source.Title, URL: e.Source.URL, Home: e.Source.Home},
			Categories: e.Categories, Enclosures: e.Enclosures,
		}
		if len(e.HTML) <= maxWebhookHTML {
			it.HTML = e.HTML
		}
		if !e.Published.IsZero() {
			at := e.Published.UTC()
			it.Published = &at
		}
		m.Items[i] = it
	}
	return m
}

// messageID returns an ID for a message. If the same items are sent again, the ID is the same.
//
// spec:cloudburst#forwarding-at-least-once
func messageID(n forward.Forwarding, list []river.Entry) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d", n.ID)
	var b [8]byte
	for i := range list {
		binary.BigEndian.PutUint64(b[:], uint64(list[i].ID))
		h.Write(b[:])
	}
	if n.More > 0 {
		fmt.Fprintf(h, "%d", n.More)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// webhook posts JSON, signed if there is a secret.
//
// spec:cloudburst#forwarding-webhook
func (t *Sender) webhook(ctx context.Context, n forward.Forwarding, list []river.Entry) error {
	body, err := json.Marshal(newWebhookMessage(n, list))
	if err != nil {
		return err
	}
	header := append([]string{"Idempotency-Key", messageID(n, list)}, signature(n.Secret, body)...)
	return t.send(ctx, &fetch.Message{URL: n.Target, ContentType: "application/json", Header: header, Body: body, Padded: true})
}

// post sends one item as a form.
//
// spec:cloudburst#forwarding-post
func (t *Sender) post(ctx context.Context, n forward.Forwarding, e *river.Entry) error {
	form := url.Values{}
	for name, value := range map[string]string{
		"id": strconv.FormatInt(e.ID, 10), "url": e.Link, "title": e.Title, "text": e.Text,
		"feed": e.Source.URL, "feedTitle": e.Source.Title,
	} {
		form.Set(name, value)
	}
	if !e.Published.IsZero() {
		form.Set("published", e.Published.UTC().Format(time.RFC3339))
	}
	if len(e.Enclosures) > 0 {
		form.Set("enclosure", e.Enclosures[0].URL)
	}
	return t.send(ctx, &fetch.Message{
		URL: n.Target, ContentType: "application/x-www-form-urlencoded", Padded: true,
		Header: []string{"Idempotency-Key", messageID(n, []river.Entry{*e})}, Body: []byte(form.Encode()),
	})
}

// send sends one POST request and interprets the response.
func (t *Sender) send(ctx context.Context, m *fetch.Message) error {
	return t.replyError(m.URL, t.Sender.Send(ctx, m))
}

// replyError converts the reply of a target to an error.
func (t *Sender) replyError(target string, r fetch.Reply) error {
	where := endpoint.DisplayURL(target)
	switch {
	case r.OK():
		return nil
	case r.NotTried:
		return fault.Wrap(fault.Unavailable, r.Err, "%s could not be notified now because of a problem on this server.", where)
	case r.Err != nil:
		code := fault.Unreadable
		if k := fetch.KindOf(r.Err); k == fetch.Refused || k == fetch.BadURL {
			code = fault.Refused
		}
		return fault.Wrap(code, r.Err, "%s could not be notified: it %s.", where, cmp.Or(fetch.Text(r.Err), fetch.Neutral))
	case r.Status == http.StatusGone:
		return fault.New(fault.Gone, "%s answered %s: it wants no more messages.", where, wirehttp.StatusText(r.Status))
	}
	f := fault.New(fault.Unreadable, "%s was notified and answered %s.", where, wirehttp.StatusText(r.Status))
	f.RetryAfter = wirehttp.ParseRetryAfter(r.RetryAfter, t.now())
	return f
}

func signed(secret string, body []byte) string {
	sum := hmac.New(sha256.New, []byte(secret))
	sum.Write(body)
	return hex.EncodeToString(sum.Sum(nil))
}

// signature returns the signature header of a webhook with a secret.
func signature(secret string, body []byte) []string {
	if secret == "" {
		return nil
	}
	return []string{"X-Cloudburst-Signature", "sha256=" + signed(secret, body)}
}
