package fetch

import (
	"bufio"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
)

func TestTooLongOrInvalidValidatorIsNotSent(t *testing.T) {
	t.Parallel()
	longest := `"` + strings.Repeat("x", MaxValidator-2) + `"`
	for _, c := range []struct {
		tag, date string
		sent      []string
	}{
		{longest, "", []string{"If-None-Match: " + longest}},
		{longest + "x", "", nil},
		{"*", "", nil},
		{longest + "x", "yesterday", []string{"If-Modified-Since: yesterday"}},
		{`"a"`, longest + "x", []string{`If-None-Match: "a"`}},
	} {
		got := make(chan string, 1)
		srv := rawServer(t, "127.0.0.1:0", func(conn net.Conn, _ int) {
			req, _ := readRequest(bufio.NewReader(conn))
			got <- req
			io.WriteString(conn, "HTTP/1.1 304 Not Modified\r\nConnection: close\r\n\r\n")
		})
		res, err := newTestClient(t, Options{}).Get(t.Context(), Request{URL: "http://" + srv, ETag: c.tag, LastModified: c.date})
		if err != nil || res.NotModified != (c.sent != nil) {
			t.Errorf("%+v, %v", res, err)
		}
		var sent []string
		for line := range strings.SplitSeq(<-got, "\r\n") {
			if strings.HasPrefix(line, "If-") {
				sent = append(sent, line)
			}
		}
		if !slices.Equal(sent, c.sent) {
			t.Errorf("sent %.60q, want %.60q", sent, c.sent)
		}
	}
}
