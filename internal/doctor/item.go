package doctor

import (
	"context"
	"fmt"
	"strings"

	"cloudburst/feed"
)

// items looks at what tells items apart: hubs deliver changes, and readers decide by
// the ids what is new in them.
func (x *exam) items(context.Context) bool {
	all := x.doc.Items
	if len(all) == 0 {
		x.add(SubjectItems, "items", Note, "The feed has no items.", "")
		return true
	}
	name := map[feed.Format]string{feed.RSS: "<guid>", feed.Atom: "<id>", feed.JSONFeed: "id"}[x.doc.Format]
	if name == "" || x.doc.Format == feed.RSS && !strings.HasPrefix(x.doc.Version, "2") && x.doc.Version != "0.94" {
		return true // formats without ids
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
			if first == "" {
				first = it.ID
			}
		}
		seen[it.ID] = true
		if it.Link == "" {
			unlinked++
		}
	}
	if without > 0 {
		x.add(SubjectItems, "item-id", Warning, fmt.Sprintf("%s no %s: when their address or words change, readers show them as new.", share(without, len(all)), name),
			"Give each item "+name+", a text that no other item has and that never changes.")
	}
	if twice > 0 {
		x.add(SubjectItems, "item-id-unique", Warning, fmt.Sprintf("%s the id of another, such as %s: readers show one of them only.", had(twice), quote(first)),
			"Give each item an id of its own.")
	}
	if without+twice == 0 {
		x.add(SubjectItems, "item-id", OK, fmt.Sprintf("Each has its own %s.", name), "")
	}
	if unlinked > 0 {
		x.add(SubjectItems, "item-link", Note, fmt.Sprintf("%s no address (no link, and no guid that is one).", share(unlinked, len(all))),
			"If an item has a page, give its address in a link: readers can then open it.")
	}
	return true
}

// share is how many items of all have something.
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
