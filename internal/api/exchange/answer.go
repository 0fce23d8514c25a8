// Package exchange reads the requests and writes the responses of the JSON API: parameters, bodies in
// JSON, lists in pages, and errors in the API's form. Start with [ReadParams] and [OK].
package exchange

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"cloudburst/internal/fault"
)

// Status returns the HTTP status for an error with this code.
func Status(code fault.Code) int {
	switch code {
	case fault.Invalid:
		return http.StatusBadRequest
	case fault.NotFound:
		return http.StatusNotFound
	case fault.Refused:
		return http.StatusForbidden
	case fault.Conflict:
		return http.StatusConflict
	case fault.TooMany:
		return http.StatusTooManyRequests
	case fault.Unreadable:
		return http.StatusUnprocessableEntity
	case fault.Gone:
		return http.StatusGone
	case fault.Unavailable:
		return http.StatusServiceUnavailable
	case fault.Unsupported:
		return http.StatusNotImplemented
	default:
		return http.StatusInternalServerError
	}
}

// ErrorAnswer is the response to a failed request.
type ErrorAnswer struct {
	Error ErrorBody `json:"error"`
}

// ErrorBody describes an error to programs and people.
type ErrorBody struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Field   string `json:"field,omitempty"`
}

// BodyOf returns the description of an error with its full text, which only the operator may see.
func BodyOf(err error) ErrorBody {
	return ErrorBody{Code: fault.CodeOf(err).String(), Message: err.Error(), Field: fault.FieldOf(err)}
}

// Unavailable sends err with status 503 in the error format of the API.
func Unavailable(w http.ResponseWriter, err error) { WriteError(w, http.StatusServiceUnavailable, err) }

// WriteError sends an error response with the full text of the error, which only the operator may
// see.
func WriteError(w http.ResponseWriter, status int, err error) {
	WriteFault(w, status, err, err.Error())
}

// WriteFault sends an error response with message instead of the text of the error.
func WriteFault(w http.ResponseWriter, status int, err error, message string) {
	if wait := fault.RetryAfter(err); wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
	}
	WriteJSON(w, status, ErrorAnswer{ErrorBody{Code: fault.CodeOf(err).String(), Message: message, Field: fault.FieldOf(err)}})
}

// WriteJSON sends v as JSON with this status.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	// Ignore the error: it means that the client has closed the connection.
	_ = enc.Encode(v)
}

// OK sends v as JSON with status 200. It always returns nil.
func OK(w http.ResponseWriter, v any) error {
	WriteJSON(w, http.StatusOK, v)
	return nil
}

// Answer sends v as JSON with status 200, unless err is set. It returns err.
func Answer(w http.ResponseWriter, v any, err error) error {
	if err != nil {
		return err
	}
	return OK(w, v)
}

// List converts the rows of a list. Without rows, the result is empty and not nil.
func List[T, U any](rows []T, convert func(T) U) []U {
	list := make([]U, len(rows))
	for i, row := range rows {
		list[i] = convert(row)
	}
	return list
}

// Page is one page of a list.
type Page struct {
	Name string // name of the member that has the rows
	Rows any
	Next string // cursor of the next page; "": this is the last
}

// MarshalJSON implements [json.Marshaler].
func (p Page) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	out.WriteString(`{"` + p.Name + `":`)
	err := enc.Encode(p.Rows)
	if err == nil && p.Next != "" {
		out.WriteString(`,"next":`)
		err = enc.Encode(p.Next)
	}
	out.WriteByte('}')
	return out.Bytes(), err
}
