package hubcli

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"cloudburst/internal/cli/hubclient"
	"cloudburst/internal/cli/shell"
)

// follow keeps one feed registered until ctx ends. It returns an error when it stops trying; it has
// already printed that error.
//
// spec:rsscloud-2003#reregister-at-start
func (l *listener) follow(ctx context.Context, f *followed) error {
	pause := shell.Backoff{Min: 2 * time.Second, Max: 10 * time.Minute}
	for {
		err := l.registerFirst(ctx, f)
		if ctx.Err() != nil {
			return nil
		}
		if err == nil {
			pause.Reset()
			if l.hold(ctx, f) != nil {
				return nil
			}
			continue
		}
		refused, final := errors.AsType[hubclient.RefusedError](err)
		if !f.held && (final || !errors.Is(err, hubclient.ErrTemporary)) {
			l.emit(record{Event: "error", Feed: f.url, Message: hubclient.ExplainRefusal(shell.Sentence(err), f.url)})
			return err
		}
		if final {
			err = refused
		}
		// The delay is random, so that many listeners do not call a restarting hub at the same time.
		next := pause.Next()
		next += rand.N(next/5 + 1)
		l.emit(record{Event: "error", Feed: f.url, Message: fmt.Sprintf("%s; trying again in %s", shell.Sentence(err), shell.FormatDuration(next.Round(time.Second)))})
		if shell.Wait(ctx, next) != nil {
			return nil
		}
	}
}

// Minimum and maximum time between two attempts to read a feed whose server is not running yet.
const (
	minWait = time.Second
	maxWait = 5 * time.Second
)

// registerFirst calls register. Before the first registration of f, it waits until the feed's
// server is running, so that the user can start the server and the command in any order.
func (l *listener) registerFirst(ctx context.Context, f *followed) error {
	pause, printed := shell.Backoff{Min: minWait, Max: maxWait}, ""
	for {
		err := l.register(ctx, f)
		unread, ok := errors.AsType[hubclient.UnreadableError](err)
		if !ok || !unread.Temporary || f.held {
			return err
		}
		if text := fmt.Sprintf("waiting for %s: %s", unread.URL, shell.Sentence(unread.Cause)); text != printed {
			printed = text
			l.emit(record{Event: "waiting", Feed: f.url, Message: text})
		}
		if shell.Wait(ctx, pause.Next()) != nil {
			return err
		}
	}
}

// register tries to register once. It prints a successful registration.
func (l *listener) register(ctx context.Context, f *followed) error {
	got, err := l.way.register(ctx, f)
	if err != nil {
		return err
	}
	what := "registered"
	if f.held {
		what = "renewed"
	}
	f.held = true
	l.mu.Lock()
	f.due = time.Now().Round(0).Add(got.again)
	l.mu.Unlock()
	l.emit(record{Event: what, Feed: f.url, Hub: got.hub, Message: got.msg})
	return nil
}

// outage is the jump of the clock that shows that this machine was suspended. Notifications may
// have failed during the suspension.
const outage = 10 * time.Minute

// hold waits for the time of the renewal. It uses the wall clock, because the command must renew at
// once after the machine was suspended.
//
// spec:cnws-2003#confirm-after-outage
func (l *listener) hold(ctx context.Context, f *followed) error {
	for {
		now := time.Now().Round(0)
		l.mu.Lock()
		left := f.due.Sub(now)
		l.mu.Unlock()
		if left <= 0 {
			return nil
		}
		if err := shell.Wait(ctx, min(time.Minute, left)); err != nil {
			return err
		}
		if time.Now().Round(0).Sub(now) > outage {
			return nil
		}
	}
}

// cancelAll cancels all active registrations.
func (l *listener) cancelAll() {
	ctx, cancel := context.WithTimeout(context.Background(), cancelTime)
	defer cancel()
	var group sync.WaitGroup
	for _, f := range l.feeds {
		if !f.held {
			continue
		}
		group.Go(func() {
			if r := l.way.cancel(ctx, f); r.Event != "" {
				l.emit(r)
			}
		})
	}
	group.Wait()
}
