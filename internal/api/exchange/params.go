package exchange

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/text"
)

// Params has the parameters of a query string. Err is the first error.
type Params struct {
	values url.Values
	Err    error
}

// ReadParams reads the query string of a request. A repeated name, or a name that is not in known,
// is an error. Otherwise a misspelled filter would select everything.
func ReadParams(r *http.Request, known ...string) *Params {
	p := &Params{}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		p.Err = fault.Wrap(fault.Invalid, err, "The query string cannot be read")
		return p
	}
	p.values = values
	for name := range values {
		if !slices.Contains(known, name) {
			accepts := ": " + strings.Join(known, ", ")
			if len(known) == 0 {
				accepts = " no parameters"
			}
			p.Err = fault.New(fault.Invalid, "The parameter %q is unknown; this endpoint accepts%s.", text.Clip(name, 100), accepts)
		}
	}
	return p
}

// Text returns the value of a parameter; "": the parameter is missing. A repeated parameter is an
// error.
func (p *Params) Text(name string) string {
	v := p.values[name]
	if len(v) > 1 && p.Err == nil {
		p.Err = fault.New(fault.Invalid, "The parameter %s may occur only once.", name)
	}
	if len(v) == 0 {
		return ""
	}
	return v[0]
}

// MaxLimit is the maximum number of rows in one page of a list.
const MaxLimit = 1000

// Limit returns the requested number of rows in a page, at most MaxLimit. It returns 100 if the
// parameter is missing.
func (p *Params) Limit() int { return p.LimitTo(MaxLimit) }

// LimitTo is like Limit with a maximum of its own.
func (p *Params) LimitTo(limit int) int {
	value := p.Text("limit")
	if value == "" {
		return 100
	}
	n, err := strconv.Atoi(value)
	if (err != nil || n < 1 || n > limit) && p.Err == nil {
		p.Err = fault.New(fault.Invalid, "limit is %q: it must be a number from 1 to %d.", text.Clip(value, 100), limit)
	}
	return n
}

// Has reports whether the query string contains the parameter.
func (p *Params) Has(name string) bool { return len(p.values[name]) > 0 }

// All returns the values of a parameter that may be repeated.
func (p *Params) All(name string) []string { return p.values[name] }

// Paged returns known with the names of the parameters that select a page of a list.
func Paged(known ...string) []string { return append(known, "cursor", "after", "before", "limit") }

// Cursor returns the position at which the page starts: the value of "next" in the previous page.
// "": the first page. The parameter also has two older names, after and before.
func (p *Params) Cursor() string { return p.CursorOr("after", "before") }

// CursorOr is like Cursor with the given older names, for a list in which an older name has another
// meaning.
func (p *Params) CursorOr(older ...string) string {
	cursor, name := p.Text("cursor"), "cursor"
	for _, other := range older {
		switch value := p.Text(other); {
		case value == "" || value == cursor:
		case cursor == "":
			cursor, name = value, other
		case p.Err == nil:
			p.Err = fault.New(fault.Invalid, "%s and %s name two different pages: send cursor alone.", name, other)
		}
	}
	return cursor
}

// BadCursor returns the error for a cursor that is not the value of "next" in a page.
func BadCursor(cursor string) error {
	return fault.New(fault.Invalid, "cursor is %q: it must be the value of \"next\" in the previous page.", text.Clip(cursor, 100))
}

// Number parses a non-negative number. It returns 0 if the parameter is missing.
func (p *Params) Number(name string) int64 {
	value := p.Text(name)
	if value == "" {
		return 0
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if (err != nil || n < 0) && p.Err == nil {
		p.Err = fault.New(fault.Invalid, "%s is %q: it must be a number.", name, text.Clip(value, 100))
	}
	return n
}

// Time parses a time. It returns the zero time if the parameter is missing.
func (p *Params) Time(name string) time.Time {
	value := p.Text(name)
	if value == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, value)
	if err != nil && p.Err == nil {
		p.Err = fault.New(fault.Invalid, "%s is %q: it must be a time such as 2026-01-31T23:59:59Z.", name, text.Clip(value, 100))
	}
	return t
}

// Boolean parses true, false, 1 or 0. It returns false if the parameter is missing.
func (p *Params) Boolean(name string) bool {
	switch value := p.Text(name); value {
	case "", "false", "0":
		return false
	case "true", "1":
		return true
	default:
		if p.Err == nil {
			p.Err = fault.New(fault.Invalid, "%s is %q: it must be true or false.", name, text.Clip(value, 100))
		}
		return false
	}
}
