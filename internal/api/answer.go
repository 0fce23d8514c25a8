package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"cloudburst/internal/fault"
)

// maxBody is the maximum size of a JSON request in bytes.
const maxBody = 64 << 10

// answer turns a function that can fail into a handler. A function that has started its response
// must handle its own errors.
func (s *Server) answer(handle func(http.ResponseWriter, *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := handle(w, r)
		if err == nil || errors.Is(err, context.Canceled) && r.Context().Err() != nil {
			return
		}
		status := statusOf(fault.CodeOf(err))
		if status >= 500 {
			s.Log.Error("an API request of the operator failed", "method", r.Method, "path", r.URL.Path, "err", err)
		}
		writeError(w, status, err)
	})
}

func statusOf(code fault.Code) int {
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

type errorAnswer struct {
	Error errorBody `json:"error"`
}

type errorBody struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Field   string `json:"field,omitempty"`
}

// bodyOf includes the full error: only the operator sees it, not the public.
func bodyOf(err error) errorBody {
	return errorBody{Code: fault.CodeOf(err).String(), Message: err.Error(), Field: fault.FieldOf(err)}
}

// Unavailable sends err with status 503 in the error format of this API.
func Unavailable(w http.ResponseWriter, err error) { writeError(w, http.StatusServiceUnavailable, err) }

func writeError(w http.ResponseWriter, status int, err error) {
	writeFault(w, status, err, err.Error())
}

// writeFault sends an error response with message as its text.
func writeFault(w http.ResponseWriter, status int, err error, message string) {
	if wait := fault.RetryAfter(err); wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
	}
	writeJSON(w, status, errorAnswer{errorBody{Code: fault.CodeOf(err).String(), Message: message, Field: fault.FieldOf(err)}})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	// Ignore the error: the client has closed the connection.
	_ = enc.Encode(v)
}

func ok(w http.ResponseWriter, v any) error {
	writeJSON(w, http.StatusOK, v)
	return nil
}

// readJSON decodes a small JSON object. Unknown fields and trailing data are errors.
func readJSON(w http.ResponseWriter, r *http.Request, v any) error {
	return readJSONTo(w, r, v, maxBody)
}

// readJSONTo is readJSON with its own size limit in bytes.
func readJSONTo(w http.ResponseWriter, r *http.Request, v any, limit int64) error {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return fault.New(fault.Invalid, "The request needs a body in JSON, with Content-Type: application/json.")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if err != nil {
		return bodyFault(err, nil)
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err = dec.Decode(v); err == nil {
		if _, err = dec.Token(); errors.Is(err, io.EOF) {
			return nil
		}
		err = errors.New("more follows after the object")
	}
	return bodyFault(err, body)
}

// bodyFault describes why a body is invalid and names the field.
func bodyFault(err error, body []byte) error {
	const bad = "The body is not the JSON object that this endpoint accepts"
	if name, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
		name = cut(strings.Trim(name, `"`), 100)
		return fault.In(fault.New(fault.Invalid, "%s: there is no field %q.", bad, name), name)
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		return fault.In(fault.New(fault.Invalid, "%s: the field %s cannot be %s.", bad, cut(wrong.Field, 100), article(wrong.Value)), cut(wrong.Field, 100))
	}
	if wrong, ok := errors.AsType[*time.ParseError](err); ok {
		f := fault.New(fault.Invalid, "%s: %q is not a time; write it as 2026-01-31T23:59:59Z.", bad, cut(wrong.Value, 100))
		if at := regexp.MustCompile(`"(\w+)"\s*:\s*"` + regexp.QuoteMeta(wrong.Value) + `"`).FindSubmatch(body); at != nil {
			f.Field = string(at[1])
		}
		return f
	}
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return fault.New(fault.Invalid, "The body has more than %d bytes, the maximum for this endpoint.", large.Limit)
	}
	if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fault.New(fault.Invalid, "%s: byte %d: %v.", bad, wrong.Offset, wrong)
	}
	return fault.Wrap(fault.Invalid, err, bad)
}

// article returns the JSON type of a value with its article: "a number", "an object".
func article(kind string) string {
	word, _, _ := strings.Cut(kind, " ") // for example "number 5"
	switch word {
	case "bool":
		return "true or false"
	case "array", "object":
		return "an " + word
	}
	return "a " + word
}

// params reads the query string and keeps the first error. An unknown or repeated name is an error,
// so that a misspelled filter does not list everything.
type params struct {
	values url.Values
	err    error
}

func readParams(r *http.Request, known ...string) *params {
	p := &params{}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		p.err = fault.Wrap(fault.Invalid, err, "The query string cannot be read")
		return p
	}
	p.values = values
	for name := range values {
		if !slices.Contains(known, name) {
			p.err = fault.New(fault.Invalid, "The parameter %q is unknown; this endpoint accepts: %s.", cut(name, 100), strings.Join(known, ", "))
		}
	}
	return p
}

func (p *params) text(name string) string {
	v := p.values[name]
	if len(v) > 1 && p.err == nil {
		p.err = fault.New(fault.Invalid, "The parameter %s may occur only once.", name)
	}
	if len(v) == 0 {
		return ""
	}
	return v[0]
}

// maxLimit is the maximum number of rows per page.
const maxLimit = 1000

func (p *params) limit() int { return p.limitTo(maxLimit) }

func (p *params) limitTo(limit int) int {
	text := p.text("limit")
	if text == "" {
		return 100
	}
	n, err := strconv.Atoi(text)
	if (err != nil || n < 1 || n > limit) && p.err == nil {
		p.err = fault.New(fault.Invalid, "limit is %q: it must be a number from 1 to %d.", cut(text, 100), limit)
	}
	return n
}

func (p *params) has(name string) bool { return len(p.values[name]) > 0 }

// paged adds the parameters that select a page of a list.
func paged(known ...string) []string { return append(known, "cursor", "after", "before", "limit") }

// cursor returns the start of the page: the "next" value of the previous page, or "" for the first
// page. It also accepts the older names after and before.
func (p *params) cursor() string { return p.cursorOr("after", "before") }

// cursorOr is cursor for a list that gives some of the older names another meaning.
func (p *params) cursorOr(older ...string) string {
	cursor, name := p.text("cursor"), "cursor"
	for _, other := range older {
		switch text := p.text(other); {
		case text == "" || text == cursor:
		case cursor == "":
			cursor, name = text, other
		case p.err == nil:
			p.err = fault.New(fault.Invalid, "%s and %s name two different pages: send cursor alone.", name, other)
		}
	}
	return cursor
}

// badCursor is the error for a cursor that is not the "next" value of a page.
func badCursor(cursor string) error {
	return fault.New(fault.Invalid, "cursor is %q: it must be the value of \"next\" in the previous page.", cut(cursor, 100))
}

// number parses a non-negative number. It returns 0 if the parameter is missing.
func (p *params) number(name string) int64 {
	text := p.text(name)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if (err != nil || n < 0) && p.err == nil {
		p.err = fault.New(fault.Invalid, "%s is %q: it must be a number.", name, cut(text, 100))
	}
	return n
}

func (p *params) time(name string) time.Time {
	text := p.text(name)
	if text == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil && p.err == nil {
		p.err = fault.New(fault.Invalid, "%s is %q: it must be a time such as 2026-01-31T23:59:59Z.", name, cut(text, 100))
	}
	return t
}

func (p *params) boolean(name string) bool {
	switch text := p.text(name); text {
	case "", "false", "0":
		return false
	case "true", "1":
		return true
	default:
		if p.err == nil {
			p.err = fault.New(fault.Invalid, "%s is %q: it must be true or false.", name, cut(text, 100))
		}
		return false
	}
}
