// Package serve answers requests for documents that are made once and read by many:
// packed, tagged and conditional. What HTTP says of conditions, codings and ranges is
// RFC 9110, of caches RFC 9111.
//
// Start with [New] and [Document.Answer].
//
// A document has a plain form, a gzip form and, if its options say so, a brotli form,
// which is made when the first reader asks for it. Each form has a strong tag of its
// own, and a reader who holds any of them holds the document.
package serve
