package clitest

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
)

// Gzipped is s in gzip's form.
func Gzipped(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, s) // a buffer takes everything
	_ = w.Close()
	return b.String()
}

// Origin is an HTTP client whose every answer is one feed.
type Origin struct {
	Header http.Header
	Body   string
	Knows  bool          // conditional requests
	Asked  []http.Header // of each request
}

// Do notes the request and answers it.
func (o *Origin) Do(r *http.Request) (*http.Response, error) {
	o.Asked = append(o.Asked, r.Header)
	res := &http.Response{StatusCode: http.StatusOK, Header: o.Header, Body: io.NopCloser(strings.NewReader(o.Body)), Request: r}
	if o.Knows && r.Header.Get("If-None-Match") == o.Header.Get("ETag") && o.Header.Get("ETag") != "" {
		res.StatusCode, res.Body = http.StatusNotModified, http.NoBody
	}
	return res, nil
}
