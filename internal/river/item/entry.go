package item

import "time"

// Mark is what one user did with an item.
type Mark struct {
	Read, Starred bool
	StarredAt     time.Time
}

// Entry is an item with the marks of one user.
type Entry struct {
	Item
	Mark
	Source EntrySource
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
