package rsscloud

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"cloudburst/internal/wirehttp"
)

// Form is a parsed form body: its fields in the order in which they came.
type Form []Field

// Field is one name and value of a form.
type Field struct{ Name, Value string }

// ReadForm reads the body of r as a form. It is refused whole unless it parses
// whole. Accepted are application/x-www-form-urlencoded, text/plain and no
// Content-Type at all; an [*Error] with 413 or 415 says why a body was not read,
// a [*FieldError] what is wrong in it.
func ReadForm(r *http.Request) (Form, error) {
	body, no := wirehttp.ReadForm(r, MaxForm, fmt.Sprintf("The body is larger than %d KiB, which is the most that is read; send fewer feeds at a time.", MaxForm>>10))
	if no != nil {
		return nil, &Error{Status: no.Status, Msg: no.Msg, Err: no.Err}
	}
	return ParseForm(body)
}

// ParseForm parses a form body of at most [MaxForm] bytes and [MaxFields]
// fields. All of it must be in order: an error never comes with half a form.
func ParseForm(body []byte) (Form, error) {
	if len(body) > MaxForm {
		return nil, &Error{Status: http.StatusRequestEntityTooLarge, Msg: "The body is too large."}
	}
	// A line end behind the last field comes from shells and editors.
	s := strings.TrimRight(string(body), "\r\n")
	s = strings.TrimLeft(strings.TrimPrefix(s, "\uFEFF"), "\r\n")
	var f Form
	wrong := wirehttp.EachField(s, MaxFields, func(name, value string) { f = append(f, Field{name, value}) })
	if wrong != "" {
		return nil, &FieldError{Msg: wrong}
	}
	return f, nil
}

// Encode is the form as a body.
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

// Get is the value of the field with that name, in any case of letters, without
// spaces around it; ok is false when there is none. A field that comes twice with
// different values is a [*FieldError].
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

// URLs are the values of url, url1, url2 and so on, in any case of letters,
// ordered by their numbers, url itself first; empty ones and repetitions are left
// out. More than [MaxURLs] are a [*FieldError], and so is none.
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
	return cleanURLs(list)
}

// cleanURLs trims, and leaves out what is empty or there already.
func cleanURLs(list []string) ([]string, error) {
	var urls []string
	for _, u := range list {
		if u = strings.TrimSpace(u); u == "" || slices.Contains(urls, u) {
			continue
		}
		if urls = append(urls, u); len(urls) > MaxURLs {
			return nil, fieldErr("url", "There are more than %d feeds, which is the most for one registration; send several.", MaxURLs)
		}
	}
	if len(urls) == 0 {
		return nil, fieldErr("url", "No feed is named; send its URL as url1, further ones as url2 and so on.")
	}
	return urls, nil
}

// PingURL is the one feed that the form of a ping names.
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

// Registration reads the fields of pleaseNotify. The feeds' URLs are not looked
// at, because each is decided by itself; see [CheckFeedURL].
//
// spec:rsscloud-2009#please-notify-fields
func (f Form) Registration() (Registration, error) {
	var g Registration
	values := map[string]string{}
	for _, name := range [...]string{"notifyProcedure", "port", "path", "protocol", "domain"} {
		v, ok, err := f.Get(name)
		if err != nil {
			return g, err
		}
		// spec:rsscloud-2009#notify-procedure-field
		// Aggregators that speak http-post leave the procedure out all the same.
		if !ok && name != "domain" && name != "notifyProcedure" {
			return g, fieldErr(name, "%s is missing; pleaseNotify needs notifyProcedure, port, path, protocol and url1.", name)
		}
		values[name] = v
	}
	port, err := parsePort(values["port"])
	if err != nil {
		return g, err
	}
	urls, err := f.URLs()
	if err != nil {
		return g, err
	}
	g = Registration{
		Procedure: values["notifyProcedure"], Port: port, Path: values["path"],
		Protocol: values["protocol"], URLs: urls, Domain: values["domain"],
	}
	return g, g.Check()
}

// Form is the registration as the body of a REST request.
func (g Registration) Form() Form {
	f := Form{
		{"notifyProcedure", g.Procedure},
		{"port", strconv.Itoa(g.Port)},
		{"path", g.Path},
		{"protocol", g.Protocol},
	}
	for i, u := range g.URLs {
		f = append(f, Field{"url" + strconv.Itoa(i+1), u})
	}
	if g.Domain != "" {
		f = append(f, Field{"domain", g.Domain})
	}
	return f
}
