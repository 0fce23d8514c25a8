package conversation

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"cloudburst/internal/cache"
	"cloudburst/internal/fault"
	"cloudburst/internal/href"
	"cloudburst/internal/text"
)

// Threads joins posts of this server and replies from elsewhere into threads. Its exported fields
// are required, except for those with a default. Do not copy it.
//
// A reply from elsewhere is a [Mention] of the author of the nearest post of this server above it.
// It is public at once if that author follows the feed that contains it, or trusts its author; it
// is rejected if a rule blocks it; otherwise it waits for a decision.
//
// spec:cloudburst#thread-moderation
type Threads struct {
	Store interface {
		ThreadStore
		WorkStore
	}
	Items Items // nil: no feed reader
	// Comments reads a feed of comments, within limits of time and bytes.
	Comments func(ctx context.Context, url string) ([]Found, error)
	// Own returns the path of a URL of this server; ok is false for other URLs.
	Own func(url string) (path string, ok bool)
	// Target returns the published post at a URL of this server. fault.NotFound: there is no
	// published post.
	Target func(ctx context.Context, url string) (user string, post int64, err error)
	// ReaderOf returns the name of a user's river.
	ReaderOf func(user string) string
	// Changed is called when the displayed threads of some posts have changed. names are paths of
	// posts of this server.
	Changed func(ctx context.Context, names []string)
	// Post describes the post at a URL of this server. fault.NotFound: there is no such post.
	Post func(ctx context.Context, url string) (Brief, error)
	Now  func() time.Time // nil: time.Now
	Log  *slog.Logger     // nil: no log

	once    sync.Once
	wakeups chan struct{}
	mu      sync.Mutex
	briefs  cache.LRU[string, keptBrief]
}

const (
	walkAgain  = 5 * time.Minute // minimum time until a feed of comments is read again
	keepWalked = 24 * time.Hour
	maxBriefs  = 10_000
	briefFor   = 10 * time.Minute // how long the description of a known post is cached
	missingFor = 30 * time.Second // how long the absence of an unknown post is cached
)

func (t *Threads) init() {
	t.once.Do(func() {
		if t.Log == nil {
			t.Log = slog.New(slog.DiscardHandler)
		}
		if t.Now == nil {
			t.Now = time.Now
		}
		t.wakeups = make(chan struct{}, 1)
		t.briefs.Max = maxBriefs
	})
}

func (t *Threads) now() time.Time { return t.Now().UTC().Truncate(time.Millisecond) }

// NameOf returns the name of a post in threads: the path of a URL of this server, or any other URL
// without an empty fragment ("#").
func (t *Threads) NameOf(url string) string {
	if path, own := t.Own(url); own {
		return path
	}
	return strings.TrimSuffix(url, "#")
}

// names returns NameOf of each URL, without duplicates.
func (t *Threads) names(urls []string) (all []string) {
	seen := map[string]bool{"": true}
	for _, u := range urls {
		if name := t.NameOf(u); !seen[name] {
			seen[name] = true
			all = append(all, name)
		}
	}
	return all
}

func keysOf(names []string) []int64 {
	keys := make([]int64, len(names))
	for i, n := range names {
		keys[i] = KeyOf(n)
	}
	return keys
}

// offer adds a reply from another site to its thread.
func (t *Threads) offer(ctx context.Context, f Found) error {
	e, ok := t.entryOf(f)
	if !ok {
		return nil
	}
	spot, err := t.Store.ThreadSpot(ctx, keysOf(e.Parents))
	if err != nil {
		return err
	}
	if !spot.Found {
		if spot.User, spot.Post, err = t.target(ctx, f.Parents); err != nil {
			return err
		}
	}
	if spot.User == "" {
		return t.Store.PutEntry(ctx, e)
	}
	known := false
	if f.Item != 0 && !f.Private {
		if known, err = t.Items.FollowsSource(ctx, t.ReaderOf(spot.User), f.Source); err != nil {
			return err
		}
	}
	now := t.now()
	m := Mention{
		ID: newID(now), User: spot.User, Post: spot.Post, Source: f.URL, Target: f.Parents[0], State: Waiting, Host: href.Host(f.URL), Author: e.Author,
		ReceivedAt: now, Content: e.Content,
	}
	e.User, e.Post = spot.User, spot.Post
	seen, err := t.Store.OfferReply(ctx, m, e, MaxUndecided, func(now *Mention, rules []Rule, isNew bool) Action {
		return t.decide(now, rules, m, f, known, isNew)
	})
	if err == nil && seen {
		t.notify(ctx, KeyOf(e.Name))
	}
	return err
}

// entryOf returns the entry of a reply. ok is false for a post of this server, for a reply to
// itself, and for an item that is not a reply.
func (t *Threads) entryOf(f Found) (e Entry, ok bool) {
	name := t.NameOf(f.URL)
	if _, own := t.Own(f.URL); own || name == "" {
		return e, false
	}
	for _, parent := range t.names(f.Parents) {
		if parent != name && parent != f.GUID {
			e.Parents = append(e.Parents, parent)
		}
	}
	e.Name, e.GUID, e.Item, e.At = name, f.GUID, f.Item, f.PublishedAt
	if now := t.now(); e.At.IsZero() || e.At.After(now) {
		e.At = now
	}
	e.Author = f.Author
	e.Content = Content{
		Kind: Reply, Name: text.ClipRunes(f.Name, MaxName), Title: text.ClipRunes(f.Title, 2*MaxName), Text: text.ClipRunes(f.Text, MaxText), PublishedAt: f.PublishedAt, ReadAt: t.now(),
	}
	return e, len(e.Parents) > 0
}

// target finds the first URL in urls that is a published post of this server.
func (t *Threads) target(ctx context.Context, urls []string) (user string, post int64, err error) {
	for _, u := range urls {
		if _, own := t.Own(u); !own {
			continue
		}
		if user, post, err = t.Target(ctx, u); err == nil || fault.CodeOf(err) != fault.NotFound {
			return user, post, err
		}
	}
	return "", 0, nil
}

// decide updates a mention after its reply was read. A feed of comments on another host than the
// reply proves nothing about the reply's author. Such a feed therefore cannot change a known reply
// or make it public.
//
// spec:cloudburst#thread-moderation
func (t *Threads) decide(m *Mention, rules []Rule, read Mention, f Found, known, isNew bool) Action {
	foreign := f.Item == 0 && !strings.EqualFold(href.Host(f.Via), read.Host)
	if foreign && !isNew {
		return Leave
	}
	changed := !isNew && (m.Author != read.Author || !m.Content.same(read.Content))
	if !isNew && !changed && !(known && m.State == Waiting) {
		return Leave
	}
	m.Content, m.Author = read.Content, read.Author
	m.judge(rules, known, foreign, changed)
	return Keep
}

// Followed reports whether the page at a URL is an item of a feed that a user follows.
//
// spec:cloudburst#thread-moderation
func (t *Threads) Followed(ctx context.Context, user, url string) (bool, error) {
	if t.Items == nil {
		return false, nil
	}
	f, err := t.Items.NamedItem(ctx, url)
	if err != nil {
		if fault.CodeOf(err) == fault.NotFound {
			err = nil
		}
		return false, err
	}
	return t.Items.FollowsSource(ctx, t.ReaderOf(user), f.Source)
}

// Replied updates the threads of a post of this server that was published, changed or removed: it
// notifies clients that display them. The store already has the entry of the post.
func (t *Threads) Replied(ctx context.Context, path string) {
	t.init()
	t.notify(ctx, KeyOf(path))
}

// notify calls Changed with the posts of this server above a reply.
func (t *Threads) notify(ctx context.Context, id int64) {
	if t.Changed == nil {
		return
	}
	above, err := t.Store.Ancestors(ctx, id)
	if err != nil {
		t.Log.WarnContext(ctx, "cannot find the threads of a reply", "err", err)
		return
	}
	var names []string
	for i, n := range above {
		if i == 0 && strings.HasPrefix(n.ParentName, "/") {
			names = append(names, n.ParentName)
		}
		if n.User != "" && n.ID != id {
			names = append(names, n.Name)
		}
	}
	if len(names) > 0 {
		t.Changed(ctx, names)
	}
}

// Decided notifies clients that display a thread after a decision about one of its replies.
func (t *Threads) Decided(ctx context.Context, source string) {
	t.init()
	t.notify(ctx, KeyOf(t.NameOf(source)))
}

// Thread returns a batch of the replies below a post.
func (t *Threads) Thread(ctx context.Context, q ThreadQuery) (Thread, error) {
	t.init()
	return t.Store.Thread(ctx, q)
}

// Above returns the replies above the named reply, from the top, and the reply itself. The list is
// empty if the post is not a reply.
func (t *Threads) Above(ctx context.Context, name string) ([]Node, error) {
	return t.Store.Ancestors(ctx, KeyOf(name))
}

// keptBrief is a cached Brief.
type keptBrief struct {
	Brief
	known bool
	until time.Time
}

// Known describes the post at a URL if this server knows it. The description comes from the cache or
// the store.
func (t *Threads) Known(ctx context.Context, url string) (Brief, bool) {
	t.init()
	now := t.now()
	t.mu.Lock()
	kept, ok := t.briefs.Get(url)
	t.mu.Unlock()
	if ok && now.Before(kept.until) {
		return kept.Brief, kept.known
	}
	b, err := t.known(ctx, url)
	kept = keptBrief{b, err == nil, now.Add(briefFor)}
	if err != nil {
		kept.until = now.Add(missingFor)
		if fault.CodeOf(err) != fault.NotFound {
			t.Log.WarnContext(ctx, "cannot find the post that an item replies to", "err", err)
		}
	}
	t.mu.Lock()
	t.briefs.Put(url, kept, 1)
	t.mu.Unlock()
	return kept.Brief, kept.known
}

func (t *Threads) known(ctx context.Context, url string) (Brief, error) {
	if _, own := t.Own(url); own {
		return t.Post(ctx, url)
	}
	if t.Items == nil {
		return Brief{}, fault.New(fault.NotFound, "This server reads no feeds.")
	}
	f, err := t.Items.NamedItem(ctx, url)
	if err == nil && f.Private {
		err = fault.New(fault.NotFound, "There is no public item with this URL.")
	}
	if err != nil {
		return Brief{}, err
	}
	return Brief{Name: f.Name, Line: FirstLine(cmp.Or(f.Title, f.Text)), Href: url}, nil
}

// Readable describes the post at a URL if anyone may read its thread: a published post of this
// server, an item of a public feed, or a reply in a thread. fault.NotFound: the URL is none of
// these.
func (t *Threads) Readable(ctx context.Context, url string) (Brief, error) {
	b, err := t.known(ctx, url)
	if _, own := t.Own(url); own || fault.CodeOf(err) != fault.NotFound {
		return b, err
	}
	page, err := t.Thread(ctx, ThreadQuery{ID: KeyOf(t.NameOf(url)), Limit: 1, All: true})
	if err == nil && page.Path == "" && len(page.Nodes) == 0 {
		err = fault.New(fault.NotFound, "This server knows no post with this URL.")
	}
	return Brief{Href: url}, err
}

// FirstLine returns the beginning of a text on one line.
func FirstLine(s string) string {
	const limit = 100
	s = strings.Join(strings.Fields(s), " ")
	if cut := text.ClipRunes(s, limit); cut != s {
		if i := strings.LastIndexByte(cut, ' '); i > limit/2 {
			cut = cut[:i]
		}
		return cut + "…"
	}
	return s
}

// TidyThreads deletes entries of deleted posts and old records of feeds. Call it about once an hour.
func (t *Threads) TidyThreads(ctx context.Context) error {
	t.init()
	return t.Store.TidyThreads(ctx, t.now().Add(-keepWalked))
}
