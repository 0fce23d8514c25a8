package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// wire is a persistent HTTP connection with little overhead. It sends prepared requests and reads
// responses with a Content-Length.
type wire struct {
	addr string
	conn net.Conn
	in   *bufio.Reader
	body bytes.Buffer
}

// replyWithin is the timeout for one response.
const replyWithin = 30 * time.Second

var errAnswer = errors.New("bench: an answer that is no answer")

func newWire(addr string) *wire { return &wire{addr: addr} }

func (w *wire) close() {
	if w.conn != nil {
		_ = w.conn.Close()
		w.conn = nil
	}
}

// do sends one request and reads the response. Until the next call, w.body contains the first
// bytes of the response body, at most wanted. size is the full size of the body.
func (w *wire) do(ctx context.Context, request []byte, wanted int) (status, size int, err error) {
	if w.conn == nil {
		var d net.Dialer
		if w.conn, err = d.DialContext(ctx, "tcp", w.addr); err != nil {
			return 0, 0, err
		}
		w.in = bufio.NewReaderSize(w.conn, 64<<10)
	}
	if err = w.conn.SetDeadline(time.Now().Add(replyWithin)); err == nil {
		_, err = w.conn.Write(request)
	}
	if err == nil {
		status, size, err = w.read(wanted)
	}
	if err != nil {
		w.close()
	}
	return status, size, err
}

func (w *wire) read(wanted int) (status, size int, err error) {
	line, err := w.in.ReadSlice('\n')
	if err != nil {
		return 0, 0, err
	}
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) {
		return 0, 0, errAnswer
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, 0, errAnswer
	}
	size = -1
	for {
		line, err := w.in.ReadSlice('\n')
		if err != nil {
			return 0, 0, err
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			break
		}
		if name, value, ok := bytes.Cut(line, []byte(":")); ok && len(name) == 14 && bytes.EqualFold(name, []byte("Content-Length")) {
			if size, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return 0, 0, errAnswer
			}
		}
	}
	switch {
	case status == 304 || status == 204:
		size = 0
	case size < 0:
		return 0, 0, fmt.Errorf("%w: it has status %d and no Content-Length", errAnswer, status)
	}
	w.body.Reset()
	if _, err := io.CopyN(&w.body, w.in, int64(min(size, wanted))); err != nil {
		return 0, 0, err
	}
	_, err = w.in.Discard(size - min(size, wanted))
	return status, size, err
}

// get returns a GET request. fields are pairs of header names and values.
func get(addr, path string, fields ...string) []byte {
	b := append(append(append([]byte("GET "), path...), " HTTP/1.1\r\nHost: "...), addr...)
	for i := 0; i+1 < len(fields); i += 2 {
		b = append(append(append(append(b, "\r\n"...), fields[i]...), ": "...), fields[i+1]...)
	}
	return append(b, "\r\n\r\n"...)
}

// post appends a POST request with an XML body to b.
func post(b []byte, addr, path string, body []byte) []byte {
	b = append(append(append(append(b, "POST "...), path...), " HTTP/1.1\r\nHost: "...), addr...)
	b = strconv.AppendInt(append(b, "\r\nContent-Type: text/xml\r\nContent-Length: "...), int64(len(body)), 10)
	return append(append(b, "\r\n\r\n"...), body...)
}
