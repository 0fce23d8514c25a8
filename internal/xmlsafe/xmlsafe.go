// Package xmlsafe parses small XML documents from untrusted sources, as XML 1.0 (fifth edition)
// with Namespaces 1.0 defines them, without the dangerous features.
//
// [Read] returns the tree of a document. [AppendText] escapes text for output and rejects
// characters that XML forbids.
//
// # Rejected documents
//
// Read rejects: document type declarations, so the only entities are the five of XML itself; an XML
// declaration that is duplicated or not at the very beginning; content around the root element
// other than comments, white space and processing instructions; bytes that are invalid in the
// encoding; control characters that XML forbids, also as references; duplicate attributes;
// documents beyond the limits of [Options]. A document is accepted completely or not at all.
//
// # Encodings
//
// Read supports UTF-8, US-ASCII, UTF-16, ISO-8859-1 and Windows-1252. As in web browsers, a
// document labelled ISO-8859-1 is read as Windows-1252, because the bytes in which the two
// encodings differ are printable in Windows-1252 and useless control characters in ISO-8859-1. A
// byte order mark takes precedence over [Options.Charset], which takes precedence over the XML
// declaration.
package xmlsafe

import (
	"errors"
	"fmt"
	"io"

	"cloudburst/internal/text"
)

// These errors are not grammar errors. [Error] wraps them.
var (
	ErrTooLarge   = errors.New("the document is too large")
	ErrTooComplex = errors.New("the document is nested too deeply or has too many parts")
	ErrDoctype    = errors.New("a document type declaration is not accepted")
	ErrEncoding   = errors.New("the character encoding is not supported")
	// ErrChar means that a text to write contains a character that XML forbids.
	ErrChar = errors.New("a character that XML does not allow")
)

// Error is the reason for a rejected document and its line.
type Error struct {
	// Line counts from 1.
	Line int
	Msg  string
	// Kind is one of the sentinel errors of this package, or nil for a grammar error.
	Kind error
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Msg) }

func (e *Error) Unwrap() error { return e.Kind }

// Options configure Read. Zero values mean the defaults.
type Options struct {
	// MaxBytes limits the raw document; default 256 KiB.
	MaxBytes int64
	// MaxDepth limits the nesting of elements; default 100.
	MaxDepth int
	// MaxAttrs limits the attributes of one element, and the namespace declarations in scope;
	// default 256.
	MaxAttrs int
	// MaxElements limits the number of elements; default 65,536.
	MaxElements int
	// Charset is the encoding from the transport, such as the parameter of a Content-Type. If
	// Charset is empty, the declaration in the document applies.
	Charset string
	// LoosePrefixes accepts undeclared prefixes; such a node has a Prefix and an empty Space.
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

// Read reads r to its end and returns the root element. The error is an *Error, or wraps the error
// of r.
func Read(r io.Reader, o Options) (*Node, error) {
	o = o.withDefaults()
	raw, err := io.ReadAll(io.LimitReader(r, o.MaxBytes+1))
	if int64(len(raw)) > o.MaxBytes {
		return nil, &Error{Line: 1, Kind: ErrTooLarge,
			Msg: fmt.Sprintf("the document is larger than the %s accepted here", text.SizeWords(o.MaxBytes))}
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
