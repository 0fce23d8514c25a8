package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"time"
)

// Kind classifies a failure.
type Kind int

const (
	Unreachable Kind = iota // no such name, no route, no listener, or a lost connection
	BadURL                  // the URL itself is invalid or has a forbidden form
	Refused                 // the guard forbids the address
	TimedOut                // a time limit passed
	TLS                     // invalid certificate or failed handshake
	Malformed               // the response is not HTTP or cannot be decoded
	TooLarge                // the response exceeds a size limit
	TooManyRedirects
	Ours // the request was cancelled, or this machine is out of sockets or memory
)

var kinds = [...]string{"unreachable", "bad-url", "refused", "timed-out", "tls", "malformed", "too-large", "too-many-redirects", "ours"}

// String returns the kind's stable name, for logs.
func (k Kind) String() string {
	if k < 0 || int(k) >= len(kinds) {
		return "unreachable"
	}
	return kinds[k]
}

// Neutral is the text that unknown clients get for every failure without a response.
const Neutral = "could not be read: no usable response was received"

// Error describes a failed request.
type Error struct {
	Kind Kind
	URL  string // without user name and password
	Text string // a clause for unknown clients; it continues a sentence that begins with the URL
	Err  error  // the cause, which only the operator's log may contain; may be nil
}

// Error returns the kind and the cause, for the operator.
func (e *Error) Error() string {
	s := "fetch: " + e.Kind.String()
	if e.URL != "" {
		s += ": " + e.URL
	}
	if e.Err != nil {
		return s + ": " + e.Err.Error()
	}
	return s + ": " + e.Text
}

func (e *Error) Unwrap() error { return e.Err }

// Timeout reports whether a time limit caused the failure.
func (e *Error) Timeout() bool { return e.Kind == TimedOut }

// KindOf returns the kind of the outermost Error in err's chain, or Unreachable if there is none.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Unreachable
}

// Cause returns the cause of the innermost Error in err's chain, for the operator; nil if it has no
// cause. If the chain contains no Error, Cause returns err.
func Cause(err error) error {
	for {
		e, ok := errors.AsType[*Error](err)
		if !ok {
			return err
		}
		err = e.Err
	}
}

// Text returns the part of err that unknown clients may read: a clause that continues a sentence.
func Text(err error) string {
	if e, ok := errors.AsType[*Error](err); ok && e.Text != "" {
		return e.Text
	}
	return Neutral
}

func badURL(format string, args ...any) *Error {
	return &Error{Kind: BadURL, Text: fmt.Sprintf(format, args...)}
}

func fail(kind Kind, err error) *Error { return &Error{Kind: kind, Text: Neutral, Err: err} }

func malformed(format string, args ...any) *Error {
	return &Error{Kind: Malformed, Text: Neutral, Err: fmt.Errorf(format, args...)}
}

// independentOfTarget reports whether a failure may be returned immediately, because its timing
// does not reveal which addresses are reachable.
func (k Kind) independentOfTarget() bool {
	return k == BadURL || k == TooLarge || k == TooManyRedirects || k == Ours
}

// untilNextBucket returns the time from took to the next multiple of bucket.
func untilNextBucket(took, bucket time.Duration) time.Duration {
	if bucket <= 0 {
		return 0
	}
	if took <= 0 {
		return bucket
	}
	return (bucket - took%bucket) % bucket
}

// exhausted reports whether an error was caused by missing resources of this machine, and not by
// the peer.
func exhausted(err error) bool {
	// EADDRINUSE comes from bind, which early releases of Go 1.26 call before they connect.
	for _, e := range [...]syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.EADDRINUSE} {
		if errors.Is(err, e) {
			return true
		}
	}
	if errors.Is(err, syscall.EADDRNOTAVAIL) {
		// No local port is free. A machine without IPv6 reports the same error for an IPv6 host;
		// that error is permanent, so it does not count.
		op, ok := errors.AsType[*net.OpError](err)
		if !ok {
			return false
		}
		to, ok := op.Addr.(*net.TCPAddr)
		return ok && to.IP.To4() != nil
	}
	// For an error of its socket, the resolver keeps only the text.
	if d, ok := errors.AsType[*net.DNSError](err); ok {
		return strings.Contains(d.Err, syscall.EMFILE.Error()) || strings.Contains(d.Err, syscall.ENFILE.Error())
	}
	return false
}

func isTimeout(err error) bool {
	n, ok := errors.AsType[net.Error](err)
	return ok && n.Timeout() || errors.Is(err, context.DeadlineExceeded)
}

// classify maps a network error to an Error with a kind.
func classify(ctx context.Context, err error) *Error {
	if ctx.Err() == context.Canceled || context.Cause(ctx) == context.Canceled {
		return fail(Ours, err)
	}
	if e, ok := errors.AsType[*Error](err); ok {
		// Return a new Error with err as its cause, because the log needs the errors that are
		// wrapped around e.
		return &Error{Kind: e.Kind, Text: e.Text, Err: err}
	}
	switch {
	case exhausted(err):
		return fail(Ours, err)
	case isTimeout(err):
		return fail(TimedOut, err)
	case isTLS(err):
		return fail(TLS, err)
	}
	return fail(kindByText(err), err)
}

// kindByText classifies errors of net/http that have no type.
func kindByText(err error) Kind {
	switch s := err.Error(); {
	case strings.Contains(s, "malformed"), strings.Contains(s, "http2: "):
		return Malformed
	case strings.Contains(s, "server response headers exceeded"), strings.Contains(s, "header list too large"):
		return TooLarge
	}
	return Unreachable
}

func isTLS(err error) bool {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return true
	}
	if _, ok := errors.AsType[tls.AlertError](err); ok {
		return true
	}
	return strings.Contains(err.Error(), "tls: ") || strings.Contains(err.Error(), "x509: ")
}

// withURL returns err with its URL set, without user name and password.
func withURL(err error, url string) error {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		e = fail(Unreachable, err)
	}
	n := *e
	n.URL = Redact(url)
	return &n
}
