package app

import (
	"context"
	"fmt"
	"sync"
	"time"

	"cloudburst/internal/checkup"
)

// space remembers whether the file system of the data folder is nearly full. If so, /readyz
// answers 503, but the program continues to write until the file system is full.
type space struct {
	mu  sync.Mutex
	low bool // state that was last logged
}

// spaceState describes the free space at one point in time.
type spaceState struct {
	free  uint64 // number of bytes that this user can still write
	least uint64 // number of free bytes below which the state is low
	known bool   // true if the system reports the free space
	low   bool
}

// judge decides whether free bytes are too few for a file system of size bytes. The threshold is
// wanted, but at most an eighth of size. A low state ends only when free exceeds the threshold by
// an eighth, so that the state does not change often. changed reports whether low changed.
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

// freeSpace measures the free space and logs each change of the state. A node with an external
// database has no threshold, because its data folder contains no acknowledged data.
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

// watchSpace measures the free space regularly, so that the log contains each change even if no
// client requests /readyz.
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

// spaceWarning returns a warning sentence for the operator, or "" if there is enough space.
func (a *App) spaceWarning() string {
	now := a.freeSpace()
	if !now.low {
		return ""
	}
	return fmt.Sprintf("The disk of the data folder is nearly full: %s are free, and /readyz answers 503 below %s (disk.min-free).", checkup.Bytes(now.free), checkup.Bytes(now.least))
}

// diskFree returns the number of free bytes for the metrics.
func (a *App) diskFree() (bytes uint64, known bool) {
	now := a.freeSpace()
	return now.free, now.known
}
