package publishhttp

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"
	"time"

	feedformat "cloudburst/feed"
	"cloudburst/feed/render"
	"cloudburst/internal/endpoint"
	"cloudburst/internal/fault"
	"cloudburst/internal/serve"
)

// callbackOf returns the callback function that a JSONP request names, or "" for the default
// function.
func callbackOf(format string, query string) (string, error) {
	if format != "jsonp" || query == "" {
		return "", nil
	}
	q, err := url.ParseQuery(query)
	if err != nil {
		return "", endpoint.WithStatus(http.StatusBadRequest, fault.Wrap(fault.Invalid, err, "The query string cannot be read."))
	}
	name := q.Get("callback")
	if name == "" {
		return "", nil
	}
	if _, _, err := render.Append(nil, &feedformat.Feed{}, format, &render.Options{Callback: name}); err != nil {
		return "", endpoint.WithStatus(http.StatusBadRequest, fault.Wrap(fault.Invalid, err, "%s.", strings.TrimPrefix(err.Error(), "render: ")))
	}
	return name, nil
}

// withCallback returns a copy of a JSONP document that calls another function. The copy is not
// cached, because clients use different names.
//
// spec:cloudburst#jsonp-callback
func withCallback(d *serve.Document, name string, modified time.Time, cache string) *serve.Document {
	body := bytes.Replace(d.Bytes(), []byte("/**/feedCallback("), []byte("/**/"+name+"("), 1)
	return serve.New(body, serve.Options{Type: d.Type(), Modified: modified, Cache: cache, Feed: true, Level: 1})
}
