package item

import (
	"strings"
	"time"
)

// Mark is the state of an item for one user.
type Mark struct {
	Read, Starred bool
	StarredAt     time.Time
}

// Entry is an item with the marks of one user.
type Entry struct {
	Item
	Mark
	Source EntrySource
	Full   Full // full text, if the user chose it for the feed
}

// Full is the text of the page of an item. The zero value: there is none.
type Full struct {
	HTML string    // sanitized
	At   time.Time // when the page was read
}

// ShowFull makes the full text the content of the entry, if there is one. Call it for output that
// only the user sees: the text of another site is not published again.
//
// spec:cloudburst#full-text-once
func (e *Entry) ShowFull() {
	if e.Full.HTML == "" {
		return
	}
	e.HTML, e.Text, e.More = e.Full.HTML, TextOf(e.Full.HTML), false
	if strings.Contains(e.HTML, "<img") {
		e.Image = ""
	}
}

// EntrySource describes the source of an entry.
type EntrySource struct {
	ID         int64
	Title      string // the user's own, else the feed's, else the URL
	URL        string
	Home       string
	Icon       string
	Categories []string // the user's
	Private    bool
}
