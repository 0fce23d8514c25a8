package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"cloudburst/internal/api/exchange"
	"cloudburst/internal/config"
	"cloudburst/internal/fault"
	"cloudburst/internal/store"
)

const (
	slowStart    = 3 * time.Second // an attempt to open the store that takes longer counts as waiting
	retryPause   = time.Second     // pause between two attempts to open the store
	remindEvery  = 5 * time.Minute // minimum time between two log lines about the same wait
	connectFirst = 5 * time.Second // maximum time for connecting in the first attempt; each attempt doubles it
	maxConnect   = 30 * time.Second
	lateAttempt  = 2 * time.Second // time for the current attempt to finish after ctx has ended
)

// begin opens the store and connects all components, unless Open has done so. It waits for a slow
// or unavailable database until ctx ends. When the wait begins, begin calls answer once.
func (a *App) begin(ctx context.Context, answer func()) error {
	if a.store != nil {
		return a.hub.Recover(ctx)
	}
	w := &dbWait{App: a, answer: answer, since: time.Now()}
	for connect := connectFirst; ; connect = min(2*connect, maxConnect) {
		st, err := w.open(ctx, connect)
		if err == nil {
			if err = a.join(ctx, st); err == nil {
				err = a.hub.Recover(ctx)
			}
			if err == nil {
				w.finish()
				return nil
			}
			_ = st.Close() // return err, because the error of Close is less important
			a.store = nil
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case fault.CodeOf(err) != fault.Unavailable:
			return err
		}
		w.reportWait(err)
		select {
		case <-time.After(retryPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// dbWait opens the database, and waits if the database is not available.
type dbWait struct {
	*App
	answer func()
	since  time.Time
	logged time.Time // time of the last log line; zero: the program has not begun to wait
}

// open makes one attempt to open the store. After ctx ends, open abandons an attempt that does
// not return within lateAttempt.
func (w *dbWait) open(ctx context.Context, connect time.Duration) (store.Store, error) {
	type opened struct {
		st  store.Store
		err error
	}
	done := make(chan opened, 1)
	go func() {
		st, err := w.openStore(ctx, connect)
		done <- opened{st, err}
	}()
	tick := time.NewTicker(slowStart)
	defer tick.Stop()
	var late <-chan time.Time
	stop := ctx.Done()
	for {
		select {
		case o := <-done:
			return o.st, o.err
		case <-tick.C:
			w.reportWait(nil)
		case <-stop:
			stop, late = nil, time.After(lateAttempt)
		case <-late:
			go func() {
				if o := <-done; o.err == nil {
					_ = o.st.Close() // close the store that the abandoned attempt opened
				}
			}()
			return nil, ctx.Err()
		}
	}
}

// reportWait reports that the wait begins, or at intervals that it continues. A nil reason means
// that the current attempt has no result yet.
func (w *dbWait) reportWait(reason error) {
	first := w.logged.IsZero()
	if first {
		w.answer()
	}
	process{w.App}.notifyService(fmt.Sprintf("STATUS=Waiting for the database\nEXTEND_TIMEOUT_USEC=%d", (maxConnect + stopsWithin).Microseconds()))
	if !first && time.Since(w.logged) < remindEvery {
		return
	}
	w.logged = time.Now()
	if reason == nil {
		reason = errors.New("it does not answer, or another node is migrating its tables")
	}
	if f, ok := errors.AsType[*fault.Error](reason); ok && f.Err != nil {
		reason = f.Err // the outer error repeats the name of the database
	}
	w.log.Warn("waiting for the database", "database", config.Redact(w.cfg.Database), "reason", reason, "waited", time.Since(w.since).Round(time.Second))
}

// finish logs the end of the wait, if the program waited.
func (w *dbWait) finish() {
	if !w.logged.IsZero() {
		w.log.Info("the database is available", "database", config.Redact(w.cfg.Database), "waited", time.Since(w.since).Round(time.Millisecond))
	}
}

// entrance is the handler of a listener. It answers that the server waits for its database, until
// open sets the next handler.
type entrance struct {
	json bool // true: errors are JSON in the format of the operator's API

	next atomic.Pointer[http.Handler]
}

func (e *entrance) open(h http.Handler) { e.next.Store(&h) }

func (e *entrance) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h := e.next.Load(); h != nil {
		(*h).ServeHTTP(w, r)
		return
	}
	err := errWaiting()
	switch {
	case r.URL.Path == "/healthz":
		respond(w, http.StatusOK, "alive\n")
	case e.json && r.URL.Path != "/readyz":
		exchange.Unavailable(w, err)
	default:
		w.Header().Set("Retry-After", strconv.Itoa(int(err.RetryAfter.Seconds())))
		respond(w, http.StatusServiceUnavailable, err.Msg+"\n")
	}
}

func errWaiting() *fault.Error {
	return &fault.Error{Code: fault.Unavailable, Msg: "The server is waiting for its database; please try again.", RetryAfter: 5 * time.Second}
}

// lateCertificates reads and writes certificates in the store. Until the store is open, it has
// none.
type lateCertificates struct {
	atomic.Pointer[store.Certificates]
}

func (c *lateCertificates) open(st store.Certificates) { c.Store(&st) }

func (c *lateCertificates) Certificate(ctx context.Context, name string) ([]byte, error) {
	if st := c.Load(); st != nil {
		return (*st).Certificate(ctx, name)
	}
	return nil, errWaiting()
}

func (c *lateCertificates) PutCertificate(ctx context.Context, name string, sealed []byte, now time.Time) error {
	if st := c.Load(); st != nil {
		return (*st).PutCertificate(ctx, name, sealed, now)
	}
	return errWaiting()
}

func (c *lateCertificates) DeleteCertificate(ctx context.Context, name string) error {
	if st := c.Load(); st != nil {
		return (*st).DeleteCertificate(ctx, name)
	}
	return errWaiting()
}
