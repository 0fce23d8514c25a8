// Package serve serves documents that are generated once and read often, with compression, entity
// tags and conditional requests. Conditions, codings and ranges follow RFC 9110, caching RFC 9111.
//
// Start with [New] and [Document.Answer].
//
// A document has a plain, a gzip and, optionally, a brotli representation, which is made at its
// first request. Each representation has its own strong tag, and a client that has any of them has
// the document.
package serve
