package cnws

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"cloudburst/internal/wirehttp"
)

// Namespace is the XML namespace of every element of the protocol.
const Namespace = "http://www.owlfish.com/thoughts/cnws-2003-04-08.html"

// Version is the supported version of the protocol.
const Version = "1.0"

// ContentType is the Content-Type of all messages and responses that this package writes.
const ContentType = "text/xml; charset=utf-8"

// Limits. A document over a limit is rejected as a whole, except that a long title is cut.
const (
	MaxBytes   = 256 << 10 // bytes of a document that is read, unless a [Decoder] has its own limit
	MaxURL     = 2048      // bytes of resourceID and notificationURL
	MaxTitle   = 255       // characters of a title that is written
	maxTitle   = 4096      // characters of a title that is read; the rest is cut
	maxDepth   = 100       // levels of nested elements
	maxAttrs   = 100       // attributes of one extension element
	maxSpaces  = 64        // namespaces of extension elements in one document
	maxAnswer  = 64 << 10  // bytes of a response that a client reads
	otherDepth = 3         // level of the outermost extension elements
)

var (
	// ErrInvalidResponse means that a response with a success status does not follow the protocol,
	// for example because it is a web page. Such a response is not consent.
	ErrInvalidResponse = errors.New("cnws: the response is not a result of a change notification service")
	// ErrUnreachable means that no complete response arrived. It wraps the cause.
	ErrUnreachable = errors.New("cnws: no response")
)

// SyntaxError means that a body is not a document of this protocol.
type SyntaxError struct {
	Line int    // from 1; 0: the document as a whole
	Msg  string // without a final full stop
	Err  error  // the cause, an error of internal/xmlsafe; may be nil
}

func (e *SyntaxError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("cnws: line %d: %s", e.Line, e.Msg)
	}
	return "cnws: " + e.Msg
}

func (e *SyntaxError) Unwrap() error { return e.Err }

// FieldError means that one field of a message is missing or invalid. Msg is a sentence for
// the sender of the message.
type FieldError struct {
	Field string // in the protocol's spelling
	Msg   string
}

func (e *FieldError) Error() string { return "cnws: " + e.Msg }

func fieldErr(field, format string, args ...any) *FieldError {
	return &FieldError{Field: field, Msg: fmt.Sprintf(format, args...)}
}

// Error is a response with an HTTP status of its own. A [Client] returns it for every
// status without success. A [Publisher] or [Subscriber] returns it for a limit (429) and
// when it is temporarily unavailable (503). With Status 0 it becomes a normal response with
// Msg as the description.
type Error struct {
	Status     int           // HTTP status
	Msg        string        // a sentence for the client
	RetryAfter time.Duration // 0: not specified
	Err        error         // the cause, never sent to the client; may be nil
}

func (e *Error) Error() string {
	if e.Err != nil {
		return "cnws: " + e.Msg + ": " + e.Err.Error()
	}
	return "cnws: " + e.Msg
}

func (e *Error) Unwrap() error { return e.Err }

// Document is one message. Exactly one field is set.
type Document struct {
	Subscribe *Subscribe
	Change    *Change
	Result    *Result
}

// Subscribe is a request to be notified when a resource changes.
type Subscribe struct {
	ResourceID      string // absolute http or https URL, at most [MaxURL] bytes
	NotificationURL string // URL that receives the changes; has the rules of ResourceID, and no fragment
}

// Change is the notification that a resource changed.
type Change struct {
	ResourceID  string
	ChangeTime  time.Time // UTC, whole seconds; zero: not specified
	Title       string    // title of the change; plain text, may be empty
	Description string    // plain text of any length, may be empty
	Other       []Element // elements of other namespaces
}

// Result is the response to Subscribe and to Change.
type Result struct {
	Status bool
	// Title and Description describe the resource, or the reason if Status is false. They
	// are plain text and may be empty.
	Title, Description string
	Other              []Element
}

// Element is an element of another namespace.
type Element struct {
	Space, Name string // Space "": no namespace
	Attrs       []Attr
	Text        string // all text directly inside the element
	Nodes       []Element
	// At is the element's byte offset in the Text of its parent; 0 for an element directly
	// in a message.
	At int
}

// Attr is an attribute. Most attributes have no Space.
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

// Check returns a [*FieldError] unless c names a valid resource.
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
