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

// Refusal says with which HTTP status a body is refused, and why.
type Refusal struct {
	Status int
	Msg    string // a sentence for the client
	Err    error  // the cause; may be nil
}

// ReadForm reads the body of a form of at most most bytes. tooLarge is the sentence
// for one that is larger. A body without a type, or of plain text, is a form too.
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
		return nil, &Refusal{Status: http.StatusBadRequest, Msg: "The body broke off before its end; send it again.", Err: err}
	}
	return body, nil
}

// CheckFormType says why a body cannot be a form, "" when it can.
//
// spec:cloudburst#form-lenient-type
func CheckFormType(h http.Header) string {
	if enc := Encoding(h); enc != "" {
		return "The body is encoded as " + Quote(enc) + "; send it as it is, without Content-Encoding."
	}
	given := h.Get("Content-Type")
	kind, _, err := mime.ParseMediaType(given)
	if err != nil {
		kind, _, _ = strings.Cut(given, ";") // parameters that nobody can read do not matter
		kind = strings.ToLower(strings.TrimSpace(kind))
	}
	switch kind {
	case "", "text/plain", "application/x-www-form-urlencoded":
		return ""
	}
	return "The body is " + Quote(given) + "; send a form as application/x-www-form-urlencoded."
}

// Encoding is a Content-Encoding that a reader would have to undo, "" when there is none.
func Encoding(h http.Header) string {
	for _, enc := range h.Values("Content-Encoding") {
		if enc = strings.TrimSpace(enc); enc != "" && !strings.EqualFold(enc, "identity") {
			return enc
		}
	}
	return ""
}

// EachField hands over the fields of a form of at most most fields, in order. It says
// what is wrong with the form, "" for nothing.
func EachField(form string, limit int, do func(name, value string)) (wrong string) {
	for n := 0; form != ""; {
		var pair string
		pair, form, _ = strings.Cut(form, "&")
		if pair == "" {
			continue
		}
		if n == limit {
			return fmt.Sprintf("The form has more than %d fields, which is the most that is read.", limit)
		}
		n++
		if strings.Contains(pair, ";") {
			return "The form has a ; in " + Quote(pair) + "; write %3B where it belongs to a value, and & between fields."
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
		return "", "The form has a percent sign that two hexadecimal digits do not follow, in " + Quote(s) + "; write a percent sign as %25."
	case strings.Contains(v, "\x00"):
		return "", "The form has a NUL in " + Quote(s) + "; nothing here may have one."
	case !utf8.ValidString(v):
		return "", "The form is not UTF-8 in " + Quote(s) + "; encode it as UTF-8."
	}
	return v, ""
}
