// Package fault is the one error type that crosses layers inside the program.
//
// A fault carries a code, which each door turns into its own form (an HTTP
// status, an XML-RPC fault, a SOAP fault, an exit code), and a sentence that a
// stranger may read: what happened, with which value, and what to do. The
// wrapped error is for the operator's log only.
package fault

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Code says what kind of trouble it is.
type Code int

const (
	Internal    Code = iota // ours; the stranger sees one neutral sentence
	Invalid                 // the request is wrong and will stay wrong
	NotFound                // no such thing
	Refused                 // understood, and not allowed
	Conflict                // something else is in the way
	TooMany                 // a limit; RetryAfter says when
	Unreadable              // a feed or callback could not be reached or read
	Gone                    // it was here and is not any more
	Unavailable             // we cannot now (store away, draining); try again
	Unsupported             // this program or this store cannot do that
)

var names = [...]string{"internal", "invalid", "not-found", "refused", "conflict", "too-many", "unreadable", "gone", "unavailable", "unsupported"}

// String is the code's stable name, as JSON answers carry it.
func (c Code) String() string {
	if c < 0 || int(c) >= len(names) {
		return "internal"
	}
	return names[c]
}

// Error is a fault. Msg is one sentence for the person who asked.
type Error struct {
	Code       Code
	Msg        string
	Err        error         // cause, for the operator; may be nil
	RetryAfter time.Duration // for TooMany and Unavailable; 0 means unknown
	Field      string        // what of the request is wrong: "title", "enclosures[2].url"; "": nothing in particular
}

func (e *Error) Error() string {
	if e.Err != nil {
		return strings.TrimSuffix(e.Msg, ".") + ": " + e.Err.Error()
	}
	return e.Msg
}

func (e *Error) Unwrap() error { return e.Err }

// New makes a fault from a format, without a cause.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Msg: fmt.Sprintf(format, args...)}
}

// Wrap makes a fault around a cause that strangers do not see.
func Wrap(code Code, err error, format string, args ...any) *Error {
	return &Error{Code: code, Msg: fmt.Sprintf(format, args...), Err: err}
}

// CodeOf is the code of the outermost fault in err's chain, Internal if none.
func CodeOf(err error) Code {
	if f, ok := errors.AsType[*Error](err); ok {
		return f.Code
	}
	return Internal
}

// Neutral is what strangers read of an error that is not a fault.
const Neutral = "Something went wrong on this server; it has been logged. Please try again later."

// Message is what a stranger may read of err.
func Message(err error) string {
	if f, ok := errors.AsType[*Error](err); ok && f.Code != Internal {
		return f.Msg
	}
	return Neutral
}

// In is err, standing in a field of what was asked; fields within fields are named from the
// outside: In(In(err, "url"), "enclosures[2]") is in enclosures[2].url. What is no fault, and
// nil, stays as it is.
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

// FieldOf is the field in which the outermost fault in err's chain stands, "" if none.
func FieldOf(err error) string {
	if f, ok := errors.AsType[*Error](err); ok {
		return f.Field
	}
	return ""
}

// RetryAfter is how long the outermost fault asks the caller to wait; 0 if it does not say.
func RetryAfter(err error) time.Duration {
	if f, ok := errors.AsType[*Error](err); ok {
		return f.RetryAfter
	}
	return 0
}
