// Package systemd communicates with the service manager. It notifies the manager when the program
// is ready, alive or stopping, and takes over the sockets that the manager opened. Without a
// manager, all calls do nothing. It implements the manual pages sd_notify(3),
// sd_watchdog_enabled(3) and sd_listen_fds(3). Start with [FromEnviron] and [Service.Notify].
package systemd

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// Service is the environment from the manager. The zero Service means no manager.
type Service struct {
	// Listeners maps the FileDescriptorName= of each socket to its listener. Further sockets with
	// the same name get a number from 2 on: public, public-2.
	Listeners map[string]net.Listener
	// Watchdog is the maximum time between two keep-alive notifications; 0: no watchdog.
	Watchdog time.Duration

	socket string // socket for notifications
}

// firstFD is the number of the first passed descriptor (SD_LISTEN_FDS_START).
const firstFD = 3

// maxFDs is the maximum value of LISTEN_FDS.
const maxFDs = 64

// FromEnviron parses the environment, "NAME=value" entries, for the process pid. It takes over the
// descriptors, so call it once. Variables for another process are ignored. The error names an
// invalid LISTEN_FDS, or the first descriptor that is not a listening socket.
//
// spec:systemd-257#listen-fds
func FromEnviron(environ []string, pid int) (*Service, error) {
	vars := map[string]string{}
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		vars[name] = value
	}
	s := &Service{socket: vars["NOTIFY_SOCKET"]}
	forThisProcess := func(name string) bool { return vars[name] == "" || vars[name] == strconv.Itoa(pid) }
	if usec, err := strconv.ParseInt(vars["WATCHDOG_USEC"], 10, 64); err == nil && usec > 0 && forThisProcess("WATCHDOG_PID") {
		s.Watchdog = time.Duration(usec) * time.Microsecond
	}
	// Unlike WATCHDOG_PID, LISTEN_PID is required: without it, the descriptors may belong to
	// another process.
	if vars["LISTEN_FDS"] == "" || vars["LISTEN_PID"] != strconv.Itoa(pid) {
		return s, nil
	}
	n, err := strconv.Atoi(vars["LISTEN_FDS"])
	if err != nil || n < 0 || n > maxFDs {
		return nil, fmt.Errorf("LISTEN_FDS is %q; it must be a number from 0 to %d", vars["LISTEN_FDS"], maxFDs)
	}
	err = s.take(n, strings.Split(vars["LISTEN_FDNAMES"], ":"))
	return s, err
}

// take converts the descriptors to listeners.
func (s *Service) take(n int, names []string) error {
	s.Listeners = map[string]net.Listener{}
	for i := range n {
		name := "unknown"
		if i < len(names) && names[i] != "" {
			name = names[i]
		}
		f := os.NewFile(uintptr(firstFD+i), name)
		l, err := net.FileListener(f) // duplicates the descriptor, with close-on-exec
		_ = f.Close()                 // only the duplicate is used
		if err != nil {
			return fmt.Errorf("the socket %s (descriptor %d) that was handed over cannot be listened on: %w", name, firstFD+i, err)
		}
		key := name
		for k := 2; s.Listeners[key] != nil; k++ {
			key = fmt.Sprintf("%s-%d", name, k)
		}
		s.Listeners[key] = l
	}
	return nil
}

// Take removes and returns the listener with this name; nil if there is none.
func (s *Service) Take(name string) net.Listener {
	if s == nil {
		return nil
	}
	l := s.Listeners[name]
	delete(s.Listeners, name)
	return l
}

// Unclaimed returns the names of the listeners that were not taken.
func (s *Service) Unclaimed() []string {
	if s == nil {
		return nil
	}
	var names []string
	for name := range s.Listeners {
		names = append(names, name)
	}
	return names
}

// Notify sends lines of state, such as "READY=1", to the manager. The manager sends no response.
func (s *Service) Notify(state string) error {
	if s == nil || s.socket == "" {
		return nil
	}
	// Go uses the same notation, a leading @, for names in the abstract namespace.
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: s.socket, Net: "unixgram"})
	if err != nil {
		return fmt.Errorf("notifying the service manager of %q: %w", state, err)
	}
	defer c.Close()
	if _, err := c.Write([]byte(state)); err != nil {
		return fmt.Errorf("notifying the service manager of %q: %w", state, err)
	}
	return nil
}

// Watch calls alive twice per Watchdog interval until ctx ends. If alive returns nil, Watch sends a
// keep-alive notification. alive must return when its context ends. Watch passes all errors to
// report.
//
// spec:systemd-257#watchdog
func (s *Service) Watch(ctx context.Context, alive func(ctx context.Context) error, report func(error)) {
	if s == nil || s.Watchdog <= 0 || s.socket == "" {
		return
	}
	every := s.Watchdog / 2
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		attempt, cancel := context.WithTimeout(ctx, every)
		err := alive(attempt)
		cancel()
		if err == nil {
			err = s.Notify("WATCHDOG=1")
		}
		if err != nil && ctx.Err() == nil {
			report(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
