package upstream

import (
	"context"
	"slices"
	"strings"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
)

// Request says what to follow.
type Request struct {
	Feed string // URL
	Via  string // protocol; "": the best that the feed offers
	Hub  string // URL of the hub's door; "": the one that the feed names
	For  string // which part of the program wants it: one word, as Reader or Relay

	// Door is where somebody who read the feed found that it can be followed: nothing
	// is read for it, and where it is followed there already nothing is asked. Via and
	// Hub are not considered then. Nil: not found yet.
	Endpoint *Endpoint
	Topic    string // with Door: what the feed calls itself; "": nothing
}

// Add follows a feed, or asks its hub anew when it is followed already. When it
// returns, the follow is on disk and will be asked for; what the hub says to it
// stands in the row some time later. Where nothing is named, the feed is read to
// find its hubs: WebSub is taken before rssCloud. CNWS, of which feeds say nothing,
// needs a hub. With a Door nothing is read, and who was told of it before is not asked
// again; a hub that somebody named by hand stays.
//
// Errors: fault.Invalid, NotFound (the feed names no hub), Refused (the hub is this
// server), Unreadable, Unavailable.
//
// spec:cloudburst#follow-preference
func (e *Engine) Add(ctx context.Context, r Request) (Follow, error) {
	e.Init()
	if err := e.check(&r); err != nil {
		return Follow{}, err
	}
	endpoint, topic, err := e.chooseEndpoint(ctx, r)
	if err != nil {
		return Follow{}, err
	}
	wake := true
	f, err := e.change(ctx, FollowID(endpoint.Protocol, r.Feed), func(f *Follow, found bool) (Verdict, *event.Event) {
		wake = true
		if found && r.Endpoint != nil && f.matches(endpoint, topic) {
			had := len(f.For)
			f.addFor(r.For)
			if wake = false; len(f.For) == had {
				return Leave, nil
			}
			return Keep, nil
		}
		now := e.now()
		if !found || f.State == Ending {
			*f = Follow{ID: f.ID, CreatedAt: now, For: f.For}
		}
		moved := f.Hub != endpoint.Hub || f.Topic != topic
		f.Feed, f.Protocol, f.Topic, f.Hub, f.Wire, f.Proc = r.Feed, endpoint.Protocol, topic, endpoint.Hub, endpoint.Wire, endpoint.Procedure
		f.Named = r.Hub != "" && r.Endpoint == nil
		if moved { // another hub must not be able to speak for this one
			f.State, f.Missed = Pending, !f.ConfirmedAt.IsZero()
			f.newCallback()
		}
		f.addFor(r.For)
		if f.State != Active {
			f.State = Pending
		}
		f.NextAt, f.Claim, f.Asked, f.Failures = now, 0, false, 0
		return Keep, nil
	})
	if err == nil && wake {
		e.Wake()
	}
	return f, err
}

// stands reports that f is what somebody who found the door would make of it, or that
// its hub was named by somebody who knew better.
func (f *Follow) matches(d Endpoint, topic string) bool {
	return f.State != Ending && (f.Named || f.Hub == d.Hub && f.Wire == d.Wire && f.Proc == d.Procedure && f.Topic == topic)
}

func (e *Engine) check(r *Request) error {
	if err := checkURL("feed", r.Feed); err != nil {
		return err
	}
	if r.For == "" || strings.ContainsAny(r.For, " %_") {
		return fault.New(fault.Invalid, "Who wants the feed must be one word, not %q.", r.For)
	}
	if r.Endpoint != nil {
		if !slices.Contains(Protocols(), r.Endpoint.Protocol) {
			return fault.New(fault.Invalid, "The door's protocol is %q: it needs one of %s.", clip(r.Endpoint.Protocol), strings.Join(Protocols(), ", "))
		}
		return checkURL("hub", r.Endpoint.Hub)
	}
	if r.Via != "" && !slices.Contains(Protocols(), r.Via) {
		return fault.New(fault.Invalid, "via is %q: it needs one of %s.", clip(r.Via), strings.Join(Protocols(), ", "))
	}
	if r.Hub != "" {
		if r.Via == "" {
			return fault.New(fault.Invalid, "When the hub is named, say by which protocol it is asked: via needs one of %s.", strings.Join(Protocols(), ", "))
		}
		return checkURL("hub", r.Hub)
	}
	if r.Via == CNWS {
		return fault.New(fault.Invalid, "Feeds do not say where CNWS is spoken; name the publisher's door with hub.")
	}
	return nil
}

// choose finds the door, and the name by which its hub knows the feed.
func (e *Engine) chooseEndpoint(ctx context.Context, r Request) (Endpoint, string, error) {
	if r.Endpoint != nil {
		endpoint, err := e.Complete(*r.Endpoint)
		if err == nil && e.isOwn(endpoint.Hub) {
			err = ownHub()
		}
		return endpoint, topicOf(Found{Topic: r.Topic}, endpoint, r.Feed), err
	}
	if r.Hub != "" {
		endpoint, err := e.Ask.Endpoint(r.Via, r.Hub)
		if err != nil {
			return Endpoint{}, "", err
		}
		if e.isOwn(endpoint.Hub) {
			return Endpoint{}, "", ownHub()
		}
		if r.Via != WebSub {
			return endpoint, r.Feed, nil
		}
		found, _, err := e.discover(ctx, r.Feed, r.For)
		if err != nil { // the hub may read what we may not
			return endpoint, r.Feed, nil
		}
		return endpoint, topicOf(found, endpoint, r.Feed), nil
	}
	found, _, err := e.discover(ctx, r.Feed, r.For)
	if err != nil {
		return Endpoint{}, "", err
	}
	own := false
	for _, protocol := range Protocols() {
		for _, d := range found.Endpoints {
			if d.Protocol != protocol || r.Via != "" && r.Via != protocol {
				continue
			}
			if own = own || e.isOwn(d.Hub); !e.isOwn(d.Hub) {
				return d, topicOf(found, d, r.Feed), nil
			}
		}
	}
	if own {
		return Endpoint{}, "", ownHub()
	}
	if r.Via != "" && len(found.Endpoints) > 0 {
		return Endpoint{}, "", fault.New(fault.NotFound, "The feed %s names no hub for %s; it does for %s.", clip(r.Feed), r.Via, found.Endpoints[0].Protocol)
	}
	return Endpoint{}, "", fault.New(fault.NotFound, "The feed %s names no hub; if you know one, say which with via and hub.", clip(r.Feed))
}

// Complete is a door with everything that its hub is asked by: of one in another's words
// perhaps only the URL is known.
func (e *Engine) Complete(d Endpoint) (Endpoint, error) {
	if d.Protocol == RSSCloud && d.Wire == "" {
		return e.Ask.Endpoint(d.Protocol, d.Hub)
	}
	return d, nil
}

// discover is what is known of a feed's hubs. The feed is read only when nobody in
// this program has done so, and when somebody else than its readers wants to know:
// they read it by their own clock. ok is false when nothing is known.
//
// spec:cloudburst#follow-reads-nothing
func (e *Engine) discover(ctx context.Context, feed string, parts ...string) (found Found, ok bool, err error) {
	if e.Options.Known != nil {
		found, ok, err = e.Options.Known(ctx, feed)
		if ok || err != nil || !slices.ContainsFunc(parts, func(w string) bool { return w != Reader }) {
			return found, ok, err
		}
	}
	found, err = e.Ask.Discover(ctx, feed)
	return found, err == nil, err
}

// topicOf is what the hub at d calls the feed. A WebSub hub knows it by the URL
// that the feed calls its own.
//
// spec:websub-2018#topic-is-self
func topicOf(found Found, d Endpoint, feed string) string {
	if d.Protocol == WebSub && found.Topic != "" && checkURL("feed", found.Topic) == nil {
		return found.Topic
	}
	return feed
}

// spec:cloudburst#follow-own-hub
func ownHub() error {
	return fault.New(fault.Refused, "This server is the feed's own hub; there is nothing to follow.")
}

func (e *Engine) isOwn(hub string) bool { return e.Options.Own != nil && e.Options.Own(hub) }

// Remove ends following a feed for one part of the program ("": for all), by one
// protocol ("": by all), and returns what was ended. The hub is told once nobody
// else wants it. fault.NotFound: it is not followed.
func (e *Engine) Remove(ctx context.Context, feed, via, part string) ([]Follow, error) {
	e.Init()
	var gone []Follow
	for _, protocol := range Protocols() {
		if via != "" && via != protocol {
			continue
		}
		did := false
		f, err := e.change(ctx, FollowID(protocol, feed), func(f *Follow, found bool) (Verdict, *event.Event) {
			did = found && f.State != Ending && (part == "" || slices.Contains(f.For, part))
			if !did {
				return Leave, nil
			}
			if f.removeFor(part); len(f.For) == 0 {
				f.State, f.NextAt, f.Claim, f.Asked = Ending, e.now(), 0, false
			}
			return Keep, nil
		})
		if err != nil {
			return gone, err
		}
		if did {
			gone = append(gone, f)
		}
	}
	if len(gone) == 0 {
		return nil, fault.New(fault.NotFound, "This server does not follow %s.", clip(feed))
	}
	e.Wake()
	return gone, nil
}

// List lists follows; see [Query].
func (e *Engine) List(ctx context.Context, q Query) ([]Follow, error) {
	e.Init()
	return e.Store.Follows(ctx, q)
}

// Of lists the follows of one feed, in order of protocol.
func (e *Engine) Of(ctx context.Context, feed string) ([]Follow, error) {
	e.Init()
	var list []Follow
	for _, protocol := range []string{CNWS, RSSCloud, WebSub} {
		f, err := e.Store.Follow(ctx, FollowID(protocol, feed))
		switch {
		case err == nil:
			list = append(list, f)
		case fault.CodeOf(err) != fault.NotFound:
			return nil, err
		}
	}
	return list, nil
}

// Get is the follow of a feed by a protocol, or a fault.NotFound.
func (e *Engine) Get(ctx context.Context, feed, via string) (Follow, error) {
	e.Init()
	return e.Store.Follow(ctx, FollowID(via, feed))
}
