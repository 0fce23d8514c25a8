package form

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"time"
	"unicode/utf8"

	"cloudburst/client"
	"cloudburst/internal/event"
	"cloudburst/internal/hub"
	"cloudburst/internal/upstream"
	"cloudburst/internal/validator"
)

// Relays converts subscriptions at upstream hubs.
func Relays(rows []upstream.Follow) []client.Relay {
	list := make([]client.Relay, len(rows))
	for i, f := range rows {
		list[i] = Relay(f)
	}
	return list
}

// Relay converts a subscription at an upstream hub. The result contains neither the token nor the
// secret.
func Relay(f upstream.Follow) client.Relay {
	return client.Relay{
		Feed: f.Feed, Via: f.Protocol, Hub: f.Hub, Topic: f.Topic, State: f.State, For: append([]string{}, f.For...),
		CreatedAt: Milli(f.CreatedAt), RequestedAt: When(f.RequestedAt), ConfirmedAt: When(f.ConfirmedAt), PushedAt: When(f.ReceivedAt),
		ExpiresAt: When(f.ExpiresAt), NextAt: When(f.NextAt), Failures: f.Failures, Rejected: f.Rejected,
		LastError: f.LastError, LastErrorAt: When(f.LastErrorAt),
	}
}

// Topic converts a topic. subscribers is the number of its subscribers at the time now.
func Topic(t hub.Topic, subscribers int64, now time.Time) client.Topic {
	return client.Topic{
		ID: t.ID, URL: t.URL, Subscribers: subscribers, Version: t.Version, Hash: hex.EncodeToString(t.Hash),
		ETag: t.ETag, LastModified: t.LastModified, ContentType: t.ContentType, Size: t.Size,
		CheckedAt: When(t.CheckedAt), ChangedAt: When(t.ChangedAt), PingedAt: When(t.PingedAt),
		Failures: t.Failures, Error: t.Error, Verification: verification(t, now),
	}
}

// verification describes how the hub would verify a ping that arrives at the time now.
func verification(t hub.Topic, now time.Time) *client.Verification {
	if t.Hash == nil {
		return nil
	}
	doubt := t.Evidence.Doubt(t.ETag, now, now)
	return &client.Verification{
		ETag: cmp.Or(string(t.Evidence.Proof), "unproven"), Full: doubt != validator.NoDoubt, Reason: doubt.Reason(),
		NotModified: t.NotModified, FullReads: t.FullReads, FullBytes: t.FullBytes,
		FullAt: When(t.Evidence.FullAt), AgainAt: When(t.AgainAt),
	}
}

// Subscription converts a subscription. The result does not contain the secret.
func Subscription(s hub.Subscription, topic string) client.Subscription {
	c := ExportedSubscription(s, topic)
	c.Secret, c.SecretBase64 = "", nil // only the subscriber and this server may know the secret
	c.TopicID, c.ID = s.TopicID, s.ID
	c.Failures, c.Tries = s.Failures, s.Tries
	c.NextAt, c.LastError, c.LastErrorAt = When(s.NextAt), s.LastError, When(s.LastErrorAt)
	return c
}

// ExportedSubscription converts a subscription for an export, with its secret. It omits the state
// of deliveries, because that state is meaningful only on this server.
func ExportedSubscription(s hub.Subscription, topic string) client.Subscription {
	c := client.Subscription{
		Topic: topic, Protocol: s.Protocol, Callback: s.Callback, Procedure: s.Procedure,
		CreatedAt: Milli(s.CreatedAt), RenewedAt: Milli(s.RenewedAt), ExpiresAt: Milli(s.ExpiresAt),
	}
	if c.Secret = s.Secret; !utf8.ValidString(s.Secret) {
		c.Secret, c.SecretBase64 = "", []byte(s.Secret)
	}
	return c
}

// Event converts an entry of the log.
func Event(e event.Event) client.Event {
	return client.Event{
		ID: Cursor(e.Cursor()), At: Milli(e.At), Kind: e.Kind, OK: e.OK, Text: e.Text,
		TopicID: e.TopicID, Topic: e.Topic, Via: e.Via, Peer: e.Peer,
		TookMS: float64(e.Took) / float64(time.Millisecond), Notified: e.Notified, Failed: e.Failed, Version: e.Version,
		Detail: e.Detail,
	}
}

// Minute converts the counters of a minute.
func Minute(m hub.Minute) client.Minute {
	return client.Minute{
		At: m.At.UTC(), Node: m.Node, Pings: m.Pings, Checks: m.Checks, Changes: m.Changes, Notified: m.Notified,
		Failed: m.Failed, Registers: m.Registers, P50: m.P50, P99: m.P99, Queue: m.Queue, Writes: m.Writes,
	}
}

// Cursor encodes a position in the log for clients. The time is first in the text, because the
// store finds positions by time.
func Cursor(c event.Cursor) string {
	return fmt.Sprintf("%d:%d:%d", c.At, c.Node, c.Seq)
}
