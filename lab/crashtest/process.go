package crashtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"cloudburst/client"
	"cloudburst/lab/outside"
	"cloudburst/lab/program"
)

// start starts the program and waits until the program is ready. If mayCrash is true, CrashSignal
// can kill the program before it is ready. start then restarts the program without a signal.
func (r *runner) start(ctx context.Context, mayCrash bool) (*program.Process, error) {
	for {
		if r.crashSignal = nil; mayCrash && r.CrashSignal != nil {
			r.crashSignal = r.CrashSignal()
		}
		p, err := r.startOnce(ctx)
		if !errors.Is(err, program.ErrCrashed) {
			return p, err
		}
		r.history.now(func(l *lifetime, at time.Time) { l.ended = at })
		if err := r.afterCrash(); err != nil {
			return nil, err
		}
		mayCrash = false
	}
}

func (r *runner) startOnce(ctx context.Context) (*program.Process, error) {
	r.history.started()
	p, err := program.Start(ctx, program.Command{Binary: r.Binary, Dir: r.Dir, Data: r.Data, CrashSignal: r.crashSignal, Env: r.Env, Args: append([]string{
		"--public-url", publicURL,
		"--hub.retry", "100ms,200ms,400ms,400ms,400ms,400ms,400ms,400ms", // the next retry of a WebSub delivery is hours later
		"--hub.max-errors", "1000", "--hub.ping-interval", "20ms",
		"--hub.callback-timeout", "6s",
		"--hub.client-rate", "0", "--hub.host-rate", "0"}, r.Args...)})
	if err != nil {
		return nil, err
	}
	r.history.now(func(l *lifetime, at time.Time) { l.ready = at })
	if r.AfterStart != nil {
		if err := r.AfterStart(ctx, p.Base, p.Admin); err != nil {
			p.Kill()
			return nil, err
		}
	}
	// Read the feeds that the crashed process left, before clients save new versions.
	r.readAll(p.Base, slices.Concat(r.owners, r.fresh), asSaved)
	r.fresh = nil
	r.mu.Lock()
	r.base, r.admin = p.Base, p.Admin
	r.mu.Unlock()
	return p, nil
}

func (r *runner) gone() {
	r.mu.Lock()
	r.base, r.admin = "", ""
	r.mu.Unlock()
}

func (r *runner) where() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.base
}

// settle waits until the program has no pending work. It returns false after a timeout.
func (r *runner) settle(ctx context.Context) (bool, error) {
	return r.until(ctx, func(l outside.PendingWork) bool { return l == outside.PendingWork{} })
}

// until waits until done is true for five consecutive samples. It returns false after a timeout.
func (r *runner) until(ctx context.Context, done func(outside.PendingWork) bool) (bool, error) {
	calm, began, last := 0, time.Now(), outside.PendingWork{Pending: -1}
	for end := began.Add(r.Settle); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		now, err := outside.PendingWorkAt(ctx, r.operator())
		if err != nil {
			return false, err
		}
		if now != last {
			r.Log(fmt.Sprintf("pending after %s: %+v", time.Since(began).Round(time.Millisecond), now))
		}
		if last = now; !done(now) {
			calm = 0
		} else if calm++; calm >= 5 {
			return true, nil
		}
	}
	return false, nil
}

// operator returns a client of the admin API.
func (r *runner) operator() *client.Client { return &client.Client{Base: r.admin, HTTP: r.client} }

// export returns the program's current subscriptions.
func (r *runner) export(ctx context.Context) (map[pair]outside.Subscription, error) {
	list, err := outside.Subscriptions(ctx, r.operator())
	all := map[pair]outside.Subscription{}
	for _, s := range list {
		all[pair{s.Topic, s.Callback}] = s
	}
	return all, err
}
