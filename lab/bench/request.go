package bench

import (
	"bytes"
	"errors"
	"strconv"
)

// request contains the parts of an HTTP/1.1 request that the receiver needs. Its slices point
// into the parsed buffer.
type request struct {
	method, path []byte // path includes the query, as sent
	noneMatch    []byte // value of If-None-Match
	signature    []byte // value of X-Hub-Signature
	length       int    // length of the body in bytes
	close        bool   // the client closes the connection after the response
}

var (
	errHead    = errors.New("bench: not a request head")
	errChunked = errors.New("bench: a body without Content-Length")
)

const maxBody = 1 << 20

// parseRequest parses the head of one request. n is the offset of the body. If n is 0 and err is
// nil, the head in b is incomplete.
func parseRequest(b []byte) (r request, n int, err error) {
	end := bytes.Index(b, []byte("\r\n\r\n"))
	if end < 0 {
		return r, 0, nil
	}
	line, rest, _ := bytes.Cut(b[:end+2], []byte("\r\n"))
	var version []byte
	var ok bool
	if r.method, line, ok = bytes.Cut(line, []byte(" ")); !ok {
		return r, 0, errHead
	}
	if r.path, version, ok = bytes.Cut(line, []byte(" ")); !ok || len(r.path) == 0 || !bytes.HasPrefix(version, []byte("HTTP/1.")) {
		return r, 0, errHead
	}
	r.close = bytes.Equal(version, []byte("HTTP/1.0"))
	for len(rest) > 0 {
		line, rest, _ = bytes.Cut(rest, []byte("\r\n"))
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			return r, 0, errHead
		}
		if err := r.field(name, bytes.TrimSpace(value)); err != nil {
			return r, 0, err
		}
	}
	return r, end + 4, nil
}

func (r *request) field(name, value []byte) error {
	switch {
	case len(name) == 14 && bytes.EqualFold(name, []byte("content-length")):
		n, err := strconv.Atoi(string(value))
		if err != nil || n < 0 || n > maxBody {
			return errHead
		}
		r.length = n
	case len(name) == 13 && bytes.EqualFold(name, []byte("if-none-match")):
		r.noneMatch = value
	case len(name) == 15 && bytes.EqualFold(name, []byte("x-hub-signature")):
		r.signature = value
	case len(name) == 10 && bytes.EqualFold(name, []byte("connection")):
		r.close = r.close || bytes.EqualFold(value, []byte("close"))
	case len(name) == 17 && bytes.EqualFold(name, []byte("transfer-encoding")):
		return errChunked
	}
	return nil
}

// target splits a path such as "/c/123?x" into 'c', 123 and "x". ok is false for other paths.
func (r *request) target() (kind byte, index int, query []byte, ok bool) {
	path, query, _ := bytes.Cut(r.path, []byte("?"))
	if len(path) < 4 || path[0] != '/' || path[2] != '/' {
		return 0, 0, nil, false
	}
	for _, c := range path[3:] {
		if c < '0' || c > '9' || index > 1e8 {
			return 0, 0, nil, false
		}
		index = index*10 + int(c-'0')
	}
	return path[1], index, query, true
}
