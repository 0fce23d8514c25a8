// Package push connects the river with the hubs. For each feed that users follow it chooses the
// hubs to subscribe at. It passes pushes from these hubs to the river and to this program's own
// hub. Start with [Join].
package push

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/internal/river"
	"cloudburst/internal/upstream"
)

// Join connects the river with the upstream hubs and with this program's hub. Call it before any
// of them runs.
func Join(r *river.River, e *upstream.Engine, h *hub.Hub) {
	r.Push = &readerPush{engine: e, isOwn: e.Options.Own, since: e.Now()}
	e.Signal, e.Options.Known = receiveSignal(r, h), knownHubs(r)
	h.OnPing = r.ReceivePushAny
}

// aggregator receives pushes for the feeds that users read; *river.River implements it.
type aggregator interface {
	ReceivePush(ctx context.Context, url, endpoint string) (known bool, err error)
	Deliver(ctx context.Context, url, endpoint string, body []byte, header http.Header) (known bool, err error)
	Known(ctx context.Context, feed string) (topic string, endpoints []river.PushEndpoint, ok bool, err error)
}

// pinger receives pushes for the subscribers of this hub; *hub.Hub implements it.
type pinger interface {
	Ping(ctx context.Context, p hub.Ping) (hub.PingResult, error)
	Admit(source netip.Addr) error
}

// receiveSignal passes a push to two receivers in this program. The river receives the push with
// the content if the upstream hub signed the content. This program's hub checks the feed and
// notifies its own subscribers. The river receives each push once and never pings.
//
// spec:cloudburst#hops
// spec:cloudburst#follow-forwards
func receiveSignal(readers aggregator, h pinger) func(ctx context.Context, s upstream.Signal) error {
	return func(ctx context.Context, s upstream.Signal) error {
		read := readers != nil && slices.Contains(s.For, upstream.Reader)
		if read {
			err := h.Admit(s.Source)
			if err != nil {
				return err
			}
			if s.Signed && len(s.Body) > 0 {
				_, err = readers.Deliver(ctx, s.URL, s.Via, s.Body, s.Header)
			} else {
				_, err = readers.ReceivePush(ctx, s.URL, s.Via)
			}
			if err != nil {
				return err
			}
		}
		relayed := slices.ContainsFunc(s.For, func(who string) bool { return who != upstream.Reader })
		_, err := h.Ping(ctx, hub.Ping{
			URL: s.URL, Via: s.Via, Source: s.Source, Hops: s.Hops, ReaderNotified: read, Forward: !relayed || s.Unsure,
		})
		return err
	}
}

// knownHubs returns a function that returns the hubs of a feed, as the river has stored them, for
// package upstream.
func knownHubs(readers aggregator) func(ctx context.Context, feed string) (upstream.Found, bool, error) {
	return func(ctx context.Context, feed string) (upstream.Found, bool, error) {
		topic, endpoints, ok, err := readers.Known(ctx, feed)
		if err != nil || !ok {
			return upstream.Found{}, false, err
		}
		found := upstream.Found{Topic: topic}
		for _, e := range endpoints {
			found.Endpoints = append(found.Endpoints, upstream.Endpoint(e))
		}
		return found, true, nil
	}
}

// readerPush subscribes to the feeds that users read; it is a river.Push. One hub per protocol is
// enough, because each hub sends every change. A subscription at a hub that a user named remains
// until that user removes it.
type readerPush struct {
	engine *upstream.Engine
	isOwn  func(hub string) bool // reports whether hub is an endpoint of this server
	since  time.Time             // start of this program, from which pings of its own hub are received
}

// Follow implements river.Push.
func (p *readerPush) Follow(ctx context.Context, feed, topic string, endpoints []river.PushEndpoint) error {
	have, err := p.engine.Of(ctx, feed)
	if err != nil {
		return err
	}
	wanted := p.choose(have, endpoints)
	var errs []error
	for _, e := range wanted {
		_, err := p.engine.Add(ctx, upstream.Request{Feed: feed, For: upstream.Reader, Endpoint: &e, Topic: topic})
		if isInternal(err) { // skip endpoints that cannot be used
			errs = append(errs, err)
		}
	}
	for _, f := range have {
		named := slices.ContainsFunc(wanted, func(e upstream.Endpoint) bool { return e.Protocol == f.Protocol })
		if !named && !f.Named && slices.Contains(f.For, upstream.Reader) {
			errs = append(errs, p.remove(ctx, feed, f.Protocol))
		}
	}
	return errors.Join(errs...)
}

// choose selects one endpoint per protocol: the endpoint that is already subscribed to, otherwise
// the first.
func (p *readerPush) choose(have []upstream.Follow, endpoints []river.PushEndpoint) []upstream.Endpoint {
	var list []upstream.Endpoint
	for _, e := range endpoints {
		endpoint, err := p.engine.Complete(upstream.Endpoint(e))
		if err != nil || p.isOwn(endpoint.Hub) {
			continue
		}
		subscribed := slices.ContainsFunc(have, func(f upstream.Follow) bool { return isSameEndpoint(f, endpoint) })
		i := slices.IndexFunc(list, func(o upstream.Endpoint) bool { return o.Protocol == endpoint.Protocol })
		switch {
		case i < 0:
			list = append(list, endpoint)
		case subscribed:
			list[i] = endpoint
		}
	}
	return list
}

func isSameEndpoint(f upstream.Follow, e upstream.Endpoint) bool {
	return f.Protocol == e.Protocol && f.Hub == e.Hub && f.State != upstream.Ending
}

// Leave implements river.Push.
func (p *readerPush) Leave(ctx context.Context, feed string) error { return p.remove(ctx, feed, "") }

func (p *readerPush) remove(ctx context.Context, feed, protocol string) error {
	_, err := p.engine.Remove(ctx, feed, protocol, upstream.Reader)
	if err != nil && fault.CodeOf(err) == fault.NotFound {
		return nil
	}
	return err
}

// pushSpare is the state of an endpoint that is not used, because another hub with the same
// protocol is used. It extends the states of package upstream.
const pushSpare = "spare"

// State implements river.Push. It leaves out an endpoint if there is no subscription with the
// protocol of the endpoint.
func (p *readerPush) State(ctx context.Context, feed string, endpoints []river.PushEndpoint) ([]river.PushState, error) {
	have, err := p.engine.Of(ctx, feed)
	if err != nil {
		return nil, err
	}
	have = slices.DeleteFunc(have, func(f upstream.Follow) bool {
		return f.State == upstream.Ending || !slices.Contains(f.For, upstream.Reader)
	})
	var list []river.PushState
	shown := make([]bool, len(have))
	for _, e := range endpoints {
		endpoint, err := p.engine.Complete(upstream.Endpoint(e))
		if err == nil && p.isOwn(endpoint.Hub) {
			list = append(list, river.PushState{PushEndpoint: e, Own: true, State: upstream.Active, Since: p.since})
			continue
		}
		i := slices.IndexFunc(have, func(f upstream.Follow) bool { return f.Protocol == e.Protocol })
		switch {
		case i >= 0 && have[i].Hub == endpoint.Hub:
			list, shown[i] = append(list, pushState(have[i], e)), true
		case i >= 0:
			list = append(list, river.PushState{PushEndpoint: e, State: pushSpare})
		}
	}
	for i, f := range have { // add subscriptions at hubs that the feed does not name, or no longer names
		if !shown[i] {
			list = append(list, pushState(f, river.PushEndpoint{Protocol: f.Protocol, Hub: f.Hub, Wire: f.Wire, Procedure: f.Proc}))
		}
	}
	return list, nil
}

func pushState(f upstream.Follow, e river.PushEndpoint) river.PushState {
	s := river.PushState{PushEndpoint: e, State: f.State, PushedAt: f.ReceivedAt, Rejected: f.Rejected, LastError: f.LastError}
	if f.State == upstream.Active {
		s.Since, s.Until = f.SinceAt, f.ExpiresAt
	}
	return s
}

// isInternal reports whether a retry may succeed after err.
func isInternal(err error) bool {
	if err == nil {
		return false
	}
	code := fault.CodeOf(err)
	return code == fault.Unavailable || code == fault.Internal
}
