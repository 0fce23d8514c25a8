package app

import (
	"context"
	"net"
	"time"
)

// emptyTick is the interval at which empty checks for connections that are not accepted. It also is
// the time that handshakes in progress have to end.
const emptyTick = 20 * time.Millisecond

// ownSocket is a listening socket that the program opened itself. When it closes, the system
// resets connections that are not accepted, and clients lose the requests that they have sent on
// them. A socket of the service manager stays open, and keeps its connections for the next process.
type ownSocket struct{ net.Listener }

// empty makes the system ignore new connections. It then waits until Accept has returned all
// established connections, or until ctx ends. A client whose connection was ignored tries again
// after about a second, and learns that the socket is closed before it sends a request.
func (s ownSocket) empty(ctx context.Context) {
	s.ignoreNew()
	tick := time.NewTicker(emptyTick)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if !s.pending() {
				return
			}
		}
	}
}
