// Package rules defines the choices of authors for the texts of their posts and applies them:
// [Rules.Measure] returns the length of a short post, and [Hashtags.Link] links hashtags. The
// package handles texts and HTML and does not know posts.
package rules

import (
	"cloudburst/internal/fault"
	"cloudburst/internal/text"
)

// Rules are an author's choices for the texts of their posts. The database and exports contain
// their JSON form.
type Rules struct {
	// Short selects what happens if a short post exceeds the limit of this server: ShortOff,
	// ShortWarn or ShortEnforce. "": the setting write.limit-mode applies.
	Short string `json:"short,omitempty"`
	// URLs selects how the characters of URLs in a text count: URLsFull, URLsShort or URLsFree.
	URLs string `json:"urls,omitempty"`
	// PlainTags leaves hashtags as text: they become neither links nor categories.
	PlainTags bool `json:"plainTags,omitempty"`
}

// Values of Rules.Short.
const (
	ShortOff     = "off"     // no limit applies
	ShortWarn    = "warn"    // the post is published, and the author gets a warning
	ShortEnforce = "enforce" // the post is not published
)

// Values of Rules.URLs.
const (
	URLsFull  = ""      // each character counts
	URLsShort = "short" // each URL counts as shortURL characters
	URLsFree  = "free"  // URLs do not count
)

// shortURL is the number of characters that a URL counts with URLsShort.
const shortURL = 23

// Check returns a fault.Invalid that names the first invalid choice; nil: all choices are valid.
func (r Rules) Check() error {
	switch r.Short {
	case "", ShortOff, ShortWarn, ShortEnforce:
	default:
		return fault.In(fault.New(fault.Invalid, "%q is not a rule for short posts: use off, warn or enforce.", text.ClipRunes(r.Short, 40)), "short")
	}
	switch r.URLs {
	case URLsFull, URLsShort, URLsFree:
		return nil
	}
	return fault.In(fault.New(fault.Invalid, "%q is not a way to count URLs: use short or free, or nothing to count each character.", text.ClipRunes(r.URLs, 40)), "urls")
}
