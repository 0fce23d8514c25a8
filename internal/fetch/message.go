package fetch

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Message is one request to send. Concurrent and repeated sends are allowed while the Message does
// not change.
type Message struct {
	Method string // "" means POST
	// URL is http or https. Its path and query are sent byte for byte. A URL with a space, a
	// control byte or a user name is refused.
	URL         string
	ContentType string
	Header      []string // further header fields: name, value, name, value …
	Body        []byte
	// WantBody requests the beginning of the response body: MaxBody bytes [4 KiB].
	WantBody bool
	MaxBody  int
	// Padded is for sends whose outcome the client learns at once: failures without a response
	// return at the next multiple of the bucket of time.
	Padded bool
}

// Reply is the outcome of a Message. Err is nil exactly if a complete response head arrived, with
// any Status.
type Reply struct {
	Status      int // final status, 200 to 999; 0 if Err is set
	ContentType string
	RetryAfter  string // as sent; see [RetryAfter]
	Location    string // as sent; may be relative
	Body        []byte // only with WantBody: at most MaxBody bytes
	Partial     bool   // the body is longer than Body, or ended early
	Err         error  // *Error
	Dialled     bool   // a new connection was opened or attempted
	// NotTried means that the failure is ours (cancelled, shutting down, no sockets) and must not
	// count against the peer. After a cancellation the peer may have received the request.
	NotTried bool
	Timeout  bool          // a time limit passed
	Took     time.Duration // from the dial, or from the write on a reused connection, to the end of the head
}

// maxBody returns how many bytes of the response body to read.
func (m *Message) maxBody() int {
	if m.WantBody && m.MaxBody > 0 {
		return m.MaxBody
	}
	return maxReply
}

// OK reports a status of 2xx without an error.
func (r *Reply) OK() bool { return r.Err == nil && r.Status >= 200 && r.Status <= 299 }

// RetryAfter parses a Retry-After header: seconds or an HTTP date, relative to now. Invalid values
// and past dates return 0.
func RetryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if n, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	for _, layout := range [...]string{"Mon, 02 Jan 2006 15:04:05 GMT", "Monday, 02-Jan-06 15:04:05 GMT", "Mon Jan _2 15:04:05 2006"} {
		if t, err := time.Parse(layout, value); err == nil {
			return max(0, t.Sub(now))
		}
	}
	return 0
}

// check rejects values that would corrupt the request.
func (m *Message) check() error {
	if !isToken(m.method()) || !isValue(m.ContentType) || len(m.Header)%2 != 0 {
		return fail(Ours, errors.New("the message's method or header cannot be sent"))
	}
	size := 0
	for i := 0; i < len(m.Header); i += 2 {
		name, value := m.Header[i], m.Header[i+1]
		if !isToken(name) || !isValue(value) || isReservedField(name) {
			return fail(Ours, fmt.Errorf("the header field %q cannot be sent", name))
		}
		size += len(name) + len(value)
	}
	if size > maxHead {
		return fail(Ours, fmt.Errorf("%d bytes of header fields are too many", size))
	}
	return nil
}

// isReservedField reports header fields that the sender itself writes.
func isReservedField(name string) bool {
	switch len(name) {
	case 4:
		return strings.EqualFold(name, "Host")
	case 10:
		return strings.EqualFold(name, "Connection")
	case 14:
		return strings.EqualFold(name, "Content-Length")
	case 17:
		return strings.EqualFold(name, "Transfer-Encoding")
	}
	return false
}

func isToken(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}

func isValue(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}
