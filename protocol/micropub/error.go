package micropub

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"cloudburst/internal/text"
	"cloudburst/internal/wirehttp"
)

// Error codes of responses.
//
// spec:micropub-2017#errors
const (
	InvalidRequest    = "invalid_request"
	Unauthorized      = "unauthorized"
	Forbidden         = "forbidden"
	InsufficientScope = "insufficient_scope"
	NotFound          = "not_found" // an extension that the editors of the recommendation propose
)

// Error is a response without success.
type Error struct {
	Status      int           // HTTP status
	Code        string        // one of the error codes above, or another one
	Description string        // a sentence for people
	Scope       string        // the scope that the token needs; "": not specified
	RetryAfter  time.Duration // 0: not specified
}

func (e *Error) Error() string {
	return cmp.Or(e.Description, fmt.Sprintf("micropub: the server answered %d %s", e.Status, e.Code))
}

func invalid(format string, args ...any) *Error {
	return &Error{Status: http.StatusBadRequest, Code: InvalidRequest, Description: fmt.Sprintf(format, args...)}
}

// unauthorized returns the error for an invalid token. If description is empty, the request has no
// token.
func unauthorized(description string) *Error {
	description = cmp.Or(description, "This needs a token: send it as Authorization: Bearer, or as the form field access_token.")
	return &Error{Status: http.StatusUnauthorized, Code: Unauthorized, Description: description}
}

// errorJSON is the JSON of an error.
type errorJSON struct {
	Error       string `json:"error"`
	Description string `json:"error_description,omitempty"`
	Scope       string `json:"scope,omitempty"`
}

// neutral is the message for an internal error. It reveals nothing of the error.
const neutral = "Something went wrong on this server; please try again later."

// asError returns err as the error to send. unknown reports that err is an internal error, which
// must be logged.
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
		Description: fmt.Sprintf("The request is larger than %s.", text.SizeWords(MaxBody))}
}

// write writes the error as the response.
func (e *Error) write(w http.ResponseWriter) {
	head := w.Header()
	if e.Status == http.StatusUnauthorized {
		challenge := "Bearer"
		if e.Code == InsufficientScope {
			challenge = fmt.Sprintf(`Bearer error="insufficient_scope", scope="%s"`, e.Scope)
		}
		head.Set("WWW-Authenticate", challenge)
	}
	wirehttp.SetRetryAfter(head, e.RetryAfter)
	writeJSON(w, e.Status, errorJSON{e.Code, e.Description, e.Scope})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // an error means that the client has disconnected
}
