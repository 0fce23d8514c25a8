package render

import (
	"time"

	"cloudburst/feed"
)

// Options are what a document says that its feed does not. The zero value says nothing.
type Options struct {
	// Self is the address of the written document. It stands in place of the feed's.
	Self string
	// Hubs are WebSub hubs to name, before those of the feed.
	Hubs []string
	// Cloud is the cloud to name, in place of those of the feed.
	Cloud *feed.Cloud
	// Updated is when the feed was saved, for formats that must have a date where the
	// feed gives none; zero: nobody knows.
	Updated time.Time
	// Callback is the function that JSON-P calls: "feedCallback" if "". It is a name of
	// JavaScript, or several with dots; anything else is a [*CallbackError].
	Callback string
	// Sanitize makes HTML safe, for format html. Without it markup is turned into text.
	Sanitize func(html string) string
	// Alternates are what format html names as <link rel="alternate">.
	Alternates []feed.Link
	// Generator is the program to name, in place of the feed's.
	Generator *feed.Generator
	// Strict leaves out the elements that modules got after most validators were made,
	// which call them errors: those of Media RSS 1.5, itunes:complete and a few others.
	Strict bool
}

// callback is the name of the function; ok is false for what is none.
func (o *Options) callback() (name string, ok bool) {
	if o.Callback == "" {
		return "feedCallback", true
	}
	const most = 200
	if len(o.Callback) > most {
		return "", false
	}
	start := true // of an identifier
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

// reserved reports the words of JavaScript that name nothing.
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
