package app

import (
	"context"
	"fmt"
	"sync"
	"time"

	"cloudburst/internal/checkup"
)

// space remembers whether the file system of the data folder is nearly full. In that state
// /readyz answers 503, but writes continue while space remains.
type space struct {
	mu  sync.Mutex
	low bool // last logged state
}

// spaceState is the free space at one moment.
type spaceState struct {
	free  uint64 // bytes available to this user
	least uint64 // threshold in bytes
	known bool   // the system reports free space
	low   bool
}

// judge decides whether free bytes of size are too few. The threshold is wanted, but at most an
// eighth of the file system. After the space was low, it must exceed the threshold by an eighth, so
// that the state does not flip often. changed reports a change of low.
func (s *space) judge(free, size, wanted uint64) (now spaceState, changed bool) {
	now = spaceState{free: free, least: min(wanted, size/8), known: size > 0}
	s.mu.Lock()
	defer s.mu.Unlock()
	enough := now.least
	if s.low {
		enough += now.least / 8
	}
	now.low = now.known && free < enough
	changed, s.low = now.low != s.low, now.low
	return now, changed
}

// freeSpace measures the space and logs each change of state. A node with an external database
// has no threshold, because it stores nothing acknowledged in its data folder.
func (a *App) freeSpace() spaceState {
	least := uint64(a.cfg.Disk.MinFree)
	if a.cfg.Database != "" {
		least = 0
	}
	free, size, _ := diskOf(a.cfg.Data)
	now, changed := a.space.judge(free, size, least)
	switch {
	case changed && now.low:
		a.log.Warn("the disk of the data folder is nearly full, and /readyz answers 503", "folder", a.cfg.Data, "free", free, "disk.min-free", now.least)
	case changed:
		a.log.Info("the disk of the data folder has enough free space again", "folder", a.cfg.Data, "free", free)
	}
	return now
}

// watchSpace measures periodically, so that the log has the change even if nothing requests
// /readyz.
func (a *App) watchSpace(ctx context.Context) {
	tick := time.NewTicker(10 * time.Second)
	defer tick.Stop()
	for {
		a.freeSpace()
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// spaceWarning returns a sentence for the operator; "" while there is enough space.
func (a *App) spaceWarning() string {
	now := a.freeSpace()
	if !now.low {
		return ""
	}
	return fmt.Sprintf("The disk of the data folder is nearly full: %s are free, and /readyz answers 503 below %s (disk.min-free).", checkup.Bytes(now.free), checkup.Bytes(now.least))
}

// diskFree returns the free bytes for metrics.
func (a *App) diskFree() (bytes uint64, known bool) {
	now := a.freeSpace()
	return now.free, now.known
}
