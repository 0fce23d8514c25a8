package syndicate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

const (
	modelFeeds   = 3
	modelReaders = 8
	modelRounds  = 400
	modelItems   = 6 // number of items in each document
)

// A client gets the version of its feed that was the newest at the time of the request, or a newer
// version. A client that applies deltas gets all items, while feeds are saved, dropped and evicted.
func TestConcurrentRequestsReceiveTheNewestVersion(t *testing.T) {
	t.Parallel()
	l := newLayer(t)
	l.Memory = 150_000 // too small for all feeds, so that feeds are evicted all the time
	var newest [modelFeeds]atomic.Int64
	source := func(n int) Source {
		s := saved(newest[n].Load(), nil)
		s.Key = fmt.Sprint("feed", n)
		// As with a real store, Load returns the document that is the newest at the time of the read.
		s.Load = func(context.Context) ([]byte, string, error) { return modelDocument(n, newest[n].Load()), "", nil }
		return s
	}
	var statuses sync.Map
	var group sync.WaitGroup
	for who := range modelReaders {
		group.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(who)))
			readers := map[string]*modelReader{}
			for range modelRounds {
				n := random.IntN(modelFeeds)
				switch random.IntN(12) {
				case 0:
					newest[n].Add(1)
				case 1:
					if random.IntN(4) == 0 {
						l.Drop(fmt.Sprint("feed", n))
					}
				default:
					format := []string{"", "rss20", "jsonfeed", "csv"}[random.IntN(4)]
					at := fmt.Sprint(n, format)
					if readers[at] == nil {
						readers[at] = &modelReader{feed: n, format: format}
					}
					status := readers[at].read(t, l, source(n), random.IntN(3) > 0)
					statuses.Store(status, true)
				}
			}
		})
	}
	group.Wait()
	checkInvariants(t, l)
	for _, status := range []int{200, 226, 304} {
		if _, ok := statuses.Load(status); !ok {
			t.Errorf("no response has the status %d", status)
		}
	}
}

// modelDocument returns a document with an item for its version and an item for each of the
// previous versions, modelItems in all.
func modelDocument(n int, version int64) []byte {
	var items []string
	for v := version; v > version-modelItems; v-- {
		items = append(items, fmt.Sprintf("item%dof%dend", v+modelItems, n))
	}
	return rss(items...)
}

// modelReader stores the received items as a feed reader would.
type modelReader struct {
	feed   int
	format string
	tag    string
	newest int64 // newest version that was received
	items  map[int64]bool
}

func (m *modelReader) read(t *testing.T, l *Layer, s Source, difference bool) (status int) {
	t.Helper()
	r := httptest.NewRequest("GET", "/", nil)
	if m.tag != "" {
		r.Header.Set("If-None-Match", m.tag)
		if difference {
			r.Header.Set("A-IM", "feed")
		}
	}
	w := httptest.NewRecorder()
	status, err := l.Serve(w, r, s, m.format)
	if err != nil || status != w.Code {
		t.Errorf("%d for %d: %v", status, w.Code, err)
		return status
	}
	if status == http.StatusNotModified && w.Header().Get("ETag") != m.tag {
		t.Errorf("%d, %q: 304 to %s with %s", m.feed, m.format, m.tag, w.Header().Get("ETag"))
	}
	m.tag = w.Header().Get("ETag")
	if status == http.StatusOK || m.items == nil {
		m.items = map[int64]bool{}
	}
	found := m.add(t, w.Body.String())
	if full := found == modelItems; (status == 200) != full || (status == 304) != (found == 0) {
		t.Errorf("%d, %q: %d items with %d", m.feed, m.format, found, status)
	}
	if m.newest < s.Version {
		t.Errorf("%d, %q: %d, with version %d, want %d", m.feed, m.format, status, m.newest, s.Version)
	}
	for v := m.newest; v > m.newest-modelItems; v-- {
		if !m.items[v] {
			t.Errorf("%d, %q: %d, with version %d, and item %d is missing", m.feed, m.format, status, m.newest, v)
		}
	}
	return status
}

// add stores the items of a document and returns the number of items.
func (m *modelReader) add(t *testing.T, body string) (n int) {
	t.Helper()
	m.newest = max(m.newest, 0)
	seen := map[int64]bool{}
	for _, found := range regexp.MustCompile(`item(\d+)of(\d+)end`).FindAllStringSubmatch(body, -1) {
		v, err := strconv.ParseInt(found[1], 10, 64)
		if err != nil || found[2] != fmt.Sprint(m.feed) {
			t.Errorf("%v in feed %d", found, m.feed)
		}
		v -= modelItems
		seen[v], m.items[v] = true, true
		m.newest = max(m.newest, v)
	}
	return len(seen)
}
