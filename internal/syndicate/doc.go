// Package syndicate is the layer between a feed and those who read it: read once,
// written in every format, kept in memory while its version lasts.
//
// Start with [Source] and [Layer.Serve].
//
// What is kept is found by the feed's key, its version, the format, and what the
// format was told to say (addresses, hubs, the name of a callback), so that two who
// are told different things never get each other's document.
package syndicate
