package discover

import (
	"net/url"
	"slices"
	"strings"
)

// WellKnown returns the usual URLs of a feed for the page at address, the most likely
// first: URLs in the folder of the page, such as the folder of a weblog, then URLs of the
// whole site. They are guesses: request them in order, like [Find], and stop at the first
// feed. The result is nil if address is not an http or https URL.
func WellKnown(address string) []string {
	u, ok := parseURL(nil, address)
	if !ok || u.Host == "" {
		return nil
	}
	u.RawQuery, u.ForceQuery, u.User = "", false, nil
	var list []string
	add := func(folder string, names ...string) {
		for _, n := range names {
			v := *u
			v.RawPath = ""
			v.Path, v.RawQuery, _ = strings.Cut(folder+n, "?")
			if s := v.String(); !slices.Contains(list, s) {
				list = append(list, s)
			}
		}
	}
	if folder := folderOf(u); folder != "/" {
		add(folder, "feed", "rss.xml", "atom.xml", "index.xml", "feed.xml", "feed.json")
	}
	add("/", "feed", "rss.xml", "atom.xml", "index.xml", "feed.xml", "rss", "feed.json", "feed.atom", "feed.rss", "index.rdf", "atom", "index.atom", "index.rss",
		"feed/", "?feed=rss2", "feeds/posts/default", "blog/feed", "rss/", "blog/rss.xml", "blog/index.xml")
	return list
}

// folderOf returns the folder of a page. A last segment without a dot counts as a folder,
// such as /blog and /~user.
func folderOf(u *url.URL) string {
	p := u.Path
	i := strings.LastIndexByte(p, '/')
	if last := p[i+1:]; last != "" && !strings.Contains(last, ".") {
		return p + "/"
	}
	return p[:i+1]
}
