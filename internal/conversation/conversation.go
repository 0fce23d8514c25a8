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

// Limits of stored mentions and rules, and of their texts in characters.
const (
	MaxName      = 100
	MaxText      = 2000
	MaxUndecided = 1000 // mentions of a user that are unread or wait; further reports are refused
	MaxRules     = 1000 // rules of a user
	MaxShown     = 200  // mentions below a post
)

// keepRejected is the time for which rejected mentions are kept, from their first report.
const keepRejected = 90 * 24 * time.Hour

// Reader reads the page of a mention. Package publishhttp implements it.
type Reader interface {
	// Read reads the page at source and finds what it says about target. author is the URL by which
	// the page names its author; "": none. Errors: fault.Gone means that the page was deleted or
	// does not link to target; fault.Refused and fault.Invalid mean that it must not or cannot be
	// read; any other error is temporary.
	Read(ctx context.Context, source, target string) (c Content, author string, err error)
}

// Options are the options of a [Conversation]. Zero fields mean the default in brackets.
type Options struct {
	Timeout    time.Duration   // of reading one page [30 s]
	Retry      []time.Duration // waits after temporary failures; then the report is given up [1 min, 10 min, 1 h, 6 h, 24 h]
	AtOnce     int             // pages read at once [8]
	PerHost    int             // pages of one host read at once [2]
	ClientRate float64         // reports per second from one client network, on average [1]
	HostRate   float64         // reports per second of one source host, on average [0.2]
}

// Conversation receives mentions, reads their pages and keeps what their authors decide. Store, Read
// and Target are required. Do not copy it.
type Conversation struct {
	Store Store
	Read  Reader
	// Target returns the published post at a URL of this server. fault.NotFound: there is none.
	Target func(ctx context.Context, url string) (user string, post int64, err error)
	// Open reports whether an author accepts mentions; nil: all do.
	Open func(ctx context.Context, user string) (bool, error)
	// Known reports whether a mention is of a known author.
	// It is public at once. nil: none is.
	Known func(ctx context.Context, m Mention) (bool, error)
	// Changed is called after a mention was read or decided, with its URL; nil: not called.
	Changed func(ctx context.Context, source string)
	Now     func() time.Time // nil: time.Now
	Log     *slog.Logger     // nil is silent
	Options Options

	once    sync.Once
	wakeups chan struct{}
	clients *limit.Limiter
	hosts   *limit.Limiter
	active  *limit.Semaphore
}

// Rates are bounded by keys: a client that invents hosts cannot use more memory than this.
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

// Receive stores the report of a client that the page source links to target. Both are checked URLs
// of different pages. The page is read later. Errors: fault.Invalid if target is not a published post
// of this server, fault.TooMany if the client, the host or the author of the post has too many.
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
// known, so the limits for clients and hosts do not apply. Errors are those of Receive.
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

// accept returns the mention of a post whose author accepts it.
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

// Accepts reports whether an author accepts mentions, so that the pages of their posts name the
// endpoint.
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

// newID returns a number that grows with time and fits a JSON number. Two mentions of one user in the
// same millisecond rarely get the same one; the store then refuses the second.
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

// Counts returns the numbers of mentions of a user by state.
func (c *Conversation) Counts(ctx context.Context, user string) (map[State]int, error) {
	return c.Store.CountMentions(ctx, user)
}

// Rules lists the rules of a user, newest first.
func (c *Conversation) Rules(ctx context.Context, user string) ([]Rule, error) {
	return c.Store.MentionRules(ctx, user)
}

// Tidy deletes mentions that nobody needs any more. Call it about once an hour.
func (c *Conversation) Tidy(ctx context.Context) error {
	c.init()
	return c.Store.TidyMentions(ctx, c.now().Add(-keepRejected))
}
