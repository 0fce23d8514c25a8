package hub

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
)

// The guards recover from panics while the program decodes input of unknown clients. Without them a
// panic in one of the hub's own goroutines would end the process. With them it ends only its
// request and is logged with its stack.

type guardedFetcher struct {
	Fetcher
	log *slog.Logger
	// parsing limits the number of documents that are parsed concurrently: more would not finish
	// sooner, and a document may need many times its size in memory.
	parsing chan struct{}
}

func (g guardedFetcher) Fetch(ctx context.Context, f Fetch) (got Fetched, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = caught(g.log, "fetch", f.URL, p)
		}
	}()
	got, err = g.Fetcher.Fetch(ctx, f)
	if about := got.About; about != nil {
		got.About = func() (a About) {
			g.parsing <- struct{}{}
			defer func() {
				<-g.parsing
				if p := recover(); p != nil {
					_ = caught(g.log, "read the description of the feed", f.URL, p) // the panic has been logged; the description is then empty
					a = About{}
				}
			}()
			return about()
		}
	}
	return got, err
}

type guardedVerifier struct {
	Verifier
	log *slog.Logger
}

func (g guardedVerifier) Verify(ctx context.Context, sub Subscription, topic Topic, challenge bool) (x event.Exchange, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = caught(g.log, "verify", sub.Callback, p)
		}
	}()
	return g.Verifier.Verify(ctx, sub, topic, challenge)
}

type guardedNotifier struct {
	Notifier
	log *slog.Logger
}

func (g guardedNotifier) Notify(ctx context.Context, sub *Subscription, topic *Topic, content *Content, hops int) (r Reply) {
	defer func() {
		if p := recover(); p != nil {
			_ = caught(g.log, "notify", sub.Callback, p) // a local failure, which is not reported as the subscriber's
			r = Reply{NotTried: true, RetryAfter: time.Minute}
		}
	}()
	return g.Notifier.Notify(ctx, sub, topic, content, hops)
}

type guardedConfirmer struct {
	IntentConfirmer
	log *slog.Logger
}

func (g guardedConfirmer) Confirm(ctx context.Context, in Intent) (x event.Exchange, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = caught(g.log, "confirm", in.Callback, p)
		}
	}()
	return g.IntentConfirmer.Confirm(ctx, in)
}

func (g guardedConfirmer) Deny(ctx context.Context, in Intent) (x event.Exchange, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = caught(g.log, "deny", in.Callback, p)
		}
	}()
	return g.IntentConfirmer.Deny(ctx, in)
}

type guardedDiscoverer struct {
	Discoverer
	log *slog.Logger
}

func (g guardedDiscoverer) Discover(ctx context.Context, url string) (feeds []string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = caught(g.log, "discover", url, p)
		}
	}()
	return g.Discoverer.Discover(ctx, url)
}

func caught(log *slog.Logger, doing, url string, p any) error {
	log.Error("a panic was caught", "doing", doing, "url", url, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	return fault.New(fault.Internal, "a panic: %v", p)
}
