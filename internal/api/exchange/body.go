package exchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/text"
)

// MaxBody is the maximum size of a JSON request in bytes.
const MaxBody = 64 << 10

// ReadJSON decodes a JSON object of at most MaxBody bytes. Unknown fields and data after the object
// are errors.
func ReadJSON(w http.ResponseWriter, r *http.Request, v any) error {
	return ReadJSONTo(w, r, v, MaxBody)
}

// ReadJSONTo is like ReadJSON with a limit of its own in bytes.
func ReadJSONTo(w http.ResponseWriter, r *http.Request, v any, limit int64) error {
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

// bodyFault returns a fault.Invalid that names the invalid field of a body and the reason.
func bodyFault(err error, body []byte) error {
	const bad = "The body is not the JSON object that this endpoint accepts"
	if name, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
		name = text.Clip(strings.Trim(name, `"`), 100)
		return fault.In(fault.New(fault.Invalid, "%s: there is no field %q.", bad, name), name)
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		return fault.In(fault.New(fault.Invalid, "%s: the field %s cannot be %s.", bad, text.Clip(wrong.Field, 100), article(wrong.Value)), text.Clip(wrong.Field, 100))
	}
	if wrong, ok := errors.AsType[*time.ParseError](err); ok {
		f := fault.New(fault.Invalid, "%s: %q is not a time; write it as 2026-01-31T23:59:59Z.", bad, text.Clip(wrong.Value, 100))
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
	word, _, _ := strings.Cut(kind, " ") // kind may contain the value, as in "number 5"
	switch word {
	case "bool":
		return "true or false"
	case "array", "object":
		return "an " + word
	}
	return "a " + word
}

// MaxURL is the maximum size of a feed's URL in bytes.
const MaxURL = 2048

// CheckURL returns a fault.Invalid unless a value is an absolute http or https URL of at most limit
// bytes. name is the name of the field.
func CheckURL(name, value string, limit int) error {
	if value == "" {
		return fault.New(fault.Invalid, "%s is missing.", name)
	}
	if len(value) > limit {
		return fault.New(fault.Invalid, "%s is longer than %d bytes.", name, limit)
	}
	u, err := url.Parse(value)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return fault.New(fault.Invalid, "%s is %q: it must be an absolute URL with http:// or https://.", name, text.Clip(value, 200))
	}
	return nil
}

// FitText returns a fault.Invalid if a value has more than limit bytes or contains U+0000. name is
// the name of the field.
func FitText(name, value string, limit int) error {
	switch {
	case len(value) > limit:
		return fault.New(fault.Invalid, "%s has %d bytes; at most %d are accepted.", name, len(value), limit)
	case strings.ContainsRune(value, 0):
		return fault.New(fault.Invalid, "%s contains the invalid character U+0000.", name)
	}
	return nil
}
