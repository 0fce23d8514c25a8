package endpoint

import (
	"errors"
	"net/http"
	"time"

	"cloudburst/internal/fault"
)

// UploadTimeout limits the upload of a document, and AnswerTimeout the response after it: there is
// enough time for the response, because the author must see whether the document was saved.
const UploadTimeout, AnswerTimeout = time.Minute, 30 * time.Second

// FaultRSSCloud is the code of every fault of the rssCloud methods. Other clouds use the same code.
//
// spec:cloudburst#rpc-fault-codes
const FaultRSSCloud = 4

// WithStatus returns err with an HTTP status other than the one that its code implies.
func WithStatus(status int, err error) error { return &statusError{status, err} }

type statusError struct {
	status int
	err    error
}

func (e *statusError) Error() string { return e.err.Error() }
func (e *statusError) Unwrap() error { return e.err }

// StatusOf returns the HTTP status of an error, for endpoints that respond in plain text.
func StatusOf(err error) int {
	if s, ok := errors.AsType[*statusError](err); ok {
		return s.status
	}
	switch fault.CodeOf(err) {
	case fault.Invalid:
		return http.StatusUnprocessableEntity
	case fault.NotFound:
		return http.StatusNotFound
	case fault.Refused:
		return http.StatusForbidden
	case fault.Conflict:
		return http.StatusConflict
	case fault.Gone:
		return http.StatusGone
	case fault.TooMany:
		return http.StatusTooManyRequests
	case fault.Unreadable:
		return http.StatusBadGateway
	case fault.Unsupported:
		return http.StatusNotImplemented
	case fault.Unavailable:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}
