package wirehttp

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"
)

// Refusal is a rejected body: an HTTP status and the reason.
type Refusal struct {
	Status int
	Msg    string // a sentence for the client
	Err    error  // the cause; may be nil
}

// ReadForm reads the body of a form of at most limit bytes. tooLarge is the message for a larger
// body. It also accepts bodies without a Content-Type, or with text/plain.
func ReadForm(r *http.Request, limit int64, tooLarge string) ([]byte, *Refusal) {
	if wrong := CheckFormType(r.Header); wrong != "" {
		return nil, &Refusal{Status: http.StatusUnsupportedMediaType, Msg: wrong}
	}
	if r.ContentLength > limit {
		return nil, &Refusal{Status: http.StatusRequestEntityTooLarge, Msg: tooLarge}
	}
	if r.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok || int64(len(body)) > limit {
		return nil, &Refusal{Status: http.StatusRequestEntityTooLarge, Msg: tooLarge}
	}
	if err != nil {
		return nil, &Refusal{Status: http.StatusBadRequest, Msg: "The body is incomplete; send it again.", Err: err}
	}
	return body, nil
}

// CheckFormType returns the reason why a body is not a form; "" if the body is a form.
//
// spec:cloudburst#form-lenient-type
func CheckFormType(h http.Header) string {
	if enc := Encoding(h); enc != "" {
		return fmt.Sprintf("The body is encoded as %s; send it as it is, without Content-Encoding.", Quote(enc))
	}
	given := h.Get("Content-Type")
	kind, _, err := mime.ParseMediaType(given)
	if err != nil {
		kind, _, _ = strings.Cut(given, ";") // invalid parameters do not matter
		kind = strings.ToLower(strings.TrimSpace(kind))
	}
	switch kind {
	case "", "text/plain", "application/x-www-form-urlencoded":
		return ""
	}
	return fmt.Sprintf("The body is %s; send a form as application/x-www-form-urlencoded.", Quote(given))
}

// Encoding returns the Content-Encoding that a server must decode, "" if there is none.
func Encoding(h http.Header) string {
	for _, enc := range h.Values("Content-Encoding") {
		if enc = strings.TrimSpace(enc); enc != "" && !strings.EqualFold(enc, "identity") {
			return enc
		}
	}
	return ""
}

// EachField calls do for each field of a form, in order. wrong is the reason if the form is invalid
// or has more than limit fields, otherwise "".
func EachField(form string, limit int, do func(name, value string)) (wrong string) {
	for n := 0; form != ""; {
		var pair string
		pair, form, _ = strings.Cut(form, "&")
		if pair == "" {
			continue
		}
		if n == limit {
			return fmt.Sprintf("The form has more than %d fields, which is the maximum.", limit)
		}
		n++
		if strings.Contains(pair, ";") {
			return fmt.Sprintf("The form has a ; in %s; write %%3B where it belongs to a value, and & between fields.", Quote(pair))
		}
		name, value, _ := strings.Cut(pair, "=")
		if name, wrong = unescape(name); wrong != "" {
			return wrong
		}
		if value, wrong = unescape(value); wrong != "" {
			return wrong
		}
		do(name, value)
	}
	return ""
}

func unescape(s string) (value, wrong string) {
	v, err := url.QueryUnescape(s)
	switch {
	case err != nil:
		return "", fmt.Sprintf("The form has a percent sign that two hexadecimal digits do not follow, in %s; write a percent sign as %%25.", Quote(s))
	case strings.Contains(v, "\x00"):
		return "", fmt.Sprintf("The form has a NUL in %s, which is not allowed.", Quote(s))
	case !utf8.ValidString(v):
		return "", fmt.Sprintf("The form is not UTF-8 in %s; encode it as UTF-8.", Quote(s))
	}
	return v, ""
}
