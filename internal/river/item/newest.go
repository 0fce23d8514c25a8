package item

import (
	"fmt"
	"slices"

	"cloudburst/feed"
)

// KeepNewest reduces a document to its newest limit items, by date. Items without a date come
// last, in the order of the document.
//
// spec:cloudburst#river-newest-count
func KeepNewest(f *feed.Feed, limit int) {
	n := len(f.Items)
	if n <= limit {
		return
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return dateOf(&f.Items[b]).Compare(dateOf(&f.Items[a]))
	})
	order = order[:limit]
	slices.Sort(order)
	kept := make([]feed.Item, 0, limit) // a new slice, so that the garbage collector can free the old array
	for _, i := range order {
		kept = append(kept, f.Items[i])
	}
	f.Items = kept
	f.Problems = append(f.Problems, feed.Problem{
		Kind: feed.ProblemLimit, Message: fmt.Sprintf("There are %d items; the newest %d are read.", n, limit),
	})
}
