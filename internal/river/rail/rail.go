// Package rail describes the list of feeds next to a river.
package rail

import (
	"cmp"
	"slices"
	"strings"

	"cloudburst/internal/text"
)

// Query selects the feeds and the counts that a page shows.
type Query struct {
	User string
	Most int // if the user follows more feeds, List.Feeds has only those of Category, and Source; 0: no limit

	Category string // "": none
	Source   int64  // ID of a feed's source; 0: none

	// Total and ByCategory request the sums of unread items in List.Unread: of all feeds together,
	// and by categories. They have no effect if List.Feeds has all feeds.
	Total, ByCategory bool
}

// List is the answer to a Query.
type List struct {
	Feeds  []Feed // sorted by title regardless of case
	Many   bool   // the user follows more than Query.Most feeds
	Unread []Sum  // only with Many; shared with other answers, so the caller must not change it
}

// Feed is a followed feed.
type Feed struct {
	ID         int64    // ID of the feed's source
	Title      string   // title that the user chose, else the title of the feed, else its URL
	Icon       string   // URL of an image that the feed declares; "": none
	Categories []string // categories that the user gave the feed, in alphabetical order
	Unread     int64
}

// Sum is the number of unread items of the feeds with equal categories.
type Sum struct {
	Categories []string // nil: none, or Query.ByCategory is not set
	Unread     int64
}

// Sums returns unread counts that together include each followed feed once.
func (l *List) Sums() []Sum {
	if l.Many {
		return l.Unread
	}
	all := make([]Sum, len(l.Feeds))
	for i := range l.Feeds {
		all[i] = Sum{l.Feeds[i].Categories, l.Feeds[i].Unread}
	}
	return all
}

// Sort sorts feeds by title regardless of case and accents.
func Sort(feeds []Feed) {
	type keyed struct {
		Feed
		key string
	}
	all := make([]keyed, len(feeds))
	for i, f := range feeds {
		all[i] = keyed{f, text.SortKey(f.Title)}
	}
	slices.SortFunc(all, func(a, b keyed) int { return cmp.Or(strings.Compare(a.key, b.key), cmp.Compare(a.ID, b.ID)) })
	for i := range all {
		feeds[i] = all[i].Feed
	}
}
