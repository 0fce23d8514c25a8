// Package soap implements a client and a server for the remote procedure calls of SOAP 1.1
// (W3C note of 8 May 2000) over HTTP. Both support SOAP 1.2 as well.
//
// A server is a [Handler] with a [Service], a list of methods and their parameters. The
// [WSDL], from which other tools generate clients, is derived from the same list. A client
// is a [Client] with a URL:
//
//	h := &soap.Handler{Service: soap.Service{
//		Name: "Echo", Namespace: "http://example.com/echo",
//		Methods: []soap.Method{{
//			Name:   "say",
//			Params: []soap.Def{{Name: "words", Type: "string"}},
//			Result: soap.Def{Type: "string"},
//			Do: func(ctx context.Context, params []any) (any, error) {
//				…
//			},
//		}},
//	}}
//	http.Handle("/soap", h)
//
//	c := &soap.Client{URL: "http://127.0.0.1:5337/soap", Namespace: "http://example.com/echo"}
//	echo, err := c.Call(ctx, "say", soap.Param{Name: "words", Value: "hello"})
//
// For programs that transport the documents themselves there are [Parse], [ParseResponse]
// and the Marshal methods of [Call], [Response] and [Fault].
//
// # Values
//
// A [Value] has one of these Go types, when reading and when writing:
//
//	xsd:int, long, short, integer and similar     int64
//	xsd:boolean                                   bool
//	xsd:string and all other simple types         string
//	xsd:double, float, decimal                    float64
//	xsd:dateTime, timeInstant                     time.Time, in UTC, whole seconds
//	xsd:base64Binary, SOAP-ENC:base64             []byte
//	SOAP-ENC:Array                                []any
//	an element with elements in it                map[string]any
//	xsi:nil                                       nil
//
// Repeated elements of one name inside a structure become a []any under that name. Writing
// also accepts all integer and float types of Go, []string, and []Param for a structure
// whose order matters.
//
// The type of a value is declared by xsi:type, by the type of the surrounding array, or by
// the name of an element that is a type. Clients generated from a WSDL send no types: every
// simple value is then a string, and [Call.Literal] is set. A [Handler] converts these
// values to the types that the method declares. [String], [Int], [Bool] and [Strings]
// accept both forms.
//
// # Responses
//
// A response uses the client's version of SOAP and the client's namespace, and has types if
// the call had types. The header SOAPAction is ignored, because clients send the method's
// name, a path, the namespace, or nothing. A fault of SOAP 1.1 has HTTP status 500, as
// section 6.2 requires. A fault of SOAP 1.2 has status 400 if the sender is at fault, else
// 500.
//
// # Hostile input
//
// The default limits of reading are 256 KiB, 100 nested elements, and 256 attributes per
// element. A DOCTYPE, a second XML declaration, anything after the document and control
// characters are errors. An href can only refer to an element of the same document.
// Circular references are errors, and so are references that expand to more than 65,536
// values. A header with mustUnderstand results in a MustUnderstand fault, because no header
// is supported.
//
// # Interoperability
//
// The schema namespaces of 1999, 2000 and 2001 are all read, because Frontier and Radio
// UserLand send the first. Parameters are matched by name without case or, if no name
// matches, by position, because SOAP::Lite and PHP without a WSDL invent names. Shared
// values after the call (multiRef), which Axis sends, are resolved.
package soap

import (
	"errors"
	"fmt"

	"cloudburst/internal/xmlsafe"
)

// Version is a version of SOAP. The zero value is 1.1.
type Version int

// The versions of SOAP.
const (
	V11 Version = iota
	V12
)

// String returns "SOAP 1.1" or "SOAP 1.2".
func (v Version) String() string {
	if v == V12 {
		return "SOAP 1.2"
	}
	return "SOAP 1.1"
}

// Value is the value of a parameter or a result. The package comment lists its types.
type Value = any

// Param is a named value.
type Param struct {
	// Name is an XML name without a colon. When writing, an empty name becomes "param" and
	// the position, from 1.
	Name  string
	Value Value
	// Type is the local name of the declared type, for example "int" or "Array", or "".
	// When writing, a simple type of XML Schema replaces the type derived from the Go type.
	Type string
}

// Call is a call of a procedure with its parameters.
type Call struct {
	// Name and Namespace identify the element of the call in the body.
	Name, Namespace string
	Params          []Param
	Version         Version
	// Literal means that the values have no declared types.
	Literal bool
}

// Response is the response to a call.
type Response struct {
	// Name and Namespace identify the element in the body. The name is the one of the call
	// followed by "Response".
	Name, Namespace string
	// Params holds the result, followed by any output parameters. It is empty for a
	// procedure without a result.
	Params  []Param
	Version Version
	Literal bool
}

// Result returns the first value, or nil.
func (r Response) Result() Value {
	if len(r.Params) == 0 {
		return nil
	}
	return r.Params[0].Value
}

// Fault is the response to a call that failed. It is an error: [ParseResponse] and
// [Client.Call] return it for a fault, and a method may return it to set all of its fields.
type Fault struct {
	// Code is one of the constants, optionally followed by a period and a more specific code, or
	// any other name. In Go, Code has the form of SOAP 1.1 for both versions. On the wire, SOAP 1.2
	// drops the part after the period.
	Code string
	// String describes the failure, for people.
	String string
	// Actor is a URI that identifies the failed program. It may be empty.
	Actor string
	// Detail is more text about the content of the call. It may be empty.
	Detail string
}

// Fault codes, with the names of SOAP 1.1.
//
// spec:soap11-2000#fault-codes
const (
	CodeClient          = "Client"
	CodeServer          = "Server"
	CodeVersionMismatch = "VersionMismatch"
	CodeMustUnderstand  = "MustUnderstand"
)

// Error returns the code and the text.
func (f *Fault) Error() string { return fmt.Sprintf("soap: fault %s: %s", f.Code, f.String) }

// Errors for use with errors.Is.
var (
	// ErrTooLarge means that a document exceeds its limit of bytes.
	ErrTooLarge = xmlsafe.ErrTooLarge
	// ErrTooComplex means that a document has too many levels, elements, attributes or
	// values.
	ErrTooComplex = xmlsafe.ErrTooComplex
	// ErrDoctype means that a document has a document type declaration.
	ErrDoctype = xmlsafe.ErrDoctype
	// ErrEncoding means that the encoding of a document is not supported.
	ErrEncoding = xmlsafe.ErrEncoding
	// ErrInvalid means that a document is well-formed XML, but not the expected SOAP
	// document.
	ErrInvalid = errors.New("soap: not a SOAP document")
	// ErrValue means that SOAP cannot carry a value or a name.
	ErrValue = errors.New("soap: a value that SOAP cannot carry")

	// ErrParams is for methods. An error that wraps it is sent as a Client fault with the
	// error's text, without this package's prefix.
	ErrParams = errors.New("soap: wrong parameters")
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
func (e *SyntaxError) Error() string { return fmt.Sprintf("soap: line %d: %s", e.Line, e.Msg) }

// Unwrap returns Err.
func (e *SyntaxError) Unwrap() error { return e.Err }

// Sniff reports whether a body that starts with prefix is a SOAP envelope. Servers with several
// protocols at one URL use Sniff. It checks nothing else.
func Sniff(prefix []byte) bool {
	root, ok := xmlsafe.Root(prefix)
	return ok && root == "Envelope"
}
