package rsscloud

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"cloudburst/internal/wirehttp"
)

// Form is a parsed form body: its fields in their original order.
type Form []Field

// Field is a name and value of a form.
type Field struct{ Name, Value string }

// ReadForm reads the body of r as a form. It accepts application/x-www-form-urlencoded,
// text/plain, and requests without a Content-Type. The error is an [*Error] with status 413
// or 415 for a body that was not read, or a [*FieldError] for an invalid form. No form is
// returned with an error.
func ReadForm(r *http.Request) (Form, error) {
	body, no := wirehttp.ReadForm(r, MaxForm, fmt.Sprintf("The body is larger than %d KiB, which is the limit; send fewer feeds at a time.", MaxForm>>10))
	if no != nil {
		return nil, &Error{Status: no.Status, Msg: no.Msg, Err: no.Err}
	}
	return ParseForm(body)
}

// ParseForm parses a form body of at most [MaxForm] bytes and [MaxFields] fields. No form
// is returned with an error.
func ParseForm(body []byte) (Form, error) {
	if len(body) > MaxForm {
		return nil, &Error{Status: http.StatusRequestEntityTooLarge, Msg: "The body is too large."}
	}
	// Ignore a line end after the last field, which shells and editors add.
	s := strings.TrimRight(string(body), "\r\n")
	s = strings.TrimLeft(strings.TrimPrefix(s, "\uFEFF"), "\r\n")
	var f Form
	wrong := wirehttp.EachField(s, MaxFields, func(name, value string) { f = append(f, Field{name, value}) })
	if wrong != "" {
		return nil, &FieldError{Msg: wrong}
	}
	return f, nil
}

// Encode returns the form as a body of application/x-www-form-urlencoded.
func (f Form) Encode() []byte {
	var b []byte
	for i, field := range f {
		if i > 0 {
			b = append(b, '&')
		}
		b = append(b, url.QueryEscape(field.Name)...)
		b = append(b, '=')
		b = append(b, url.QueryEscape(field.Value)...)
	}
	return b
}

// Get returns the value of the field with the given name, without surrounding spaces. Names
// are compared without case. ok is false if there is no such field. A field that occurs
// twice with different values is a [*FieldError].
func (f Form) Get(name string) (value string, ok bool, err error) {
	for _, field := range f {
		if !strings.EqualFold(field.Name, name) {
			continue
		}
		v := strings.TrimSpace(field.Value)
		if ok && v != value {
			return "", true, fieldErr(name, "The form has %s twice, as %s and as %s; send it once.", name, wirehttp.Quote(value), wirehttp.Quote(v))
		}
		value, ok = v, true
	}
	return value, ok, nil
}

// URLs returns the values of url, url1, url2 and so on, ordered by number, with url first.
// Names are compared without case; empty values and duplicates are left out. The error is a
// [*FieldError] for an empty list and for more than [MaxURLs].
func (f Form) URLs() ([]string, error) {
	// spec:rsscloud-2009#url-numbering
	type numbered struct{ digits, value string }
	var all []numbered
	for _, field := range f {
		// spec:cloudburst#urls-any-case
		if len(field.Name) < 3 || !strings.EqualFold(field.Name[:3], "url") {
			continue
		}
		digits := field.Name[3:]
		if strings.Trim(digits, "0123456789") != "" {
			continue
		}
		all = append(all, numbered{strings.TrimLeft(digits, "0"), field.Value})
	}
	slices.SortStableFunc(all, func(a, b numbered) int {
		if d := len(a.digits) - len(b.digits); d != 0 {
			return d
		}
		return strings.Compare(a.digits, b.digits)
	})
	list := make([]string, len(all))
	for i, n := range all {
		list[i] = n.value
	}
	return cleanURLs(list, "No feed is named; send its URL as url1, further ones as url2 and so on.")
}

// cleanURLs trims each URL and removes empty ones and duplicates. none is the message for a list
// without a URL.
func cleanURLs(list []string, none string) ([]string, error) {
	var urls []string
	for _, u := range list {
		if u = strings.TrimSpace(u); u == "" || slices.Contains(urls, u) {
			continue
		}
		if urls = append(urls, u); len(urls) > MaxURLs {
			return nil, fieldErr("url", "There are more than %d feeds, which is the limit for one registration; send several registrations.", MaxURLs)
		}
	}
	if len(urls) == 0 {
		return nil, &FieldError{Field: "url", Msg: none}
	}
	return urls, nil
}

// PingURL returns the feed that the form of a ping names. The error is a [*FieldError]
// unless there is exactly one valid URL.
//
// spec:rsscloud-2009#ping-rest
func (f Form) PingURL() (string, error) {
	urls, err := f.URLs()
	switch {
	case err != nil:
		return "", fieldErr("url", "No feed is named; send its URL as url.")
	case len(urls) > 1:
		return "", fieldErr("url", "The ping names %d feeds; send one ping for each.", len(urls))
	}
	return urls[0], CheckFeedURL(urls[0])
}
