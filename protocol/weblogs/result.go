package weblogs

import (
	"errors"
	"fmt"
	"strings"

	"cloudburst/protocol/xmlrpc"
)

// Result is the response to a ping.
type Result struct {
	Err     bool   // the ping was refused
	Message string // a sentence for people
}

// neutral is the message for an internal error. It reveals nothing of the error.
const neutral = "Something went wrong on this server. Please try again later."

// ResultOf returns the response for the result of a ping. A nil error becomes thanks, a
// [*FieldError] or [*Error] becomes its message, and any other error becomes a neutral message.
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

// Value returns the response as a struct of flerror and message for XML-RPC.
func (r Result) Value() map[string]any {
	return map[string]any{"flerror": r.Err, "message": r.Message}
}

// ParseResult parses a server's XML-RPC response: a struct whose flerror is a boolean, a
// number or a string, or a boolean that is true for success. The error is
// [ErrInvalidResponse].
func ParseResult(v any) (Result, error) {
	if ok, is := v.(bool); is {
		return Result{Err: !ok}, nil
	}
	members, ok := v.(map[string]any)
	if !ok {
		return Result{}, fmt.Errorf("%w: it is not a struct", ErrInvalidResponse)
	}
	var r Result
	found := false
	for name, v := range members {
		switch strings.ToLower(name) {
		case "flerror":
			if r.Err, found = truth(v); !found {
				return Result{}, fmt.Errorf("%w: its flerror is neither true nor false", ErrInvalidResponse)
			}
		case "message":
			r.Message, _ = xmlrpc.String(v)
			r.Message = line(r.Message)
		}
	}
	if !found {
		return Result{}, fmt.Errorf("%w: it has no flerror", ErrInvalidResponse)
	}
	return r, nil
}

// truth parses a boolean in any form that servers send.
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
