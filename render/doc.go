// Package render writes one neutral feed in every format that people and programs read.
//
// Start with [Append] and [Formats].
package render
