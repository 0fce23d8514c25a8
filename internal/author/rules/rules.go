// Package rules has the choices of an author for the texts of their posts, and what follows from
// them: the length of a short post ([Rules.Measure]) and the links of hashtags ([Hashtags.Link]).
// It knows texts and HTML, and no posts.
package rules

import (
	"cloudburst/internal/fault"
	"cloudburst/internal/text"
)

// Rules are an author's choices for the texts of their posts. Their JSON form is stored and
// exported.
type Rules struct {
	// Short is the action for a short post above the limit of this server; see ShortOff. "": the value
	// of the setting write.limit-mode.
	Short string `json:"short,omitempty"`
	// URLs is the length with which a URL in a text is counted: URLsFull, URLsShort or URLsFree.
	URLs string `json:"urls,omitempty"`
	// PlainTags leaves hashtags as text: they become neither links nor categories.
	PlainTags bool `json:"plainTags,omitempty"`
}

// Values of Rules.Short.
const (
	ShortOff     = "off"     // no limit
	ShortWarn    = "warn"    // published, with a warning
	ShortEnforce = "enforce" // not published
)

// Values of Rules.URLs.
const (
	URLsFull  = ""      // each character counts
	URLsShort = "short" // each URL counts as shortURL characters
	URLsFree  = "free"  // URLs do not count
)

// shortURL is the length of a URL under URLsShort.
const shortURL = 23

// Check returns a fault.Invalid about the first invalid choice; nil: all are valid.
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
