// Package syndicate is a cache between stored feeds and their readers. It parses each version of a
// feed once, renders it in every requested format, and caches the documents while the version is
// current.
//
// Start with [Source] and [Layer.Serve].
//
// Documents are cached by the feed's key, its version, the format and a hash of the render options
// (URLs, hubs, the name of a callback). A client therefore never gets a document that was rendered
// with the options of another client.
package syndicate
