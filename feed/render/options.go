package render

import (
	"time"

	"cloudburst/feed"
)

// Options are properties of the document that the feed does not contain. The zero value sets
// none.
type Options struct {
	// Self is the URL of the written document. It is used instead of the URL in the feed.
	Self string
	// Hubs are URLs of WebSub hubs. They are written before the hubs in the feed.
	Hubs []string
	// Cloud is the rssCloud endpoint. It is used instead of the clouds in the feed.
	Cloud *feed.Cloud
	// Updated is the time at which the feed was saved. Formats that require a date use it if
	// the feed has none. Zero means unknown.
	Updated time.Time
	// Callback is the function that JSON-P calls; "" means "feedCallback". It must be one
	// JavaScript name, or several joined with dots; any other value is a [*CallbackError].
	Callback string
	// Sanitize removes unsafe markup from HTML, for the format html. If it is nil, texts with
	// markup become plain text.
	Sanitize func(html string) string
	// Alternates become <link rel="alternate"> elements in the format html.
	Alternates []feed.Link
	// Generator is the program that made the document. It is used instead of the generator in the
	// feed.
	Generator *feed.Generator
	// Strict omits elements that were added to modules after most validators were written:
	// those of Media RSS 1.5, itunes:complete and a few others. Such validators report them as
	// errors.
	Strict bool
}

// callback returns the name of the function. If the name is invalid, ok is false.
func (o *Options) callback() (name string, ok bool) {
	if o.Callback == "" {
		return "feedCallback", true
	}
	const limit = 200
	if len(o.Callback) > limit {
		return "", false
	}
	start := true // the next byte is the first one of an identifier
	word := 0
	for i := range len(o.Callback) {
		c := o.Callback[i]
		switch {
		case c == '.' && !start && !reserved(o.Callback[word:i]):
			start, word = true, i+1
			continue
		case 'a' <= c|0x20 && c|0x20 <= 'z', c == '_', c == '$':
		case '0' <= c && c <= '9' && !start:
		default:
			return "", false
		}
		start = false
	}
	return o.Callback, !start && !reserved(o.Callback[word:])
}

// reserved reports whether a word is reserved in JavaScript.
func reserved(word string) bool {
	switch word {
	case "await", "break", "case", "catch", "class", "const", "continue", "debugger", "default", "delete", "do", "else", "enum", "export",
		"extends", "false", "finally", "for", "function", "if", "implements", "import", "in", "instanceof", "interface", "let", "new", "null",
		"package", "private", "protected", "public", "return", "static", "super", "switch", "this", "throw", "true", "try", "typeof", "var",
		"void", "while", "with", "yield":
		return true
	}
	return false
}
