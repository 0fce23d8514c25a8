package app

import (
	"context"
	"fmt"
	"sync"
	"time"

	"cloudburst/internal/checkup"
)

// space remembers whether the data folder's file system is nearly full. While it is,
// /readyz says so; what arrives is still written as long as there is space for it.
type space struct {
	mu  sync.Mutex
	low bool // as the log has it
}

// spaceState is what is known of the free space at one moment.
type spaceState struct {
	free  uint64 // bytes for this user
	least uint64 // bytes below which it is low
	known bool   // the system says how much is free
	low   bool
}

// judge decides whether free bytes of size are too few. The least is wanted, or an eighth of a
// small file system. Once it is low, it is enough again with an eighth more than the least,
// so that it does not alternate. changed says that low is not what it was.
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

// freeSpace measures, and logs when the space becomes low and when it is enough again. A node
// whose database is elsewhere acknowledges nothing that it keeps in its data folder, so there
// no amount is too little.
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

// watchSpace looks now and then, so that the log has it where nobody asks /readyz.
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

// spaceWarning is a sentence for the operator; "" while there is enough space.
func (a *App) spaceWarning() string {
	now := a.freeSpace()
	if !now.low {
		return ""
	}
	return fmt.Sprintf("The disk of the data folder is nearly full: %s are free, and /readyz answers 503 below %s (disk.min-free).", checkup.Bytes(now.free), checkup.Bytes(now.least))
}

// diskFree is the free space for the metrics.
func (a *App) diskFree() (bytes uint64, known bool) {
	now := a.freeSpace()
	return now.free, now.known
}
