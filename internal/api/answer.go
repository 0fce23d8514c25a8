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

// maxBody bounds a JSON request.
const maxBody = 64 << 10

// answer makes a handler of a function that may fail. A function that has begun
// to write its answer deals with its errors itself.
func (s *Server) answer(handle func(http.ResponseWriter, *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := handle(w, r)
		if err == nil || errors.Is(err, context.Canceled) && r.Context().Err() != nil {
			return
		}
		status := statusOf(fault.CodeOf(err))
		if status >= 500 {
			s.Log.Error("an operator's request failed", "method", r.Method, "path", r.URL.Path, "err", err)
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

// bodyOf is what the operator reads of an error: all of it, unlike strangers.
func bodyOf(err error) errorBody {
	return errorBody{Code: fault.CodeOf(err).String(), Message: err.Error(), Field: fault.FieldOf(err)}
}

// Unavailable answers a request that cannot be answered now, in the form of this API.
func Unavailable(w http.ResponseWriter, err error) { writeError(w, http.StatusServiceUnavailable, err) }

func writeError(w http.ResponseWriter, status int, err error) {
	writeFault(w, status, err, err.Error())
}

// writeFault answers with an error, of which whoever asked reads message.
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
	// Nobody is left to tell when the connection is gone.
	_ = enc.Encode(v)
}

func ok(w http.ResponseWriter, v any) error {
	writeJSON(w, http.StatusOK, v)
	return nil
}

// readJSON reads a small JSON object, whole and without unknown fields.
func readJSON(w http.ResponseWriter, r *http.Request, v any) error {
	return readJSONTo(w, r, v, maxBody)
}

// readJSONTo is readJSON with a bound of its own, in bytes.
func readJSONTo(w http.ResponseWriter, r *http.Request, v any, most int64) error {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return fault.New(fault.Invalid, "The request needs a body in JSON, with Content-Type: application/json.")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
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

// bodyFault says what is wrong with a body, and in which field.
func bodyFault(err error, body []byte) error {
	const bad = "The body is not the JSON object that this door takes"
	if name, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
		name = cut(strings.Trim(name, `"`), 100)
		return fault.In(fault.New(fault.Invalid, "%s: there is no field %q.", bad, name), name)
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		return fault.In(fault.New(fault.Invalid, "%s: the field %s cannot be %s.", bad, cut(wrong.Field, 100), article(wrong.Value)), cut(wrong.Field, 100))
	}
	if wrong, ok := errors.AsType[*time.ParseError](err); ok {
		f := fault.New(fault.Invalid, "%s: %q is no moment; write it as 2026-01-31T23:59:59Z.", bad, cut(wrong.Value, 100))
		if at := regexp.MustCompile(`"(\w+)"\s*:\s*"` + regexp.QuoteMeta(wrong.Value) + `"`).FindSubmatch(body); at != nil {
			f.Field = string(at[1])
		}
		return f
	}
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return fault.New(fault.Invalid, "The body has more than %d bytes, which is the most that this door takes.", large.Limit)
	}
	if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fault.New(fault.Invalid, "%s: byte %d: %v.", bad, wrong.Offset, wrong)
	}
	return fault.Wrap(fault.Invalid, err, bad)
}

// article is what kind of value stands in a body: "a number", "an object".
func article(kind string) string {
	word, _, _ := strings.Cut(kind, " ") // "number 5"
	switch word {
	case "bool":
		return "true or false"
	case "array", "object":
		return "an " + word
	}
	return "a " + word
}

// params reads the query string. Its first error sticks; an unknown or repeated
// name is one, so that a misspelt filter does not list everything.
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
			p.err = fault.New(fault.Invalid, "The parameter %q is not known here; there are: %s.", cut(name, 100), strings.Join(known, ", "))
		}
	}
	return p
}

func (p *params) text(name string) string {
	v := p.values[name]
	if len(v) > 1 && p.err == nil {
		p.err = fault.New(fault.Invalid, "The parameter %s may be given once.", name)
	}
	if len(v) == 0 {
		return ""
	}
	return v[0]
}

// maxLimit is the largest page.
const maxLimit = 1000

func (p *params) limit() int { return p.limitTo(maxLimit) }

func (p *params) limitTo(most int) int {
	text := p.text("limit")
	if text == "" {
		return 100
	}
	n, err := strconv.Atoi(text)
	if (err != nil || n < 1 || n > most) && p.err == nil {
		p.err = fault.New(fault.Invalid, "limit is %q: it needs a number from 1 to %d.", cut(text, 100), most)
	}
	return n
}

func (p *params) has(name string) bool { return len(p.values[name]) > 0 }

// paged adds the names with which a page of a list is selected.
func paged(known ...string) []string { return append(known, "cursor", "after", "before", "limit") }

// cursor is where the page begins: what "next" of the previous page is; "" for the first
// page. after and before are accepted for it, because lists once used one or the other.
func (p *params) cursor() string { return p.cursorOr("after", "before") }

// cursorOr is cursor for a list in which only some of the older names mean it.
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

// badCursor is the error for a cursor that no page gave out.
func badCursor(cursor string) error {
	return fault.New(fault.Invalid, "cursor is %q: it needs the value of \"next\" of the page before.", cut(cursor, 100))
}

// number reads one that is not negative; 0 when there is none.
func (p *params) number(name string) int64 {
	text := p.text(name)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if (err != nil || n < 0) && p.err == nil {
		p.err = fault.New(fault.Invalid, "%s is %q: it needs a number.", name, cut(text, 100))
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
		p.err = fault.New(fault.Invalid, "%s is %q: it needs a moment such as 2026-01-31T23:59:59Z.", name, cut(text, 100))
	}
	return t
}

func (p *params) truth(name string) bool {
	switch text := p.text(name); text {
	case "", "false", "0":
		return false
	case "true", "1":
		return true
	default:
		if p.err == nil {
			p.err = fault.New(fault.Invalid, "%s is %q: it needs true or false.", name, cut(text, 100))
		}
		return false
	}
}
