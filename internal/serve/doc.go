// Package serve serves documents that are generated once and read often, with compression, entity
// tags and conditional requests. Conditions, codings and ranges follow RFC 9110, caching RFC 9111.
//
// Start with [New] and [Document.Answer].
//
// A document has a plain, a gzip and, optionally, a brotli representation. The brotli
// representation is made at the first request for it. Each representation has its own strong tag. A
// client that has any representation has the document.
package serve
