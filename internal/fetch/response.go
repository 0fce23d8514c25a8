package fetch

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"time"
)

const (
	bufSize  = 2 << 10  // after a longer header line, the connection is closed, but the response stays valid
	maxHead  = 64 << 10 // maximum size of the status line, the headers and all preceding 1xx responses together
	maxReply = 4 << 10  // body bytes that are read by default; spec:cloudburst#callback-answer-limit
	rawShare = 4        // maximum number of raw bytes (with chunk framing) per body byte
)

// responseHead is the head of an HTTP/1 response, reduced to what a sender of notifications needs.
// After a valid status line, a malformed header does not make the response invalid, but the
// connection is not reused.
type responseHead struct {
	status      int
	length      int64 // length of the body; -1: it ends when the connection closes
	chunked     bool
	close       bool          // the connection cannot be reused
	idle        time.Duration // how long the peer keeps the connection open; 0: unknown
	contentType string
	retryAfter  string
	location    string
}

// reader reads one response through a buffer of fixed size.
type reader struct {
	src   io.Reader
	buf   []byte
	r, w  int
	total int   // number of bytes read from the connection, for the limits
	raw   int   // maximum of total while a body is read
	err   error // first error of src, returned by all later reads
}

func (d *reader) reset(src io.Reader, buf []byte) { *d = reader{src: src, buf: buf} }

// fill reads more bytes into the buffer. The buffer must have free space: callers consume the bytes
// in it first.
func (d *reader) fill() error {
	if d.err != nil {
		return d.err
	}
	if d.r > 0 {
		copy(d.buf, d.buf[d.r:d.w])
		d.w -= d.r
		d.r = 0
	}
	for range 8 { // an io.Reader may return 0 bytes without an error
		n, err := d.src.Read(d.buf[d.w:])
		d.w += n
		d.total += n
		if err != nil {
			d.err = err
		}
		if n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	d.err = io.ErrNoProgress
	return d.err
}

// line returns the next line without its end, valid until the next call. For a line longer than the
// buffer, it returns only the beginning, and long is true.
func (d *reader) line(limit int) (line []byte, long bool, err error) {
	for from := 0; ; {
		if i := bytes.IndexByte(d.buf[d.r+from:d.w], '\n'); i >= 0 {
			line = d.buf[d.r : d.r+from+i]
			d.r += from + i + 1
			return bytes.TrimSuffix(line, []byte("\r")), false, nil
		}
		from = d.w - d.r
		if d.total > limit {
			return nil, false, &Error{Kind: TooLarge, Text: "answered with more than 64 KiB of headers"}
		}
		if from == len(d.buf) {
			return d.longLine(limit)
		}
		if err := d.fill(); err != nil {
			return nil, false, err
		}
	}
}

// longLine handles a line that fills the buffer. It returns the first bytes, which are enough to
// identify the header, and discards the rest.
func (d *reader) longLine(limit int) ([]byte, bool, error) {
	const keep = 64
	for {
		n, err := d.src.Read(d.buf[keep:])
		d.total += n
		if i := bytes.IndexByte(d.buf[keep:keep+n], '\n'); i >= 0 {
			d.r, d.w = keep+i+1, keep+n
			d.err = err
			return d.buf[:keep], true, nil
		}
		if err != nil {
			d.err = err
			return nil, true, err
		}
		if d.total > limit {
			return nil, true, &Error{Kind: TooLarge, Text: "answered with more than 64 KiB of headers"}
		}
	}
}

// head reads the head of the final response and skips 1xx responses.
func (d *reader) head(method string) (responseHead, error) {
	for {
		line, long, err := d.line(maxHead)
		if err != nil {
			return responseHead{}, err
		}
		minor, status, ok := statusLine(line)
		if !ok {
			return responseHead{}, malformed("the answer begins with %.40q, which is not HTTP/1", line)
		}
		a := responseHead{status: status, length: -1, close: minor == 0}
		if err := d.headers(&a); err != nil {
			return responseHead{}, err
		}
		a.close = a.close || long
		if status == 101 {
			return responseHead{}, malformed("switched protocols unasked")
		}
		if status >= 200 {
			if method == "HEAD" || status == 204 || status == 304 {
				a.length, a.chunked = 0, false
			}
			a.close = a.close || a.length < 0 && !a.chunked
			return a, nil
		}
	}
}

// statusLine parses "HTTP/1.x nnn reason".
func statusLine(b []byte) (minor byte, status int, ok bool) {
	if len(b) < 12 || string(b[:7]) != "HTTP/1." || b[8] != ' ' || len(b) > 12 && b[12] != ' ' {
		return 0, 0, false
	}
	minor = b[7] - '0'
	for _, c := range b[9:12] {
		if c < '0' || c > '9' {
			return 0, 0, false
		}
		status = status*10 + int(c-'0')
	}
	return minor, status, minor <= 9 && status >= 100
}

// headers reads header lines up to the empty line.
func (d *reader) headers(a *responseHead) error {
	f := framing{length: -1}
	for {
		line, long, err := d.line(maxHead)
		if err != nil {
			return err
		}
		if len(line) == 0 && !long {
			break
		}
		i := bytes.IndexByte(line, ':')
		if long || i <= 0 || line[i-1] == ' ' || line[0] == ' ' || line[0] == '\t' {
			f.odd = true // a folded, too long or nameless line: the end of the body is unreliable
			continue
		}
		a.field(&f, line[:i], bytes.Trim(line[i+1:], " \t"))
	}
	a.chunked = f.chunked
	a.length = f.length
	switch {
	case f.chunked && f.length >= 0, f.odd:
		a.close = true // two different lengths, or an unreliable length
		if f.odd {
			a.chunked, a.length = false, -1
		}
	case f.keep:
		a.close = f.close
	}
	a.close = a.close || f.close
	return nil
}

// framing contains the headers that determine where the body ends.
type framing struct {
	length  int64
	chunked bool
	close   bool // Connection: close
	keep    bool // Connection: keep-alive
	odd     bool
}

// field applies one header field. It compares lengths first, because most fields of a response are
// irrelevant.
func (a *responseHead) field(f *framing, name, value []byte) {
	switch len(name) {
	case 8:
		if equalsToken(name, "location") && a.location == "" {
			a.location = string(value)
		}
	case 10:
		if equalsToken(name, "connection") {
			f.connection(value)
		} else if equalsToken(name, "keep-alive") {
			a.idle = keepAlive(value, f)
		}
	case 11:
		if equalsToken(name, "retry-after") && a.retryAfter == "" {
			a.retryAfter = string(value)
		}
	case 12:
		if equalsToken(name, "content-type") && a.contentType == "" {
			a.contentType = string(value)
		}
	case 14:
		if equalsToken(name, "content-length") {
			f.contentLength(value)
		}
	case 17:
		if equalsToken(name, "transfer-encoding") {
			f.odd = f.odd || f.chunked || !equalsToken(value, "chunked")
			f.chunked = true
		}
	}
}

func (f *framing) contentLength(value []byte) {
	n := int64(0)
	for _, c := range value {
		if c < '0' || c > '9' || n > 1<<50 {
			f.odd = true
			return
		}
		n = n*10 + int64(c-'0')
	}
	f.odd = f.odd || len(value) == 0 || f.length >= 0 && f.length != n
	f.length = n
}

func (f *framing) connection(value []byte) {
	for len(value) > 0 {
		token := value
		if i := bytes.IndexByte(value, ','); i >= 0 {
			token, value = value[:i], value[i+1:]
		} else {
			value = nil
		}
		token = bytes.Trim(token, " \t")
		f.close = f.close || equalsToken(token, "close")
		f.keep = f.keep || equalsToken(token, "keep-alive")
	}
}

// keepAlive parses a header such as "timeout=5, max=100" and returns how long the peer keeps the
// connection open. Without this time a sender would often write to a connection that was just
// closed.
func keepAlive(value []byte, f *framing) time.Duration {
	i := bytes.Index(value, []byte("timeout="))
	if i < 0 {
		return 0
	}
	n, digits := 0, false
	for _, c := range value[i+8:] {
		if c < '0' || c > '9' || n > 1e6 {
			break
		}
		n, digits = n*10+int(c-'0'), true
	}
	if digits && n == 0 {
		f.close = true
	}
	return time.Duration(n) * time.Second
}

// equalsToken compares a header name or token with a lowercase ASCII word, ignoring case.
func equalsToken(b []byte, word string) bool {
	if len(b) != len(word) {
		return false
	}
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if c != word[i] {
			return false
		}
	}
	return true
}

var errLong = errors.New("fetch: more body than wanted")

// body reads at most limit bytes of the body and appends them to dst, or discards them if dst is
// nil. whole reports that the body ended where its framing says.
func (d *reader) body(a *responseHead, dst []byte, limit int) (got []byte, whole bool) {
	d.total, d.raw = 0, rawShare*limit
	var err error
	switch {
	case a.chunked:
		dst, err = d.chunks(dst, limit)
	case a.length >= 0:
		dst, _, err = d.take(dst, a.length, limit)
	default:
		dst, _, err = d.take(dst, 1<<62, limit)
		if err == io.EOF {
			err = nil
		}
	}
	if err != nil || d.r < d.w {
		// The bytes after the end of the response were not requested. Close the connection, so that
		// they are not read as the next response.
		a.close = true
	}
	return dst, err == nil
}

// take moves n body bytes to dst, but at most capacity.
func (d *reader) take(dst []byte, n int64, capacity int) ([]byte, int, error) {
	took := 0
	for n > 0 {
		if d.r == d.w {
			if capacity == 0 || d.total > d.raw {
				return dst, took, errLong
			}
			if err := d.fill(); err != nil {
				return dst, took, err
			}
		}
		k := int(min(n, int64(d.w-d.r), int64(capacity)))
		if k == 0 {
			return dst, took, errLong
		}
		if dst != nil {
			dst = append(dst, d.buf[d.r:d.r+k]...)
		}
		d.r += k
		n -= int64(k)
		capacity -= k
		took += k
	}
	return dst, took, nil
}

func (d *reader) chunks(dst []byte, capacity int) ([]byte, error) {
	for {
		line, long, err := d.line(d.raw)
		if err != nil {
			return dst, err
		}
		n, ok := chunkSize(line)
		if !ok || long {
			return dst, malformed("chunk size %.40q", line)
		}
		if n == 0 {
			// Trailers are not supported: they would have to be read to the end, and in practice
			// servers do not send them.
			if line, _, err = d.line(d.raw); err == nil && len(line) > 0 {
				err = malformed("the body has trailers")
			}
			return dst, err
		}
		var took int
		if dst, took, err = d.take(dst, n, capacity); err != nil {
			return dst, err
		}
		capacity -= took
		if line, long, err = d.line(d.raw); err != nil {
			return dst, err
		}
		if len(line) > 0 || long {
			return dst, malformed("a chunk is longer than its size")
		}
	}
}

// chunkSize parses a hexadecimal size; extensions after a semicolon are ignored.
func chunkSize(line []byte) (n int64, ok bool) {
	if i := bytes.IndexByte(line, ';'); i >= 0 {
		line = line[:i]
	}
	line = bytes.TrimRight(line, " \t")
	if len(line) == 0 || len(line) > 15 {
		return 0, false
	}
	for _, c := range line {
		v := strings.IndexByte("0123456789abcdef", c|0x20)
		if c < '0' || v < 0 {
			return 0, false
		}
		n = n<<4 | int64(v)
	}
	return n, true
}
