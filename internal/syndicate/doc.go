// Package syndicate is the layer between a feed and those who read it: read once,
// written in every format, kept in memory while its version lasts.
package syndicate
