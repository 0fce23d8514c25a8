// Package event is the program's news: what happened, as rows in the store and
// as a live stream to whoever looks.
//
// An [Event] is made by the code that does the thing, stamped by the [Bus]
// (which gives it its place), written by the store in the transaction that makes
// the thing true, and published on the bus after the commit. A slow listener is
// dropped, never waited for: it reads what it missed from the store.
package event

import (
	"encoding/json"
	"time"
)

// Kinds of event. In is what others told us, out is what we told others.
const (
	KindPing     = "ping"     // in: someone says a feed changed
	KindCheck    = "check"    // the feed was read: changed, unchanged or unreadable
	KindRegister = "register" // in: a subscription was asked for, accepted or refused
	KindVerify   = "verify"   // out: a test call or challenge
	KindNotify   = "notify"   // out: a page of notifications (counts), or one retried
	KindError    = "error"    // out: one notification failed
	KindCancel   = "cancel"   // in: a subscription was ended by its owner
	KindDrop     = "drop"     // a subscription was dropped after errors or by 410
	KindExpire   = "expire"   // a subscription ran out
	KindSave     = "save"     // a feed was saved here
	KindTarget   = "sink"     // out: another server was told of a feed that was saved here, or could not be
	KindSystem   = "system"   // start, stop, sweep, warnings
)

// Event is one line of the log. Seq counts up from 1 in each Node (a node is one
// run of one process); (At, Node, Seq) orders all events.
type Event struct {
	Node     int64         `json:"node"`
	Seq      int64         `json:"seq"`
	At       time.Time     `json:"at"` // UTC, millisecond precision
	Kind     string        `json:"kind"`
	TopicID  int64         `json:"topic_id,string,omitempty"` // 0: no topic
	Topic    string        `json:"topic,omitempty"`           // URL of the feed
	OK       bool          `json:"ok"`
	Text     string        `json:"text"`              // the outcome in one sentence, fit for the public
	Via      string        `json:"door,omitempty"`    // rest, xml-rpc, soap, web, cli, http-post, https-post …
	Peer     string        `json:"peer,omitempty"`    // host (no path) of the caller or callback
	Took     time.Duration `json:"took_ns,omitempty"` // how long it took
	Notified int           `json:"told,omitempty"`    // notify: how many were told
	Failed   int           `json:"failed,omitempty"`  // notify: how many were not
	Version  int64         `json:"version,omitempty"` // the topic's version it speaks of
	// Detail holds the exchange (see [Exchange]) and what only the operator may
	// see: callback paths, network errors. It never leaves on the public listener.
	Detail json.RawMessage `json:"detail,omitempty"`
}

// Exchange is the usual shape of Detail: one request and its answer.
type Exchange struct {
	Callback string `json:"callback,omitempty"` // whole callback URL
	Request  string `json:"request,omitempty"`  // head and short body, as sent or received
	Answer   string `json:"answer,omitempty"`   // head and short body
	Error    string `json:"error,omitempty"`    // network error, whole
}

// Public is the event as strangers may see it.
func (e Event) Public() Event { e.Detail = nil; return e }

// Cursor is a place in the log. The zero Cursor is before everything.
type Cursor struct {
	At   int64 // Unix milliseconds
	Node int64
	Seq  int64
}

// Cursor is the place of e.
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
