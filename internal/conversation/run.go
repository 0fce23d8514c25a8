package conversation

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/href"
	"cloudburst/internal/lease"
)

const (
	leaseMargin   = 15 * time.Second // how much longer a lease is than the longest read of a page
	deferFor      = 2 * time.Second  // delay of a read whose host has reached its limit
	settleTimeout = 10 * time.Second // time limit for storing a result
)

// Run reads the pages of reported mentions until ctx ends.
func (c *Conversation) Run(ctx context.Context) error {
	c.init()
	loop := lease.Loop[Mention]{
		Claim: c.Store.ClaimMentions, Next: c.Store.NextMention, GiveBack: c.giveBack,
		Admit: func(m Mention, now time.Time) (time.Time, bool) {
			_, ok := c.active.Acquire(m.Host)
			return now.Add(deferFor), ok
		},
		Do: func(ctx context.Context, m Mention) {
			defer c.Wake() // deferred reads of the same host can start now
			defer c.active.Release(m.Host)
			c.read(ctx, m)
		},
		AtOnce: c.Options.AtOnce, For: c.Options.Timeout + leaseMargin, Wake: c.wakeups, Now: c.now, Name: "mentions",
		Failed: func(ctx context.Context, doing string, err error) {
			c.Log.WarnContext(ctx, "store error", "doing", doing, "err", err)
		},
		Caught: func(m Mention, panicked any, stack []byte) {
			c.Log.Error("reading a mention panicked", "source", m.Source, "panic", fmt.Sprint(panicked), "stack", string(stack))
		},
	}
	loop.Run(ctx)
	return nil
}

// read reads the page of a claimed mention and records the result.
//
// spec:cloudburst#mention-other-url
func (c *Conversation) read(ctx context.Context, m Mention) {
	within, stop := context.WithTimeout(ctx, c.Options.Timeout)
	defer stop()
	content, author, err := c.Read.Read(within, m.Source, m.Target)
	if fault.CodeOf(err) == fault.Gone && m.Reported != "" && m.Reported != m.Target {
		m.Target = m.Reported
		content, author, err = c.Read.Read(within, m.Source, m.Target)
	}
	if c.Changed != nil {
		defer c.Changed(context.WithoutCancel(ctx), m.Source)
	}
	if err == nil {
		err = c.verified(ctx, within, m, content, author)
	}
	switch code := fault.CodeOf(err); {
	case err == nil:
	case ctx.Err() != nil: // a shutdown is not a failure of the page
		c.settle(ctx, m, func(now *Mention, _ []Rule) Action { now.DueAt = c.now(); return Keep })
	case code == fault.Gone || code == fault.Refused || code == fault.Invalid:
		// spec:webmention-2017#deleted-source
		c.Log.DebugContext(ctx, "a mention was dropped", "source", m.Source, "target", m.Target, "reason", fault.Message(err))
		c.settle(ctx, m, func(*Mention, []Rule) Action { return Delete })
	default:
		c.settle(ctx, m, func(now *Mention, _ []Rule) Action { return c.failed(now, err) })
	}
}

// verified stores what was read on a page that links to the post, and decides whether it is shown.
//
// The reader can receive the page as an item of a followed feed at the same time, and approve the
// mention. If its state has changed, the author may have become known, so verified looks again.
func (c *Conversation) verified(ctx, within context.Context, m Mention, content Content, author string) error {
	for {
		known := false
		if c.Known != nil {
			var err error
			if known, err = c.Known(within, m); err != nil {
				return err
			}
		}
		state := m.State
		c.settle(ctx, m, func(now *Mention, rules []Rule) Action {
			if state = now.State; state != m.State {
				return Leave
			}
			now.Target, now.Reported = m.Target, ""
			return c.decide(now, rules, content, author, known)
		})
		if state == m.State {
			return nil
		}
		m.State = state
	}
}

// decide updates a mention from its page. A page to which another host redirects is foreign: the
// redirect does not prove that the author of the reported page wrote the content.
func (c *Conversation) decide(m *Mention, rules []Rule, content Content, author string, known bool) Action {
	page := cmp.Or(content.FinalURL, m.Source)
	content.FinalURL = ""
	changed := m.Author != author || !m.Content.same(content)
	content.ReadAt = c.now()
	m.Content, m.Author, m.Tries, m.DueAt = content, author, 0, time.Time{}
	m.judge(rules, known, href.Site(page) != href.Site(m.Source), changed)
	final := *m
	final.Host = href.Host(page)
	if verdict(rules, &final) == Block {
		m.State = Rejected
	}
	return Keep
}

// failed schedules the next attempt, or gives up. A page that was read before keeps its content.
func (c *Conversation) failed(m *Mention, err error) Action {
	c.Log.Debug("cannot read the page of a mention", "source", m.Source, "tries", m.Tries+1, "err", err)
	if m.Tries >= len(c.Options.Retry) {
		if m.State == Unread {
			return Delete
		}
		m.Tries, m.DueAt = 0, time.Time{}
		return Keep
	}
	m.DueAt = c.now().Add(c.Options.Retry[m.Tries])
	m.Tries++
	return Keep
}

// settle stores the result of a read if the lease is still valid, and releases the lease.
func (c *Conversation) settle(ctx context.Context, was Mention, do func(m *Mention, rules []Rule) Action) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	err := c.Store.ChangeMention(ctx, was.User, was.ID, func(m *Mention, rules []Rule) (Action, error) {
		if m.Lease != was.Lease {
			return Leave, nil
		}
		m.Lease = 0
		return do(m, rules), nil
	})
	if err != nil && fault.CodeOf(err) != fault.NotFound { // the lease expires, and another run reads the page again
		c.Log.WarnContext(ctx, "cannot store the result of a mention", "source", was.Source, "err", err)
	}
}

func (c *Conversation) giveBack(ctx context.Context, list []lease.Back[Mention]) error {
	for _, b := range list {
		c.settle(ctx, b.Row, func(m *Mention, _ []Rule) Action {
			m.DueAt = b.At
			return Keep
		})
	}
	return nil
}
