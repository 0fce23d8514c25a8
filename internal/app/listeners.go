package app

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/origin"
	"cloudburst/internal/ownhost"
)

const (
	readHeader   = 5 * time.Second
	readWhole    = 15 * time.Second
	writeTimeout = 60 * time.Second
	idleTimeout  = 75 * time.Second
	maxHeader    = 32 << 10
)

// listeners contains the sockets of this run. The program opens them, or inherits them from the
// service manager under the names public, admin and http.
type listeners struct {
	pub, adm net.Listener
	plain    net.Listener // plain HTTP listener in addition to TLS; nil: none
	front    *front       // TLS of the public listener; nil: TLS is off
	servers  []*http.Server
	counted  []*connLimiter // limiters of servers, with the same indexes

	public, admin, http entrance // handlers of pub, adm and plain
}

// openListeners opens those configured sockets that were not inherited.
func (a process) openListeners(ctx context.Context) (_ *listeners, err error) {
	l := &listeners{admin: entrance{json: true}}
	if l.front, err = a.newFront(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	if l.pub, err = a.listenAt(ctx, "public", "listen", a.cfg.Listen); err != nil {
		return nil, err
	}
	if l.adm, err = a.listenAt(ctx, "admin", "admin.listen", a.cfg.Admin.Listen); err != nil {
		return nil, err
	}
	if l.front != nil && a.cfg.TLS.HTTPListen != "" {
		if l.plain, err = a.listenAt(ctx, "http", "tls.http-listen", a.cfg.TLS.HTTPListen); err != nil {
			return nil, err
		}
	}
	for _, name := range a.Service.Unclaimed() {
		if name == "http" {
			a.log.Warn("the socket http of the service manager is not used: it needs TLS and the setting tls.http-listen")
			continue
		}
		a.log.Warn("the service manager passed a socket with an unknown name", "name", name)
	}
	return l, nil
}

func (a process) listenAt(ctx context.Context, name, setting, addr string) (net.Listener, error) {
	given := a.Service.Take(name)
	if given == nil {
		return listen(ctx, setting, addr)
	}
	if t, ok := given.Addr().(*net.TCPAddr); ok && name == "admin" && !t.IP.IsLoopback() {
		a.log.Warn("the socket admin is not on a loopback address: every client that can connect to it controls this server", "addr", t)
	}
	return given, nil
}

func (l *listeners) close() {
	for _, one := range []net.Listener{l.pub, l.adm, l.plain} {
		if one != nil {
			_ = one.Close() // the server has already closed the listener if it was served
		}
	}
}

// plainListener is the index of the plain HTTP listener in the result of all.
const plainListener = 2

// all returns the open listeners: public, admin and, if it exists, plain.
func (l *listeners) all() []net.Listener {
	if l.plain == nil {
		return []net.Listener{l.pub, l.adm}
	}
	return []net.Listener{l.pub, l.adm, l.plain}
}

// ownNames returns the origins under which the public listener is known, starting with the public
// one.
func (a process) ownNames(l *listeners, public string) []string {
	if l.front == nil {
		return origin.Of(public, a.names.Listeners()[0])
	}
	return origin.WithTLS(public, l.pub, l.plain)
}

// serve starts an HTTP server on each listener. It sends errors that happen before the shutdown
// to failed.
func (a process) serve(l *listeners, group *sync.WaitGroup, failed chan<- error) {
	begin := func(h http.Handler, on *connLimiter, tls bool) {
		s := a.server(h)
		s.ConnState = on.state
		l.servers, l.counted = append(l.servers, s), append(l.counted, on)
		serve := s.Serve
		if tls {
			s.TLSConfig, s.HTTP2 = l.front.config, &http.HTTP2Config{MaxConcurrentStreams: maxStreams}
			serve = func(on net.Listener) error { return s.ServeTLS(on, "", "") }
		}
		group.Go(func() {
			if err := serve(on); !errors.Is(err, http.ErrServerClosed) {
				failed <- fmt.Errorf("serve %s: %w", on.Addr(), err)
			}
		})
	}
	begin(newBodies(&l.public, a.isProxy), a.limitConns(l.pub), l.front != nil)
	begin(a.reportsData(&l.admin), newConnLimiter(l.adm, math.MaxInt, math.MaxInt, a.isProxy), false)
	if l.plain != nil {
		begin(newBodies(&l.http, a.isProxy), a.limitConns(l.plain), false)
	}
}

// open replaces the handlers that answer during startup with the routes.
func (l *listeners) open(routes, admin http.Handler, public string, hosts *ownhost.Hosts) {
	if l.plain != nil {
		l.http.open(within(writeTimeout)(l.front.plain(public, hosts, routes)))
	}
	l.public.open(routes)
	l.admin.open(admin)
}

func listen(ctx context.Context, setting, addr string) (net.Listener, error) {
	var lc net.ListenConfig
	lc.SetMultipathTCP(false) // ownSocket needs a socket filter, which Multipath TCP does not support
	l, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, listenFault(err, setting, addr)
	}
	return ownSocket{l}, nil
}

// listenFault returns the error for the operator about a failure to listen.
func listenFault(err error, setting, addr string) error {
	hint := "."
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		hint = "; is another server running there?"
	case errors.Is(err, syscall.EACCES):
		hint = "; a port below 1024 needs root, the capability CAP_NET_BIND_SERVICE or a socket of systemd."
	}
	return fault.Wrap(fault.Conflict, err, "Cannot listen on %s (%s)%s", addr, setting, hint)
}

func (a process) server(h http.Handler) *http.Server {
	return &http.Server{
		Handler: a.lastAnswers(recovering(a.log, h)), ConnContext: withConn, ReadHeaderTimeout: readHeader, ReadTimeout: readWhole, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeader, ErrorLog: quiet(a.log),
	}
}

// lastAnswers makes the server close each connection after its response while the server is
// draining, so that clients do not reuse the connection.
func (a process) lastAnswers(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.draining.Load() {
			w.Header().Set("Connection", "close")
		}
		h.ServeHTTP(w, r)
	})
}
