package live

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// received returns the values in a client's channel, followed by -1 if the channel is closed.
func received(c <-chan int) (all []int) {
	for {
		select {
		case v, open := <-c:
			if !open {
				return append(all, -1)
			}
			all = append(all, v)
		default:
			return all
		}
	}
}

// counted returns a tail with buffers of two values. Its worker does nothing. running is the number
// of running workers, begun the number of started ones.
func counted(running, begun *int) *Tail[string, int] {
	return &Tail[string, int]{Buffer: 2, Work: func(ctx context.Context, ready func()) {
		*running++
		*begun++
		ready()
		<-ctx.Done()
		*running--
	}}
}

// join joins the tail or fails the test.
func join(t *testing.T, tail *Tail[string, int], key string, at int64) (c <-chan int, leave func()) {
	t.Helper()
	c, leave, err := tail.Join(t.Context(), key, at)
	if err != nil {
		t.Fatal(err)
	}
	return c, leave
}

func TestWorkerRunsOnlyWhileClientsAreConnected(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		running, begun := 0, 0
		tail := counted(&running, &begun)
		for round := range 2 {
			_, first := join(t, tail, "a", 0)
			_, second := join(t, tail, "a", 0)
			_, third := join(t, tail, "b", 0)
			first()
			third()
			synctest.Wait()
			if running != 1 || begun != round+1 || len(tail.Channels()) != 1 {
				t.Errorf("round %d: %d of %d workers run, for %d channels", round, running, begun, len(tail.Channels()))
			}
			second()
			second() // leave may be called twice
			synctest.Wait()
			if running != 0 || len(tail.Channels()) != 0 {
				t.Errorf("round %d: %d workers run without clients", round, running)
			}
		}
	})
}

func TestSendReachesAllClientsOfAChannelAndDropsSlowClients(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var running, begun int
		tail := counted(&running, &begun)
		slow, leaveSlow := join(t, tail, "a", 10)
		quick, leaveQuick := join(t, tail, "a", 99) // the channel exists and keeps its position
		other, leaveOther := join(t, tail, "b", 20)
		var got []int
		for _, ch := range tail.Channels() {
			if want := map[string]int64{"a": 10, "b": 20}[ch.Key]; tail.At(ch) != want {
				t.Errorf("%s begins at %d, want %d", ch.Key, tail.At(ch), want)
			}
			if ch.Key != "a" {
				continue
			}
			for v := range 3 {
				tail.Send(ch, v, int64(12-v))
				got = append(got, received(quick)...)
			}
			if at := tail.At(ch); at != 12 {
				t.Errorf("the channel is at %d after 12, 11 and 10", at)
			}
		}
		if all := fmt.Sprint(got, received(slow), received(other)); all != "[0 1 2] [0 1 -1] []" {
			t.Errorf("the quick, the slow and the other client got %s", all)
		}
		for _, ch := range tail.Channels() {
			tail.Drop(ch)
		}
		if all := fmt.Sprint(received(quick), received(other)); all != "[-1] [-1]" {
			t.Errorf("after Drop: %s", all)
		}
		leaveSlow()
		leaveQuick()
		leaveOther()
	})
}

func TestJoinWaitsForTheWorkerUntilClientOrServerStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		done := make(chan struct{})
		running := 0
		tail := &Tail[string, int]{Done: done, Work: func(ctx context.Context, ready func()) {
			running++
			defer func() { running-- }()
			select {
			case <-ctx.Done():
				return
			case <-time.After(time.Minute):
			}
			ready()
			<-ctx.Done()
		}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, _, err := tail.Join(ctx, "a", 0); !errors.Is(err, ErrEnded) {
			t.Errorf("a client that left: %v", err)
		}
		synctest.Wait()
		if running != 0 {
			t.Error("a worker runs for a client that left")
		}
		begun := time.Now()
		_, leave := join(t, tail, "a", 0)
		if took := time.Since(begun); took != time.Minute {
			t.Errorf("the worker was ready after %v", took)
		}
		leave()
		synctest.Wait() // wait until the worker has ended
		time.AfterFunc(time.Second, func() { close(done) })
		if _, _, err := tail.Join(t.Context(), "a", 0); !errors.Is(err, ErrEnded) {
			t.Errorf("when the server stops: %v", err)
		}
		synctest.Wait()
	})
}
