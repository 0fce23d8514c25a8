package app

import (
	"context"
	"errors"
	"sync"
	"time"

	"cloudburst/internal/endpoint"
	"cloudburst/internal/fetch"
	"cloudburst/protocol/weblogs"
)

// viaChanges marks changes from the changes.xml of another server in the log.
const viaChanges = "changes"

// followLists reads the configured changes.xml lists of other servers regularly until ctx ends.
// It checks each listed feed that has followers on this server.
func (a *App) followLists(ctx context.Context) {
	agent := endpoint.UserAgent(Version, a.cfg.PublicURL)
	doer := fetch.NewDoer(fetch.DoerOptions{
		Guard:     a.fetchGuard(),
		UserAgent: agent,
		MaxBody:   weblogs.MaxChanges,
	})
	defer doer.CloseIdle()
	var group sync.WaitGroup
	for _, list := range a.cfg.Changes.Follow {
		log := a.log.With("list", list)
		f := &weblogs.Follower{
			URL: list, HTTP: doer, UserAgent: agent, Backfill: true,
			OnChange: func(ctx context.Context, w weblogs.Weblog) {
				urls := []string{w.URL}
				if w.RSSURL != "" {
					urls = append(urls, w.RSSURL)
				}
				if _, err := a.hub.ReceiveChanges(ctx, urls, viaChanges); err != nil && ctx.Err() == nil {
					log.Warn("cannot check a feed from a changes list", "url", w.URL, "err", err)
				}
			},
			OnError: func(err error, wait time.Duration) {
				if ctx.Err() == nil {
					log.Warn("cannot read a changes list", "again in", wait, "err", err)
				}
			},
		}
		if a.cfg.Changes.When == "seconds" {
			f.Unit = time.Second
		}
		group.Go(func() {
			if err := f.Run(ctx); err != nil && !errors.Is(err, context.Canceled) {
				log.Error("a changes list is no longer followed", "err", err)
			}
		})
	}
	group.Wait()
}
