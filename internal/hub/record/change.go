package record

import (
	"time"

	"cloudburst/internal/event"
)

// Change is one entry of the recent changes (changes.xml): a site or feed that was reported as
// changed. The triple (At, Node, Seq) identifies an entry and orders all entries.
type Change struct {
	Node, Seq int64
	At        time.Time // UTC, millisecond precision
	Name      string    // name of the site or feed as given; may be empty
	URL       string    // URL of the site, or of the feed if no site is known
	Feed      string    // URL of the feed; "": not known
	Page      string    // the page that changed; "": not known
	Tags      []string
	Via       string // event.Event.Via
}

// Cursor returns the position of c.
func (c Change) Cursor() event.Cursor {
	return event.Cursor{At: c.At.UnixMilli(), Node: c.Node, Seq: c.Seq}
}
