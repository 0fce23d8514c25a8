package metaweblog

import (
	"cmp"
	"slices"
	"strings"
)

// wpOrder sorts posts by orderby and order of a filter: names of fields separated by
// spaces, and ASC or DESC. As in WordPress, an unknown field means the date, and any order
// other than ASC is descending.
//
// spec:wordpress-xmlrpc#post-filter
func wpOrder(list []Post, orderby, order string) {
	fields := strings.Fields(orderby)
	slices.SortStableFunc(list, func(a, b Post) int {
		for _, field := range fields {
			if n := wpCompare(field, a, b); n != 0 {
				if strings.EqualFold(order, "ASC") {
					return n
				}
				return -n
			}
		}
		return 0
	})
}

// wpCompare compares two posts by one field. For a field that is equal in all posts of a weblog it
// returns 0.
func wpCompare(field string, a, b Post) int {
	switch strings.ToLower(strings.TrimPrefix(field, "post_")) {
	case "title":
		return cmp.Compare(strings.ToLower(a.Title), strings.ToLower(b.Title))
	case "name":
		return cmp.Compare(a.Slug, b.Slug)
	case "modified":
		return a.Modified.Compare(b.Modified)
	case "id":
		return cmp.Or(cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID)) // IDs are decimal numbers, so a longer ID is greater
	case "none", "author", "parent", "menu_order", "comment_count":
		return 0
	}
	return a.Created.Compare(b.Created)
}
