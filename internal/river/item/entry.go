package item

import "time"

// Mark is what one reader did with an item.
type Mark struct {
	Read, Starred bool
	StarredAt     time.Time
}

// Entry is an item as one reader has it.
type Entry struct {
	Item
	Mark
	Source EntrySource
}

// EntrySource is what is shown of an item's source.
type EntrySource struct {
	ID         int64
	Title      string // the reader's own, else the feed's, else the URL
	URL        string
	Home       string
	Icon       string
	Categories []string // the reader's
	Private    bool
}
