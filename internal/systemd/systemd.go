// Package systemd speaks with the service manager: it says when the program is ready, that
// it is alive and that it stops, and takes the sockets that were opened for it. Without a
// manager every call does nothing. It follows the manual pages sd_notify(3),
// sd_watchdog_enabled(3) and sd_listen_fds(3). Start with [FromEnviron] and
// [Service.Notify].
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

// Service is what the manager handed over. The zero Service is one without a manager.
type Service struct {
	// Listeners are the sockets by the name that FileDescriptorName= gives them. Several of
	// one name are numbered from the second on: public, public-2.
	Listeners map[string]net.Listener
	// Watchdog is the longest time between two signs of life that the manager accepts; 0: it
	// does not watch.
	Watchdog time.Duration

	socket string // where notifications go
}

// firstFD is the number of the first descriptor that is handed over (SD_LISTEN_FDS_START).
const firstFD = 3

// mostFDs bounds a broken number.
const maxFDs = 64

// FromEnviron reads what the environment, as "NAME=value", says for the process pid. It
// takes the descriptors over, so it is called once. What was meant for another process is
// left alone. A descriptor that is no listening socket is an error that names it.
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
	// Unlike the others this one must name us: the descriptors are anybody's otherwise.
	if vars["LISTEN_FDS"] == "" || vars["LISTEN_PID"] != strconv.Itoa(pid) {
		return s, nil
	}
	n, err := strconv.Atoi(vars["LISTEN_FDS"])
	if err != nil || n < 0 || n > maxFDs {
		return nil, fmt.Errorf("LISTEN_FDS is %q; it needs a number from 0 to %d", vars["LISTEN_FDS"], maxFDs)
	}
	err = s.take(n, strings.Split(vars["LISTEN_FDNAMES"], ":"))
	return s, err
}

// take makes listeners of the descriptors.
func (s *Service) take(n int, names []string) error {
	s.Listeners = map[string]net.Listener{}
	for i := range n {
		name := "unknown"
		if i < len(names) && names[i] != "" {
			name = names[i]
		}
		f := os.NewFile(uintptr(firstFD+i), name)
		l, err := net.FileListener(f) // a copy, which is closed for programs that we start
		_ = f.Close()                 // the copy is what counts
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

// Take hands out a listener by its name, once; nil when there is none.
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

// Notify tells the manager the lines of state, such as "READY=1". It does not wait for an
// answer: there is none.
func (s *Service) Notify(state string) error {
	if s == nil || s.socket == "" {
		return nil
	}
	// A name that begins with @ is in the abstract namespace, which Go writes the same way.
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: s.socket, Net: "unixgram"})
	if err != nil {
		return fmt.Errorf("telling the service manager %q: %w", state, err)
	}
	defer c.Close()
	if _, err := c.Write([]byte(state)); err != nil {
		return fmt.Errorf("telling the service manager %q: %w", state, err)
	}
	return nil
}

// Watch gives a sign of life at half of the time that the manager accepts, as long as alive
// says so, until ctx ends. Whatever alive waits for has to end with its ctx.
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
