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

// Params are the parameters of a query string, with the first error in Err.
type Params struct {
	values url.Values
	Err    error
}

// ReadParams reads the query string. An unknown or repeated name is an error, so that a misspelled
// filter does not list everything.
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
			p.Err = fault.New(fault.Invalid, "The parameter %q is unknown; this endpoint accepts: %s.", text.Clip(name, 100), strings.Join(known, ", "))
		}
	}
	return p
}

// Text returns the value of a parameter that may occur once; "" if it is missing.
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

// MaxLimit is the maximum number of rows per page.
const MaxLimit = 1000

// Limit returns the number of rows per page: 100 if the parameter is missing, at most MaxLimit.
func (p *Params) Limit() int { return p.LimitTo(MaxLimit) }

// LimitTo is like Limit with its own maximum.
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

// Paged adds the parameters that select a page of a list.
func Paged(known ...string) []string { return append(known, "cursor", "after", "before", "limit") }

// Cursor returns the start of the page: the "next" value of the previous page, or "" for the first
// page. It also accepts the older names after and before.
func (p *Params) Cursor() string { return p.CursorOr("after", "before") }

// CursorOr is like Cursor for a list that gives some of the older names another meaning.
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

// BadCursor is the error for a cursor that is not the "next" value of a page.
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
