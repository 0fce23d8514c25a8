package fetch

import (
	"context"
	"net"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"

	"cloudburst/internal/fulltest"
)

func TestSendNextToOthersAllocatesOnlyTheContentType(t *testing.T) {
	fulltest.SkipUnderRace(t) // the race detector empties pools
	s := NewSender(SenderOptions{Guard: loopback(), UserAgent: "Test/1"})
	defer s.Close()
	url := "http://127.0.0.1:" + startReceiver(t)
	ctx, cancel := context.WithCancel(t.Context())
	var other sync.WaitGroup
	defer other.Wait()
	defer cancel()
	other.Go(func() { s.Send(ctx, &Message{URL: url + "/never"}) })
	for !s.watches.watch(ctx) {
		runtime.Gosched()
	}
	m := &Message{URL: url + "/notify", ContentType: "text/xml", Body: []byte("url=x")}
	if n := testing.AllocsPerRun(200, func() {
		if r := s.Send(ctx, m); !r.OK() {
			t.Fatal(r.Err)
		}
	}); n > 1 {
		t.Errorf("%v allocations, want at most 1", n)
	}
}

// watch reports whether ws watches ctx.
func (ws *watches) watch(ctx context.Context) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return ws.byDone[ctx.Done()] != nil
}

func TestCancelledContextInterruptsAllItsSendsAndNoOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial := func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go func() { // reads the request and never responds
				defer theirs.Close()
				for b := make([]byte, 512); ; {
					if _, err := theirs.Read(b); err != nil {
						return
					}
				}
			}()
			return ours, nil
		}
		s := NewSender(SenderOptions{Guard: loopback(), Dial: dial})
		defer s.Close()
		first, cancel := context.WithCancel(t.Context())
		defer cancel()
		var interrupted, timedOut sync.WaitGroup
		send := func(ctx context.Context, all *sync.WaitGroup, check func(Reply) bool) {
			all.Go(func() {
				if r := s.Send(ctx, &Message{URL: "http://127.0.0.1:8080/notify", Body: []byte("url=x")}); !check(r) {
					t.Errorf("got %+v", r)
				}
			})
		}
		for range 5 {
			send(first, &interrupted, func(r Reply) bool { return r.NotTried && !r.Timeout })
			send(t.Context(), &timedOut, func(r Reply) bool { return r.Timeout && !r.NotTried })
		}
		synctest.Wait()
		cancel()
		interrupted.Wait()
		if len(s.slots) != 5 {
			t.Errorf("%d sends in progress, want those of the other context", len(s.slots))
		}
		send(first, &interrupted, func(r Reply) bool { return r.NotTried })
		interrupted.Wait()
		timedOut.Wait()
		if n := len(s.watches.byDone); n != 0 {
			t.Errorf("%d contexts are still watched", n)
		}
	})
}
