package fetch

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Message is one request to send. The same Message may be sent several times and concurrently, as
// long as nobody changes it.
type Message struct {
	Method string // method of the request; "" means POST
	// URL is an http or https URL. Its path and query are sent unchanged. A URL with a space, a
	// control byte or a user name is refused.
	URL         string
	ContentType string
	Header      []string // further header fields, as alternating names and values
	Body        []byte
	// WantBody keeps the beginning of the response body: up to MaxBody bytes [4 KiB].
	WantBody bool
	MaxBody  int
	// Padded is for sends whose outcome the client sees immediately. Failures without a response
	// then return at the next multiple of SenderOptions.Bucket.
	Padded bool
}

// Reply is the outcome of a send. Err is nil if and only if a complete response head arrived, with
// any Status.
type Reply struct {
	Status      int // final status, 200 to 999; 0 if Err is set
	ContentType string
	RetryAfter  string // unchanged header; see [RetryAfter]
	Location    string // unchanged header; may be relative
	Body        []byte // if WantBody: the first bytes of the body, at most MaxBody
	Partial     bool   // the body is longer than Body, or it ended too early
	Err         error  // *Error
	Dialled     bool   // a new connection was opened, or at least tried
	// NotTried means that this machine caused the failure (cancelled, shutting down, no sockets),
	// so it must not count against the peer. After a cancellation the peer may have received the
	// request.
	NotTried bool
	Timeout  bool          // a time limit has passed
	Took     time.Duration // time from the dial, or from the write on a reused connection, to the end of the response head
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

// check rejects values that would corrupt the request, such as line breaks in a header.
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

// isReservedField reports whether the sender itself writes a header field.
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
