package weblogs

import (
	"errors"
	"fmt"
	"strings"

	"cloudburst/protocol/xmlrpc"
)

// Result is the answer to a ping.
type Result struct {
	Err     bool   // it was refused
	Message string // one sentence for people
}

// neutral is what strangers read of an error that is none of the caller's.
const neutral = "Something went wrong on this server. Please try again later."

// ResultOf is the answer that says what became of a ping: thanks for a nil error,
// the sentence of a [*FieldError] or [*Error], and nothing about any other.
func ResultOf(err error) Result {
	if err == nil {
		return Result{Message: ThanksForThePing}
	}
	if f, ok := errors.AsType[*FieldError](err); ok {
		return Result{Err: true, Message: f.Msg}
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return Result{Err: true, Message: e.Msg}
	}
	return Result{Err: true, Message: neutral}
}

// Value is the answer as XML-RPC carries it: a struct of flerror and message.
func (r Result) Value() map[string]any {
	return map[string]any{"flerror": r.Err, "message": r.Message}
}

// ParseResult reads what a server answered over XML-RPC: a struct whose flerror is
// a boolean, a number or a text, or a boolean that is true for success. Anything
// else is [ErrInvalidResponse].
func ParseResult(v any) (Result, error) {
	if ok, is := v.(bool); is {
		return Result{Err: !ok}, nil
	}
	members, ok := v.(map[string]any)
	if !ok {
		return Result{}, fmt.Errorf("%w: it is not a struct", ErrInvalidResponse)
	}
	var r Result
	said := false
	for name, v := range members {
		switch strings.ToLower(name) {
		case "flerror":
			if r.Err, said = truth(v); !said {
				return Result{}, fmt.Errorf("%w: its flerror is neither true nor false", ErrInvalidResponse)
			}
		case "message":
			r.Message, _ = xmlrpc.String(v)
			r.Message = line(r.Message)
		}
	}
	if !said {
		return Result{}, fmt.Errorf("%w: it has no flerror", ErrInvalidResponse)
	}
	return r, nil
}

// truth reads a flag in any form that servers send.
func truth(v any) (value, ok bool) {
	if b, ok := xmlrpc.Bool(v); ok {
		return b, true
	}
	if n, ok := xmlrpc.Int(v); ok {
		return n != 0, true
	}
	switch s, _ := v.(string); strings.ToLower(strings.TrimSpace(s)) {
	case "yes":
		return true, true
	case "no":
		return false, true
	}
	return false, false
}
