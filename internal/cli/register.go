package cli

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"cloudburst/rsscloud"
)

// errRefused is a hub's no. Asking again soon would get the same.
type errRefused struct{ msg string }

func (e errRefused) Error() string { return e.msg }

// follow keeps one feed registered until ctx ends, from the start of the program
// on. Its error, when it gives the feed up, has been printed.
//
// spec:rsscloud-2003#reregister-at-start
func (l *listener) follow(ctx context.Context, f *followed) error {
	pause := backoff{least: 2 * time.Second, most: 10 * time.Minute}
	for {
		err := l.register(ctx, f)
		if ctx.Err() != nil {
			return nil
		}
		if err == nil {
			pause.reset()
			// spec:rsscloud-2003#renew-24h
			// spec:rsscloud-2009#renew-24h
			// A machine that sleeps must renew when it wakes, so the wall clock counts.
			due := time.Now().Round(0).Add(renewAfter - rand.N(renewJitter))
			for time.Now().Round(0).Before(due) {
				if wait(ctx, min(time.Minute, time.Until(due))) != nil {
					return nil
				}
			}
			continue
		}
		refused, final := errors.AsType[errRefused](err)
		if !f.held && (final || !errors.Is(err, errAgain)) {
			l.say(record{Event: "error", Feed: f.url, Message: sentence(err)})
			return err
		}
		if final {
			err = refused
		}
		// Spread, so that a hub that comes back is not met by everyone at once.
		next := pause.next()
		next += rand.N(next/5 + 1)
		l.say(record{Event: "error", Feed: f.url, Message: fmt.Sprintf("%s; trying again in %s", sentence(err), span(next.Round(time.Second)))})
		if wait(ctx, next) != nil {
			return nil
		}
	}
}

// errAgain marks trouble that may pass: the hub could not be reached.
var errAgain = errors.New("the hub may come back")

type againError struct{ error }

func (e againError) Unwrap() []error { return []error{e.error, errAgain} }

// register reads the feed for its <cloud> and asks that hub.
func (l *listener) register(ctx context.Context, f *followed) error {
	doc, err := l.p.readFeed(ctx, f.url)
	if err != nil {
		return err
	}
	cloud, err := l.cloudOf(doc)
	if err != nil {
		return err
	}
	hub, err := cloud.RegisterURL()
	if err != nil {
		return fmt.Errorf("the <cloud> of %s cannot be used: %w", f.url, err)
	}
	l.mu.Lock()
	f.cloud, f.asks = cloud, true
	l.mu.Unlock()
	res, err := l.client.PleaseNotify(ctx, cloud, l.registration(f.url))
	l.mu.Lock()
	f.asks = false
	l.mu.Unlock()
	if err != nil {
		said := hubError(hub, err)
		if e, ok := errors.AsType[*rsscloud.Error](err); ok && e.Status < 500 && e.Status != http.StatusTooManyRequests {
			return errRefused{said.Error()}
		}
		return againError{said}
	}
	if !res.Success {
		return errRefused{fmt.Sprintf("the hub at %s refuses %s: %s", hub, f.url, res.Msg)}
	}
	again := f.held
	f.held = true
	what := "registered"
	if again {
		what = "renewed"
	}
	l.say(record{Event: what, Feed: f.url, Hub: hub, Message: "at " + hub + ": " + res.Msg})
	return nil
}

// cloudOf is the hub to ask: the one that was named, else the feed's own.
func (l *listener) cloudOf(doc document) (rsscloud.Cloud, error) {
	if l.hub != "" {
		return rsscloud.CloudAt(l.hub), nil
	}
	cloud, err := doc.cloud()
	if err != nil {
		return cloud, fmt.Errorf("%w: name a hub with --hub", err)
	}
	return cloud, nil
}

func (l *listener) registration(feed string) rsscloud.Registration {
	g := rsscloud.Registration{Port: l.port, Path: l.path, Protocol: l.via, URLs: []string{feed}, Domain: l.domain}
	if l.via != rsscloud.HTTPPost {
		g.Procedure = listenProcedure
	}
	return g
}

// cancelAll ends the registrations that are held, where hubs offer that. A hub
// that does not will find nobody here and drop them by itself.
func (l *listener) cancelAll() {
	ctx, cancel := context.WithTimeout(context.Background(), cancelTime)
	defer cancel()
	var group sync.WaitGroup
	for _, f := range l.feeds {
		if !f.held {
			continue
		}
		group.Go(func() {
			res, err := l.client.Cancel(ctx, f.cloud, l.registration(f.url))
			if err == nil && res.Success {
				l.say(record{Event: "cancelled", Feed: f.url, Message: res.Msg})
			}
		})
	}
	group.Wait()
}
