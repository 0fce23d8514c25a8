package record

import (
	"time"

	"cloudburst/internal/event"
)

// Change is one line of the list of changes (changes.xml): a site or a feed of
// which somebody said that it changed. (At, Node, Seq) orders all of them.
type Change struct {
	Node, Seq int64
	At        time.Time // UTC, millisecond precision
	Name      string    // of the site or feed, as it was told; may be empty
	URL       string    // of the site, or of the feed where no site is known
	Feed      string    // of the feed; "": not known
	Page      string    // the page that changed; "": not known
	Tags      []string
	Via       string // event.Event.Door
}

// Cursor is the place of c.
func (c Change) Cursor() event.Cursor {
	return event.Cursor{At: c.At.UnixMilli(), Node: c.Node, Seq: c.Seq}
}
