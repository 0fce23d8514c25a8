// Package xmlrpc implements an XML-RPC client and server, following Dave Winer's
// specification of 1999 (http://xmlrpc.com/spec.md) and the common extensions:
// introspection, batches, standard fault codes, 64-bit numbers and nil.
//
// A server is a [Handler] with a list of methods. A client is a [Client] with a URL:
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
// For programs that transport the documents themselves there are [ParseCall],
// [ParseResponse], [Call.Marshal], [MarshalResponse] and [MarshalFault].
//
// # Values
//
// A [Value] has one of these Go types, when reading and when writing:
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
// Writing also accepts all integer and float types of Go, and slices, arrays and maps with
// string keys. The functions [String], [Int], [Bool] and [Strings] convert parameters,
// because clients differ: some send a port as a number, others as a string.
//
// # Hostile input
//
// The default limits of reading are 256 KiB, 100 nested elements, and 256 attributes per
// element. A DOCTYPE, a second XML declaration, text after the document and control
// characters are errors. No value is returned with an error. Writing rejects texts that XML
// cannot carry and values that are nested deeper than reading permits.
//
// # Interoperability
//
// Reading accepts these deviations, because clients send them: values without a type, white
// space around numbers, true and false for booleans, dates with dashes, fractions and
// zones, base64 without padding, arrays without a data element, the Apache extension types
// with any prefix, members with the value before the name, and a response without a value
// (which is nil). A document that declares UTF-16 but is readable as UTF-8 is read as
// UTF-8, because some serializers write that. The supported encodings are UTF-8, US-ASCII,
// UTF-16, ISO-8859-1 and Windows-1252.
//
// Writing uses UTF-8 and the strictest form: doubles without exponent, dates without zone
// (in UTC), and numbers beyond 32 bits as i8.
package xmlrpc

import (
	"errors"
	"fmt"

	"cloudburst/internal/xmlsafe"
)

// Value is a parameter or a result. The package comment lists its types.
type Value = any

// Call is a call of a method with its parameters.
type Call struct {
	// Method consists of letters, digits and _ . : / and has at most 255 bytes.
	Method string
	Params []any
}

// Fault is the response of a method that failed. It is an error: [ParseResponse] and
// [Client.Call] return it for a fault, and a method may return it to set code and text.
type Fault struct {
	// Code may be any number. The constants have a common meaning.
	Code int
	// String describes the failure, for people.
	String string
}

// Error returns the code and the text.
func (f *Fault) Error() string { return fmt.Sprintf("xmlrpc: fault %d: %s", f.Code, f.String) }

// Common fault codes, from the list that the authors of xmlrpc-epi published in 2001.
// CodeLogin is the code of weblog servers.
//
// spec:xmlrpc-faults-2001#codes
const (
	CodeParse    = -32700 // not well-formed XML
	CodeEncoding = -32701 // the encoding is not supported
	CodeInvalid  = -32600 // XML, but not a call
	CodeNoMethod = -32601 // no method of this name
	CodeParams   = -32602 // wrong parameters
	CodeInternal = -32603 // internal error of the server
	CodeApp      = -32500 // the method failed
	CodeLogin    = 403    // wrong name or password
)

// Errors for use with errors.Is.
var (
	// ErrTooLarge means that a document exceeds its limit of bytes.
	ErrTooLarge = xmlsafe.ErrTooLarge
	// ErrTooComplex means that a document has too many levels, elements or attributes.
	ErrTooComplex = xmlsafe.ErrTooComplex
	// ErrDoctype means that a document has a document type declaration.
	ErrDoctype = xmlsafe.ErrDoctype
	// ErrEncoding means that the encoding of a document is not supported.
	ErrEncoding = xmlsafe.ErrEncoding
	// ErrInvalid means that a document is well-formed XML, but not the expected XML-RPC
	// document.
	ErrInvalid = errors.New("xmlrpc: not an XML-RPC document")
	// ErrValue means that XML-RPC cannot carry a value.
	ErrValue = errors.New("xmlrpc: a value that XML-RPC cannot carry")

	// ErrParams is for methods. An error that wraps it is sent with CodeParams and the
	// error's text, without this package's prefix.
	ErrParams = errors.New("xmlrpc: wrong parameters")
	// ErrLogin is for methods. An error that wraps it means that the name or password is wrong, and
	// is sent with CodeLogin. It also ends a batch of calls, so that one request cannot try many
	// passwords.
	ErrLogin = errors.New("xmlrpc: log-in failed")
)

// SyntaxError means that a document cannot be read. Err is one of the errors above, or nil
// if the XML is not well formed.
type SyntaxError struct {
	// Line is the line of the error, from 1.
	Line int
	Msg  string
	Err  error
}

// Error returns the line and the reason.
func (e *SyntaxError) Error() string { return fmt.Sprintf("xmlrpc: line %d: %s", e.Line, e.Msg) }

// Unwrap returns Err.
func (e *SyntaxError) Unwrap() error { return e.Err }

// Sniff reports whether a body that starts with prefix is a call. Servers with several protocols at
// one URL use Sniff. A prefix of a kilobyte is enough, unless the document starts with long
// comments. Sniff checks nothing else.
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
