package hub

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"cloudburst/internal/fault"
)

// loaded is a store with one content of size bytes of each topic.
func loaded(size int, reads *atomic.Int64) func(context.Context, int64) (Content, error) {
	return func(context.Context, int64) (Content, error) {
		reads.Add(1)
		return Content{Version: 1, Body: make([]byte, size)}, nil
	}
}

// holds compares what is counted with what is held.
func holds(t *testing.T, c *contents) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	var bytes, spare int64
	for _, h := range c.held {
		if bytes += h.size; h.spare {
			spare += h.size
		}
		if h.spare != (h.uses.Load() == 0) {
			t.Errorf("%v has %d users, idle: %v", h.key, h.uses.Load(), h.spare)
		}
	}
	if bytes != c.bytes || spare != c.spare || spare > contentIdle || bytes > contentMost {
		t.Errorf("%d bytes are held, %d of them idle; counted are %d and %d", bytes, spare, c.bytes, c.spare)
	}
}

func TestAContentIsReadOnceForAllWhoWantIt(t *testing.T) {
	t.Parallel()
	var reads atomic.Int64
	c := newContents(loaded(1000, &reads))
	pinned, err := c.acquire(t.Context(), 1, 1, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			for range 200 {
				h := pinned
				if !h.share() {
					t.Error("it is in use, and cannot be shared")
					return
				}
				c.release(h)
				again, err := c.acquire(t.Context(), 1, 1, 1000)
				if err != nil || again != pinned {
					t.Error("another one", err)
					return
				}
				c.release(again)
			}
		})
	}
	group.Wait()
	holds(t, c)
	c.release(pinned)
	if pinned.share() {
		t.Error("nobody uses it, and it is shared without the lock")
	}
	holds(t, c)
	if n := reads.Load(); n != 1 {
		t.Errorf("read %d times", n)
	}
}

func TestWhatIsCountedIsWhatIsHeld(t *testing.T) {
	t.Parallel()
	var reads atomic.Int64
	const size = 5 << 20
	c := newContents(func(context.Context, int64) (Content, error) {
		switch reads.Add(1) % 7 {
		case 0:
			return Content{}, errors.New("the disk is away")
		case 1:
			return Content{}, fault.New(fault.NotFound, "none is kept")
		}
		return Content{Version: 1, Body: make([]byte, size)[:size:size]}, nil
	})
	var group sync.WaitGroup
	for worker := range int64(16) {
		group.Go(func() {
			var last *heldContent
			for i := range int64(200) {
				topic := (i*worker + i) % 40
				if i%9 == 0 {
					c.put(topic, Content{Version: 1, Body: make([]byte, 1<<20)})
				}
				h := last
				if !h.share() {
					var err error
					if h, err = c.acquire(t.Context(), topic, 1, size); err != nil {
						continue
					}
				}
				last = h
				c.release(h)
			}
		})
	}
	group.Wait()
	holds(t, c)
}

func TestADeliveryWaitsForRoomAndGetsIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var reads atomic.Int64
		c := newContents(loaded(contentMost/4+1, &reads))
		var all []*heldContent
		for topic := range int64(3) {
			h, err := c.acquire(t.Context(), topic, 1, contentMost/4+1)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, h)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.acquire(ctx, 3, 1, contentMost/4+1); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("a fourth has no room: %v", err)
		}
		came := make(chan error, 1)
		go func() {
			h, err := c.acquire(t.Context(), 3, 1, contentMost/4+1)
			if err == nil {
				c.release(h)
			}
			came <- err
		}()
		synctest.Wait()
		select {
		case <-came:
			t.Fatal("it did not wait")
		default:
		}
		c.release(all[0])
		if err := <-came; err != nil {
			t.Fatal(err)
		}
		c.release(all[1])
		c.release(all[2])
		holds(t, c)
	})
}
