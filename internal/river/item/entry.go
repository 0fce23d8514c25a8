package item

import (
	"strings"
	"time"
)

// Mark records whether one user has read or starred an item.
type Mark struct {
	Read, Starred bool
	StarredAt     time.Time
}

// Entry is an item with the marks of one user.
type Entry struct {
	Item
	Mark
	Source EntrySource
	Full   Full // full text of the item's page, if the user chose full text for the feed
}

// Full is the text of an item's page. The zero value means that there is no text.
type Full struct {
	HTML string    // sanitized HTML
	At   time.Time // when the page was fetched
}

// ShowFull makes the full text the content of the entry, if there is a full text. Call it only
// for output that is visible to this user alone, because Cloudburst must not publish the text of
// another site.
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
	Title      string // title that the user chose, else the title of the feed, else the URL
	URL        string
	Home       string
	Icon       string
	Categories []string // categories that the user gave the feed
	Private    bool
}
