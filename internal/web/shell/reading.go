package shell

import (
	"context"
)

const ConcurrentReadings = 2 // maximum number of documents that are parsed at the same time; a parsed document needs many times its size in memory

// WaitForReading waits for a slot to read a document.
func (s *Shell) WaitForReading(ctx context.Context) (leave func(), err error) {
	select {
	case s.readSlots <- struct{}{}:
		return func() { <-s.readSlots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
