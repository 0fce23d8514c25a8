package item

import (
	"fmt"
	"slices"

	"cloudburst/feed"
)

// KeepNewest leaves the newest items of a document that has more than most. Their dates say
// which those are; without any, it is those that come first.
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
	kept := make([]feed.Item, 0, limit) // a new list: the old one would stay in memory as a whole
	for _, i := range order {
		kept = append(kept, f.Items[i])
	}
	f.Items = kept
	f.Problems = append(f.Problems, feed.Problem{
		Kind: feed.ProblemLimit, Message: fmt.Sprintf("There are %d items; the newest %d are read.", n, limit),
	})
}
