package syndicate

import (
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"cloudburst/internal/fault"
)

func TestConcurrentRequestsRenderAFeedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLayer(t)
		var loads atomic.Int64
		s := saved(1, nil)
		s.Load = func(context.Context) ([]byte, string, error) {
			loads.Add(1)
			time.Sleep(time.Second)
			return rss("one"), "", nil
		}
		var group sync.WaitGroup
		for i := range 400 {
			group.Go(func() { get(t, l, s, []string{"", "atom", "csv", "rss20"}[i%4]) })
		}
		// A canceled request does not affect other requests, even if it started the build.
		gone, cancel := context.WithCancel(t.Context())
		group.Go(func() {
			if _, _, err := l.Document(gone, s, "csv"); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
		synctest.Wait()
		cancel()
		group.Wait()
		if _, _, err := l.Document(t.Context(), s, "csv"); err != nil || loads.Load() != 1 {
			t.Errorf("loaded %d times, %v", loads.Load(), err)
		}
	})
}

func TestCanceledFirstRequestDoesNotFailTheOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLayer(t)
		s := saved(1, nil)
		s.Load = func(ctx context.Context) ([]byte, string, error) {
			select {
			case <-time.After(time.Second):
				return rss("one"), "", nil
			case <-ctx.Done():
				return nil, "", ctx.Err()
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		var group sync.WaitGroup
		group.Go(func() {
			if _, _, err := l.Document(ctx, s, ""); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		})
		synctest.Wait()
		group.Go(func() { get(t, l, s, "") })
		group.Wait()
		// A source whose Load never returns times out.
		s.Key, s.Load = "slow", func(ctx context.Context) ([]byte, string, error) { <-ctx.Done(); return nil, "", ctx.Err() }
		if _, _, err := l.Document(t.Context(), s, ""); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		checkInvariants(t, l)
	})
}

func TestPanicWhileRenderingFailsOnlyItsFeed(t *testing.T) {
	t.Parallel()
	l := newLayer(t)
	l.Log = slog.New(slog.DiscardHandler)
	s := saved(1, nil)
	broken := true
	s.Load = func(context.Context) ([]byte, string, error) {
		if broken {
			panic("broken")
		}
		return rss("one"), "", nil
	}
	w := httptest.NewRecorder()
	_, err := l.Serve(w, httptest.NewRequest("GET", "/", nil), s, "atom")
	if fault.CodeOf(err) != fault.Internal || fault.Message(err) != fault.Neutral || w.Body.Len() > 0 || len(w.Header()) > 0 {
		t.Errorf("%v %v %s", err, w.Header(), w.Body)
	}
	checkInvariants(t, l)
	broken = false
	get(t, l, s, "atom")
}

func TestEvictedFeedIsRenderedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLayer(t)
		s := saved(1, nil)
		content := "old"
		s.Load = func(context.Context) ([]byte, string, error) {
			doc := rss(content)
			time.Sleep(time.Second)
			return doc, "", nil
		}
		go get(t, l, s, "atom")
		synctest.Wait()
		content = "new"
		l.Drop(s.Key)
		if w := get(t, l, s, "atom"); !strings.Contains(w.Body.String(), "new") {
			t.Error(w.Body)
		}
		time.Sleep(time.Minute)
		if w := get(t, l, s, "csv"); !strings.Contains(w.Body.String(), "new") {
			t.Error(w.Body)
		}
		checkInvariants(t, l)
		l.Drop(s.Key)
		l.Drop("nobody")
		if len(l.feeds) != 0 || l.used != 0 {
			t.Errorf("%d feeds, %d bytes", len(l.feeds), l.used)
		}
	})
}
