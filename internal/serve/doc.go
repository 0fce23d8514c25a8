// Package serve answers requests for documents that are made once and read by many:
// packed, tagged and conditional.
package serve
