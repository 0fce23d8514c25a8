// Package xmlrpc speaks XML-RPC, client and server, as Dave Winer wrote it
// down in 1999 (http://xmlrpc.com/spec.md), with the customs that grew
// around it: introspection, batches, agreed fault codes, 64-bit numbers and
// nil.
//
// A server is a [Handler] with a list of methods; a client is a [Client] with
// a URL:
//
//	h := &xmlrpc.Handler{Methods: []xmlrpc.Method{{
//		Name: "math.add",
//		Help: "Adds two numbers.",
//		Do: func(ctx context.Context, params []any) (any, error) {
//			…
//		},
//	}}}
//	http.Handle("POST /RPC2", h)
//
//	c := &xmlrpc.Client{URL: "http://127.0.0.1:5337/RPC2"}
//	sum, err := c.Call(ctx, "math.add", 2, 3)
//
// Below them are [ParseCall], [ParseResponse], [Call.Marshal],
// [MarshalResponse] and [MarshalFault] for those who carry the documents
// themselves.
//
// # Values
//
// A [Value] is any of these Go types, both ways:
//
//	i4, int, i8 (and i1, i2)   int64
//	boolean                    bool
//	string, or no type at all  string
//	double                     float64
//	dateTime.iso8601           time.Time, in UTC, whole seconds
//	base64                     []byte
//	array                      []any
//	struct                     map[string]any
//	nil                        nil
//
// When writing, all integers and floats of Go, and slices, arrays and maps
// with string keys are understood too. The functions [String], [Int],
// [Bool] and [Strings] read parameters as forgivingly as clients need: a
// port is a number to one and a string to another.
//
// # Hostile input
//
// Reading is bounded by default: 256 KiB, 100 elements deep, 256 attributes
// an element. A DOCTYPE, a second XML declaration, text behind the document
// and control characters are refused, and a document is read whole or not at
// all. Writing refuses texts that XML cannot carry, and values nested deeper
// than a reader here would accept.
//
// # Interoperability
//
// Accepted when reading, because clients send it: values without a type,
// white space around numbers, true and false for booleans, dates with dashes,
// fractions and zones, base64 without padding, arrays without a data element,
// the Apache extension types with any prefix, members with the value before
// the name, and a response without a value (which is nil). A document that
// says it is UTF-16 in a readable declaration is taken as UTF-8, as some
// serialisers write that. The encodings are UTF-8, US-ASCII, UTF-16,
// ISO-8859-1 and Windows-1252.
//
// Written is always UTF-8 and the strictest form: doubles without exponent,
// dates without zone (in UTC), numbers beyond 32 bits as i8.
package xmlrpc

import (
	"errors"
	"fmt"

	"cloudburst/internal/xmlsafe"
)

// Value is a parameter or result; the package comment lists the types.
type Value = any

// Call is a method and what it is called with.
type Call struct {
	// Method is made of letters, digits and _ . : / and is at most 255 bytes.
	Method string
	Params []any
}

// Fault is the answer of a method that failed. It is an error: what
// [ParseResponse] and [Client.Call] give for a fault, and what a method may
// return to choose code and text itself.
type Fault struct {
	// Code is any number; the constants are the ones with an agreed meaning.
	Code int
	// String says what happened, for people.
	String string
}

// Error gives the code and the text.
func (f *Fault) Error() string { return fmt.Sprintf("xmlrpc: fault %d: %s", f.Code, f.String) }

// Fault codes that servers agree on, from the list that the authors of
// xmlrpc-epi published in 2001. CodeLogin follows weblog servers.
// spec:xmlrpc-faults-2001#codes
const (
	CodeParse    = -32700 // not well-formed XML
	CodeEncoding = -32701 // unsupported encoding
	CodeInvalid  = -32600 // XML, but not a call
	CodeNoMethod = -32601 // no method of this name
	CodeParams   = -32602 // wrong parameters
	CodeInternal = -32603 // the server is at fault
	CodeApp      = -32500 // the method failed
	CodeLogin    = 403    // wrong name or password
)

// Errors to test with errors.Is.
var (
	// ErrTooLarge: the document has more bytes than allowed.
	ErrTooLarge = errors.New("xmlrpc: the document is too large")
	// ErrTooComplex: too deep, or too many elements or attributes.
	ErrTooComplex = errors.New("xmlrpc: the document is nested too deeply or has too many parts")
	// ErrDoctype: there is a document type declaration.
	ErrDoctype = errors.New("xmlrpc: a DOCTYPE is not accepted")
	// ErrEncoding: the document is in an encoding that is not supported.
	ErrEncoding = errors.New("xmlrpc: the character encoding is not supported")
	// ErrInvalid: well-formed XML that is not the XML-RPC document asked for.
	ErrInvalid = errors.New("xmlrpc: not an XML-RPC document")
	// ErrValue: a value that XML-RPC cannot carry.
	ErrValue = errors.New("xmlrpc: a value that XML-RPC cannot carry")

	// ErrParams is for methods: an error that wraps it is answered with
	// CodeParams and the error's text, without this package's prefix.
	ErrParams = errors.New("xmlrpc: wrong parameters")
	// ErrLogin is for methods: an error that wraps it says that a name or
	// password was wrong. It ends a batch, so that one request cannot try
	// many passwords.
	ErrLogin = errors.New("xmlrpc: log-in failed")
)

// SyntaxError says why a document could not be read. It wraps one of the
// sentinels when there is more to say than that the XML is not well formed.
type SyntaxError struct {
	// Line is where it went wrong, from 1.
	Line int
	Msg  string
	Err  error
}

// Error gives the line and the reason.
func (e *SyntaxError) Error() string { return fmt.Sprintf("xmlrpc: line %d: %s", e.Line, e.Msg) }

// Unwrap gives the sentinel, or nil.
func (e *SyntaxError) Unwrap() error { return e.Err }

// Sniff reports whether a body that starts with these bytes is a call, for
// servers that have one address for several protocols. A kilobyte is enough
// unless comments stand in front. Nothing else is checked.
func Sniff(prefix []byte) bool {
	root, ok := xmlsafe.Root(prefix)
	return ok && root == "methodCall"
}

func validMethod(name string) bool {
	if name == "" || len(name) > 255 {
		return false
	}
	for _, c := range []byte(name) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9',
			c == '_', c == '.', c == ':', c == '/':
		default:
			return false
		}
	}
	return true
}
