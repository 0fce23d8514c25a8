package bench

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRequestHeadIsParsedOrReportedAsIncomplete(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in   string
		rest string // expected bytes after the head
		open bool   // the parser expects more bytes of the head
		want request
		err  error
	}{
		"a notification": {in: "POST /c/7 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nurl=x", rest: "url=x",
			want: request{method: []byte("POST"), path: []byte("/c/7"), length: 5}},
		"names in any case": {in: "GET /f/1 HTTP/1.1\r\nIF-NONE-MATCH:\"v1\"\r\nconnection: Close\r\n\r\n",
			want: request{method: []byte("GET"), path: []byte("/f/1"), noneMatch: []byte(`"v1"`), close: true}},
		"an old client":    {in: "GET /f/1 HTTP/1.0\r\n\r\n", want: request{method: []byte("GET"), path: []byte("/f/1"), close: true}},
		"half a head":      {in: "POST /c/7 HTTP/1.1\r\nHost: a\r\n", open: true},
		"no version":       {in: "GET /\r\n\r\n", err: errHead},
		"no target":        {in: "GET  HTTP/1.1\r\n\r\n", err: errHead},
		"a negative size":  {in: "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", err: errHead},
		"a giant size":     {in: "POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", err: errHead},
		"no colon":         {in: "POST / HTTP/1.1\r\nnonsense\r\n\r\n", err: errHead},
		"a chunked body":   {in: "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", err: errChunked},
		"an empty request": {in: "\r\n\r\n", err: errHead},
	} {
		r, n, err := parseRequest([]byte(c.in))
		if err != c.err || err == nil && c.open != (n == 0) {
			t.Errorf("%s: %d, %v; want %v", name, n, err, c.err)
			continue
		}
		if n == 0 {
			continue
		}
		if d := cmp.Diff(c.want, r, cmp.AllowUnexported(request{})); d != "" || c.in[n:] != c.rest {
			t.Errorf("%s: rest %q\n%s", name, c.in[n:], d)
		}
	}
}

func TestRequestPathSelectsFeedOrCallback(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]struct {
		kind  byte
		index int
		query string
		ok    bool
	}{
		"/c/12": {'c', 12, "", true}, "/f/0?url=a": {'f', 0, "url=a", true}, "/c/": {}, "/c/x": {}, "/": {}, "/cc/1": {},
		"/c/99999999999999999999": {}, "c/12": {},
	} {
		r := request{path: []byte(path)}
		kind, index, query, ok := r.target()
		if ok != want.ok || ok && (kind != want.kind || index != want.index || string(query) != want.query) {
			t.Errorf("%s: %c %d %q %v", path, kind, index, query, ok)
		}
	}
}

func FuzzRequest(f *testing.F) {
	f.Add("POST /c/7 HTTP/1.1\r\nContent-Length: 5\r\n\r\nurl=x")
	f.Add("GET /f/1?challenge=a HTTP/1.0\r\nIf-None-Match: \"v1\"\r\n\r\n")
	f.Fuzz(func(t *testing.T, in string) {
		r, n, err := parseRequest([]byte(in))
		if n < 0 || n > len(in) || err != nil && n != 0 {
			t.Fatalf("n is %d, %v", n, err)
		}
		if n > 0 && !strings.HasSuffix(in[:n], "\r\n\r\n") {
			t.Fatalf("the head ends at %d", n)
		}
		if r.length < 0 || r.length > maxBody {
			t.Fatalf("a body of %d bytes", r.length)
		}
		if _, index, _, ok := r.target(); ok && index < 0 {
			t.Fatalf("index %d", index)
		}
	})
}
