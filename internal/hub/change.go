package hub

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/href"
	"cloudburst/internal/limit"
)

const (
	maxRelated      = 10               // topics that one signal may mean
	discoverTimeout = 20 * time.Second // to look at a page for feeds
	maxDiscovering  = 256              // pages that wait to be looked at; more are not
	maxReported     = 500              // URLs in one look at the store
)

// Announcement says that a site changed, in the words of weblogs.com.
type Announcement struct {
	Name   string
	URL    string // of the site; it may be a feed itself
	Page   string // the page that changed; "": not told
	Feed   string // "": not told
	Tags   []string
	Via    string
	Source netip.Addr // who says so; the zero Addr is this program
	Hops   int
}

// Announced is what an announcement came to.
type Announced struct {
	Checking []string // followed feeds that are being checked because of it
	Looking  bool     // the site is being looked at for feeds that somebody follows
}

// Discoverer finds the feeds of a page.
type Discoverer interface {
	// Discover returns the URLs of the feeds that the page at url names, best
	// first; url itself when it is a feed. Errors as of Fetcher.
	Discover(ctx context.Context, url string) ([]string, error)
}

// Announce takes a ping of a site. When it returns, the change is listed and on
// disk, and so are the checks of the followed feeds that it means: the topics with
// one of its URLs, and those that call one of them their home or their own. If
// there are none, the site may be looked at afterwards for feeds that somebody
// follows, once in a while for each source. It does not wait for any reading.
//
// Errors: fault.Invalid (a URL that can be none), TooMany, Refused (the news has
// gone round), Unavailable.
//
// spec:feedstate-2007#ping-listed
func (h *Hub) Announce(ctx context.Context, a Announcement) (Announced, error) {
	h.Init()
	receivedAt := h.now()
	h.stats.pings.Add(1)
	urls, err := a.urls()
	for _, u := range urls {
		if err == nil {
			err = h.checkReadable(u)
		}
	}
	if err != nil {
		return Announced{}, err
	}
	if err := (pinging{h}).admit(a.Source, a.Hops, receivedAt); err != nil {
		return Announced{}, err
	}
	topics, err := h.Store.Following(ctx, h.names(urls), receivedAt, maxRelated)
	if err != nil {
		return Announced{}, err
	}
	p := Ping{URL: urls[0], Via: a.Via, Source: a.Source}
	read, err := pinging{h}.notifyAggregator(ctx, p, urls, topics)
	if err != nil {
		return Announced{}, err
	}
	list := []Change{{Name: a.Name, URL: a.URL, Feed: a.Feed, Page: a.Page, Tags: a.Tags, Via: a.Via}}
	h.numberChanges(list, receivedAt)
	var events []event.Event
	switch {
	case len(topics) > 0: // their checks are logged
	case read:
		events = append(events, unsubscribedEvent(p))
		h.stamp(events)
	default:
		events = append(events, event.Event{Kind: event.KindPing, TopicID: TopicID(p.URL), Topic: p.URL, OK: true, Via: p.Via, Peer: peerOf(p),
			Text: "Listed among the changes. Nobody here is subscribed to this feed or to one of this site."})
		h.stamp(events)
	}
	out := Announced{Checking: topicURLs(topics)}
	if err := h.Store.Announce(ctx, list, out.Checking, receivedAt, receivedAt.Add(checkLease), events); err != nil {
		return Announced{}, err
	}
	h.publish(events...)
	for _, u := range out.Checking {
		pinging{h}.joinLater(Ping{URL: u, Via: a.Via, Source: a.Source, Hops: a.Hops, listed: true, origin: h.origin(ctx)}, receivedAt)
	}
	if len(topics) == 0 && !read {
		out.Looking = pinging{h}.discoverLater(a, receivedAt)
	}
	return out, nil
}

// urls are those that an announcement gives, the surest first.
func (a Announcement) urls() ([]string, error) {
	if err := checkURL(a.URL); err != nil {
		return nil, err
	}
	var urls []string
	for _, u := range []string{a.Feed, a.URL, a.Page} {
		if u == "" || slices.Contains(urls, u) {
			continue
		}
		if err := checkURL(u); err != nil {
			return nil, err
		}
		urls = append(urls, u)
	}
	return urls, nil
}

// admit holds a signal against the limits of all doors.
func (h pinging) admit(source netip.Addr, hops int, now time.Time) error {
	if err := checkHops(hops); err != nil {
		return err
	}
	return h.admitSource(source, now)
}

// Admit counts a signal of a source, of which the readers of this program are told before
// any [Hub.Ping], or without one; fault.TooMany when that was too many.
//
// spec:cloudburst#ping-tells-readers
func (h *Hub) Admit(source netip.Addr) error {
	h.Init()
	return pinging{h}.admitSource(source, h.now())
}

func checkHops(hops int) error {
	if hops > maxHops {
		return fault.New(fault.Refused, "This ping has passed through %d hubs; after %d it is taken for a loop and goes no further.", hops, maxHops)
	}
	return nil
}

func (h pinging) admitSource(source netip.Addr, now time.Time) error {
	if wait, ok := h.sourceLimit.Take(limit.Network(source), now); !ok && source.IsValid() {
		return tooMany(wait, "Too many pings from your network; please wait %s and ping again.", wait)
	}
	return nil
}

// joinLater starts a check of a followed feed whose ping is on disk: when it cannot
// start now it comes from there.
func (h pinging) joinLater(p Ping, receivedAt time.Time) {
	if _, err := h.join(p, receivedAt, nil); err != nil {
		h.Log.Debug("put off a check", "topic", p.URL, "err", err)
	}
}

// lookLater looks at a site for feeds that somebody follows, if its turn has come.
// Nothing was promised of it, so it is not kept on disk.
//
// spec:cloudburst#ping-unknown
func (h pinging) discoverLater(a Announcement, now time.Time) bool {
	if h.Find == nil || !a.Source.IsValid() || h.discovering.Load() >= maxDiscovering {
		return false
	}
	if _, ok := h.unknownTopicLimit.Take(limit.Network(a.Source), now); !ok {
		return false
	}
	if _, ok := h.hostLimit.Take(href.Host(a.URL), now); !ok {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closing { // nothing begins any more
		return false
	}
	h.discovering.Add(1)
	h.running.Go(func() {
		defer h.discovering.Add(-1)
		ctx, cancel := context.WithTimeout(h.work, discoverTimeout)
		defer cancel()
		if verifying(h).fetchSlot(ctx) != nil {
			return
		}
		feeds, err := h.Find.Discover(ctx, a.URL)
		<-h.fetching
		if err == nil {
			_, err = h.receive(ctx, feeds, Ping{Via: a.Via, Source: a.Source, Hops: a.Hops, listed: true})
		}
		if err != nil {
			h.Log.Debug("look at a site that was pinged", "url", a.URL, "err", err)
		}
	})
	return true
}

// Hear takes URLs of which another server says that they changed, as its list of
// changes has them: those that somebody here follows are checked, all others are
// passed over; those who read feeds here are told too. It returns the topics that are
// being checked.
func (h *Hub) ReceiveChanges(ctx context.Context, urls []string, via string) ([]string, error) {
	h.Init()
	var checking []string
	for some := range slices.Chunk(urls, maxReported) {
		got, err := pinging{h}.receive(ctx, some, Ping{Via: via})
		if err != nil {
			return checking, err
		}
		checking = append(checking, got...)
	}
	return checking, nil
}

func (h pinging) receive(ctx context.Context, urls []string, p Ping) ([]string, error) {
	now := h.now()
	topics, err := h.Store.Following(ctx, h.names(urls), now, max(maxRelated, len(urls)))
	if err != nil {
		return nil, err
	}
	if _, err := h.notifyAggregator(ctx, p, urls, topics); err != nil {
		return nil, err
	}
	if err := h.alsoPing(ctx, topics, p, now); err != nil {
		return nil, err
	}
	return topicURLs(topics), nil
}

func topicURLs(topics []Topic) []string {
	var urls []string
	for _, t := range topics {
		urls = append(urls, t.URL)
	}
	return urls
}

// list gives each change its place.
func (h *Hub) numberChanges(changes []Change, now time.Time) {
	for i := range changes {
		c := &changes[i]
		c.At, c.Node, c.Seq = now.UTC().Truncate(time.Millisecond), h.Bus.Node(), h.lastChangeSeq.Add(1)
	}
}

// learn keeps what a topic says of itself, when the names by which signals may call
// it are other ones than before.
func (h pinging) updateAbout(ctx context.Context, id int64, about About) {
	news, err := h.aboutChanged(ctx, id, about)
	if err == nil && news {
		err = h.Store.SetAbout(ctx, id, about)
	}
	if err != nil {
		h.Log.Warn("keep what a topic says of itself", "topic", id, "err", err)
	}
}

// isNews reports whether a topic goes by other names than are known of it.
func (h pinging) aboutChanged(ctx context.Context, id int64, about About) (bool, error) {
	if about == (About{}) {
		return false, nil
	}
	t, err := h.Store.Topic(ctx, id)
	if err != nil && fault.CodeOf(err) != fault.NotFound {
		return false, err
	}
	return t.About.Self != about.Self || t.About.Home != about.Home || t.About.Title != about.Title, nil
}
