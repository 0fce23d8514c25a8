package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cloudburst/feed/discover"
	"cloudburst/protocol/rsscloud"
)

// page checks that the home page of the feed names the feed.
func (x *exam) page(ctx context.Context) bool {
	link := x.doc.Link
	if rsscloud.CheckFeedURL(link) != nil {
		x.add(SubjectPage, "page", Note, "The feed does not name its home page.", "Put the URL of the home page into the feed's link.")
		return true
	}
	if sameURL(link, x.feed) || sameURL(link, x.first.url) {
		x.add(SubjectPage, "page", Warning, "The feed names itself as its home page.", "Put the URL of the home page into the feed's link.")
		return true
	}
	got := x.get(ctx, link, how{limit: maxPage})
	if !got.ok() {
		x.add(SubjectPage, "page", Warning, fmt.Sprintf("The home page of the feed, %s, is not readable: %s.", link, got.outcome()), "Put the right URL of the home page into the feed's link.")
		return true
	}
	found := discover.HTML(got.body, got.url, got.header)
	if found.Format != "" {
		x.add(SubjectPage, "page", Note, fmt.Sprintf("The home page that the feed names, %s, is a feed too.", link), "Put the URL of a page into the feed's link.")
		return true
	}
	var sure []string
	for _, l := range found.Links {
		if !l.Guess && (l.From == discover.FromLink || l.From == discover.FromHeader) {
			sure = append(sure, l.URL)
		}
	}
	x.alternate(link, sure)
	return true
}

func (x *exam) alternate(page string, named []string) {
	fix := "Put this into the head of the page:\n" + alternate(mediaTypeOf(x.doc), x.feed)
	known := append([]string{x.feed, x.first.url}, x.links.topic)
	isFeed := func(u string) bool {
		return slices.ContainsFunc(known, func(k string) bool { return sameURL(k, u) })
	}
	near := func(u string) bool {
		return slices.ContainsFunc(known, func(k string) bool { return k != "" && bare(k) == bare(u) })
	}
	i := slices.IndexFunc(named, near)
	switch {
	case slices.ContainsFunc(named, isFeed):
		x.add(SubjectPage, "page-alternate", OK, fmt.Sprintf("The page %s names the feed, so readers find it.", page), "")
	case i >= 0:
		x.add(SubjectPage, "page-alternate", Note, fmt.Sprintf("The page %s names the feed by another URL: %s", page, named[i]), fix)
	case len(named) > 0:
		x.add(SubjectPage, "page-alternate", Warning, fmt.Sprintf("The page %s names other feeds, such as %s, but not this one.", page, short(named[0], 300)), fix)
	default:
		x.add(SubjectPage, "page-alternate", Warning, fmt.Sprintf("The page %s does not name the feed, so readers that know only the page do not find it.", page), fix)
	}
}

// bare removes the parts of a URL that often differ between two URLs of the same page.
func bare(address string) string {
	_, rest, _ := strings.Cut(strings.ToLower(address), "://")
	return strings.TrimSuffix(strings.TrimPrefix(rest, "www."), "/")
}
