package websub

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"cloudburst/internal/wirehttp"
)

// Request is a request to a hub.
type Request struct {
	Mode         string       // ModeSubscribe, ModeUnsubscribe or ModePublish
	Subscription Subscription // not used with ModePublish
	URLs         []string     // for ModePublish: the changed topics, 1 to MaxURLs without duplicates; they have not passed CheckURL yet
}

// Subscription is a request to start or end the delivery of one topic to one callback.
type Subscription struct {
	Callback string        // URL, exactly as received
	Topic    string        // URL, exactly as received
	Lease    time.Duration // requested lease in whole seconds; 0: not requested. Ignored by an unsubscribe request
	Secret   string        // key of the signatures, at most MaxSecret bytes; "": deliveries are unsigned. Ignored by an unsubscribe request
}

// maxLeaseSeconds is the longest lease that a time.Duration can hold.
const maxLeaseSeconds = int64((1<<63 - 1) / time.Second)

// ReadRequest reads the body of r as a request to a hub. It accepts
// application/x-www-form-urlencoded, text/plain, and requests without a Content-Type. An
// invalid form is rejected as a whole. The error is an [*Error] with status 400, 413 or
// 415.
//
// spec:websub-2018#request-form
func ReadRequest(r *http.Request) (Request, error) {
	body, no := wirehttp.ReadForm(r, MaxForm, fmt.Sprintf("The body is larger than %d KiB, which is the limit.", MaxForm>>10))
	if no != nil {
		return Request{}, &Error{Status: no.Status, Msg: no.Msg, Err: no.Err}
	}
	return ParseRequest(body)
}

// ParseRequest parses a form body of at most [MaxForm] bytes and [MaxFields] fields.
// Unknown fields are ignored, but must be encoded correctly. A known field may occur once
// only, except hub.url and hub.topic in a publish request. Names and modes are
// case-sensitive. The error is an [*Error] with status 400 or 413.
func ParseRequest(body []byte) (Request, error) {
	f, err := parseForm(body)
	if err != nil {
		return Request{}, err
	}
	mode, err := f.single("hub.mode")
	switch {
	case err != nil:
		return Request{}, err
	case mode == "":
		return Request{}, bad("hub.mode is missing; it is subscribe, unsubscribe or publish.")
	case mode == ModePublish:
		urls, err := f.published()
		return Request{Mode: mode, URLs: urls}, err
	case mode != ModeSubscribe && mode != ModeUnsubscribe:
		return Request{}, bad("hub.mode is %s; it must be subscribe, unsubscribe or publish, in lowercase.", wirehttp.Quote(mode))
	}
	s, err := f.subscription(mode)
	if err != nil {
		return Request{}, err
	}
	return Request{Mode: mode, Subscription: s}, nil
}

// subscription reads the fields of a subscribe or unsubscribe request.
//
// spec:websub-2018#request-parameters
// spec:websub-2018#request-extra-parameters
func (f form) subscription(mode string) (s Subscription, err error) {
	for _, p := range [...]struct {
		name string
		to   *string
	}{{"hub.callback", &s.Callback}, {"hub.topic", &s.Topic}} {
		if *p.to, err = f.single(p.name); err != nil {
			return Subscription{}, err
		}
		if *p.to == "" {
			return Subscription{}, bad("%s is missing; a subscription needs hub.mode, hub.callback and hub.topic.", p.name)
		}
		if err = CheckURL(p.name, *p.to); err != nil {
			return Subscription{}, err
		}
	}
	// spec:websub-2018#lease-ignored-when-unsubscribing
	if mode == ModeUnsubscribe {
		return s, nil
	}
	lease, err := f.single("hub.lease_seconds")
	if err == nil {
		s.Lease, err = parseLease(lease)
	}
	if err == nil {
		s.Secret, err = f.single("hub.secret")
	}
	// spec:websub-2018#secret-accepted
	// spec:websub-2018#secret-length
	if err == nil && len(s.Secret) > MaxSecret {
		err = bad("hub.secret is %d bytes long; it must be less than %d.", len(s.Secret), MaxSecret+1)
	}
	if err != nil {
		return Subscription{}, err
	}
	return s, nil
}

// parseLease reads the requested lease. A number that is too large becomes the longest
// lease that a time.Duration can hold.
//
// spec:websub-2018#lease-positive
func parseLease(s string) (time.Duration, error) {
	if s == "" {
		return 0, nil
	}
	if strings.Trim(s, "0123456789") != "" {
		return 0, bad("hub.lease_seconds is %s; it must be a positive decimal number of seconds.", wirehttp.Quote(s))
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		n = maxLeaseSeconds // s contains only digits, so the error means that the number is too large
	}
	if n == 0 {
		return 0, bad("hub.lease_seconds is 0; it must be a positive number of seconds, or be left out.")
	}
	return time.Duration(min(n, maxLeaseSeconds)) * time.Second, nil
}

// published returns the changed topics without duplicates.
//
// spec:websub-2018#publish-form
func (f form) published() ([]string, error) {
	var urls []string
	for _, field := range f {
		if field.name != "hub.url" && field.name != "hub.topic" || field.value == "" || slices.Contains(urls, field.value) {
			continue
		}
		if urls = append(urls, field.value); len(urls) > MaxURLs {
			return nil, bad("More than %d topics are named, which is the limit for one request; send several requests.", MaxURLs)
		}
	}
	if len(urls) == 0 {
		return nil, bad("No topic is named; send its URL as hub.url, and further ones as hub.url again.")
	}
	return urls, nil
}

// Encode returns the request as a form body.
func (r Request) Encode() []byte {
	f := form{{"hub.mode", r.Mode}}
	if r.Mode == ModePublish {
		for _, u := range r.URLs {
			f = append(f, field{"hub.url", u})
		}
		if len(r.URLs) == 1 {
			f = append(f, field{"hub.topic", r.URLs[0]}) // some hubs know only this name
		}
		return []byte(f.encode())
	}
	f = append(f, field{"hub.callback", r.Subscription.Callback}, field{"hub.topic", r.Subscription.Topic})
	if r.Mode == ModeSubscribe && r.Subscription.Lease > 0 {
		f = append(f, field{"hub.lease_seconds", seconds(r.Subscription.Lease)})
	}
	if r.Mode == ModeSubscribe && r.Subscription.Secret != "" {
		f = append(f, field{"hub.secret", r.Subscription.Secret})
	}
	return []byte(f.encode())
}

// seconds returns d in whole seconds, at least one.
func seconds(d time.Duration) string {
	return strconv.FormatInt(max(int64(d/time.Second), 1), 10)
}

// form contains the fields of a body in their original order.
type form []field

type field struct{ name, value string }

// parseForm parses a form body. If there is an error, no form is returned.
//
// spec:websub-2018#request-utf8
// spec:websub-2018#url-decoding
func parseForm(body []byte) (form, error) {
	if len(body) > MaxForm {
		return nil, &Error{Status: http.StatusRequestEntityTooLarge, Msg: "The body is too large."}
	}
	// Ignore a line end after the last field, which shells and editors add.
	s := strings.TrimRight(string(body), "\r\n")
	var f form
	wrong := wirehttp.EachField(s, MaxFields, func(name, value string) { f = append(f, field{name, value}) })
	if wrong != "" {
		return nil, &Error{Status: http.StatusBadRequest, Msg: wrong}
	}
	return f, nil
}

// single returns the value of a field, or "" if it is missing. A repeated field is an
// error, because programs could disagree on which value to use.
func (f form) single(name string) (value string, err error) {
	seen := false
	for _, field := range f {
		if field.name != name {
			continue
		}
		if seen {
			return "", bad("%s occurs more than once; send it once.", name)
		}
		value, seen = field.value, true
	}
	return value, nil
}

func (f form) encode() string {
	var b strings.Builder
	for i, field := range f {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString(url.QueryEscape(field.name) + "=" + url.QueryEscape(field.value))
	}
	return b.String()
}
