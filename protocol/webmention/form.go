package webmention

import (
	"fmt"
	"net/http"
	"net/url"

	"cloudburst/internal/wirehttp"
)

// Request is a webmention: the page Source links to the page Target. Both URLs are as received.
type Request struct {
	Source string
	Target string
}

// ReadRequest reads the body of r as a webmention. It accepts
// application/x-www-form-urlencoded, text/plain, and requests without a Content-Type. The error
// is an [*Error] with status 400, 413 or 415.
//
// spec:webmention-2017#request-form
func ReadRequest(r *http.Request) (Request, error) {
	body, no := wirehttp.ReadForm(r, MaxForm, fmt.Sprintf("The body is larger than %d KiB, which is the limit.", MaxForm>>10))
	if no != nil {
		return Request{}, &Error{Status: no.Status, Msg: no.Msg, Err: no.Err}
	}
	return ParseRequest(body)
}

// ParseRequest parses a form body. source and target must each occur exactly once; other fields are
// ignored. The returned request has passed [Request.Check]. The error is an [*Error] with status
// 400.
func ParseRequest(body []byte) (Request, error) {
	var q Request
	var twice string
	wrong := wirehttp.EachField(string(body), MaxFields, func(name, value string) {
		to := map[string]*string{"source": &q.Source, "target": &q.Target}[name]
		switch {
		case to == nil:
		case *to != "":
			twice = name
		default:
			*to = value
		}
	})
	switch {
	case wrong != "":
		return Request{}, bad("%s", wrong)
	case twice != "":
		return Request{}, bad("The field %s occurs more than once.", twice)
	}
	if err := q.Check(); err != nil {
		return Request{}, err
	}
	return q, nil
}

// Check returns an [*Error] with status 400 if one of the URLs is missing or invalid, or if both
// name the same page.
//
// spec:webmention-2017#source-differs
func (q Request) Check() error {
	for _, f := range [...]struct{ name, value string }{{"source", q.Source}, {"target", q.Target}} {
		if f.value == "" {
			return bad("The field %s is missing; a webmention needs source and target.", f.name)
		}
		if err := CheckURL(f.name, f.value); err != nil {
			return err
		}
	}
	if SameURL(withoutFragment(q.Source), withoutFragment(q.Target)) {
		return bad("The source and the target are the same page, %s.", wirehttp.Quote(withoutFragment(q.Target)))
	}
	return nil
}

// Encode returns q as a form body.
func (q Request) Encode() []byte {
	return []byte("source=" + url.QueryEscape(q.Source) + "&target=" + url.QueryEscape(q.Target))
}
