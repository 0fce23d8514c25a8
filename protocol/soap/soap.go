// Package soap speaks the remote procedure calls of SOAP 1.1 (W3C note of
// 8 May 2000) over HTTP, client and server, and understands and answers
// SOAP 1.2 as well.
//
// A server is a [Handler] around a [Service], which is a list of methods with
// their parameters; the same list makes the [WSDL] from which other people's
// tools make clients. A client is a [Client] with a URL:
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
//	said, err := c.Call(ctx, "say", soap.Param{Name: "words", Value: "hello"})
//
// Below them are [Parse], [ParseResponse] and the Marshal methods of [Call],
// [Response] and [Fault].
//
// # Values
//
// A [Value] is any of these Go types, both ways:
//
//	xsd:int, long, short, integer and their kin   int64
//	xsd:boolean                                   bool
//	xsd:string and all other simple types         string
//	xsd:double, float, decimal                    float64
//	xsd:dateTime, timeInstant                     time.Time, in UTC, whole seconds
//	xsd:base64Binary, SOAP-ENC:base64             []byte
//	SOAP-ENC:Array                                []any
//	an element with elements in it                map[string]any
//	xsi:nil                                       nil
//
// Elements of one name that are repeated inside a structure are a []any under
// that name. When writing, all integers and floats of Go, []string, and
// []Param for a structure whose order matters are understood too.
//
// The types come from xsi:type, from the type of the array around, or from an
// element named after its type. Callers who describe their messages by a WSDL
// send no types: then every simple value is a string, and [Call.Literal] is
// set. A [Handler] turns such values into what the method declares. [String],
// [Int], [Bool] and [Strings] read either form.
//
// # Answers in kind
//
// An answer uses the caller's version of SOAP, the caller's namespace, and
// sends types when the caller did. The header SOAPAction is not looked at:
// clients send the method's name, a path, the namespace, or nothing. A fault
// of SOAP 1.1 is HTTP status 500, as section 6.2 demands; in SOAP 1.2 it is
// 400 when the sender is at fault, else 500.
//
// # Hostile input
//
// Reading is bounded by default: 256 KiB, 100 elements deep, 256 attributes
// an element. A DOCTYPE, a second XML declaration, anything behind the
// document and control characters are refused. An href points inside the
// document only; what points to itself is refused, and so is what grows
// beyond 65,536 values when it is followed. A header that must be understood
// is answered with a MustUnderstand fault, since none is understood here.
//
// # Interoperability
//
// The schema namespaces of 1999, 2000 and 2001 are all read, as Frontier and
// Radio UserLand send the first. Parameters are found by name (in any case)
// or, when no name fits, by position: SOAP::Lite and PHP without a WSDL
// invent names. Shared values behind the call (multiRef), as Axis sends them,
// are followed.
package soap

import (
	"errors"
	"fmt"
	"strings"

	"cloudburst/internal/xmlsafe"
)

// Version is a version of SOAP; the zero value is 1.1.
type Version int

// The two versions there are.
const (
	V11 Version = iota
	V12
)

// String gives "SOAP 1.1" or "SOAP 1.2".
func (v Version) String() string {
	if v == V12 {
		return "SOAP 1.2"
	}
	return "SOAP 1.1"
}

// Value is what a parameter or result holds; the package comment lists the
// types.
type Value = any

// Param is a named value.
type Param struct {
	// Name is an XML name without a colon. When writing, an empty one is
	// replaced by "param" and the position, from 1.
	Name  string
	Value Value
	// Type is the local name of the type that was declared, such as "int" or
	// "Array", or "". When writing, the name of a simple type of XML Schema
	// takes the place of the one that follows from the Go type.
	Type string
}

// Call is a procedure and what it is called with.
type Call struct {
	// Name and Namespace are those of the element inside the body.
	Name, Namespace string
	Params          []Param
	Version         Version
	// Literal says that values carry no types.
	Literal bool
}

// Bind gives the parameters in the order of names, whatever the order they
// came in; nil stands for a missing one, a []any for one that is repeated,
// and missing ones at the end are left out. Names are compared without case.
// When not one name fits, the parameters are given by position, all of them.
func (c Call) Bind(names ...string) []any {
	out := make([]any, len(names))
	last := -1
	for i, name := range names {
		var found []any
		for _, p := range c.Params {
			if strings.EqualFold(p.Name, name) {
				found = append(found, p.Value)
			}
		}
		switch len(found) {
		case 0:
			continue
		case 1:
			out[i] = found[0]
		default:
			out[i] = found
		}
		last = i
	}
	if last >= 0 {
		return out[:last+1]
	}
	out = out[:0]
	for _, p := range c.Params {
		out = append(out, p.Value)
	}
	return out
}

// Response is the answer to a call.
type Response struct {
	// Name and Namespace are those of the element inside the body; the name
	// is the call's with "Response" behind.
	Name, Namespace string
	// Params holds the result, and behind it what else was given out. It is
	// empty for a procedure without a result.
	Params  []Param
	Version Version
	Literal bool
}

// Result is the first value, or nil.
func (r Response) Result() Value {
	if len(r.Params) == 0 {
		return nil
	}
	return r.Params[0].Value
}

// Fault is the answer to a call that failed. It is an error: what
// [ParseResponse] and [Client.Call] give for a fault, and what a method may
// return to choose everything itself.
type Fault struct {
	// Code is one of the constants, with a more special code behind a period
	// if wanted, or another name. It is 1.1's in both versions; 1.2 cannot
	// carry what stands behind the period.
	Code string
	// String says what happened, for people.
	String string
	// Actor is a URI that names who failed; it may be empty.
	Actor string
	// Detail is more text, about the content of the call; it may be empty.
	Detail string
}

// The codes of faults, as SOAP 1.1 names them.
// spec:soap11-2000#fault-codes
const (
	CodeClient          = "Client"
	CodeServer          = "Server"
	CodeVersionMismatch = "VersionMismatch"
	CodeMustUnderstand  = "MustUnderstand"
)

// Error gives the code and the text.
func (f *Fault) Error() string { return fmt.Sprintf("soap: fault %s: %s", f.Code, f.String) }

// Errors to test with errors.Is.
var (
	// ErrTooLarge: the document has more bytes than allowed.
	ErrTooLarge = errors.New("soap: the document is too large")
	// ErrTooComplex: too deep, or too many elements, attributes or values.
	ErrTooComplex = errors.New("soap: the document is nested too deeply or has too many parts")
	// ErrDoctype: there is a document type declaration.
	ErrDoctype = errors.New("soap: a DOCTYPE is not accepted")
	// ErrEncoding: the document is in an encoding that is not supported.
	ErrEncoding = errors.New("soap: the character encoding is not supported")
	// ErrInvalid: well-formed XML that is not the SOAP document asked for.
	ErrInvalid = errors.New("soap: not a SOAP document")
	// ErrValue: a value or name that SOAP cannot carry.
	ErrValue = errors.New("soap: a value that SOAP cannot carry")

	// ErrParams is for methods: an error that wraps it is answered with a
	// Client fault and the error's text, without this package's prefix.
	ErrParams = errors.New("soap: wrong parameters")
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
func (e *SyntaxError) Error() string { return fmt.Sprintf("soap: line %d: %s", e.Line, e.Msg) }

// Unwrap gives the sentinel, or nil.
func (e *SyntaxError) Unwrap() error { return e.Err }

// Sniff reports whether a body that starts with these bytes is a SOAP
// envelope, for servers that have one address for several protocols. Nothing
// else is checked.
func Sniff(prefix []byte) bool {
	root, ok := xmlsafe.Root(prefix)
	return ok && root == "Envelope"
}
