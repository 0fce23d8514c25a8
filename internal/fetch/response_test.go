package fetch

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// parse reads one response from src.
func parse(method string, src io.Reader) (a responseHead, body string, whole bool, err error) {
	return parseIn(method, src, bufSize)
}

// parseIn is like parse with a buffer of size bytes.
func parseIn(method string, src io.Reader, size int) (a responseHead, body string, whole bool, err error) {
	var d reader
	d.reset(src, make([]byte, size))
	if a, err = d.head(method); err != nil {
		return a, "", false, err
	}
	got, whole := d.body(&a, []byte{}, maxReply)
	return a, string(got), whole, nil
}

func TestResponsesAreParsedLeniently(t *testing.T) {
	t.Parallel()
	type want struct {
		Status      int
		Body        string
		Whole, Keep bool
		Idle        time.Duration
		More        string // location|retry-after|content-type, the other header fields
	}
	long := strings.Repeat("x", 5000)
	for name, c := range map[string]struct {
		in   string
		want want
	}{
		"length":                      {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", want{200, "hi", true, true, 0, "||"}},
		"no reason":                   {"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", want{200, "", true, true, 0, "||"}},
		"empty reason":                {"HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", want{200, "", true, true, 0, "||"}},
		"bare line feeds":             {"HTTP/1.1 200 OK\nContent-Length: 2\n\nhi", want{200, "hi", true, true, 0, "||"}},
		"odd case and spaces":         {"HTTP/1.1 503 No\r\ncONTENT-lENGTH:  2\t\r\nRETRY-after:\t7 \r\n\r\nhi", want{503, "hi", true, true, 0, "|7|"}},
		"fields":                      {"HTTP/1.1 301 X\r\nLocation: https://a/b\r\nContent-Type: text/html\r\nLocation: /second\r\nContent-Length: 0\r\n\r\n", want{301, "", true, true, 0, "https://a/b||text/html"}},
		"204":                         {"HTTP/1.1 204 No\r\n\r\n", want{204, "", true, true, 0, "||"}},
		"204 with length":             {"HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\n", want{204, "", true, true, 0, "||"}},
		"304":                         {"HTTP/1.1 304 No\r\nContent-Length: 5\r\n\r\n", want{304, "", true, true, 0, "||"}},
		"until close":                 {"HTTP/1.1 200 OK\r\n\r\nall of it", want{200, "all of it", true, false, 0, "||"}},
		"close":                       {"HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 2\r\n\r\nhi", want{200, "hi", true, false, 0, "||"}},
		"HTTP/1.0":                    {"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", want{200, "hi", true, false, 0, "||"}},
		"HTTP/1.0 keep-alive":         {"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi", want{200, "hi", true, true, 0, "||"}},
		"keep-alive timeout":          {"HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5, max=9\r\nContent-Length: 0\r\n\r\n", want{200, "", true, true, 5 * time.Second, "||"}},
		"keep-alive zero":             {"HTTP/1.1 200 OK\r\nKeep-Alive: timeout=0\r\nContent-Length: 0\r\n\r\n", want{200, "", true, false, 0, "||"}},
		"chunks":                      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n2;x=y\r\nhi\r\nA\r\n0123456789\r\n0\r\n\r\n", want{200, "hi0123456789", true, true, 0, "||"}},
		"chunks in capitals":          {"HTTP/1.1 200 OK\r\nTRANSFER-ENCODING: CHUNKED\r\n\r\n00002 \r\nhi\r\n000\r\n\r\n", want{200, "hi", true, true, 0, "||"}},
		"chunks with trailer":         {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nA: b\r\n\r\n", want{200, "hi", false, false, 0, "||"}},
		"chunks without end":          {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n", want{200, "hi", false, false, 0, "||"}},
		"chunk too long":              {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhiho\r\n0\r\n\r\n", want{200, "hi", false, false, 0, "||"}},
		"chunk size nonsense":         {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-2\r\nhi\r\n0\r\n\r\n", want{200, "", false, false, 0, "||"}},
		"chunk size overflow":         {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000002\r\nhi\r\n0\r\n\r\n", want{200, "", false, false, 0, "||"}},
		"chunks and length":           {"HTTP/1.1 200 OK\r\nContent-Length: 99\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", want{200, "hi", true, false, 0, "||"}},
		"unknown coding":              {"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\nraw", want{200, "raw", true, false, 0, "||"}},
		"two codings":                 {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\nraw", want{200, "raw", true, false, 0, "||"}},
		"same length twice":           {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nhi", want{200, "hi", true, true, 0, "||"}},
		"two lengths":                 {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nhi!", want{200, "hi!", true, false, 0, "||"}},
		"negative length":             {"HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nhi", want{200, "hi", true, false, 0, "||"}},
		"signed length":               {"HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nhi", want{200, "hi", true, false, 0, "||"}},
		"huge length":                 {"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nhi", want{200, "hi", true, false, 0, "||"}},
		"length too long":             {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi", want{200, "hi", false, false, 0, "||"}},
		"length too short":            {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi there", want{200, "hi", true, false, 0, "||"}},
		"unrequested second response": {"HTTP/1.1 204 No\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", want{204, "", true, false, 0, "||"}},
		"folded line":                 {"HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 2\r\n\r\nhi", want{200, "hi", true, false, 0, "||"}},
		"no colon":                    {"HTTP/1.1 200 OK\r\nnonsense\r\nContent-Length: 2\r\n\r\nhi", want{200, "hi", true, false, 0, "||"}},
		"space before colon":          {"HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nhi", want{200, "hi", true, false, 0, "||"}},
		"early hints":                 {"HTTP/1.1 100 C\r\n\r\nHTTP/1.1 103 H\r\nLocation: /no\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", want{200, "hi", true, true, 0, "||"}},
		"body larger than wanted":     {"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + long, want{200, long[:4096], false, false, 0, "||"}},
		"chunk larger than wanted":    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1388\r\n" + long + "\r\n0\r\n\r\n", want{200, long[:4096], false, false, 0, "||"}},
		"endless body":                {"HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat(long, 20), want{200, long[:4096], false, false, 0, "||"}},
		"body as large as wanted":     {"HTTP/1.1 200 OK\r\nContent-Length: 4096\r\n\r\n" + long[:4096], want{200, long[:4096], true, true, 0, "||"}},
		"a header line of 5000":       {"HTTP/1.1 200 OK\r\nX-Long: " + long + "\r\nContent-Length: 2\r\n\r\nhi", want{200, "hi", true, false, 0, "||"}},
		"endless chunk extensions":    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Repeat("1;"+strings.Repeat("e", 3000)+"\r\nx\r\n", 100), want{200, "xxxxx", false, false, 0, "||"}},
	} {
		for how, src := range map[string]io.Reader{"at once": strings.NewReader(c.in), "byte by byte": iotest.OneByteReader(strings.NewReader(c.in))} {
			a, body, whole, err := parse("POST", src)
			if err != nil {
				t.Errorf("%s, %s: %v", name, how, err)
				continue
			}
			got := want{a.status, body, whole, !a.close && whole, a.idle, a.location + "|" + a.retryAfter + "|" + a.contentType}
			if name == "endless chunk extensions" {
				c.want.Body, got.Body = "", "" // how many bytes of the body arrive depends on how the input is split
			}
			if how != "at once" && (name == "length too short" || name == "unrequested second response") {
				got.Keep = false // the unrequested bytes arrive later; TestSenderReusesConnections tests that case
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("%s, %s (-want +got):\n%s", name, how, d)
			}
		}
	}
}

func TestNonHTTPResponsesAreRejected(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in   string
		kind Kind
	}{
		"nothing":            {"", Unreachable},
		"half a status line": {"HTTP/1.1 20", Unreachable},
		"half a head":        {"HTTP/1.1 200 OK\r\nContent-Le", Unreachable},
		"head without end":   {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n", Unreachable},
		"only 100":           {"HTTP/1.1 100 Continue\r\n\r\n", Unreachable},
		"ssh":                {"SSH-2.0-OpenSSH_9.6\r\n", Malformed},
		"smtp":               {"220 mail ESMTP\r\n", Malformed},
		"HTTP/2":             {"HTTP/2.0 200 OK\r\n\r\n", Malformed},
		"HTTP/0.9":           {"<html>\n", Malformed},
		"two digits":         {"HTTP/1.1 20 OK\r\n\r\n", Malformed},
		"four digits":        {"HTTP/1.1 2000 OK\r\n\r\n", Malformed},
		"letters":            {"HTTP/1.1 2x0 OK\r\n\r\n", Malformed},
		"low":                {"HTTP/1.1 099 OK\r\n\r\n", Malformed},
		"no space":           {"HTTP/1.1200 OK\r\n\r\n", Malformed},
		"version letters":    {"HTTP/1.x 200 OK\r\n\r\n", Malformed},
		"leading space":      {" HTTP/1.1 200 OK\r\n\r\n", Malformed},
		"empty line first":   {"\r\nHTTP/1.1 200 OK\r\n\r\n", Malformed},
		"switching":          {"HTTP/1.1 101 Switch\r\nUpgrade: x\r\n\r\n", Malformed},
		"many headers":       {"HTTP/1.1 200 OK\r\n" + strings.Repeat("X-A: "+strings.Repeat("b", 100)+"\r\n", 1000) + "\r\n", TooLarge},
		"one giant header":   {"HTTP/1.1 200 OK\r\nX-A: " + strings.Repeat("b", 200<<10) + "\r\n\r\n", TooLarge},
		"endless line":       {strings.Repeat("b", 200<<10), TooLarge},
		"endless hints":      {strings.Repeat("HTTP/1.1 103 H\r\nLink: x\r\n\r\n", 10000), TooLarge},
	} {
		for how, src := range map[string]io.Reader{"at once": strings.NewReader(c.in), "byte by byte": iotest.OneByteReader(strings.NewReader(c.in))} {
			a, _, _, err := parse("POST", src)
			if err == nil || classify(t.Context(), err).Kind != c.kind {
				t.Errorf("%s, %s: %+v, %v; want kind %v", name, how, a, err, c.kind)
			}
		}
	}
}

// FuzzParseResponse checks that the parser respects its limits and returns the same result however
// the input is split. The buffer is small, so that small inputs also reach the code for long lines.
func FuzzParseResponse(f *testing.F) {
	for _, s := range []string{
		ok204, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "HTTP/1.0 200 OK\nConnection: keep-alive\n\n",
		"HTTP/1.1 100 C\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x\r\nhi\r\n0\r\n\r\n",
		"HTTP/1.1 503 X\r\nRetry-After: 7\r\nKeep-Alive: timeout=5\r\nX: " + strings.Repeat("y", 200) + "\r\n\r\n",
		"HTTP/1.1 301 X\r\nLocation: /\r\n folded\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nzz",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		a, body, whole, err := parseIn("POST", bytes.NewReader(in), 128)
		b, body2, whole2, err2 := parseIn("POST", iotest.OneByteReader(bytes.NewReader(in)), 128)
		if (err == nil) != (err2 == nil) {
			t.Fatalf("in one piece %v, in many %v", err, err2)
		}
		if err != nil {
			return
		}
		if a.status < 200 || a.status > 999 || len(body) > maxReply {
			t.Fatalf("%+v, %d bytes", a, len(body))
		}
		if len(in) > rawShare*maxReply/2 {
			return // near the limits, the result depends on how the input is split
		}
		if a.status != b.status || a.location != b.location || a.length != b.length || a.chunked != b.chunked || body != body2 || whole != whole2 {
			t.Fatalf("in one piece %+v %q %v, in many %+v %q %v", a, body, whole, b, body2, whole2)
		}
	})
}
