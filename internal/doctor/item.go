package doctor

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"cloudburst/feed"
)

// items checks the ids of items. Readers recognise new items by their ids.
func (x *exam) items(context.Context) bool {
	all := x.doc.Items
	if len(all) == 0 {
		x.add(SubjectItems, "items", Note, "The feed has no items.", "")
		return true
	}
	name := map[feed.Format]string{feed.RSS: "<guid>", feed.Atom: "<id>", feed.JSONFeed: "id"}[x.doc.Format]
	if name == "" || x.doc.Format == feed.RSS && !strings.HasPrefix(x.doc.Version, "2") && x.doc.Version != "0.94" {
		return true // this format has no ids
	}
	without, twice, unlinked := 0, 0, 0
	first := ""
	seen := make(map[string]bool, len(all))
	for i := range all {
		it := &all[i]
		if it.IDFrom != feed.FromID {
			without++
		}
		if seen[it.ID] {
			twice++
			first = cmp.Or(first, it.ID)
		}
		seen[it.ID] = true
		if it.Link == "" {
			unlinked++
		}
	}
	if without > 0 {
		x.add(SubjectItems, "item-id", Warning, fmt.Sprintf("%s no %s. When their URL or text changes, readers show them as new.", share(without, len(all)), name),
			"Give each item "+name+", a text that is unique and never changes.")
	}
	if twice > 0 {
		x.add(SubjectItems, "item-id-unique", Warning, fmt.Sprintf("%s the id of another item, such as %s. Readers show only one of them.", had(twice), quote(first)),
			"Give each item a unique id.")
	}
	if without+twice == 0 {
		x.add(SubjectItems, "item-id", OK, fmt.Sprintf("Each item has a unique %s.", name), "")
	}
	if unlinked > 0 {
		x.add(SubjectItems, "item-link", Note, fmt.Sprintf("%s no URL (no link, and no guid with a URL).", share(unlinked, len(all))),
			"If an item has a page, give its URL in a link, so that readers can open it.")
	}
	return true
}

// share returns the subject of a sentence about n of all items.
func share(n, all int) string {
	switch {
	case all == 1:
		return "The only item has"
	case n == 1:
		return fmt.Sprintf("1 of %d items has", all)
	}
	return fmt.Sprintf("%d of %d items have", n, all)
}

func had(n int) string {
	if n == 1 {
		return "1 item has"
	}
	return fmt.Sprintf("%d items have", n)
}
