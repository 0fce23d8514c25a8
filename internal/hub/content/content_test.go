package content

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

// testLimit is the memory limit of these tests, in bytes.
const testLimit = 128 << 20

// loader returns a load function that returns contents of size bytes and counts its calls.
func loader(size int, reads *atomic.Int64) func(context.Context, int64) (Content, error) {
	return func(context.Context, int64) (Content, error) {
		reads.Add(1)
		return Content{Version: 1, Body: make([]byte, size)}, nil
	}
}

// checkCounts compares the counters of the cache with the contents that it holds.
func checkCounts(t *testing.T, c *Cache) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	var bytes, spare int64
	for _, h := range c.held {
		if bytes += h.size; h.idle {
			spare += h.size
		}
		if h.idle != (h.uses.Load() == 0) {
			t.Errorf("%v has %d users, idle: %v", h.key, h.uses.Load(), h.idle)
		}
	}
	if bytes != c.bytes || spare != c.idleBytes || spare > c.max/idleShare || bytes > c.max {
		t.Errorf("%d bytes are held, %d of them idle; counted are %d and %d", bytes, spare, c.bytes, c.idleBytes)
	}
}

func TestConcurrentDeliveriesLoadContentOnce(t *testing.T) {
	t.Parallel()
	var reads atomic.Int64
	c := New(testLimit, loader(1000, &reads))
	pinned, err := c.Acquire(t.Context(), 1, 1, 1000, true)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			for range 200 {
				h := pinned
				if !h.Share() {
					t.Error("Share of a used content returned false")
					return
				}
				c.Release(h)
				again, err := c.Acquire(t.Context(), 1, 1, 1000, true)
				if err != nil || again != pinned {
					t.Error("second content", err)
					return
				}
				c.Release(again)
			}
		})
	}
	group.Wait()
	checkCounts(t, c)
	c.Release(pinned)
	if pinned.Share() {
		t.Error("an unused content was shared without the lock")
	}
	checkCounts(t, c)
	if n := reads.Load(); n != 1 {
		t.Errorf("read %d times", n)
	}
}

func TestCountedBytesMatchTheContentsInMemory(t *testing.T) {
	t.Parallel()
	var reads atomic.Int64
	const size = 5 << 20
	c := New(testLimit, func(context.Context, int64) (Content, error) {
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
			var last *Held
			for i := range int64(200) {
				topic := (i*worker + i) % 40
				if i%9 == 0 {
					c.Put(topic, Content{Version: 1, Body: make([]byte, 1<<20)})
				}
				h := last
				if !h.Share() {
					var err error
					if h, err = c.Acquire(t.Context(), topic, 1, size, true); err != nil {
						continue
					}
				}
				last = h
				c.Release(h)
			}
		})
	}
	group.Wait()
	checkCounts(t, c)
}

func TestAcquireWaitsForMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var reads atomic.Int64
		c := New(testLimit, loader(testLimit/4+1, &reads))
		var all []*Held
		for topic := range int64(3) {
			h, err := c.Acquire(t.Context(), topic, 1, testLimit/4+1, true)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, h)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.Acquire(ctx, 3, 1, testLimit/4+1, true); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("fourth content: %v", err)
		}
		receivedAt := make(chan error, 1)
		go func() {
			h, err := c.Acquire(t.Context(), 3, 1, testLimit/4+1, true)
			if err == nil {
				c.Release(h)
			}
			receivedAt <- err
		}()
		synctest.Wait()
		select {
		case <-receivedAt:
			t.Fatal("Acquire did not wait")
		default:
		}
		c.Release(all[0])
		if err := <-receivedAt; err != nil {
			t.Fatal(err)
		}
		c.Release(all[1])
		c.Release(all[2])
		checkCounts(t, c)
	})
}

func TestAcquireWithoutWaitReturnsErrFullIfMemoryIsFull(t *testing.T) {
	t.Parallel()
	var reads atomic.Int64
	c := New(10, loader(9, &reads))
	held, err := c.Acquire(t.Context(), 1, 1, 9, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Acquire(t.Context(), 2, 1, 9, false); !errors.Is(err, ErrFull) {
		t.Errorf("other content: %v", err)
	}
	again, err := c.Acquire(t.Context(), 1, 1, 9, false)
	if err != nil || again != held {
		t.Errorf("existing content: %v", err)
	}
	c.Release(again)
	c.Release(held)
}

func TestWaitingDeliveriesReceiveMemoryInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var reads atomic.Int64
		c := New(10, loader(5, &reads))
		small, err := c.Acquire(t.Context(), 1, 1, 5, true)
		if err != nil {
			t.Fatal(err)
		}
		var order []int64
		var group sync.WaitGroup
		for _, topic := range []int64{2, 3} {
			group.Go(func() {
				h, err := c.Acquire(t.Context(), topic, 1, map[int64]int64{2: 11, 3: 5}[topic], true)
				if err != nil {
					t.Error(err)
					return
				}
				order = append(order, topic)
				c.Release(h)
			})
			synctest.Wait()
		}
		if len(order) != 0 {
			t.Fatalf("%v did not wait", order)
		}
		if _, err := c.Acquire(t.Context(), 4, 1, 5, false); !errors.Is(err, ErrFull) {
			t.Errorf("overtook the waiters: %v", err)
		}
		c.Release(small)
		group.Wait()
		if len(order) != 2 || order[0] != 2 {
			t.Errorf("the order was %v", order)
		}
		if len(c.queue) != 0 {
			t.Errorf("%d waiters remain", len(c.queue))
		}
	})
}

func TestCancelledWaitLetsTheNextDeliveryProceed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var reads atomic.Int64
		c := New(10, loader(5, &reads))
		small, err := c.Acquire(t.Context(), 1, 1, 5, true)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		gaveUp, receivedAt := make(chan error, 1), make(chan error, 1)
		go func() { _, err := c.Acquire(ctx, 2, 1, 11, true); gaveUp <- err }()
		synctest.Wait()
		go func() {
			h, err := c.Acquire(t.Context(), 3, 1, 5, true)
			if err == nil {
				c.Release(h)
			}
			receivedAt <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-gaveUp; !errors.Is(err, context.Canceled) {
			t.Errorf("the first: %v", err)
		}
		if err := <-receivedAt; err != nil {
			t.Errorf("the second: %v", err)
		}
		c.Release(small)
		checkCounts(t, c)
	})
}

func TestContentSmallerThanEstimatedFreesMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var reads atomic.Int64
		loading := make(chan struct{})
		c := New(10, func(ctx context.Context, topic int64) (Content, error) {
			if topic == 1 {
				<-loading
			}
			return loader(2, &reads)(ctx, topic)
		})
		for _, topic := range []int64{1, 2} {
			go func() {
				if _, err := c.Acquire(t.Context(), topic, 1, 8, true); err != nil {
					t.Error(err)
				}
			}()
			synctest.Wait()
		}
		close(loading)
		synctest.Wait()
		if n := reads.Load(); n != 2 {
			t.Errorf("%d contents were read although no memory was freed", n)
		}
	})
}
