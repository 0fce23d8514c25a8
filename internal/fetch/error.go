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

// Kind says what kind of failure it was.
type Kind int

const (
	Unreachable Kind = iota // no name, no route, nobody there, connection lost
	BadURL                  // the URL itself is wrong or of a form that is not allowed
	Refused                 // the guard forbids the address
	TimedOut                // one of the time limits ran out
	TLS                     // the certificate or the handshake is wrong
	Malformed               // the answer is not HTTP, or cannot be decoded
	TooLarge                // the answer exceeds a size limit
	TooManyRedirects
	Ours // cancelled, or this machine is out of sockets or memory
)

var kinds = [...]string{"unreachable", "bad-url", "refused", "timed-out", "tls", "malformed", "too-large", "too-many-redirects", "ours"}

// String is the kind's stable name, for logs.
func (k Kind) String() string {
	if k < 0 || int(k) >= len(kinds) {
		return "unreachable"
	}
	return kinds[k]
}

// Neutral is the one sentence that strangers read about every failure in which
// no server answered.
const Neutral = "could not be read: no usable answer came from there"

// Error is a failure to get an answer.
type Error struct {
	Kind Kind
	URL  string // without user name and password
	Text string // one clause for strangers; it reads on after the URL's name
	Err  error  // the cause, for the operator's log only; may be nil
}

// Error is for the operator: it tells the kind and the cause.
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

// Timeout reports whether a time limit was the reason.
func (e *Error) Timeout() bool { return e.Kind == TimedOut }

// KindOf is the kind of the outermost Error in err's chain, Unreachable if none.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Unreachable
}

// Cause is what lies behind the Errors in err's chain, for the operator; nil: nothing.
func Cause(err error) error {
	for {
		e, ok := errors.AsType[*Error](err)
		if !ok {
			return err
		}
		err = e.Err
	}
}

// Text is what a stranger may read of err.
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

// told reports whether strangers may know the failure's moment: it has nothing to
// do with what is or is not reachable.
func (k Kind) independentOfTarget() bool {
	return k == BadURL || k == TooLarge || k == TooManyRedirects || k == Ours
}

// wait is how long to hold a failure back that took so long, in buckets.
func untilNextBucket(took, bucket time.Duration) time.Duration {
	if bucket <= 0 {
		return 0
	}
	if took <= 0 {
		return bucket
	}
	return (bucket - took%bucket) % bucket
}

// exhausted reports an error that is this machine's want of something, not the peer's doing.
func exhausted(err error) bool {
	// EADDRINUSE is of a bind, which early releases of Go 1.26 make when they dial an address.
	for _, e := range [...]syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.EADDRINUSE} {
		if errors.Is(err, e) {
			return true
		}
	}
	if errors.Is(err, syscall.EADDRNOTAVAIL) {
		// No local port is left; but on a machine without IPv6 this is how an
		// IPv6 host answers, and that will not pass.
		op, ok := errors.AsType[*net.OpError](err)
		if !ok {
			return false
		}
		to, ok := op.Addr.(*net.TCPAddr)
		return ok && to.IP.To4() != nil
	}
	// The resolver keeps only the text of what its own socket said.
	if d, ok := errors.AsType[*net.DNSError](err); ok {
		return strings.Contains(d.Err, syscall.EMFILE.Error()) || strings.Contains(d.Err, syscall.ENFILE.Error())
	}
	return false
}

func isTimeout(err error) bool {
	n, ok := errors.AsType[net.Error](err)
	return ok && n.Timeout() || errors.Is(err, context.DeadlineExceeded)
}

// classify gives an error of the network its kind.
func classify(ctx context.Context, err error) *Error {
	if ctx.Err() == context.Canceled || context.Cause(ctx) == context.Canceled {
		return fail(Ours, err)
	}
	if e, ok := errors.AsType[*Error](err); ok {
		// A fresh one: what is wrapped around it belongs into the log as well.
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

// foreign tells the failures apart that net/http has no types for.
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

// named says which URL it was.
func withURL(err error, url string) error {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		e = fail(Unreachable, err)
	}
	n := *e
	n.URL = Redact(url)
	return &n
}
