package readerui

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"cloudburst/internal/river"
)

// publicIDs assigns IDs to the items of a public river. Feeds are free to use equal IDs for
// different items, so the ID of an item is the URL of its page in the river, with one exception: an
// item keeps the URL that its feed uses as ID if only this feed of the river belongs to the host of
// the URL. The rule does not depend on the other items, so an ID does not change when items arrive.
//
// spec:cloudburst#public-river-ids
type publicIDs struct {
	root  string             // URL of the public river
	feeds map[string]int     // key: host; value: number of feeds of the river that belong to the host
	hosts map[int64][]string // key: ID of a source; value: its hosts
}

func newPublicIDs(root string, list []river.Followed) publicIDs {
	ids := publicIDs{root, map[string]int{}, map[int64][]string{}}
	for i := range list {
		s := &list[i].Source
		if s.Private() {
			continue
		}
		hosts := []string{hostOf(s.URL)}
		if home := hostOf(s.About.Home); home != hosts[0] {
			hosts = append(hosts, home)
		}
		for _, h := range hosts {
			ids.feeds[h]++
		}
		ids.hosts[s.ID] = hosts
	}
	return ids
}

// of returns the ID of an item.
func (ids publicIDs) of(e *river.Entry) string {
	if host := hostOf(e.GUID); host != "" && ids.feeds[host] == 1 {
		if slices.Contains(ids.hosts[e.SourceID], host) {
			return e.GUID
		}
	}
	return ids.root + "/item/" + strconv.FormatInt(e.ID, 10)
}

// hostOf returns the host of a web URL, in lowercase and without "www."; "": s is not a web URL.
func hostOf(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return strings.TrimPrefix(strings.ToLower(u.Host), "www.")
}
