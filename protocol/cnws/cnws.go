package cnws

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"cloudburst/internal/wirehttp"
)

// Namespace is that of every element of the protocol.
const Namespace = "http://www.owlfish.com/thoughts/cnws-2003-04-08.html"

// Version is the one that is spoken here.
const Version = "1.0"

// ContentType is that of all messages and answers as they are written here.
const ContentType = "text/xml; charset=utf-8"

// Limits. A document over one of them is refused whole, but for a title.
const (
	MaxBytes   = 256 << 10 // of a document that is read, unless a [Decoder] says otherwise
	MaxURL     = 2048      // bytes of resourceID and notificationURL
	MaxTitle   = 255       // characters of a title that is written
	maxTitle   = 4096      // characters of a title that is read; the rest is left out
	maxDepth   = 100       // elements in each other
	maxAttrs   = 100       // attributes of one foreign element
	maxSpaces  = 64        // foreign namespaces in one document
	maxAnswer  = 64 << 10  // bytes of an answer that a client reads
	otherDepth = 3         // depth at which foreign elements begin
)

var (
	// ErrInvalidResponse means that something answered with success, but not as this
	// protocol answers: a page, for example. Nobody has agreed to anything.
	ErrInvalidResponse = errors.New("cnws: the answer is no result of a change notification service")
	// ErrUnreachable means that no whole answer came. It wraps the cause.
	ErrUnreachable = errors.New("cnws: no answer")
)

// SyntaxError says why a body is no document of this protocol.
type SyntaxError struct {
	Line int    // from 1; 0: the document as a whole
	Msg  string // without full stop
	Err  error  // cause, one of internal/xmlsafe's; may be nil
}

func (e *SyntaxError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("cnws: line %d: %s", e.Line, e.Msg)
	}
	return "cnws: " + e.Msg
}

func (e *SyntaxError) Unwrap() error { return e.Err }

// FieldError says that one field of a message is missing or wrong. Msg is a
// sentence for whoever sent it.
type FieldError struct {
	Field string // as the protocol spells it
	Msg   string
}

func (e *FieldError) Error() string { return "cnws: " + e.Msg }

func fieldErr(field, format string, args ...any) *FieldError {
	return &FieldError{Field: field, Msg: fmt.Sprintf(format, args...)}
}

// Error is an answer that has an HTTP status of its own. A [Client] returns it for
// every status that is no success. A [Publisher] or [Subscriber] returns it for
// limits (429) and when it cannot answer now (503); with Status 0 it is an answer
// like any other, with Msg as the description.
type Error struct {
	Status     int
	Msg        string        // a sentence for whoever asked
	RetryAfter time.Duration // 0: the answer does not say
	Err        error         // the cause, never shown; may be nil
}

func (e *Error) Error() string {
	if e.Err != nil {
		return "cnws: " + e.Msg + ": " + e.Err.Error()
	}
	return "cnws: " + e.Msg
}

func (e *Error) Unwrap() error { return e.Err }

// Document is one message: exactly one of the fields is set.
type Document struct {
	Subscribe *Subscribe
	Change    *Change
	Result    *Result
}

// Subscribe asks to be told when a resource changes.
type Subscribe struct {
	ResourceID      string // absolute http or https URL, at most [MaxURL] bytes
	NotificationURL string // where to post the changes; the same, without a fragment
}

// Change tells that a resource changed.
type Change struct {
	ResourceID  string
	ChangeTime  time.Time // UTC, to the second; zero: not told
	Title       string    // of the change; plain text, may be empty
	Description string    // of any length; plain text, may be empty
	Other       []Element // elements of other namespaces
}

// Result answers both.
type Result struct {
	Status bool
	// Title and Description are the resource's, or why Status is false. Plain text,
	// may be empty.
	Title, Description string
	Other              []Element
}

// Element is an element of another namespace.
type Element struct {
	Space, Name string // Space "" is no namespace
	Attrs       []Attr
	Text        string // all text directly inside
	Nodes       []Element
	// At is how many bytes of the Text of the element around it come before this
	// one; 0 for one that stands directly in a message.
	At int
}

// Attr is an attribute; most have no Space.
type Attr struct{ Space, Name, Value string }

// Check returns a [*FieldError] unless s can be sent.
func (s Subscribe) Check() error {
	if err := checkURL("resourceID", s.ResourceID); err != nil {
		return err
	}
	if err := checkURL("notificationURL", s.NotificationURL); err != nil {
		return err
	}
	if strings.Contains(s.NotificationURL, "#") {
		return fieldErr("notificationURL", "The notificationURL %s has a fragment; leave out the # and what follows.", wirehttp.Quote(s.NotificationURL))
	}
	return nil
}

// Check returns a [*FieldError] unless c names a resource.
func (c Change) Check() error { return checkURL("resourceID", c.ResourceID) }

func checkURL(field, s string) error {
	switch {
	case s == "":
		return fieldErr(field, "The %s is missing.", field)
	case len(s) > MaxURL:
		return fieldErr(field, "The %s %s is longer than %d bytes.", field, wirehttp.Quote(s), MaxURL)
	}
	forbidden := func(r rune) bool { return r <= ' ' || r == 0x7f || r == 0xFFFE || r == 0xFFFF }
	if wrong := wirehttp.CheckURL(field, s, forbidden); wrong != "" {
		return &FieldError{Field: field, Msg: wrong}
	}
	return nil
}
