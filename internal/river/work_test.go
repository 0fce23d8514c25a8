package river_test

import (
	"context"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"cloudburst/internal/fetch"
	"cloudburst/internal/fulltest"
	"cloudburst/internal/river"
	"cloudburst/internal/river/forward"
)

// panicking is a Fetcher and a Sender. It panics on one document and on every forwarding.
type panicking struct {
	river.Fetcher
	forwards *atomic.Int64
	read     *atomic.Int64
}

func (t panicking) Get(ctx context.Context, r fetch.Request) (*fetch.Response, error) {
	if r.URL == listURL {
		t.read.Add(1)
		panic("a list that causes a panic")
	}
	return t.Fetcher.Get(ctx, r)
}

func (t panicking) Ask(context.Context, forward.Forwarding, string) error { return nil }

func (t panicking) Forward(context.Context, forward.Forwarding, []river.Entry) error {
	t.forwards.Add(1)
	panic("a target that causes a panic")
}

func TestPanicInAReadingListOrForwardingDoesNotStopOthers(t *testing.T) {
	t.Parallel()
	withDisk(t, river.Options{}, func(t *testing.T, h *diskHarness) {
		h.serve(feedURL, doc(rss("", "a")))
		h.serve(listURL, doc(opmlOf()))
		h.add(river.Request{URL: feedURL})
		if _, err := h.river.Import(t.Context(), "ann", nil, river.ImportOptions{URL: listURL, Follow: true}); err != nil {
			t.Fatal(err)
		}
		var forwarded, read atomic.Int64
		h.setup = func(r *river.River) { tr := panicking{r.Fetch, &forwarded, &read}; r.Fetch, r.Forward = tr, tr }
		h.stop()
		h.start()
		if _, err := h.river.PutForwarding(t.Context(), forward.Forwarding{Reader: "ann", Via: forward.ViaWebhook, Target: "https://target.test/"}); err != nil {
			t.Fatal(err)
		}
		h.serve(feedURL, doc(rss("", "b", "a")))
		h.advance(30 * time.Hour)
		if n, lists := forwarded.Load(), read.Load(); h.source(feedURL).Items != 2 || n == 0 || n > 6 || lists == 0 || lists > 6 {
			t.Errorf("%d items; forwarded %d times, the list fetched %d times", h.source(feedURL).Items, n, lists)
		}
	})
}

// spec:cloudburst#river-flood
func TestFeedWithManyNewItemsTriggersAnEarlySweep(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	withDisk(t, river.Options{Keep: 100}, func(t *testing.T, h *diskHarness) {
		n := 0
		h.serve(feedURL, func(w http.ResponseWriter, r *http.Request) {
			var titles []string
			for range 1000 {
				n++
				titles = append(titles, "item "+strconv.Itoa(n))
			}
			doc(rss("", titles...))(w, r)
		})
		h.add(river.Request{URL: feedURL})
		for range 6 {
			h.advance(3 * time.Second)
			if _, err := h.river.ReceivePush(t.Context(), feedURL, "ping"); err != nil {
				t.Fatal(err)
			}
		}
		h.advance(30 * time.Second)
		if got := h.source(feedURL).Items; n < 6000 || got > 1100 {
			t.Errorf("%d items, %d are stored", n, got)
		}
	})
}
