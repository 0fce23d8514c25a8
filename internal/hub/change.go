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
	maxRelated      = 10               // maximum number of topics per ping, except for topics on the host of the URL
	relatedBatch    = 500              // maximum number of topics on the host of a pinged URL that are read at once
	discoverTimeout = 20 * time.Second // time limit for searching a page for feeds
	maxDiscovering  = 256              // maximum number of pages that wait for a search; further pages are not searched
	maxReported     = 500              // maximum number of URLs per query of the store
)

// Announcement is a ping of a site, as in the weblogs.com protocols.
type Announcement struct {
	Name   string
	URL    string // URL of the site; the site may be a feed itself
	Page   string // page that changed; "": not given
	Feed   string // "": not given
	Tags   []string
	Via    string
	Source netip.Addr // address of the sender; the zero Addr is this program
	Hops   int
}

// Announced is the outcome of an announcement.
type Announced struct {
	Checking []string // feeds with subscribers that are being checked
	Looking  bool     // the site is being searched for feeds with subscribers
}

// Discoverer finds the feeds that a page links to.
type Discoverer interface {
	// Discover returns the URLs of the feeds that the page at url links to, best first; url
	// itself if it is a feed. It returns the errors of Fetcher.
	Discover(ctx context.Context, url string) ([]string, error)
}

// Announce processes a ping of a site. When it returns, the change is stored, and so are the checks
// of the matching topics. A topic matches if its URL, its own URL (About.Self) or its home page is
// one of the announced URLs. If no topic matches, the site may be searched for feeds with
// subscribers, at a limited rate per source. Announce does not wait for reads.
//
// Errors: fault.Invalid (not a usable URL), TooMany, Refused (too many hops), Unavailable.
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
	if err == nil {
		err = checkHops(a.Hops)
	}
	if err == nil {
		err = pinging{h}.admitSource(a.Source, receivedAt)
	}
	if err != nil {
		return Announced{}, err
	}
	urls = h.names(urls)
	topics, err := pinging{h}.following(ctx, urls, receivedAt, maxRelated)
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
	if len(topics) == 0 { // otherwise the checks of the topics are logged
		e := unsubscribedEvent(p)
		if !read {
			e.Text = "Listed among the changes. Nobody here is subscribed to this feed or to one of this site."
		}
		events = append(events, e)
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

// urls returns the URLs of an announcement: feed, page and site, the most specific first.
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

// Admit counts a push against the rate of its source, for a push that reaches the aggregator
// without a previous [Hub.Ping]. It returns fault.TooMany above the rate.
//
// spec:cloudburst#ping-wakes-river
func (h *Hub) Admit(source netip.Addr) error {
	h.Init()
	return pinging{h}.admitSource(source, h.now())
}

func checkHops(hops int) error {
	if hops > maxHops {
		return fault.New(fault.Refused, "This ping has passed through %d hubs; after %d the hub treats it as a loop and rejects it.", hops, maxHops)
	}
	return nil
}

func (h pinging) admitSource(source netip.Addr, now time.Time) error {
	if wait, ok := h.sourceLimit.Take(limit.Network(source), now); !ok && source.IsValid() {
		return tooMany(wait, "Too many pings from your network; please wait %s and ping again.", wait)
	}
	return nil
}

// joinLater starts a check whose ping is stored. If it cannot start now, the stored ping starts
// it later.
func (h pinging) joinLater(p Ping, receivedAt time.Time) {
	if _, err := h.join(p, receivedAt, nil, nil); err != nil {
		h.Log.Debug("a check was postponed", "topic", p.URL, "err", err)
	}
}

// discoverLater searches a site for feeds with subscribers, if the rates allow it. The search is
// not stored, so a crash ends it: the answer to the client did not promise a search.
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
	if h.closing { // the hub is stopping
		return false
	}
	h.discovering.Add(1)
	h.running.Go(func() {
		defer h.discovering.Add(-1)
		ctx, cancel := context.WithTimeout(h.work, discoverTimeout)
		defer cancel()
		if checker(h).fetchSlot(ctx) != nil {
			return
		}
		feeds, err := h.Find.Discover(ctx, a.URL)
		<-h.fetching
		if err == nil {
			_, err = h.receive(ctx, feeds, Ping{Via: a.Via, Source: a.Source, Hops: a.Hops, listed: true})
		}
		if err != nil {
			h.Log.Debug("cannot check a pinged site", "url", a.URL, "err", err)
		}
	})
	return true
}

// ReceiveChanges checks the topics of this hub that the recent changes of another server list, and
// notifies the aggregator. It ignores URLs of other feeds. It returns the URLs of the topics that
// are being checked.
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
	urls = h.names(urls)
	topics, err := h.following(ctx, urls, now, max(maxRelated, len(urls)))
	if err != nil {
		return nil, err
	}
	if _, err := h.notifyAggregator(ctx, p, urls, topics); err != nil {
		return nil, err
	}
	if err := h.alsoPing(ctx, topics, nil, p, now); err != nil {
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

// numberChanges sets time, node and sequence number of each change.
func (h *Hub) numberChanges(changes []Change, now time.Time) {
	for i := range changes {
		c := &changes[i]
		c.At, c.Node, c.Seq = now.UTC().Truncate(time.Millisecond), h.Bus.Node(), h.lastChangeSeq.Add(1)
	}
}

// updateAbout stores a topic's description if it has changed.
func (h pinging) updateAbout(ctx context.Context, id int64, about About) {
	news, err := h.aboutChanged(ctx, id, about)
	if err == nil && news {
		err = h.Store.SetAbout(ctx, id, about)
	}
	if err != nil {
		h.Log.Warn("cannot store the description of a topic", "topic", id, "err", err)
	}
}

// aboutChanged reports whether about differs from the stored description of a topic.
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
