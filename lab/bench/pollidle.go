package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"cloudburst/feed/polling"
	"cloudburst/internal/river"
)

const idleAtOnce = 5000 // number of feeds added in one call

// idle measures the memory that an idle feed needs. The next check of each feed is hours later,
// while the process polls for due feeds.
func (b Poll) idle(ctx context.Context, s *stage) (err error) {
	dir := filepath.Join(s.dir, "idle")
	r, err := b.open(ctx, s, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close(), os.RemoveAll(dir)) }()
	r.run(ctx)
	before := residentNow()
	now := r.now()
	for at := 0; at < b.Idle; at += idleAtOnce {
		s.progress.Step("idle feeds", at, b.Idle)
		list := make([]river.Addition, min(idleAtOnce, b.Idle-at))
		for i := range list {
			u := fmt.Sprintf("http://site%d.example.org/feed.xml", at+i)
			id, state := river.SourceID(u), polling.New(u, now)
			state.NextAt = now.Add(time.Hour + time.Duration(at+i)*time.Millisecond)
			list[i] = river.Addition{
				Subscription: river.Subscription{SourceID: id, AddedAt: now},
				Source:       river.Source{ID: id, URL: u, State: state, NextAt: state.NextAt, CreatedAt: now},
			}
		}
		if _, err := r.store.RiverSubscribe(ctx, list, now, b.Idle); err != nil {
			return err
		}
	}
	r.river.Wake()
	if n, err := r.store.CountSources(ctx, r.now()); err != nil || n.Sources != int64(b.Idle) || n.Due > 0 {
		return fmt.Errorf("of %d feeds there are %+v, %w", b.Idle, n, err)
	}
	s.report.add("memory for each idle feed", float64(residentNow()-before)/float64(b.Idle)/1024, "KiB").target("≤", 2).
		note("of %s on disk, that the process grew by with all of its caches", thousands(int64(b.Idle)))
	return nil
}

// residentNow returns the resident memory of this process in bytes, after the process returned
// free memory to the system. It returns 0 if the memory is unknown.
func residentNow() int64 {
	debug.FreeOSMemory()
	raw, err := os.ReadFile("/proc/self/statm")
	var all, resident int64
	if err == nil {
		_, err = fmt.Sscan(string(raw), &all, &resident)
	}
	if err != nil {
		return 0 // only Linux reports resident memory
	}
	return resident * int64(os.Getpagesize())
}
