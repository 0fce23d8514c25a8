// Package charset makes clean UTF-8 of a document in any encoding. Start with
// Decode.
package charset

import "unsafe"

// Result is a document as text, and how it was read.
type Result struct {
	// Text is valid UTF-8 without byte order mark and without characters that
	// XML 1.0 forbids. Tab, line feed and carriage return stay as they are.
	Text string
	// Name is the encoding that was used, its IANA name in lower case: "utf-8",
	// "windows-1252", "utf-16be", "shift_jis".
	Name string
	// From tells where Name comes from: "bom", "http", "declaration", "sniffed"
	// or "default".
	From string
	// Declared is what the document itself declares, as written; "" is nothing.
	Declared string
	// Problems are what was repaired or contradicts itself, at most one of each
	// sort; none for a clean document.
	Problems []Problem
}

// Problem is one thing that is wrong with a document's encoding.
type Problem struct {
	Kind    string // "character" or "encoding"
	Line    int    // from 1; 0 is the document as a whole
	Message string // a sentence for people
}

// Decode makes text of a document. contentType is the Content-Type header or "".
// The text may share memory with doc: do not change doc afterwards.
func Decode(doc []byte, contentType string) Result {
	return Result{Text: unsafe.String(unsafe.SliceData(doc), len(doc)), Name: "utf-8", From: "default"}
}
