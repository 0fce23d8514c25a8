package fetch

import (
	"context"
	"crypto/tls"
	"net"
	"time"
)

// SenderOptions of a [Sender]. Zero fields mean the default in brackets.
type SenderOptions struct {
	Guard         *Guard        // what may be reached [the public internet]
	UserAgent     string        // [none is sent]
	Timeout       time.Duration // one sending, from the dial to the end of the answer [15 s]
	MaxConns      int           // sendings under way at once; further ones wait [1024]
	IdlePerOrigin int           // connections kept open to one host and port [4]; negative: none
	IdleTotal     int           // plain connections kept open in all, and again as many https ones [256]; negative: none
	IdleTimeout   time.Duration // a kept connection is closed after it [30 s]
	Bucket        time.Duration // for Message.Padded [250 ms]; negative: none
	Resolver      *net.Resolver // [the built-in one, never the C library's]
	TLSConfig     *tls.Config   // [the system's roots]
	Dial          Dial          // tests only
}

// Sender sends notifications, many at once. It follows no redirect.
type Sender struct {
	opts SenderOptions
}

// NewSender makes a Sender. Close it when done.
func NewSender(o SenderOptions) *Sender { return &Sender{opts: o} }

// Send sends m and waits for the answer. It never blocks longer than the timeout
// after its turn has come, and not at all once ctx is done.
func (s *Sender) Send(ctx context.Context, m *Message) Reply {
	return Reply{NotTried: true, Err: fail(Ours, context.Canceled)}
}

// Close closes the connections that are kept open. Sendings under way go on.
func (s *Sender) Close() {}
