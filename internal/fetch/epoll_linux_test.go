package fetch

import (
	"errors"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// BenchmarkSendEpoll compares the sender with event loops that send the same bytes with system calls
// only and read one response without parsing it: no guard, no time limits, no URLs. A reported ratio
// is the figure of the loops divided by the figure of Sender.
func BenchmarkSendEpoll(b *testing.B) {
	port := startReceiver(b)
	number, _ := strconv.Atoi(port)
	urls := hostURLs(port)
	for _, fresh := range []bool{false, true} {
		b.Run(map[bool]string{false: "kept", true: "new"}[fresh], func(b *testing.B) {
			s := NewSender(SenderOptions{Guard: loopback(), UserAgent: "Bench/1", IdleTotal: idleFor(fresh), MaxConns: 256})
			defer s.Close()
			ours := sendingTo(b.Context(), s, urls)
			loops := make([]*eventLoop, runtime.GOMAXPROCS(0))
			for i := range loops {
				loops[i] = newEventLoop(b, number, 1000/len(loops), fresh)
			}
			compareLoops(b, func(n int) (float64, float64) { return loop(b, n, ours) }, func(n int) (wall, work float64) {
				start, used := time.Now(), cpu()
				var wg sync.WaitGroup
				for _, l := range loops {
					wg.Go(func() {
						if err := l.run(n / len(loops)); err != nil {
							b.Error(err)
						}
					})
				}
				wg.Wait()
				return float64(time.Since(start)) / float64(n), float64(cpu()-used) / float64(n)
			})
		})
	}
}

// eventLoop sends requests over non-blocking sockets in one thread.
type eventLoop struct {
	poll  int
	port  int
	hosts int
	fresh bool  // open a socket for each request
	idle  []int // open sockets without a request
	next  int   // next host
}

func newEventLoop(b *testing.B, port, hosts int, fresh bool) *eventLoop {
	poll, err := syscall.EpollCreate1(0)
	if err != nil {
		b.Fatal(err)
	}
	l := &eventLoop{poll: poll, port: port, hosts: hosts, fresh: fresh}
	b.Cleanup(func() {
		for _, fd := range l.idle {
			syscall.Close(fd)
		}
		syscall.Close(poll)
	})
	return l
}

// run sends n requests, 32 at once.
func (l *eventLoop) run(n int) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const request = "POST /notify?x=y HTTP/1.1\r\nHost: 127.1.0.1:12345\r\nUser-Agent: Bench/1\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 5\r\nX-Hub-Hops: 1\r\n\r\nurl=x"
	out, in := []byte(request), make([]byte, 2048)
	events := make([]syscall.EpollEvent, 64)
	started, done := 0, 0
	for done < n {
		for started < n && started-done < 32 {
			if err := l.begin(out); err != nil {
				return err
			}
			started++
		}
		k, err := syscall.EpollWait(l.poll, events, -1)
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return err
		}
		for _, e := range events[:max(k, 0)] {
			fd := int(e.Fd)
			if e.Events&syscall.EPOLLOUT != 0 {
				if _, err := syscall.Write(fd, out); err != nil {
					return err
				}
				syscall.EpollCtl(l.poll, syscall.EPOLL_CTL_MOD, fd, &syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: e.Fd})
				continue
			}
			if _, err := syscall.Read(fd, in); err != nil {
				return err
			}
			if done++; l.fresh {
				syscall.Close(fd)
			} else {
				l.idle = append(l.idle, fd)
			}
		}
	}
	return nil
}

// begin writes a request to an idle socket, or connects a new one.
func (l *eventLoop) begin(out []byte) error {
	if len(l.idle) >= l.hosts-32 {
		fd := l.idle[0]
		l.idle = l.idle[1:]
		_, err := syscall.Write(fd, out)
		return err
	}
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1)
	l.next++
	to := &syscall.SockaddrInet4{Port: l.port, Addr: [4]byte{127, 1, byte(l.next % l.hosts / 250), byte(1 + l.next%l.hosts%250)}}
	if err := syscall.Connect(fd, to); err != nil && !errors.Is(err, syscall.EINPROGRESS) {
		return err
	}
	return syscall.EpollCtl(l.poll, syscall.EPOLL_CTL_ADD, fd, &syscall.EpollEvent{Events: syscall.EPOLLOUT, Fd: int32(fd)})
}
