package author

import (
	"context"
	"fmt"
	"time"

	"cloudburst/internal/fault"
)

// dueEvery is the maximum interval between checks for due posts. The checks find posts that other
// processes scheduled, and posts that became due because the clock changed.
const dueEvery = 10 * time.Second

// PublishDue publishes the due scheduled posts and returns the number of published posts. If two
// processes call it at the same time, each post is published once.
func (p *Posts) PublishDue(ctx context.Context) (int, error) {
	done := 0
	for {
		due, err := p.Store.DuePosts(ctx, p.now(), 100)
		if err != nil || len(due) == 0 {
			return done, err
		}
		for _, post := range due {
			ok, err := schedule{p}.publishOne(ctx, post)
			if err != nil {
				return done, err
			}
			if ok {
				done++
			}
		}
	}
}

// schedule publishes scheduled posts.
type schedule struct{ *Posts }

func (p schedule) publishOne(ctx context.Context, post Post) (bool, error) {
	_, err := p.Save(ctx, Edit{User: post.User, ID: post.ID, Base: post.Revision, To: Published, At: post.DueAt, Via: "schedule", NoUndo: true})
	switch fault.CodeOf(err) {
	case fault.Unavailable:
		return false, err
	case fault.Conflict, fault.NotFound, fault.Gone:
		if now, look := p.Store.Post(ctx, post.User, post.ID); look != nil || now.Revision != post.Revision {
			return false, nil // another process has published or changed the post
		}
	}
	if err == nil {
		return true, nil
	}
	// The post cannot be published. It becomes a draft, so that Run does not retry it forever.
	p.log().WarnContext(ctx, "a scheduled post could not be published; it is a draft now", "user", post.User, "post", post.ID, "err", err)
	_, err = p.Save(ctx, Edit{User: post.User, ID: post.ID, Base: post.Revision, To: Draft, Via: "schedule", NoUndo: true})
	if fault.CodeOf(err) == fault.Unavailable || ctx.Err() != nil {
		return false, err
	}
	if err != nil {
		return false, p.shelve(ctx, post)
	}
	return false, nil
}

// shelve turns a scheduled post into a draft without any checks.
func (p schedule) shelve(ctx context.Context, post Post) error {
	w := p.writing(post.User, "schedule")
	w.ID, w.Make = post.ID, nil
	w.Change = func(now Post, _ bool, _ *Post, _ Writer, _ func(string) (string, error)) (*Post, *Post, error) {
		if now.State != Scheduled {
			return nil, nil, nil
		}
		now.State, now.DueAt = Draft, time.Time{}
		return &now, nil, nil
	}
	_, err := p.Store.WritePost(ctx, w)
	return err
}

// Run publishes scheduled posts at their time until ctx ends.
func (p *Posts) Run(ctx context.Context) error {
	p.init()
	for {
		if _, err := p.PublishDue(ctx); err != nil && ctx.Err() == nil {
			p.log().WarnContext(ctx, "could not publish due posts; retrying", "err", err)
		}
		wait := dueEvery
		if next, err := p.Store.NextDuePost(ctx); err == nil && !next.IsZero() {
			wait = min(wait, max(next.Sub(p.now()), 0)+time.Millisecond)
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-p.wakeups:
			timer.Stop()
		case <-timer.C:
		}
	}
}

// wakeRun makes Run check for the next due post.
func (p *Posts) wakeRun() {
	p.init()
	select {
	case p.wakeups <- struct{}{}:
	default:
	}
}

func (p *Posts) init() { p.start.Do(func() { p.wakeups = make(chan struct{}, 1) }) }

// Sweep deletes expired undo states, and deleted posts that can no longer be restored. Call it
// about once an hour.
func (p *Posts) Sweep(ctx context.Context) error {
	now := p.now()
	if err := p.Store.SweepPosts(ctx, now, now.Add(-30*24*time.Hour)); err != nil {
		return fmt.Errorf("sweep posts: %w", err)
	}
	return nil
}
