// Package event defines the program's log events, as rows in the store and as a live stream.
//
// An [Event] is created by the code that acts, stamped by the [Bus], written in the same
// transaction as the action, and published on the bus after the commit. A slow listener is
// dropped and reads what it missed from the store.
package event

import (
	"encoding/json"
	"regexp"
	"strings"
	"time"
)

// Kinds of event. "in" means caused by another program, "out" means a call of another program.
const (
	KindPing     = "ping"     // in: a feed was reported as changed
	KindCheck    = "check"    // the feed was read: changed, unchanged or unreadable
	KindRegister = "register" // in: a subscription was requested, accepted or refused
	KindVerify   = "verify"   // out: a test call or challenge
	KindNotify   = "notify"   // out: a batch of notifications (counts), or one retry
	KindError    = "error"    // out: one notification failed
	KindCancel   = "cancel"   // in: the owner of a subscription ended it
	KindDrop     = "drop"     // a subscription was dropped after errors, or because the callback answered 410
	KindExpire   = "expire"   // a subscription expired
	KindSave     = "save"     // a feed was saved on this server
	KindTarget   = "sink"     // out: a ping target was notified of a saved feed, or could not be
	KindSystem   = "system"   // start, stop, sweep, warnings
)

// Event is one entry of the log. Seq counts from 1 for each Node, which is one run of one process.
// The triple (At, Node, Seq) identifies an event and orders all events.
type Event struct {
	Node     int64         `json:"node"`
	Seq      int64         `json:"seq"`
	At       time.Time     `json:"at"` // UTC, millisecond precision
	Kind     string        `json:"kind"`
	TopicID  int64         `json:"topic_id,string,omitempty"` // 0: no topic
	Topic    string        `json:"topic,omitempty"`           // URL of the feed
	OK       bool          `json:"ok"`
	Text     string        `json:"text"`              // the outcome in one sentence, safe to show to the public
	Via      string        `json:"door,omitempty"`    // rest, xml-rpc, soap, web, cli, http-post, https-post …
	Peer     string        `json:"peer,omitempty"`    // host (no path) of the caller or callback
	Took     time.Duration `json:"took_ns,omitempty"` // duration of the request or of the work
	Notified int           `json:"told,omitempty"`    // for notify: number of successful notifications
	Failed   int           `json:"failed,omitempty"`  // for notify: number of failed notifications
	Version  int64         `json:"version,omitempty"` // the topic's version
	// Detail contains the exchange (see [Exchange]) and other data that only the operator may see:
	// callback paths, network errors. Public pages never contain it.
	Detail json.RawMessage `json:"detail,omitempty"`
}

// Exchange is the usual shape of Detail: one request and its answer.
type Exchange struct {
	Callback string `json:"callback,omitempty"` // whole callback URL
	Request  string `json:"request,omitempty"`  // head and short body, as sent or received
	Answer   string `json:"answer,omitempty"`   // head and short body
	Error    string `json:"error,omitempty"`    // full network error
}

// PrivateTopics is the beginning of the paths of private topics. No list and no log contains such a
// path, because the URL gives access to a private feed.
const PrivateTopics = "/private/topic/"

// privateURL matches the URL of a reader's topic, and any URL that contains a reader's secret.
var privateURL = regexp.MustCompile(`[^\s"<>]*` + PrivateTopics + `[^\s"<>]*|[^\s"<>]*/[a-z0-9]{12}\.[A-Za-z0-9_-]{32}/[^\s"<>]*`)

// IsPrivate reports whether a text contains a URL that gives access to a private feed, of this or
// another server: the URL of a reader's topic, or a URL that contains a reader's secret.
func IsPrivate(text string) bool {
	return strings.Contains(text, "/private/") && privateURL.MatchString(text)
}

// HidePrivate replaces the URLs in a text that give access to private feeds.
func HidePrivate(text string) string {
	if !IsPrivate(text) {
		return text
	}
	return privateURL.ReplaceAllString(text, "(private feed)")
}

// IsPrivate reports whether an event contains a URL that gives access to a private feed. Such events
// are neither stored nor published.
//
// spec:cloudburst#private-topic
func (e Event) IsPrivate() bool { return IsPrivate(e.Topic) || IsPrivate(e.Text) }

// Public returns the event without Detail.
func (e Event) Public() Event { e.Detail = nil; return e }

// Cursor is a position in the log. The zero Cursor is before everything.
type Cursor struct {
	At   int64 // Unix milliseconds
	Node int64
	Seq  int64
}

// Cursor returns the position of e.
func (e Event) Cursor() Cursor { return Cursor{e.At.UnixMilli(), e.Node, e.Seq} }

// Less reports whether c comes before d.
func (c Cursor) Less(d Cursor) bool {
	if c.At != d.At {
		return c.At < d.At
	}
	if c.Node != d.Node {
		return c.Node < d.Node
	}
	return c.Seq < d.Seq
}
