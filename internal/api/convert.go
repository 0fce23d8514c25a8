package api

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"cloudburst/client"
	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/internal/validator"
)

func when(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = milli(t)
	return &t
}

func milli(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

func topicOf(t hub.Topic, subscribers int64, now time.Time) client.Topic {
	return client.Topic{
		ID: t.ID, URL: t.URL, Subscribers: subscribers, Version: t.Version, Hash: hex.EncodeToString(t.Hash),
		ETag: t.ETag, LastModified: t.LastModified, ContentType: t.ContentType, Size: t.Size,
		CheckedAt: when(t.CheckedAt), ChangedAt: when(t.ChangedAt), PingedAt: when(t.PingedAt),
		Failures: t.Failures, Error: t.Error, Verification: verificationOf(t, now),
	}
}

// verificationOf describes how the hub would verify a ping that arrives now.
func verificationOf(t hub.Topic, now time.Time) *client.Verification {
	if t.Hash == nil {
		return nil
	}
	doubt := t.Evidence.Doubt(t.ETag, now, now)
	return &client.Verification{
		ETag: cmp.Or(string(t.Evidence.Proof), "unproven"), Full: doubt != validator.NoDoubt, Reason: doubt.Reason(),
		NotModified: t.NotModified, FullReads: t.FullReads, FullBytes: t.FullBytes,
		FullAt: when(t.Evidence.FullAt), AgainAt: when(t.AgainAt),
	}
}

func subscriptionOf(s hub.Subscription, topic string) client.Subscription {
	c := exportOf(s, topic)
	c.Secret, c.SecretBase64 = "", nil // known only to the subscriber and this server
	c.TopicID, c.ID = s.TopicID, s.ID
	c.Failures, c.Tries = s.Failures, s.Tries
	c.NextAt, c.LastError, c.LastErrorAt = when(s.NextAt), s.LastError, when(s.LastErrorAt)
	return c
}

// exportOf omits the state of deliveries, which is meaningful only on this server.
func exportOf(s hub.Subscription, topic string) client.Subscription {
	c := client.Subscription{
		Topic: topic, Protocol: s.Protocol, Callback: s.Callback, Procedure: s.Procedure,
		CreatedAt: milli(s.CreatedAt), RenewedAt: milli(s.RenewedAt), ExpiresAt: milli(s.ExpiresAt),
	}
	if c.Secret = s.Secret; !utf8.ValidString(s.Secret) {
		c.Secret, c.SecretBase64 = "", []byte(s.Secret)
	}
	return c
}

func eventOf(e event.Event) client.Event {
	return client.Event{
		ID: cursorText(e.Cursor()), At: milli(e.At), Kind: e.Kind, OK: e.OK, Text: e.Text,
		TopicID: e.TopicID, Topic: e.Topic, Via: e.Via, Peer: e.Peer,
		TookMS: float64(e.Took) / float64(time.Millisecond), Notified: e.Notified, Failed: e.Failed, Version: e.Version,
		Detail: e.Detail,
	}
}

func minuteOf(m hub.Minute) client.Minute {
	return client.Minute{
		At: m.At.UTC(), Node: m.Node, Pings: m.Pings, Checks: m.Checks, Changes: m.Changes, Notified: m.Notified,
		Failed: m.Failed, Registers: m.Registers, P50: m.P50, P99: m.P99, Queue: m.Queue, Writes: m.Writes,
	}
}

// cursorText encodes a position in the log for clients. The time comes first because the store
// finds positions by time.
func cursorText(c event.Cursor) string {
	return fmt.Sprintf("%d:%d:%d", c.At, c.Node, c.Seq)
}

func readCursor(text string) (event.Cursor, error) {
	n, err := numbers(text, 3)
	if err != nil {
		return event.Cursor{}, fault.New(fault.Invalid, "%q is not the id of an event.", cut(text, 100))
	}
	return event.Cursor{At: n[0], Node: n[1], Seq: n[2]}, nil
}

func keyText(k hub.Key) string { return fmt.Sprintf("%d:%d", k.TopicID, k.ID) }

func readKey(text string) (hub.Key, error) {
	n, err := numbers(text, 2)
	if err != nil {
		return hub.Key{}, badCursor(text)
	}
	return hub.Key{TopicID: n[0], ID: n[1]}, nil
}

// numbers parses n non-negative decimal numbers separated by colons.
func numbers(text string, n int) ([]int64, error) {
	parts := strings.Split(text, ":")
	if len(parts) != n {
		return nil, strconv.ErrSyntax
	}
	list := make([]int64, n)
	for i, part := range parts {
		v, err := strconv.ParseInt(part, 10, 64)
		if err != nil || v < 0 {
			return nil, strconv.ErrSyntax
		}
		list[i] = v
	}
	return list, nil
}
