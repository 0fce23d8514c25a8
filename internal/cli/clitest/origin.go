package clitest

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
)

// Gzipped returns s compressed by gzip.
func Gzipped(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, s) // writing to a bytes.Buffer cannot fail
	_ = w.Close()
	return b.String()
}

// Origin is an HTTP client that returns the same feed for each request.
type Origin struct {
	Header http.Header
	Body   string
	Knows  bool          // whether the origin supports conditional requests
	Asked  []http.Header // headers of the received requests
}

// Do records the request and returns the feed, or status 304 if the request has the current ETag.
func (o *Origin) Do(r *http.Request) (*http.Response, error) {
	o.Asked = append(o.Asked, r.Header)
	res := &http.Response{StatusCode: http.StatusOK, Header: o.Header, Body: io.NopCloser(strings.NewReader(o.Body)), Request: r}
	if o.Knows && r.Header.Get("If-None-Match") == o.Header.Get("ETag") && o.Header.Get("ETag") != "" {
		res.StatusCode, res.Body = http.StatusNotModified, http.NoBody
	}
	return res, nil
}
