package fetch

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Message is one request to send. It may be used again, also at the same time,
// as long as nobody changes it.
type Message struct {
	Method string // "" is POST
	// URL is http or https. Its path and query go out byte for byte; a URL with a
	// blank, a control byte or a user name is refused.
	URL         string
	ContentType string
	Header      []string // further header fields: name, value, name, value …
	Body        []byte
	// WantBody asks for the beginning of the answer's body: MostBody bytes of it [4 KiB].
	WantBody bool
	MaxBody  int
	// Padded is for sendings whose outcome the asker learns at once: a failure
	// without an answer is held back to the next multiple of the bucket of time.
	Padded bool
}

// Reply is what became of a Message. Err is nil exactly when a whole answer head
// came, whatever its Status.
type Reply struct {
	Status      int // final status, 200 to 999; 0 when Err is set
	ContentType string
	RetryAfter  string // as sent; see [RetryAfter]
	Location    string // as sent: it may be relative
	Body        []byte // with WantBody only: at most MostBody bytes
	Partial     bool   // the body did not end within Body, or ended before its time
	Err         error  // *Error
	Dialled     bool   // a new connection was made or tried
	// NotTried: the failure is ours (cancelled, draining, no sockets), so that it
	// must not be counted as the peer's. When a sending was cancelled half-way the
	// peer may have received it.
	NotTried bool
	Timeout  bool          // time ran out
	Took     time.Duration // from the dial, or from the write on a kept connection, to the end of the head
}

// mostBody is how many bytes of the answer's body are read.
func (m *Message) maxBody() int {
	if m.WantBody && m.MaxBody > 0 {
		return m.MaxBody
	}
	return maxReply
}

// OK reports a status of the 200s.
func (r *Reply) OK() bool { return r.Err == nil && r.Status >= 200 && r.Status <= 299 }

// RetryAfter reads a Retry-After header: seconds or an HTTP date, counted from
// now. Nonsense and the past are 0.
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

// check refuses what would break the request apart.
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

// framed reports a field that the sender writes itself.
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
