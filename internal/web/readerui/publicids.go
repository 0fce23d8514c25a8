package readerui

import (
	"net/url"
	"strconv"
	"strings"

	"cloudburst/internal/river"
)

// publicID returns the ID of an item in the feed of a public river at the URL root. Feeds are free to
// use equal IDs for different items, so the ID is the URL of the item's page in the river. An item
// keeps the ID of its feed if that is its link to the feed's own site, which no other item has. The ID
// does not depend on other items and feeds, so it does not change when they do.
//
// spec:cloudburst#public-river-ids
func publicID(root string, e *river.Entry) string {
	if host := hostOf(e.GUID); host != "" && e.GUID == e.Link && (host == hostOf(e.Source.URL) || host == hostOf(e.Source.Home)) {
		return e.GUID
	}
	return root + "/item/" + strconv.FormatInt(e.ID, 10)
}

// hostOf returns the host of a web URL, in lowercase and without "www."; "": s is not a web URL.
func hostOf(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return strings.TrimPrefix(strings.ToLower(u.Host), "www.")
}
