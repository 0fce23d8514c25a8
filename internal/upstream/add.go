package upstream

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
)

// Request describes a feed to follow.
type Request struct {
	Feed string // URL
	Via  string // protocol; "": the best that the feed offers
	Hub  string // URL of the hub's endpoint; "": the one that the feed names
	For  string // part of the program that follows the feed: one word, such as Reader or Relay

	// Endpoint is the endpoint that another part of the program found in the feed. Then Add fetches
	// nothing and ignores Via and Hub, and sends no request if the follow already exists unchanged.
	// nil: the endpoint is not known yet.
	Endpoint *Endpoint
	Topic    string // if Endpoint is set: the URL that the feed declares as its own; "": none
}

// Add follows a feed, or renews the subscription at the hub if the feed is followed already. When
// Add returns, the follow is stored and due; the hub's answer is stored later. Without an endpoint
// or hub, Add fetches the feed to find its hubs and prefers WebSub to rssCloud. CNWS needs a hub,
// because feeds do not name it. With an Endpoint, Add fetches nothing and does not repeat an
// existing subscription. A hub that a user has set stays.
//
// Errors: fault.Invalid, NotFound (the feed names no hub), Refused (the hub is this server),
// Unreadable, Unavailable.
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
	wake, former := true, Follow{}
	f, err := e.change(ctx, FollowID(endpoint.Protocol, r.Feed), func(f *Follow, found bool) (Verdict, *event.Event) {
		wake, former = true, Follow{}
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
		if f.Hub != endpoint.Hub && f.Protocol == RSSCloud && !f.RequestedAt.IsZero() {
			former = *f
		}
		moved := f.Hub != endpoint.Hub || f.Topic != topic
		f.Feed, f.Protocol, f.Topic, f.Hub, f.Wire, f.Proc = r.Feed, endpoint.Protocol, topic, endpoint.Hub, endpoint.Wire, endpoint.Procedure
		f.Named = r.Hub != "" && r.Endpoint == nil
		if moved { // give f another callback, so that another hub cannot use the old one
			f.State, f.Missed = Pending, !f.ConfirmedAt.IsZero()
			f.newCallback()
		}
		f.addFor(r.For)
		if f.State != Active {
			f.State = Pending
		}
		f.NextAt, f.Claim, f.Asked, f.Failures = now, 0, false, 0
		if former.ID != 0 {
			f.NextAt = now.Add(e.Options.AskTimeout) // cancelFormer ends this wait
		}
		return Keep, nil
	})
	if err == nil && former.ID != 0 {
		select {
		case e.formers <- former:
		default: // too many feeds have moved, so this registration ends without a cancellation
		}
	}
	if err == nil && wake {
		e.Wake()
	}
	return f, err
}

// cancelFormer cancels a registration at a cloud that the feed no longer names, and then makes the
// registration at the next cloud due. The URLs of both clouds may belong to one server, which would
// also cancel a newer registration. After a crash, the registration at the former cloud expires.
func (e *Engine) cancelFormer(ctx context.Context, former Follow) {
	asking, stop := context.WithTimeout(ctx, e.Options.AskTimeout)
	err := e.Ask.End(asking, former)
	stop()
	if err != nil {
		e.Log.Debug("cannot cancel a registration at a former cloud", "feed", former.Feed, "hub", former.Hub, "err", err)
	}
	_, err = e.change(ctx, former.ID, func(f *Follow, found bool) (Verdict, *event.Event) {
		if now := e.now(); found && f.Claim == 0 && f.Hub != former.Hub && f.NextAt.After(now) && f.RequestedAt.Equal(former.RequestedAt) {
			f.NextAt = now
			return Keep, nil
		}
		return Leave, nil
	})
	if err != nil {
		e.logError(ctx, "make a registration due", err)
	}
	e.Wake()
}

// matches reports whether f already uses endpoint d, or has a hub that a user has set.
func (f *Follow) matches(d Endpoint, topic string) bool {
	return f.State != Ending && (f.Named || f.Hub == d.Hub && f.Wire == d.Wire && f.Proc == d.Procedure && f.Topic == topic)
}

func (e *Engine) check(r *Request) error {
	if err := checkURL("feed", r.Feed); err != nil {
		return err
	}
	if r.For == "" || strings.ContainsAny(r.For, " %_") {
		return fault.New(fault.Invalid, "The part of the program must be one word, not %q.", r.For)
	}
	if r.Endpoint != nil {
		if !slices.Contains(Protocols(), r.Endpoint.Protocol) {
			return fault.New(fault.Invalid, "The endpoint's protocol is %q; it must be one of %s.", clip(r.Endpoint.Protocol), strings.Join(Protocols(), ", "))
		}
		return checkURL("hub", r.Endpoint.Hub)
	}
	if r.Via != "" && !slices.Contains(Protocols(), r.Via) {
		return fault.New(fault.Invalid, "via is %q; it must be one of %s.", clip(r.Via), strings.Join(Protocols(), ", "))
	}
	if r.Hub != "" {
		if r.Via == "" {
			return fault.New(fault.Invalid, "A hub needs its protocol: via needs one of %s.", strings.Join(Protocols(), ", "))
		}
		return checkURL("hub", r.Hub)
	}
	if r.Via == CNWS {
		return fault.New(fault.Invalid, "Feeds do not name CNWS hubs: set hub to the publisher's endpoint.")
	}
	return nil
}

// chooseEndpoint returns the endpoint, and the URL by which its hub knows the feed.
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
		if err != nil { // the hub may be able to read a feed that this server must not read
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
	return Endpoint{}, "", fault.New(fault.NotFound, "The feed %s names no hub; if you know one, set via and hub.", clip(r.Feed))
}

// Complete adds missing details to an endpoint of which another package may know only the URL. It
// returns an error if the URL cannot be an endpoint.
func (e *Engine) Complete(d Endpoint) (Endpoint, error) {
	if d.Protocol == RSSCloud && d.Wire == "" {
		return e.Ask.Endpoint(d.Protocol, d.Hub)
	}
	return d, nil
}

// discover returns the known hubs of a feed. It fetches the feed only if this program has not read
// it and a part other than Reader follows the feed: the reader fetches feeds on its own schedule.
// If nothing is known, ok is false.
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

// topicOf returns the URL by which the hub at d knows the feed. WebSub hubs use the URL that the
// feed declares as its own.
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

// Remove ends the follows of a feed for one part of the program ("": all parts) and one protocol
// ("": all protocols). It returns the ended follows. The hub is notified when no part follows the
// feed any more. fault.NotFound: the feed is not followed.
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
			if f.isPublic() {
				return Keep, nil
			}
			return Keep, &event.Event{Kind: event.KindCancel, OK: true, Text: fmt.Sprintf("This server no longer follows the feed by %s.", f.Protocol)}
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

// Get returns the follow of a feed by a protocol, or fault.NotFound.
func (e *Engine) Get(ctx context.Context, feed, via string) (Follow, error) {
	e.Init()
	return e.Store.Follow(ctx, FollowID(via, feed))
}
