package announce

import (
	"context"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/href"
)

const (
	lookEvery = time.Minute // a row that another process wrote, and left, is seen by then
	lookLeast = 20 * time.Millisecond
	slack     = 15 * time.Second // of a lease, beyond the longest ping
	aside     = 2 * time.Second  // how long a ping waits whose host has enough of them
)

// desk counts the pings under way.
type desk struct {
	mu    sync.Mutex
	total int
	busy  map[string]int // by host
}

// begin takes a place for a ping to host; false: it has its share already.
func (d *desk) begin(host string, most int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.busy[host] >= most {
		return false
	}
	d.busy[host]++
	d.total++
	return true
}

func (d *desk) end(host string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.total--
	if d.busy[host]--; d.busy[host] <= 0 {
		delete(d.busy, host)
	}
}

func (d *desk) underWay() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.total
}

// Wake tells Run that rows may be due.
func (a *Announcer) Wake() {
	a.init()
	select {
	case a.woken <- struct{}{}:
	default:
	}
}

// Run tells sinks until ctx ends, and returns when what is under way is over or given back.
func (a *Announcer) Run(ctx context.Context) error {
	a.init()
	var group sync.WaitGroup
	defer group.Wait()
	for ctx.Err() == nil {
		list := a.claim(ctx)
		var back []Owed
		for _, o := range list {
			s, _ := ParseSink(o.Sink) // one that is none is dropped by tell
			host := href.HostPort(s.URL)
			if !a.desk.begin(host, a.Options.PerHost) {
				back = append(back, o)
				continue
			}
			group.Go(func() {
				defer a.Wake()
				defer a.desk.end(host)
				defer a.caught(o)
				a.tell(ctx, o)
			})
		}
		a.giveBack(ctx, back)
		if len(list) == 0 {
			a.pause(ctx)
		}
	}
	return nil
}

// claim takes what is due, as much as there are hands for.
func (a *Announcer) claim(ctx context.Context) []Owed {
	free := a.Options.AtOnce - a.desk.underWay()
	if free <= 0 {
		return nil
	}
	now := a.now()
	list, err := a.Store.ClaimSinks(ctx, now, now.Add(a.Options.Timeout+slack), free, rand.Int64()|1)
	if err != nil && ctx.Err() == nil {
		a.Log.WarnContext(ctx, "look which sinks are to be told", "err", err)
	}
	return list
}

// giveBack puts off what cannot be done now, so that the next look finds something else.
func (a *Announcer) giveBack(ctx context.Context, list []Owed) {
	for _, o := range list {
		a.settle(ctx, o, func(o *Owed) *event.Event {
			o.DueAt = a.now().Add(aside)
			return nil
		})
	}
}

// pause waits until something is due, or somebody says that it may be.
func (a *Announcer) pause(ctx context.Context) {
	wait := lookEvery
	next, err := a.Store.NextSink(ctx)
	if a.desk.underWay() >= a.Options.AtOnce {
		err = context.Canceled // whoever is done wakes us
	}
	if err == nil && !next.IsZero() {
		wait = min(max(next.Sub(a.now()), lookLeast), lookEvery)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-a.woken:
	case <-timer.C:
	}
}

// caught keeps a mistake of ours with one ping from ending everything.
func (a *Announcer) caught(o Owed) {
	if p := recover(); p != nil {
		a.Log.Error("telling a sink panicked", "sink", o.Sink, "topic", o.Topic, "panic", p, "stack", string(debug.Stack()))
	}
}
