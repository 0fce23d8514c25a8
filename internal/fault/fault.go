// Package fault defines the one error type that crosses layers inside the program.
//
// A fault has a code, which each endpoint maps to its own form (an HTTP status, an XML-RPC fault, a
// SOAP fault, an exit code), and a sentence for clients: what happened, with which value, and what
// to do. The wrapped error is for the operator's log only.
package fault

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"
)

// Code classifies a fault.
type Code int

const (
	Internal    Code = iota // an error in this program; clients see one neutral sentence
	Invalid                 // the request is wrong, and a repetition cannot succeed
	NotFound                // the object does not exist
	Refused                 // the request is understood but not allowed
	Conflict                // another object or operation prevents this one
	TooMany                 // a limit was reached; RetryAfter is the time to wait
	Unreadable              // a feed or callback could not be reached or read
	Gone                    // the object existed, but no longer does
	Unavailable             // temporary, such as no database or a shutdown; try again later
	Unsupported             // this program or this database does not support the request
)

var names = [...]string{"internal", "invalid", "not-found", "refused", "conflict", "too-many", "unreadable", "gone", "unavailable", "unsupported"}

// String returns the code's stable name, as used in JSON.
func (c Code) String() string {
	if c < 0 || int(c) >= len(names) {
		return "internal"
	}
	return names[c]
}

// Error is a fault. Msg is one sentence for the client.
type Error struct {
	Code       Code
	Msg        string
	Err        error         // cause, for the operator; may be nil
	RetryAfter time.Duration // for TooMany and Unavailable; 0 means unknown
	Field      string        // invalid field of the request: "title", "enclosures[2].url"; "": no specific field
}

func (e *Error) Error() string {
	if e.Err != nil {
		return strings.TrimSuffix(e.Msg, ".") + ": " + e.Err.Error()
	}
	return e.Msg
}

func (e *Error) Unwrap() error { return e.Err }

// New returns a fault with a formatted message and no cause.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Msg: fmt.Sprintf(format, args...)}
}

// Wrap returns a fault with a cause that clients do not see.
func Wrap(code Code, err error, format string, args ...any) *Error {
	return &Error{Code: code, Msg: fmt.Sprintf(format, args...), Err: err}
}

// CodeOf returns the code of the outermost fault in err's chain; Internal: there is none.
func CodeOf(err error) Code {
	if f, ok := errors.AsType[*Error](err); ok {
		return f.Code
	}
	return Internal
}

// Neutral is the message for clients about an error that is not a fault.
const Neutral = "Something went wrong on this server; it has been logged. Please try again later."

// Message returns the message about err that clients may see.
func Message(err error) string {
	if f, ok := errors.AsType[*Error](err); ok && f.Code != Internal {
		return f.Msg
	}
	return Neutral
}

// In returns a copy of the fault err for a field of the request. To name a nested field, wrap from
// the inside out: In(In(err, "url"), "enclosures[2]") names enclosures[2].url. In returns nil and
// other errors unchanged.
func In(err error, field string) error {
	f, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	within := *f
	switch {
	case f.Field == "":
		within.Field = field
	case strings.HasPrefix(f.Field, "["):
		within.Field = field + f.Field
	default:
		within.Field = field + "." + f.Field
	}
	return &within
}

// FieldOf returns the field of the outermost fault in err's chain; "": there is none.
func FieldOf(err error) string {
	if f, ok := errors.AsType[*Error](err); ok {
		return f.Field
	}
	return ""
}

// RetryAfter returns the time to wait that the outermost fault states; 0: unknown.
func RetryAfter(err error) time.Duration {
	if f, ok := errors.AsType[*Error](err); ok {
		return f.RetryAfter
	}
	return 0
}

// DiskFull is the message of errors for which [IsDiskFull] is true.
const DiskFull = "The server's disk is full; the server resumes when there is free space."

// IsDiskFull reports whether an error of a file means that the disk, or the quota of this user, is full.
func IsDiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// Unstored returns the fault for an error of a temporary file. Its message is msg, or [DiskFull].
func Unstored(err error, msg string) *Error {
	if IsDiskFull(err) {
		msg = DiskFull
	}
	return &Error{Code: Unavailable, Msg: msg, Err: err, RetryAfter: 5 * time.Second}
}
