package conversation

import (
	"cmp"
	"context"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"sync"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/href"
	"cloudburst/internal/lease"
	"cloudburst/internal/limit"
)

// Limits of stored mentions and rules. The maximum lengths of their texts are in characters.
const (
	MaxName      = 100
	MaxText      = 2000
	MaxUndecided = 1000 // mentions of a user in the states Unread and Waiting; further reports are rejected
	MaxRules     = 1000 // maximum number of rules of a user
	MaxShown     = 200  // maximum number of mentions below a post
)

// keepRejected is the time after the first report for which a rejected mention is kept.
const keepRejected = 90 * 24 * time.Hour

// Reader reads the page of a mention. Package publishhttp implements it.
type Reader interface {
	// Read reads the page at source and extracts its content about target. Content.FinalURL is the
	// URL after redirects. author is the URL by which the page names its author; "": none.
	// fault.Gone: the page was deleted or does not link to target. fault.Refused and fault.Invalid:
	// the page must not or cannot be read. Any other error is temporary.
	Read(ctx context.Context, source, target string) (c Content, author string, err error)
}

// Options are the options of a [Conversation]. Zero fields mean the default in brackets.
type Options struct {
	Timeout    time.Duration   // time limit for reading one page [30 s]
	Retry      []time.Duration // pauses after temporary failures; after the last one the mention is given up [1 min, 10 min, 1 h, 6 h, 24 h]
	AtOnce     int             // maximum number of pages that are read at the same time [8]
	PerHost    int             // maximum number of pages of one host that are read at the same time [2]
	ClientRate float64         // reports per second from one client network, on average [1]
	HostRate   float64         // reports per second of one source host, on average [0.2]
}

// Conversation receives mentions, reads their pages, and stores the decisions of the posts' authors.
// Store, Read and Target are required. Do not copy it.
type Conversation struct {
	Store Store
	Read  Reader
	// Target returns the published post at a URL of this server. fault.NotFound: there is no
	// published post.
	Target func(ctx context.Context, url string) (user string, post int64, err error)
	// Open reports whether an author accepts mentions; nil: all authors do.
	Open func(ctx context.Context, user string) (bool, error)
	// Known reports whether the author of a mention is known. Such a mention is public at once. nil:
	// no author is known.
	Known func(ctx context.Context, m Mention) (bool, error)
	// Changed is called with a mention's Source after the mention was read or decided; nil: no call.
	Changed func(ctx context.Context, source string)
	Now     func() time.Time // nil: time.Now
	Log     *slog.Logger     // nil: no log
	Options Options

	once    sync.Once
	wakeups chan struct{}
	clients *limit.Limiter
	hosts   *limit.Limiter
	active  *limit.Semaphore
}

// The number of keys with a rate is limited, so that a client that invents hosts cannot use more
// memory.
const (
	burst   = 30
	maxKeys = 10_000
)

func (c *Conversation) init() {
	c.once.Do(func() {
		if c.Log == nil {
			c.Log = slog.New(slog.DiscardHandler)
		}
		if c.Now == nil {
			c.Now = time.Now
		}
		o := &c.Options
		o.Timeout = cmp.Or(o.Timeout, 30*time.Second)
		o.AtOnce, o.PerHost = cmp.Or(o.AtOnce, 8), cmp.Or(o.PerHost, 2)
		if len(o.Retry) == 0 {
			o.Retry = []time.Duration{time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour}
		}
		c.wakeups = make(chan struct{}, 1)
		c.clients = limit.New(cmp.Or(o.ClientRate, 1), burst, maxKeys)
		c.hosts = limit.New(cmp.Or(o.HostRate, 0.2), burst, maxKeys)
		c.active = limit.NewSemaphore(o.PerHost)
	})
}

// now returns the current time in the precision of the store: milliseconds, UTC.
func (c *Conversation) now() time.Time { return c.Now().UTC().Truncate(time.Millisecond) }

// Receive stores the report of a client that the page source links to target. The caller has checked
// that both are valid URLs of different pages. Run reads the page later. fault.Invalid: target is
// not a published post of this server. fault.TooMany: the client or the host of source exceeds its
// rate, or the author of the post has too many undecided mentions.
//
// spec:cloudburst#mention-limits
func (c *Conversation) Receive(ctx context.Context, source, target string, client netip.Addr) error {
	c.init()
	now := c.now()
	if wait, ok := c.clients.Take(limit.Network(client), now); !ok {
		return &fault.Error{Code: fault.TooMany, Msg: "Your network sent too many webmentions; try again later.", RetryAfter: wait}
	}
	if wait, ok := c.hosts.Take(href.Host(source), now); !ok {
		return &fault.Error{Code: fault.TooMany, Msg: "This host sent too many webmentions; try again later.", RetryAfter: wait}
	}
	m, err := c.accept(ctx, source, target)
	if err != nil {
		return err
	}
	return c.store(ctx, m)
}

// ReceiveOwn stores the report that a post of this server links to target. The author of the post is
// known, so the limits for clients and hosts do not apply. ReceiveOwn returns the errors of Receive.
func (c *Conversation) ReceiveOwn(ctx context.Context, source, target string) error {
	c.init()
	m, err := c.accept(ctx, source, target)
	if err != nil {
		return err
	}
	if writer, _, err := c.Target(ctx, source); err == nil && writer == m.User {
		return fault.New(fault.Refused, "The post is by the same author, so it is not a webmention.")
	}
	return c.store(ctx, m)
}

// accept returns a new mention of the post at target, if the author of the post accepts mentions.
func (c *Conversation) accept(ctx context.Context, source, target string) (Mention, error) {
	user, post, err := c.Target(ctx, target)
	if fault.CodeOf(err) == fault.NotFound && err != nil {
		return Mention{}, fault.Wrap(fault.Invalid, err, "The target is not a post of this server.")
	}
	if err != nil {
		return Mention{}, err
	}
	if open, err := c.Accepts(ctx, user); err != nil || !open {
		return Mention{}, cmp.Or(err, error(fault.New(fault.Refused, "The author of this post accepts no webmentions.")))
	}
	now := c.now()
	m := Mention{ID: newID(now), User: user, Post: post, Source: source, Target: target, State: Unread, Host: href.Host(source), ReceivedAt: now, DueAt: now}
	rules, err := c.Store.MentionRules(ctx, user)
	if err != nil {
		return Mention{}, err
	}
	for _, r := range rules {
		if r.Author == EveryAuthor && r.matches(&m) {
			return Mention{}, fault.New(fault.Refused, "The author of this post accepts no webmentions from this host.")
		}
	}
	return m, nil
}

// Accepts reports whether an author accepts mentions. If so, the pages of the author's posts name
// the webmention endpoint.
func (c *Conversation) Accepts(ctx context.Context, user string) (bool, error) {
	if c.Open == nil {
		return true, nil
	}
	return c.Open(ctx, user)
}

func (c *Conversation) store(ctx context.Context, m Mention) error {
	if err := c.Store.ReceiveMention(ctx, m, MaxUndecided); err != nil {
		return err
	}
	c.Wake()
	return nil
}

// newID returns a number that grows with time and is exact as a JSON number. Two mentions of one
// user in the same millisecond rarely get the same number. If they do, the store rejects the second
// mention.
func newID(now time.Time) int64 { return now.UnixMilli()<<10 | rand.Int64N(1<<10) }

// Wake makes Run check for due mentions.
func (c *Conversation) Wake() {
	c.init()
	lease.Wake(c.wakeups)
}

// Shown lists the approved mentions of a post, oldest first, at most [MaxShown].
func (c *Conversation) Shown(ctx context.Context, user string, post int64) ([]Mention, error) {
	list, err := c.Store.Mentions(ctx, Query{User: user, Post: post, State: Approved, Limit: MaxShown})
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list, err
}

// List lists mentions.
func (c *Conversation) List(ctx context.Context, q Query) ([]Mention, error) {
	return c.Store.Mentions(ctx, q)
}

// Counts returns the number of a user's mentions in each state.
func (c *Conversation) Counts(ctx context.Context, user string) (map[State]int, error) {
	return c.Store.CountMentions(ctx, user)
}

// Rules lists the rules of a user, newest first.
func (c *Conversation) Rules(ctx context.Context, user string) ([]Rule, error) {
	return c.Store.MentionRules(ctx, user)
}

// Tidy deletes expired mentions and mentions of deleted posts. Call it about once an hour.
func (c *Conversation) Tidy(ctx context.Context) error {
	c.init()
	return c.Store.TidyMentions(ctx, c.now().Add(-keepRejected))
}
