package authorui

import (
	"fmt"
	"strings"
	"testing"

	"cloudburst/internal/author"
	"cloudburst/internal/web/shell"
)

func TestHeadOfAPageLinksToEachFormatOnce(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{
		"application/rss+xml; charset=utf-8": "rss.xml feed.atom feed.json", "text/xml": "rss.xml feed.atom feed.json",
		"application/atom+xml": "rss.xml feed.xml feed.json", "application/feed+json": "rss.xml feed.xml feed.atom",
	} {
		var got []string
		for _, l := range headLinks("alice", author.Feed{Type: kind}, shell.FeedFormats("alice")) {
			got = append(got, strings.TrimPrefix(l.Href, "/alice/"))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("of a feed saved as %s the head names %v; want %s", kind, got, want)
		}
	}
}

func TestPageCacheIsBounded(t *testing.T) {
	t.Parallel()
	var c pageCache
	for i := range 500 {
		c.put(authorKey{user: fmt.Sprint(i)}, &authorPage{size: 1 << 10})
		c.get(authorKey{user: "0"})
	}
	if c.pages.Len() != maxCachedPages || c.pages.Size() != maxCachedPages<<10 || c.get(authorKey{user: "0"}) == nil {
		t.Errorf("%d pages, %d bytes", c.pages.Len(), c.pages.Size())
	}
	for i := range 20 {
		c.put(authorKey{user: "large", page: i}, &authorPage{size: 1 << 20})
	}
	if c.pages.Size() > maxCachedBytes {
		t.Errorf("%d bytes", c.pages.Size())
	}
}
