package hub

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// describingFetcher is a fetcher whose documents have a description.
type describingFetcher struct{ about func() About }

func (f describingFetcher) Fetch(context.Context, Fetch) (Fetched, error) {
	return Fetched{About: f.about}, nil
}

func TestConcurrentParsingIsBoundedAndPanicReleasesItsSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		now, maxNow, calls := 0, 0, 0
		parse := func() About {
			mu.Lock()
			calls++
			n := calls
			now++
			maxNow = max(maxNow, now)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			now--
			mu.Unlock()
			if n%3 == 0 {
				panic("bad letters")
			}
			return About{Title: "Site"}
		}
		g := guardedFetcher{describingFetcher{parse}, slog.New(slog.DiscardHandler), make(chan struct{}, 2)}
		var group sync.WaitGroup
		described := 0
		for range 12 {
			group.Go(func() {
				got, err := g.Fetch(t.Context(), Fetch{})
				if err != nil {
					t.Error(err)
				}
				if a := got.About(); a.Title == "Site" {
					mu.Lock()
					described++
					mu.Unlock()
				}
			})
		}
		group.Wait()
		if maxNow != 2 || described != 8 || calls != 12 {
			t.Errorf("%d at once, want 2; %d of %d had a description, want 8 of 12", maxNow, described, calls)
		}
	})
}
