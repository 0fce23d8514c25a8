package micropub

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Codes of errors, as answers carry them.
//
// spec:micropub-2017#errors
const (
	InvalidRequest    = "invalid_request"
	Unauthorized      = "unauthorized"
	Forbidden         = "forbidden"
	InsufficientScope = "insufficient_scope"
	NotFound          = "not_found" // not of the recommendation, but what its editors answer
)

// Error is an answer that is not a success.
type Error struct {
	Status      int // of HTTP
	Code        string
	Description string        // a sentence for people
	Scope       string        // what the token would need; "": the answer does not say
	RetryAfter  time.Duration // 0: the answer does not say
}

func (e *Error) Error() string {
	if e.Description != "" {
		return e.Description
	}
	return fmt.Sprintf("micropub: the server answered %d %s", e.Status, e.Code)
}

func invalid(format string, args ...any) *Error {
	return &Error{Status: http.StatusBadRequest, Code: InvalidRequest, Description: fmt.Sprintf(format, args...)}
}

// refused is a token that is none; description "" stands for a missing one.
func refused(description string) *Error {
	if description == "" {
		description = "This needs a token: send it as Authorization: Bearer, or as the form field access_token."
	}
	return &Error{Status: http.StatusUnauthorized, Code: Unauthorized, Description: description}
}

// errorJSON is an error on the wire.
type errorJSON struct {
	Error       string `json:"error"`
	Description string `json:"error_description,omitempty"`
	Scope       string `json:"scope,omitempty"`
}

// neutral is what strangers read of an error that is not meant for them.
const neutral = "Something went wrong on this server; please try again later."

// asError is err as an answer, and whether it is one that nobody may hear of.
func asError(err error) (e *Error, unknown bool) {
	if e, ok := errors.AsType[*Error](err); ok {
		return e, false
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge(), false
	}
	return &Error{Status: http.StatusInternalServerError, Code: "server_error", Description: neutral}, true
}

func tooLarge() *Error {
	return &Error{Status: http.StatusRequestEntityTooLarge, Code: InvalidRequest,
		Description: fmt.Sprintf("The request is larger than %d bytes.", MaxBody)}
}

// write answers with the error.
func (e *Error) write(w http.ResponseWriter) {
	head := w.Header()
	if e.Status == http.StatusUnauthorized {
		challenge := "Bearer"
		if e.Code == InsufficientScope {
			challenge = fmt.Sprintf(`Bearer error="insufficient_scope", scope="%s"`, e.Scope)
		}
		head.Set("WWW-Authenticate", challenge)
	}
	if e.RetryAfter > 0 {
		head.Set("Retry-After", strconv.Itoa(int((e.RetryAfter+time.Second-1)/time.Second)))
	}
	writeJSON(w, e.Status, errorJSON{e.Code, e.Description, e.Scope})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // nobody is left to tell when the caller has gone
}
