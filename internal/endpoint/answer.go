package endpoint

import (
	"errors"
	"net/http"
	"time"

	"cloudburst/internal/fault"
)

// UploadWithin is how long a document may take on its way in, and AnswerWithin how long the
// answer may take then: the author must hear whether the document was saved.
const UploadTimeout, AnswerTimeout = time.Minute, 30 * time.Second

// FaultRSSCloud is the code of every fault of the rssCloud methods, as other
// clouds send it.
//
// spec:cloudburst#rpc-fault-codes
const FaultRSSCloud = 4

// WithStatus is err with a status that its code does not imply.
func WithStatus(status int, err error) error { return &statusError{status, err} }

// statusError is an error with a status that its code does not imply.
type statusError struct {
	status int
	err    error
}

func (e *statusError) Error() string { return e.err.Error() }
func (e *statusError) Unwrap() error { return e.err }

// StatusOf is an error's status at the doors that answer in plain text.
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
