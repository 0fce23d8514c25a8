package readerui

import (
	"strconv"
	"strings"

	"cloudburst/internal/href"
	"cloudburst/internal/river"
)

// publicID returns the ID of an item in the feed of a public river at the URL root. Feeds are free to
// use equal IDs for different items, so the ID is the URL of the item's page in the river. An item
// keeps the ID of its feed if that is its link to the feed's own site, which no other item has. The ID
// does not depend on other items and feeds, so it does not change when they do.
//
// spec:cloudburst#public-river-ids
func publicID(root string, e *river.Entry) string {
	site := func(url string) string { return strings.TrimPrefix(href.HostPort(url), "www.") }
	if own := site(e.GUID); own != "" && e.GUID == e.Link && (own == site(e.Source.URL) || own == site(e.Source.Home)) {
		return e.GUID
	}
	return root + "/item/" + strconv.FormatInt(e.ID, 10)
}
