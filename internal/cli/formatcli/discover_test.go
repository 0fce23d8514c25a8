package formatcli

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"cloudburst/internal/cli/shell"
)

// pages is an HTTP client that serves web pages. Key: URL; value: body. Other URLs get status 404.
type pages map[string]string

func (p pages) Do(r *http.Request) (*http.Response, error) {
	res := &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{"Content-Type": {"text/html"}}, Body: http.NoBody, Request: r}
	if body, ok := p[r.URL.String()]; ok {
		res.StatusCode, res.Body = http.StatusOK, io.NopCloser(strings.NewReader(body))
	}
	return res, nil
}

func TestDiscoverTriesUsualPathsIfPageNamesNoFeed(t *testing.T) {
	t.Parallel()
	web := pages{"https://a.example/": "<p>Hello", "https://a.example/index.xml": "<rss><channel><title>Found\x1b[31m</title></channel></rss>"}
	for name, tt := range map[string]struct {
		args []string
		code int
		out  string
	}{
		"usual paths": {[]string{"discover", "https://a.example/"}, 0, "1\tfeed\trss\tFound[31m\thttps://a.example/index.xml\twell-known\n"},
		"--no-probe":  {[]string{"discover", "--no-probe", "https://a.example/"}, 1, ""},
	} {
		var out, errs bytes.Buffer
		p := inShell(shell.Shell{Out: &out, Err: &errs, HTTP: web, Version: "0"})
		if code := p.Run(t.Context(), tt.args); code != tt.code || out.String() != tt.out {
			t.Errorf("%s: exit %d, %q, %q", name, code, out.String(), errs.String())
		}
	}
}
