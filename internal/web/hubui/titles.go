package hubui

import (
	"context"
	"strings"
	"sync"
	"time"

	"cloudburst/internal/cache"
	"cloudburst/internal/web/shell"
)

const (
	titleCacheSize = 4096
	titleFresh     = time.Minute // a cached title is looked up again after this time
	maxTitle       = 120         // maximum length of a title in characters
)

// titleCache caches the titles of feeds, so that the lines of a live page need few look-ups. The
// zero value is ready.
type titleCache struct {
	mu    sync.Mutex
	known cache.LRU[string, cachedTitle]
}

type cachedTitle struct {
	title string // title of the feed; "": the server knows no title
	until time.Time
}

// titlesOf returns the titles of the feeds at urls that the server knows. It looks up all
// titles that are not cached with one call. If the call fails, the page shows URLs.
func (s *Pages) titlesOf(ctx context.Context, urls []string) map[string]string {
	found := map[string]string{}
	if s.Titles == nil {
		return found
	}
	now := s.CurrentTime()
	missing := s.titles.take(found, urls, now)
	if len(missing) == 0 {
		return found
	}
	titles, err := s.Titles(ctx, missing)
	if err != nil {
		s.Logger().Warn("look up the titles of feeds", "err", err)
		return found
	}
	s.titles.put(titles, missing, now)
	for url, title := range titles {
		if title = shell.CleanText(strings.TrimSpace(title), maxTitle); title != "" {
			found[url] = title
		}
	}
	return found
}

// take adds the cached titles to found, and returns the other URLs, each once.
func (c *titleCache) take(found map[string]string, urls []string, now time.Time) (missing []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := map[string]bool{}
	for _, url := range urls {
		if url == "" || seen[url] {
			continue
		}
		seen[url] = true
		switch one, ok := c.known.Get(url); {
		case !ok || one.until.Before(now):
			missing = append(missing, url)
		case one.title != "":
			found[url] = one.title
		}
	}
	return missing
}

func (c *titleCache) put(titles map[string]string, urls []string, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known.Max = titleCacheSize
	for _, url := range urls {
		c.known.Put(url, cachedTitle{shell.CleanText(strings.TrimSpace(titles[url]), maxTitle), now.Add(titleFresh)}, 0)
	}
}
