package discover

import (
	"net/url"
	"slices"
	"strings"
)

// WellKnown gives addresses under which the feed of a page may be, the likeliest
// first: those beside the page, such as a weblog in a folder of its own, then those
// of the whole site. They are guesses: a caller asks one after the other, as [Find]
// does, and stops at the first that is a feed. Nil when address is no http URL.
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

// folderOf is the folder that a page is, or is in. A last segment without a dot is
// taken for a folder: /blog and /~user are.
func folderOf(u *url.URL) string {
	p := u.Path
	i := strings.LastIndexByte(p, '/')
	if last := p[i+1:]; last != "" && !strings.Contains(last, ".") {
		return p + "/"
	}
	return p[:i+1]
}
