// Package xmlsafe reads small XML documents written by strangers, as XML 1.0
// (fifth edition) with Namespaces 1.0 defines them, minus everything that
// makes a document dangerous.
//
// [Read] gives the tree of a document, [AppendText] is the way back: it
// escapes text, and refuses the characters that XML cannot carry.
//
// # What is refused
//
// A document type declaration in any form, so there are no entities but the
// five of XML itself; a second XML declaration, or one that does not stand at
// the very start; anything but comments, white space and processing
// instructions around the root element; bytes that are not the declared
// encoding; the control characters that XML forbids, also as references;
// duplicate attributes; and whatever is larger, deeper or more numerous than
// [Options] allow. A document is accepted whole or not at all.
//
// # Encodings
//
// UTF-8, US-ASCII, UTF-16, ISO-8859-1 and Windows-1252. As in web browsers a
// document that calls itself ISO-8859-1 is read as Windows-1252, because the
// bytes in which the two differ are printable in one and useless control
// characters in the other. A byte order mark rules over [Options.Charset],
// which rules over the XML declaration.
package xmlsafe

import (
	"errors"
	"fmt"
	"io"
)

// What can be wrong besides the grammar. [Error] wraps them.
var (
	ErrTooLarge   = errors.New("the document is too large")
	ErrTooComplex = errors.New("the document is nested too deeply or has too many parts")
	ErrDoctype    = errors.New("a document type declaration is not accepted")
	ErrEncoding   = errors.New("the character encoding is not supported")
	// ErrChar means that a text to be written holds a character that no XML
	// document can hold.
	ErrChar = errors.New("a character that XML cannot carry")
)

// Error says where and why a document was refused.
type Error struct {
	// Line counts from 1.
	Line int
	Msg  string
	// Kind is one of the sentinels of this package, or nil for a plain
	// mistake in the grammar.
	Kind error
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Msg) }

func (e *Error) Unwrap() error { return e.Kind }

// Options are limits and leniencies. Zero values mean the defaults.
type Options struct {
	// MaxBytes limits the document as it arrives; 256 KiB by default.
	MaxBytes int64
	// MaxDepth limits open elements; 100 by default.
	MaxDepth int
	// MaxAttrs limits the attributes of one element, and the namespace
	// declarations in scope at one place; 256 by default.
	MaxAttrs int
	// MaxElements limits the elements of the document; 65,536 by default.
	MaxElements int
	// Charset is the encoding that the transport named, such as the
	// parameter of a Content-Type. Empty means that the document says it.
	Charset string
	// LoosePrefixes accepts a prefix that was never declared; the node then
	// has a Prefix and an empty Space.
	LoosePrefixes bool
}

func (o Options) withDefaults() Options {
	if o.MaxBytes <= 0 {
		o.MaxBytes = 256 << 10
	}
	if o.MaxDepth <= 0 {
		o.MaxDepth = 100
	}
	if o.MaxAttrs <= 0 {
		o.MaxAttrs = 256
	}
	if o.MaxElements <= 0 {
		o.MaxElements = 65536
	}
	return o
}

// Read reads r to its end and gives the root element. The error is an *Error,
// or wraps the error of r.
func Read(r io.Reader, o Options) (*Node, error) {
	o = o.withDefaults()
	raw, err := io.ReadAll(io.LimitReader(r, o.MaxBytes+1))
	if int64(len(raw)) > o.MaxBytes {
		return nil, &Error{Line: 1, Kind: ErrTooLarge,
			Msg: fmt.Sprintf("the document is larger than the %d bytes accepted here", o.MaxBytes)}
	}
	if err != nil {
		return nil, fmt.Errorf("reading the document: %w", err)
	}
	text, err := decode(raw, o.Charset)
	if err != nil {
		return nil, err
	}
	p := &parser{src: text, o: o}
	return p.document()
}
